/* label.h: figures as texts, the same in every pane and language. */
#ifndef LABEL_H
#define LABEL_H

#include <stdint.h>

enum { LABEL_BYTES = 64 };

const char *label_bytes(uint64_t bytes, char out[LABEL_BYTES]);
/* The same; of 0: "-" */
const char *label_bytes_or_dash(uint64_t bytes, char out[LABEL_BYTES]);
/* "129 MiB", "29.1 GiB": where there is little room. */
const char *label_bytes_short(uint64_t bytes, char out[LABEL_BYTES]);
/* "54.42 GiB (58,432,610,304)" */
const char *label_bytes_exact(uint64_t bytes, char out[LABEL_BYTES]);
const char *label_count(uint64_t count, char out[LABEL_BYTES]);
/* a - b: "+1.00 MiB", "-512 B", "0 B" */
const char *label_difference(uint64_t a, uint64_t b, char out[LABEL_BYTES]);
/* "12.345 ms" */
const char *label_time(uint64_t ns, char out[LABEL_BYTES]);
/* "12.3 %"; of 0: "-" */
const char *label_share(uint64_t part, uint64_t whole, char out[LABEL_BYTES]);

#endif
