/* input_buffer.c: see input_buffer.h. */
#include "input_buffer.h"

#include "error.h"
#include "xalloc.h"

enum { FIRST_BYTES = 256 * 1024 };

bool input_buffer_check(const struct input_buffer *buffer, struct error *err) {
    return buffer->used <= buffer->limit ||
           error_set(err, ERROR_LIMIT, "unpacks to more than %zu bytes; --max-memory allows more",
                     buffer->limit);
}

bool input_buffer_grow(struct input_buffer *buffer, struct error *err) {
    if (buffer->used < buffer->capacity)
        return true;
    if (!input_buffer_check(buffer, err))
        return false;
    size_t capacity = buffer->capacity ? buffer->capacity * 2 : FIRST_BYTES;
    char *moved = xrealloc(buffer->bytes, capacity);
    if (!moved)
        return error_host_memory(err);
    buffer->bytes = moved;
    buffer->capacity = capacity;
    return true;
}
