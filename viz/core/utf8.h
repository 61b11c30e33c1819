/* utf8.h: code points out of untrusted text. Bad sequences, control characters and bidirectional
 * overrides read as U+FFFD, so that what is drawn is what is there. */
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_REPLACEMENT = 0xfffd };

/* The code point at *at, which moves on by at least one byte; 0 at `end`. */
uint32_t utf8_next(const char **at, const char *end);
/* 1 to 4 bytes into `out`. */
size_t utf8_put(uint32_t code, char out[4]);

#endif
