/* input_buffer.h: what an unpacker fills, within the limit of input_open. Private to input_*.c.
 *
 * Zero bytes and a limit are an empty one; `bytes` is xalloc'ed, the unpacker's until it hands it on. */
#ifndef INPUT_BUFFER_H
#define INPUT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct error;

struct input_buffer {
    char *bytes;
    size_t used, capacity, limit;
};

/* Room where there is none. More than the limit: ERROR_LIMIT. */
bool input_buffer_grow(struct input_buffer *buffer, struct error *err);
/* At the end: ERROR_LIMIT when more was unpacked than the limit. */
bool input_buffer_check(const struct input_buffer *buffer, struct error *err);

#endif
