/* foreign_text.h: texts of a trace file, fit for a terminal and for JSON. */
#ifndef FOREIGN_TEXT_H
#define FOREIGN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strtab;

/* Interns it with bad UTF-8 and control characters (but line breaks and tabs) as U+FFFD. False: host
 * memory. */
bool foreign_text_intern(struct strtab *table, const char *text, size_t length, uint32_t *id);

#endif
