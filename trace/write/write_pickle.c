/* write_pickle.c: a memory snapshot, as torch.cuda.memory._dump_snapshot writes it: for PyTorch's own memory_viz, and for
 * whatever else reads those. */
#include <string.h>

#include "error.h"
#include "snapshot_out.h"
#include "text.h"
#include "timeline.h"
#include "writer.h"

void snapshot_word(struct snapshot_out *s, enum snapshot_word word) {
    static const char *const words[] = {
#define X(word) #word,
        SNAPSHOT_WORDS(X)
#undef X
    };
    pickle_out_shared(&s->p, words[word], &s->words[word]);
}

void snapshot_text(struct snapshot_out *s, uint32_t string) {
    pickle_out_shared(&s->p, timeline_text(s->tl, string), &s->texts.at[string]);
}

void snapshot_number(struct snapshot_out *s, enum snapshot_word key, uint64_t value) {
    snapshot_word(s, key);
    pickle_out_u64(&s->p, value);
}

void snapshot_choice(struct snapshot_out *s, enum snapshot_word key, enum snapshot_word value) {
    snapshot_word(s, key);
    snapshot_word(s, value);
}

void snapshot_pair(struct snapshot_out *s, enum snapshot_word key, const uint64_t value[2]) {
    snapshot_word(s, key);
    pickle_out_pair(&s->p, value[0], value[1]);
}

static void tell_blocks(const struct timeline *tl, const struct snapshot_losses *l,
                        struct text *out) {
    if (l->homeless > 0)
        text_format(out, "%llu live blocks, which lie in no segment\n",
                    (unsigned long long)l->homeless);
    if (l->made_frames > 0)
        text_add(out, "tensors' names, modules and ops (they stand in the frames)\n");
    if (tl->has & TIMELINE_HAS_CATEGORY)
        text_add(out,
                 "types of blocks (what they are for stands in the entries of their allocation)\n");
}

static void tell_events(const struct timeline *tl, const struct snapshot_losses *l,
                        struct text *out) {
    if (l->stream_uses > 0)
        text_format(out, "%llu record_stream calls\n", (unsigned long long)l->stream_uses);
    if (l->empty_caches > 0)
        text_format(out, "%llu empty_cache calls\n", (unsigned long long)l->empty_caches);
    if (l->others > 0)
        text_format(out, "%llu entries of unknown kind\n", (unsigned long long)l->others);
    if (tl->ooms.count > 0)
        text_add(out, "of an out-of-memory more than its rounded size and the memory left\n");
    if (!(tl->has & TIMELINE_HAS_TIME) && tl->phases.count > 0)
        text_add(out, "that no clock is known (an event takes a microsecond)\n");
    if (l->cut_times)
        text_add(out, "times finer than a microsecond\n");
    if (l->moved_us > 0 && (tl->has & TIMELINE_HAS_TIME))
        text_format(out,
                    "exact times (up to %llu us late, so that phases stay between their events)\n",
                    (unsigned long long)l->moved_us);
    if (tl->has & TIMELINE_HAS_DEVICE)
        text_add(out, "the card's name and size\n");
}

static bool fill(struct snapshot_out *s, struct text *out, struct error *err) {
    size_t strings = strtab_count(&s->tl->strings);
    if (!strtab_init(&s->made) || !strtab_init(&s->frames) || !array_reserve(&s->texts, strings))
        return error_host_memory(err);
    memset(s->texts.at, 0xff, strings * sizeof *s->texts.at); /* PICKLE_UNKNOWN */
    memset(s->words, 0xff, sizeof s->words);
    s->no_frames = PICKLE_UNKNOWN;
    pickle_out_begin(&s->p, out);
    pickle_out_dict(&s->p);
    if (!snapshot_segments(s, err) || !snapshot_traces(s, err))
        return false;
    snapshot_config(s);
    pickle_out_end_dict(&s->p);
    pickle_out_end(&s->p);
    return !out->failed || error_host_memory(err);
}

static bool write(const struct timeline *tl, struct text *out, struct text *losses,
                  struct error *err) {
    if (!timeline_knows(tl, FIGURE_PLACEMENT))
        return error_set(
            err, ERROR_BAD_INPUT,
            "a snapshot is made of addresses, blocks and segments, and this source does "
            "not tell its %s; .vrt, .json, .csv and .perfetto need none of them",
            !(tl->has & TIMELINE_HAS_ADDRESS)       ? "addresses"
            : !(tl->has & TIMELINE_HAS_BLOCK_BYTES) ? "blocks' sizes"
                                                    : "segments");
    struct snapshot_out *s = xcalloc(1, sizeof *s);
    if (!s)
        return error_host_memory(err);
    s->tl = tl;
    bool ok = fill(s, out, err);
    if (ok) {
        tell_blocks(tl, &s->losses, losses);
        tell_events(tl, &s->losses, losses);
    }
    array_fini(&s->texts);
    array_fini(&s->stacks);
    array_fini(&s->made_stacks);
    array_fini(&s->frame_dicts);
    array_fini(&s->times_us);
    strtab_fini(&s->made);
    strtab_fini(&s->frames);
    xfree(s);
    return ok;
}

const struct writer writer_pickle = {
    .name = "pickle",
    .doc = "a memory snapshot of PyTorch, for its memory_viz",
    .ending = ".pickle",
    .write = write,
};
