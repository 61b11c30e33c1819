/* frames.c: see frames.h. */
#include "frames.h"

#include <inttypes.h>
#include <string.h>

#include "text.h"
#include "timeline.h"

/* From what tells most to what tells least. */
enum kind {
    KIND_USER,   /* Python, no framework's */
    KIND_PYTHON, /* a framework's */
    KIND_NODE,   /* a node of autograd: backward runs without Python */
    KIND_OTHER,  /* extensions */
    KIND_CORE,
    KIND_MACHINERY /* the recorder's, threads */
};

static bool is_python(const char *file) {
    size_t length = strlen(file);
    return length >= 3 && strcmp(file + length - 3, ".py") == 0;
}

/* The frameworks' own files, wherever they are installed. */
static bool is_framework(const char *file) {
    return strncmp(file, "torch/", 6) == 0 || strstr(file, "/torch/") ||
           strstr(file, "\\torch\\") || strncmp(file, "jax/", 4) == 0 || strstr(file, "/jax/_src/");
}

static bool begins_with_any(const char *text, const char *const *prefixes) {
    for (; *prefixes; prefixes++)
        if (strncmp(text, *prefixes, strlen(*prefixes)) == 0)
            return true;
    return false;
}

static const char node_prefix[] = "torch::autograd::generated::";

/* C++: "void at::f<int>(...)": what comes before the name is its type. */
static enum kind kind_of_function(const char *function) {
    static const char *const machinery[] = {"torch::unwind", "torch::CapturedTraceback",
                                            "pthread_",      "execute_native_thread_routine",
                                            "clone",         NULL};
    static const char *const core[] = {"torch::", "c10::", "at::", NULL};
    size_t head = strcspn(function, "(<");
    for (size_t i = head; i-- > 0;)
        if (function[i] == ' ' && head < strlen(function)) {
            function += i + 1;
            break;
        }
    if (begins_with_any(function, machinery) || strstr(function, "gather_with_cpp"))
        return KIND_MACHINERY;
    size_t prefix = strlen(node_prefix);
    if (strncmp(function, node_prefix, prefix) == 0 &&
        strncmp(function + prefix, "details", 7) != 0)
        return KIND_NODE;
    return begins_with_any(function, core) ? KIND_CORE : KIND_OTHER;
}

static enum kind kind_of(const struct timeline *tl, const struct timeline_frame *f) {
    const char *file = timeline_text(tl, f->file);
    if (is_python(file))
        return is_framework(file) ? KIND_PYTHON : KIND_USER;
    return kind_of_function(timeline_text(tl, f->function));
}

void frames_add(const struct timeline *tl, const struct timeline_frame *frame, struct text *out) {
    const char *function = timeline_text(tl, frame->function),
               *file = timeline_text(tl, frame->file);
    size_t length = strlen(function), prefix = strlen(node_prefix);
    if (strncmp(function, node_prefix, prefix) == 0) {
        function += prefix;
        length = strcspn(function, "(");
    }
    text_add_bytes(out, function, length);
    if (*file && strcmp(file, "??") != 0)
        text_format(out, " (%s:%" PRIu32 ")", file, frame->line);
}

static const struct timeline_frame *frames_of(const struct timeline *tl, uint32_t stack,
                                              uint32_t *count) {
    *count = stack < tl->stacks.count ? tl->stacks.at[stack].count : 0;
    return *count > 0 ? &tl->frames.at[tl->stacks.at[stack].first] : NULL;
}

const struct timeline_frame *frames_best(const struct timeline *tl, uint32_t stack) {
    uint32_t count;
    const struct timeline_frame *frames = frames_of(tl, stack, &count), *best = frames;
    for (uint32_t i = 1; i < count; i++)
        if (kind_of(tl, &frames[i]) < kind_of(tl, best))
            best = &frames[i];
    return best;
}

/* The last kind that is shown. */
static enum kind last_kind(const struct timeline *tl, uint32_t stack) {
    const struct timeline_frame *best = frames_best(tl, stack);
    enum kind kind = best ? kind_of(tl, best) : KIND_MACHINERY;
    return kind == KIND_USER ? KIND_PYTHON : kind;
}

const struct timeline_frame *frames_useful(const struct timeline *tl, uint32_t stack,
                                           uint32_t index) {
    uint32_t count;
    const struct timeline_frame *frames = frames_of(tl, stack, &count);
    enum kind last = last_kind(tl, stack);
    for (uint32_t i = 0; i < count; i++)
        if (kind_of(tl, &frames[i]) <= last && index-- == 0)
            return &frames[i];
    return NULL;
}

uint32_t frames_useful_count(const struct timeline *tl, uint32_t stack) {
    uint32_t count, useful = 0;
    const struct timeline_frame *frames = frames_of(tl, stack, &count);
    enum kind last = last_kind(tl, stack);
    for (uint32_t i = 0; i < count; i++)
        useful += kind_of(tl, &frames[i]) <= last;
    return useful;
}
