/* strings.h: texts of a capture, each written once. Any thread may ask; the flush thread takes what is new. */
#ifndef STRINGS_H
#define STRINGS_H

#include <stddef.h>
#include <stdint.h>

struct strings;

enum { STRINGS_LONGEST = 65536 }; /* bytes of one; what is longer is cut at a character */

struct strings *strings_create(void); /* NULL: no memory */
/* The text's id, from 1. NULL, the empty text, and no memory: 0. */
uint32_t strings_id(struct strings *strings, const char *text);
/* The same of a text of wchar_t, cut at 4,090 bytes of UTF-8; what has no place in UTF-8 becomes '?'. */
uint32_t strings_id_wide(struct strings *strings, const void *wide);
/* Calls `take` for each text that is new since the last call. */
void strings_take_new(struct strings *strings,
                      void (*take)(void *user, uint32_t id, const char *text, size_t bytes),
                      void *user);

#endif
