/* import_text.h: a trace given as text, imported by one importer, checked, and dumped. */
#ifndef IMPORT_TEXT_H
#define IMPORT_TEXT_H

#include "suite.h"

#include <string.h>

#include "failing_alloc.h"
#include "importer.h"
#include "text.h"
#include "timeline.h"

struct imported {
    struct timeline *tl;
    struct trace_facts facts;
    struct text dump;
};

static inline struct imported import_text(const char *text) {
    struct imported in = {0};
    struct error err = {0};
    assert_ok(trace_import_bytes("text", text, strlen(text), NULL, &in.tl, &in.facts, &err), err);
    assert_ok(timeline_check(in.tl, &err), err);
    timeline_dump(in.tl, false, &in.dump);
    return in;
}

static inline void imported_fini(struct imported *in) {
    timeline_destroy(in->tl);
    trace_facts_fini(&in->facts);
    text_fini(&in->dump);
}

#define assert_dump(in, expected) assert_string_equal(text_get(&(in).dump), (expected))

/* The error of a text that must be refused. */
static inline struct error refuse_text(const char *text) {
    struct timeline *tl = NULL;
    struct error err = {0};
    assert_false(trace_import_bytes("text", text, strlen(text), NULL, &tl, NULL, &err));
    assert_true(strlen(err.text) > 0);
    return err;
}

/* A figure of the facts; the test fails where it is missing. */
static inline uint64_t figure(const struct imported *in, const char *group, const char *sub,
                              const char *name) {
    for (size_t i = 0; i < in->facts.figures.count; i++) {
        const struct trace_figure *f = &in->facts.figures.at[i];
        bool is_group = group ? f->group && strcmp(f->group, group) == 0 : !f->group;
        bool is_sub = sub ? f->sub && strcmp(f->sub, sub) == 0 : !f->sub;
        if (is_group && is_sub && strcmp(f->name, name) == 0)
            return f->value;
    }
    fail_msg("no figure %s", name);
    return 0;
}

/* Every allocation of an import fails once: an error of host memory each time, and nothing is left. */
static inline void import_with_failures(const char *text) {
    struct failing_alloc f = {.fail_at = 1};
    for (;; f.fail_at++) {
        struct timeline *tl = NULL;
        struct trace_facts facts = {0};
        struct error err = {0};
        f.seen = 0;
        xalloc_set_hook(failing_alloc_hook, &f);
        bool ok = trace_import_bytes("text", text, strlen(text), NULL, &tl, &facts, &err);
        timeline_destroy(tl);
        trace_facts_fini(&facts);
        xalloc_set_hook(NULL, NULL);
        assert_int_equal(f.live, 0);
        if (ok)
            break;
        assert_int_equal(err.code, ERROR_HOST_MEMORY);
    }
    assert_true(f.fail_at > 10);
}

#endif
