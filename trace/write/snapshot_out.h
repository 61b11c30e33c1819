/* snapshot_out.h: what the parts of a memory snapshot's writer share. Private to write_pickle.c and snapshot_*.c. */
#ifndef SNAPSHOT_OUT_H
#define SNAPSHOT_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "array.h"
#include "pickle_out.h"
#include "strtab.h"

struct error;
struct text;
struct timeline;
struct timeline_block;

/* Keys and words of a snapshot, each written once. */
#define SNAPSHOT_WORDS(X)                                                                          \
    X(segments)                                                                                    \
    X(device_traces)                                                                               \
    X(allocator_settings)                                                                          \
    X(external_annotations)                                                                        \
    X(device)                                                                                      \
    X(address)                                                                                     \
    X(total_size)                                                                                  \
    X(allocated_size)                                                                              \
    X(active_size)                                                                                 \
    X(requested_size)                                                                              \
    X(stream)                                                                                      \
    X(segment_type)                                                                                \
    X(segment_pool_id)                                                                             \
    X(is_expandable)                                                                               \
    X(frames)                                                                                      \
    X(blocks)                                                                                      \
    X(large)                                                                                       \
    X(small)                                                                                       \
    X(size)                                                                                        \
    X(state)                                                                                       \
    X(active_allocated)                                                                            \
    X(active_pending_free)                                                                         \
    X(inactive)                                                                                    \
    X(action)                                                                                      \
    X(addr)                                                                                        \
    X(device_free)                                                                                 \
    X(time_us)                                                                                     \
    X(pool_id)                                                                                     \
    X(category)                                                                                    \
    X(stage)                                                                                       \
    X(START)                                                                                       \
    X(END)                                                                                         \
    X(name)                                                                                        \
    X(filename)                                                                                    \
    X(line)

enum snapshot_word {
#define X(word) WORD_##word,
    SNAPSHOT_WORDS(X)
#undef X
        WORD_COUNT
};

/* What was left out, to be told. */
struct snapshot_losses {
    uint64_t stream_uses, empty_caches, others, homeless; /* events, events, events, blocks */
    uint64_t made_frames;                                 /* blocks whose frames say op and owner */
    uint64_t moved_us;                                    /* the most that a time was moved */
    bool cut_times;                                       /* finer than a microsecond */
};

struct snapshot_out {
    const struct timeline *tl;
    struct pickle_out p;
    uint32_t words[WORD_COUNT];  /* of the memo */
    ARRAY(uint32_t) texts;       /* of the memo, by string */
    ARRAY(uint32_t) stacks;      /* by stack */
    struct strtab made;          /* frames that are made: owner, op, name */
    ARRAY(uint32_t) made_stacks; /* by `made` */
    struct strtab frames;        /* function, file, line */
    ARRAY(uint32_t) frame_dicts; /* by `frames` */
    uint32_t no_frames;          /* the empty list */
    ARRAY(uint64_t) times_us;    /* of each event, as they go out */
    bool has_times;              /* else nothing needs them, and none are known */
    struct snapshot_losses losses;
};

void snapshot_word(struct snapshot_out *s, enum snapshot_word word);
void snapshot_text(struct snapshot_out *s, uint32_t string);
/* A key and its value. */
void snapshot_number(struct snapshot_out *s, enum snapshot_word key, uint64_t value);
void snapshot_choice(struct snapshot_out *s, enum snapshot_word key, enum snapshot_word value);
void snapshot_pair(struct snapshot_out *s, enum snapshot_word key, const uint64_t value[2]);

/* snapshot_frames.c: the key `frames` and the list. False: host memory. */
bool snapshot_stack(struct snapshot_out *s, uint32_t stack);
/* The block's stack; without one, what is known of who asked for it. */
bool snapshot_block_stack(struct snapshot_out *s, const struct timeline_block *block);

/* snapshot_segments.c: the key `segments` and the list. */
bool snapshot_segments(struct snapshot_out *s, struct error *err);
/* snapshot_traces.c: the keys `device_traces` and `external_annotations` and their lists. */
bool snapshot_traces(struct snapshot_out *s, struct error *err);
/* snapshot_config.c: the key `allocator_settings` and the dict. */
void snapshot_config(struct snapshot_out *s);

#endif
