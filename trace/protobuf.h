/* protobuf.h: the wire format of protocol buffers: fields of a message one by one, within bounds.
 *
 * A message is a run of fields, each a number and a value of one of four kinds; nothing else is known
 * without a schema. Source: protobuf.dev/programming-guides/encoding (2024). */
#ifndef PROTOBUF_H
#define PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct protobuf {
    const uint8_t *at, *end;
    bool failed; /* the bytes are no message */
};

struct protobuf_field {
    uint32_t number;
    bool is_bytes;         /* a text, a message, or packed numbers */
    uint64_t value;        /* otherwise; fixed ones as they lie there */
    struct protobuf bytes; /* of is_bytes */
};

static inline struct protobuf protobuf_of(const void *data, size_t length) {
    const uint8_t *at = data;
    return (struct protobuf){.at = at, .end = at + length};
}

/* The next field; false at the end and on damage (`failed`). */
bool protobuf_next(struct protobuf *p, struct protobuf_field *field);
/* The next of packed numbers; likewise. */
bool protobuf_number(struct protobuf *p, uint64_t *value);

static inline size_t protobuf_left(const struct protobuf *p) {
    return (size_t)(p->end - p->at);
}

#endif
