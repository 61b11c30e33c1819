/* marks.c: makes every name visible that names.h must see. Into the text of a chunk it puts
 *   `;__mark() ` before `return`, `break`, `goto` and labels, and before the `end`, `else`,
 * `elseif` or `until` of a block that declares a name (a local, a loop's variable), on the same
 * line, so positions stay. Only words outside strings and comments count. No mark follows a
 * `return`, nor a label at the end of a block, which must stay the last there for a `goto continue`
 * to be allowed. The semicolon keeps a mark from completing a statement that was cut short. */
#include <ctype.h>
#include <string.h>

#include "host.h"

enum block_kind { BLOCK_FUNCTION, BLOCK_PLAIN };

struct block {
    enum block_kind kind;
    bool in_head;     /* of a loop, whose `do` is still to come */
    bool has_local;   /* declares a name */
    bool has_return;  /* and ends with it */
    bool after_label; /* nothing has followed its last label yet */
};

struct marker {
    const char *p, *end;
    struct text *out;
    ARRAY(struct block) blocks;
    bool failed;
    bool in_label; /* between the colons of a label */
};

static void copy_to(struct marker *m, const char *to) {
    text_add_bytes(m->out, m->p, (size_t)(to - m->p));
    m->p = to;
}

/* The end of a long bracket that begins at p ("[[", "[=[" ...), or NULL when none begins there. */
static const char *long_bracket(const char *p, const char *end) {
    const char *q = p + 1;
    size_t level = 0;
    while (q < end && *q == '=') {
        q++;
        level++;
    }
    if (q >= end || *q != '[')
        return NULL;
    for (q++; q < end; q++) {
        if (*q != ']')
            continue;
        size_t n = 0;
        while (q + 1 + n < end && q[1 + n] == '=')
            n++;
        if (n == level && q + 1 + n < end && q[1 + n] == ']')
            return q + 2 + n;
    }
    return end;
}

static const char *skip_comment(const char *p, const char *end) {
    const char *q = p + 2;
    const char *after = q < end && *q == '[' ? long_bracket(q, end) : NULL;
    if (after)
        return after;
    while (q < end && *q != '\n')
        q++;
    return q;
}

static const char *skip_string(const char *p, const char *end) {
    char quote = *p;
    const char *q = p + 1;
    while (q < end && *q != quote) /* one that a line's end cuts short is an error of Lua's */
        q += *q == '\\' && q + 1 < end ? 2 : 1;
    return q < end ? q + 1 : end;
}

static void open_block(struct marker *m, struct block block) {
    if (!array_push(&m->blocks, block))
        m->failed = true;
}

static void mark_here(struct marker *m) {
    text_add(m->out, ";__mark() ");
}

/* Before the word that ends a block. */
static void close_block(struct marker *m, bool reopens) {
    if (m->blocks.count == 0) /* unbalanced: Lua's own parser will say so */
        return;
    struct block block = array_pop(&m->blocks);
    if (block.kind != BLOCK_FUNCTION && block.has_local && !block.has_return && !block.after_label)
        mark_here(m);
    if (reopens)
        open_block(m, (struct block){.kind = BLOCK_PLAIN});
}

static bool word_is(const char *word, size_t length, const char *text) {
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static void on_word(struct marker *m, const char *word, size_t n) {
    struct block *block = m->blocks.count ? array_last(&m->blocks) : NULL;
    if (word_is(word, n, "function")) {
        open_block(m, (struct block){.kind = BLOCK_FUNCTION});
    } else if (word_is(word, n, "if") || word_is(word, n, "repeat")) {
        open_block(m, (struct block){.kind = BLOCK_PLAIN});
    } else if (word_is(word, n, "for") || word_is(word, n, "while")) {
        open_block(m,
                   (struct block){.kind = BLOCK_PLAIN, .in_head = true, .has_local = *word == 'f'});
    } else if (word_is(word, n, "do")) {
        if (block && block->in_head)
            block->in_head = false;
        else
            open_block(m, (struct block){.kind = BLOCK_PLAIN});
    } else if (word_is(word, n, "end") || word_is(word, n, "until")) {
        close_block(m, false);
    } else if (word_is(word, n, "else") || word_is(word, n, "elseif")) {
        close_block(m, true);
    } else if (word_is(word, n, "return")) {
        mark_here(m);
        if (block)
            block->has_return = true;
    } else if (word_is(word, n, "break") || word_is(word, n, "goto")) {
        mark_here(m);
    } else if (word_is(word, n, "local") && block) {
        block->has_local = true;
    }
}

/* The two colons before or after a label's name. */
static void on_label(struct marker *m) {
    struct block *block = m->blocks.count ? array_last(&m->blocks) : NULL;
    if (!m->in_label && !(block && block->after_label))
        mark_here(m);
    m->in_label = !m->in_label;
    if (block)
        block->after_label = true;
    copy_to(m, m->p + 2);
}

static void on_name(struct marker *m) {
    const char *q = m->p;
    while (q < m->end && (isalnum((unsigned char)*q) || *q == '_'))
        q++;
    size_t n = (size_t)(q - m->p);
    bool closes = word_is(m->p, n, "end") || word_is(m->p, n, "else") ||
                  word_is(m->p, n, "elseif") || word_is(m->p, n, "until");
    if (m->blocks.count && !m->in_label && !closes)
        array_last(&m->blocks)->after_label = false;
    on_word(m, m->p, n);
    copy_to(m, q);
}

static void on_other(struct marker *m) {
    if (m->blocks.count && *m->p != ';' && !isspace((unsigned char)*m->p))
        array_last(&m->blocks)->after_label = false;
    copy_to(m, m->p + 1);
}

bool marks_insert(const char *source, size_t length, struct text *out) {
    struct marker m = {.p = source, .end = source + length, .out = out};
    while (m.p < m.end && !m.failed) {
        const char *p = m.p;
        if (*p == '-' && p + 1 < m.end && p[1] == '-')
            copy_to(&m, skip_comment(p, m.end));
        else if (*p == '"' || *p == '\'')
            copy_to(&m, skip_string(p, m.end));
        else if (*p == '[' && long_bracket(p, m.end))
            copy_to(&m, long_bracket(p, m.end));
        else if (*p == ':' && p + 1 < m.end && p[1] == ':')
            on_label(&m);
        else if (isalpha((unsigned char)*p) || *p == '_')
            on_name(&m);
        else
            on_other(&m);
    }
    array_fini(&m.blocks);
    return !m.failed && !out->failed;
}
