/* snapshot_config.c: the allocator's settings as a snapshot has them: the text as it was given, and what it says, as far
 * as readers of snapshots look at it; see snapshot_out.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "snapshot_out.h"
#include "timeline.h"

enum { SLOTS = 16 }; /* 1, 2, 4 ... 32768 MiB */

/* What follows "key:" in "key:value,key:value"; NULL: it is not there. */
static const char *find(const char *settings, const char *key) {
    size_t n = strlen(key);
    for (const char *at = settings; (at = strstr(at, key)); at += n)
        if ((at == settings || at[-1] == ',' || at[-1] == ' ') && at[n] == ':')
            return at + n + 1;
    return NULL;
}

static void key(struct snapshot_out *s, const char *name) {
    pickle_out_text(&s->p, name);
}

void snapshot_config(struct snapshot_out *s) {
    const char *settings = timeline_text(s->tl, s->tl->alloc_settings);
    const char *split = find(settings, "max_split_size_mb");
    const char *gc = find(settings, "garbage_collection_threshold");
    const char *expandable = find(settings, "expandable_segments");
    const char *divisions = find(settings, "roundup_power2_divisions");
    snapshot_word(s, WORD_allocator_settings);
    pickle_out_dict(&s->p);
    key(s, "PYTORCH_CUDA_ALLOC_CONF");
    pickle_out_text(&s->p, settings);
    key(s, "max_split_size");
    pickle_out_i64(&s->p, split ? (int64_t)(strtoull(split, NULL, 10) << 20) : -1);
    key(s, "garbage_collection_threshold");
    pickle_out_double(&s->p, gc ? strtod(gc, NULL) : 0);
    key(s, "expandable_segments");
    pickle_out_bool(&s->p, expandable && strncmp(expandable, "True", 4) == 0);
    key(s, "roundup_power2_divisions");
    pickle_out_dict(&s->p);
    for (unsigned i = 0; i < SLOTS; i++) {
        char mib[8];
        snprintf(mib, sizeof mib, "%u", 1u << i);
        key(s, mib);
        pickle_out_u64(&s->p, divisions && *divisions != '[' ? strtoull(divisions, NULL, 10) : 0);
    }
    pickle_out_end_dict(&s->p);
    pickle_out_end_dict(&s->p);
}
