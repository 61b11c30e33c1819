/* pickle_out.h: plain data as a pickle of protocol 4, as Python's own pickler writes it: what is shared is written once
 * and named by the memo, long lists come in batches. Nothing else than dicts, lists, pairs, texts, numbers. */
#ifndef PICKLE_OUT_H
#define PICKLE_OUT_H

#include <stdbool.h>
#include <stdint.h>

struct text;

struct pickle_out {
    struct text *out;
    uint32_t memo; /* entries so far */
};

enum { PICKLE_UNKNOWN = UINT32_MAX };

void pickle_out_begin(struct pickle_out *p, struct text *out);
void pickle_out_end(struct pickle_out *p);

void pickle_out_dict(struct pickle_out *p); /* then keys and values in turn */
void pickle_out_end_dict(struct pickle_out *p);
/* A list: before each item pickle_out_item(&count), in the end pickle_out_end_list(count). `count` is
 * the caller's, 0 at first. */
void pickle_out_list(struct pickle_out *p);
void pickle_out_item(struct pickle_out *p, uint32_t *count);
void pickle_out_end_list(struct pickle_out *p, uint32_t count);

void pickle_out_u64(struct pickle_out *p, uint64_t value);
void pickle_out_i64(struct pickle_out *p, int64_t value);
void pickle_out_double(struct pickle_out *p, double value);
void pickle_out_bool(struct pickle_out *p, bool value);
void pickle_out_pair(struct pickle_out *p, uint64_t first, uint64_t second);
/* UTF-8; other bytes become U+FFFD. */
void pickle_out_text(struct pickle_out *p, const char *value);

/* What was written last gets a number; pickle_out_again writes it again by that. */
uint32_t pickle_out_keep(struct pickle_out *p);
void pickle_out_again(struct pickle_out *p, uint32_t kept);
/* A text that may come again: *kept is PICKLE_UNKNOWN at first. */
void pickle_out_shared(struct pickle_out *p, const char *value, uint32_t *kept);

#endif
