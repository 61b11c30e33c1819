/* owner_names.c: see owner_names.h. */
#include "owner_names.h"

#include <string.h>

#include "file.h"
#include "frames.h"
#include "text.h"
#include "timeline.h"

bool owner_names_init(struct owner_names *names, const struct timeline *tl) {
    memset(names, 0, sizeof *names);
    names->tl = tl;
    return strtab_init(&names->texts);
}

void owner_names_fini(struct owner_names *names) {
    strtab_fini(&names->texts);
    array_fini(&names->modules.of);
    array_fini(&names->stacks.of);
}

const char *owner_names_text(const struct owner_names *names, uint32_t id) {
    return strtab_text(&names->texts, id);
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* "a.12.b" -> "a.*.b"; only whole components: "conv2d" stays. */
static void fold_path(const char *path, struct text *out) {
    for (const char *p = path; *p;) {
        size_t digits = strspn(p, "0123456789");
        bool starts = p == path || p[-1] == '.';
        if (digits > 0 && starts && (p[digits] == '.' || p[digits] == '\0')) {
            text_add(out, "*");
            p += digits;
            continue;
        }
        size_t plain = 1;
        while (p[plain] && !(is_digit(p[plain]) && p[plain - 1] == '.'))
            plain++;
        text_add_bytes(out, p, plain);
        p += plain;
    }
}

/* Interns and frees the text. */
static bool intern(struct owner_names *names, struct text *text, uint32_t *id) {
    bool added = !text->failed && strtab_add(&names->texts, text_get(text), text->length, id);
    text_fini(text);
    return added;
}

/* The place where an id is kept; the array grows to `count` zeros first. NULL: no memory. */
static uint32_t *slot(struct owner_ids *ids, size_t count, size_t index) {
    if (!array_reserve(&ids->of, count))
        return NULL;
    while (ids->of.count < count)
        ids->of.at[ids->of.count++] = 0;
    return array_at(&ids->of, index);
}

bool owner_names_module(struct owner_names *names, const struct timeline_block *block,
                        uint32_t *id) {
    size_t strings = strtab_count(&names->tl->strings);
    uint32_t string = block->owner ? block->owner : block->op;
    if (string >= strings)
        string = 0;
    uint32_t *kept = slot(&names->modules, 2 * strings, block->owner ? string : strings + string);
    if (!kept)
        return false;
    if (*kept == 0) {
        struct text text = {0};
        if (block->owner)
            fold_path(timeline_text(names->tl, string), &text);
        else if (string != 0)
            text_format(&text, "(%s)", timeline_text(names->tl, string));
        if (!intern(names, &text, id))
            return false;
        *kept = *id + 1;
    }
    *id = *kept - 1;
    return true;
}

/* Dispatch and decorators of PyTorch and Transformers: they are in every stack and say nothing of
 * who asked. */
static bool is_wrapper(const char *function) {
    static const char *const wrappers[] = {
        "__torch_function__",
        "handle_torch_function",
        "_call_impl",
        "_wrapped_call_impl",
        "wrapped",
        "wrapper",
        "wrapped_func",
        "decorate_context",
        "__torch_dispatch__",
        "inner",
    };
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++)
        if (strcmp(function, wrappers[i]) == 0)
            return true;
    return false;
}

static void add_frame(const struct timeline *tl, const struct timeline_frame *frame,
                      struct text *out) {
    const char *file = timeline_text(tl, frame->file);
    text_format(out, "%s%s %s:%u", out->length ? "  <  " : "", timeline_text(tl, frame->function),
                file_base(file), frame->line);
}

static void describe_stack(const struct timeline *tl, uint32_t stack, struct text *out) {
    uint32_t count = frames_useful_count(tl, stack);
    int shown = 0;
    for (uint32_t i = 0; i < count && shown < 2; i++) {
        const struct timeline_frame *frame = frames_useful(tl, stack, i);
        if (is_wrapper(timeline_text(tl, frame->function)) && i + 1 < count)
            continue;
        add_frame(tl, frame, out);
        shown++;
    }
}

bool owner_names_stack(struct owner_names *names, uint32_t stack, uint32_t *id) {
    size_t stacks = names->tl->stacks.count;
    *id = 0;
    if (stack == 0 || stack >= stacks)
        return true;
    uint32_t *kept = slot(&names->stacks, stacks, stack);
    if (!kept)
        return false;
    if (*kept == 0) {
        struct text text = {0};
        describe_stack(names->tl, stack, &text);
        if (!intern(names, &text, id))
            return false;
        *kept = *id + 1;
    }
    *id = *kept - 1;
    return true;
}
