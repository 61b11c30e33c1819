/* vrt_column.h: many numbers in few bytes: one column of a table of a `.vrt` file.
 *
 *   description  0 u16 field  2 u8 encoding  3 u8 bytes a number: 0, 1, 2, 4, 8  4 u32 bytes of numbers, padding with them
 *                8 u64 base  16 u64 step
 *   numbers      what is left of each value (all sums modulo 2^64):
 *                  PLAIN  value - base          RISING  value - the value before - step; before the first is base
 *
 * An encoding's highest bit: the values are differences to what the reader can tell itself (vrt_table.h). */
#ifndef VRT_COLUMN_H
#define VRT_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VRT_COLUMN_BYTES = 24 };
enum vrt_encoding { VRT_PLAIN = 0, VRT_RISING = 1, VRT_FORETOLD = 0x80 };

struct vrt_column {
    uint16_t field;
    uint8_t encoding, width;
    uint32_t bytes;
    uint64_t base, step;
};

/* The column that takes the fewest bytes for these values (count > 0). `field` and a FORETOLD are
 * the caller's to set. */
struct vrt_column vrt_column_plan(const uint64_t *values, size_t count);
/* Writes column->bytes bytes at `out`. */
void vrt_column_pack(const struct vrt_column *column, const uint64_t *values, size_t count,
                     uint8_t *out);
void vrt_column_put(const struct vrt_column *column, uint8_t out[VRT_COLUMN_BYTES]);
struct vrt_column vrt_column_get(const uint8_t in[VRT_COLUMN_BYTES]);
/* Is it one whose numbers are `rows` of a known form? */
bool vrt_column_is_known(const struct vrt_column *column, size_t rows);
/* Values [first, first + count) into `values`; `before` goes from one call to the next, and begins as
 * column->base. */
void vrt_column_unpack(const struct vrt_column *column, const uint8_t *numbers, size_t first,
                       size_t count, uint64_t *before, uint64_t *values);

#endif
