/* marks.c: makes every name visible that names.h must see. Into the text of a chunk it puts
 *   `__mark() ` before `return`, and before the `end`, `else`, `elseif` or `until` of a block that declares a local,
 * on the same line, so positions stay. Only words outside strings and comments count; a block that ends in return,
 * break or goto gets no second mark. */
#include <ctype.h>
#include <string.h>

#include "host.h"

enum block_kind { BLOCK_FUNCTION, BLOCK_PLAIN };

struct block {
    enum block_kind kind;
    bool has_local;  /* declares a name */
    bool terminated; /* its last statement leaves it */
};

struct marker {
    const char *p, *end;
    struct text *out;
    ARRAY(struct block) blocks;
    bool failed;
    unsigned loop_heads; /* `while`/`for` seen, their `do` still to come */
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
    while (q < end && *q != quote && *q != '\n') {
        if (*q == '\\' && q + 1 < end)
            q++;
        q++;
    }
    return q < end ? q + 1 : end;
}

static void open_block(struct marker *m, enum block_kind kind) {
    struct block block = {.kind = kind};
    if (!array_push(&m->blocks, block))
        m->failed = true;
}

static void mark_here(struct marker *m) {
    text_add(m->out, "__mark() ");
}

/* Before the word that ends a block. */
static void close_block(struct marker *m, bool reopens) {
    if (m->blocks.count == 0) /* unbalanced: Lua's own parser will say so */
        return;
    struct block block = array_pop(&m->blocks);
    if (block.kind != BLOCK_FUNCTION && block.has_local && !block.terminated)
        mark_here(m);
    if (reopens)
        open_block(m, BLOCK_PLAIN);
}

static bool word_is(const char *word, size_t length, const char *text) {
    return strlen(text) == length && memcmp(word, text, length) == 0;
}

static void on_word(struct marker *m, const char *word, size_t n) {
    struct block *block = m->blocks.count ? array_last(&m->blocks) : NULL;
    if (word_is(word, n, "function")) {
        open_block(m, BLOCK_FUNCTION);
    } else if (word_is(word, n, "if") || word_is(word, n, "repeat")) {
        open_block(m, BLOCK_PLAIN);
    } else if (word_is(word, n, "for") || word_is(word, n, "while")) {
        m->loop_heads++;
        open_block(m, BLOCK_PLAIN);
    } else if (word_is(word, n, "do")) {
        if (m->loop_heads > 0)
            m->loop_heads--;
        else
            open_block(m, BLOCK_PLAIN);
    } else if (word_is(word, n, "end") || word_is(word, n, "until")) {
        close_block(m, false);
    } else if (word_is(word, n, "else") || word_is(word, n, "elseif")) {
        close_block(m, true);
    } else if (word_is(word, n, "return")) {
        mark_here(m);
        if (block)
            block->terminated = true;
    } else if (word_is(word, n, "break") && block) {
        block->terminated = true;
    } else if (word_is(word, n, "local") && block) {
        block->has_local = true;
    }
}

bool marks_insert(const char *source, size_t length, struct text *out) {
    struct marker m = {.p = source, .end = source + length, .out = out};
    while (m.p < m.end && !m.failed) {
        const char *p = m.p;
        if (*p == '-' && p + 1 < m.end && p[1] == '-') {
            copy_to(&m, skip_comment(p, m.end));
        } else if (*p == '"' || *p == '\'') {
            copy_to(&m, skip_string(p, m.end));
        } else if (*p == '[' && long_bracket(p, m.end)) {
            copy_to(&m, long_bracket(p, m.end));
        } else if (isalpha((unsigned char)*p) || *p == '_') {
            const char *q = p;
            while (q < m.end && (isalnum((unsigned char)*q) || *q == '_'))
                q++;
            on_word(&m, p, (size_t)(q - p));
            copy_to(&m, q);
        } else {
            copy_to(&m, p + 1);
        }
    }
    array_fini(&m.blocks);
    return !m.failed && !out->failed;
}
