/* protobuf.c: see protobuf.h. */
#include "protobuf.h"

enum wire { WIRE_VARINT, WIRE_FIXED64, WIRE_BYTES, WIRE_GROUP, WIRE_GROUP_END, WIRE_FIXED32 };

bool protobuf_number(struct protobuf *p, uint64_t *value) {
    *value = 0;
    if (p->at == p->end)
        return false;
    for (unsigned shift = 0; shift < 64 && p->at < p->end; shift += 7) {
        uint8_t byte = *p->at++;
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    p->failed = true;
    return false;
}

static bool take_fixed(struct protobuf *p, unsigned bytes, uint64_t *value) {
    *value = 0;
    if (protobuf_left(p) < bytes)
        return false;
    for (unsigned i = 0; i < bytes; i++)
        *value |= (uint64_t)*p->at++ << 8 * i;
    return true;
}

static bool take_bytes(struct protobuf *p, struct protobuf *out) {
    uint64_t length;
    if (!protobuf_number(p, &length) || length > protobuf_left(p))
        return false;
    *out = protobuf_of(p->at, (size_t)length);
    p->at += length;
    return true;
}

bool protobuf_next(struct protobuf *p, struct protobuf_field *field) {
    uint64_t key;
    bool ok = false;
    if (p->failed || !protobuf_number(p, &key))
        return false;
    *field = (struct protobuf_field){.number = (uint32_t)(key >> 3)};
    switch (key & 7) {
    case WIRE_VARINT:
        ok = protobuf_number(p, &field->value);
        break;
    case WIRE_FIXED64:
        ok = take_fixed(p, 8, &field->value);
        break;
    case WIRE_FIXED32:
        ok = take_fixed(p, 4, &field->value);
        break;
    case WIRE_BYTES:
        field->is_bytes = true;
        ok = take_bytes(p, &field->bytes);
        break;
    }
    if (!ok || key >> 3 == 0 || key >> 3 > UINT32_MAX)
        p->failed = true;
    return !p->failed;
}
