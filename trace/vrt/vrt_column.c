/* vrt_column.c: see vrt_column.h. */
#include "vrt_column.h"

#include "vrt_format.h"

/* The smallest of some numbers, as unsigned or as signed ones, whichever lie closer together. */
struct range {
    uint64_t low, high, signed_low, signed_high;
};

#define SIGN                                                                                       \
    (UINT64_C(1) << 63) /* added, it turns the order of signed numbers into that of unsigned ones */

static void see(struct range *r, uint64_t v) {
    if (v < r->low)
        r->low = v;
    if (v > r->high)
        r->high = v;
    if (v + SIGN < r->signed_low)
        r->signed_low = v + SIGN;
    if (v + SIGN > r->signed_high)
        r->signed_high = v + SIGN;
}

static uint8_t width_of(uint64_t most) {
    return most == 0            ? 0
           : most <= UINT8_MAX  ? 1
           : most <= UINT16_MAX ? 2
           : most <= UINT32_MAX ? 4
                                : 8;
}

static uint8_t settle(const struct range *r, uint64_t *low) {
    uint64_t span = r->high - r->low, signed_span = r->signed_high - r->signed_low;
    *low = signed_span < span ? r->signed_low - SIGN : r->low;
    return width_of(signed_span < span ? signed_span : span);
}

struct vrt_column vrt_column_plan(const uint64_t *values, size_t count) {
    struct range plain = {UINT64_MAX, 0, UINT64_MAX, 0}, rising = plain;
    for (size_t i = 0; i < count; i++)
        see(&plain, values[i]);
    for (size_t i = 1; i < count; i++)
        see(&rising, values[i] - values[i - 1]);
    struct vrt_column c = {.encoding = VRT_PLAIN};
    c.width = settle(&plain, &c.base);
    if (c.width > 0 && count > 1) {
        uint64_t step;
        uint8_t width = settle(&rising, &step);
        if (width < c.width)
            c = (struct vrt_column){
                .encoding = VRT_RISING, .width = width, .base = values[0] - step, .step = step};
    }
    c.bytes = (uint32_t)vrt_padded((uint64_t)c.width * count);
    return c;
}

static void put(uint8_t *out, uint8_t width, size_t i, uint64_t v) {
    switch (width) {
    case 1:
        out[i] = (uint8_t)v;
        break;
    case 2:
        vrt_put16(out + 2 * i, (uint16_t)v);
        break;
    case 4:
        vrt_put32(out + 4 * i, (uint32_t)v);
        break;
    case 8:
        vrt_put64(out + 8 * i, v);
        break;
    default:
        break;
    }
}

void vrt_column_pack(const struct vrt_column *column, const uint64_t *values, size_t count,
                     uint8_t *out) {
    uint64_t before = column->base;
    memset(out + (size_t)column->width * count, 0, column->bytes - (size_t)column->width * count);
    for (size_t i = 0; column->width > 0 && i < count; i++) {
        uint64_t from = column->encoding == VRT_RISING ? before + column->step : column->base;
        put(out, column->width, i, values[i] - from);
        before = values[i];
    }
}

void vrt_column_put(const struct vrt_column *column, uint8_t out[VRT_COLUMN_BYTES]) {
    vrt_put16(out, column->field);
    out[2] = column->encoding;
    out[3] = column->width;
    vrt_put32(out + 4, column->bytes);
    vrt_put64(out + 8, column->base);
    vrt_put64(out + 16, column->step);
}

struct vrt_column vrt_column_get(const uint8_t in[VRT_COLUMN_BYTES]) {
    return (struct vrt_column){.field = vrt_get16(in),
                               .encoding = in[2],
                               .width = in[3],
                               .bytes = vrt_get32(in + 4),
                               .base = vrt_get64(in + 8),
                               .step = vrt_get64(in + 16)};
}

bool vrt_column_is_known(const struct vrt_column *column, size_t rows) {
    bool has_width = column->width <= 2 || column->width == 4 || column->width == 8;
    return has_width && (column->encoding & ~VRT_FORETOLD) <= VRT_RISING &&
           column->bytes == vrt_padded((uint64_t)column->width * rows);
}

/* One loop a width, so that each is a plain one. */
static void widen(uint8_t width, const uint8_t *at, size_t count, uint64_t *out) {
    switch (width) {
    case 1:
        for (size_t i = 0; i < count; i++)
            out[i] = at[i];
        break;
    case 2:
        for (size_t i = 0; i < count; i++)
            out[i] = vrt_get16(at + 2 * i);
        break;
    case 4:
        for (size_t i = 0; i < count; i++)
            out[i] = vrt_get32(at + 4 * i);
        break;
    case 8:
        memcpy(out, at, count * sizeof *out);
        break;
    default:
        memset(out, 0, count * sizeof *out);
        break;
    }
}

void vrt_column_unpack(const struct vrt_column *column, const uint8_t *numbers, size_t first,
                       size_t count, uint64_t *before, uint64_t *values) {
    widen(column->width, numbers + first * column->width, count, values);
    if ((column->encoding & ~VRT_FORETOLD) == VRT_PLAIN) {
        for (size_t i = 0; i < count; i++)
            values[i] += column->base;
        return;
    }
    uint64_t at = *before;
    for (size_t i = 0; i < count; i++)
        values[i] = at += values[i] + column->step;
    *before = at;
}
