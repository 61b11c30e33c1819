/* vrt_read.c: see vrt_read.h. Two walks: the first makes sure of the blocks up to the last WHOLE one and counts rows, the
 * second takes them. */
#include "vrt_read.h"

#include <stdio.h>

#include "category.h"
#include "dtype.h"
#include "error.h"
#include "timeline.h"
#include "vrt_format.h"
#include "vrt_zstd.h"

bool vrt_is_one(const uint8_t *head, size_t length) {
    return length >= 8 && memcmp(head, VRT_MAGIC, 8) == 0;
}

/* Without a list of names a file has the numbers of this program. */
static void set_maps(struct vrt_maps *maps) {
    for (unsigned i = 0; i < 256; i++) {
        maps->kind[i] = (uint8_t)(i < EVENT_KIND_COUNT ? i : EVENT_OTHER);
        maps->category[i] = (uint8_t)(i < CATEGORY_COUNT ? i : CATEGORY_UNKNOWN);
        maps->dtype[i] = (uint8_t)(i < DTYPE_COUNT ? i : DTYPE_NONE);
    }
}

void vrt_reader_init(struct vrt_reader *reader, struct timeline *tl) {
    *reader = (struct vrt_reader){.tl = tl, .damaged_at = VRT_UNKNOWN, .damage = ""};
    vrt_crc_init(&reader->crc);
    set_maps(&reader->maps);
}

void vrt_reader_fini(struct vrt_reader *reader) {
    array_fini(&reader->unpacked.bytes);
    array_fini(&reader->gaps);
}

/* --- heads --- */

/* *bytes: of the header; 0: there are too few yet. */
static bool take_header(struct vrt_reader *r, const uint8_t *at, size_t length, size_t *bytes,
                        struct error *err) {
    *bytes = 0;
    if (length < VRT_HEADER_BYTES)
        return true;
    uint32_t total = vrt_get32(at + 8), order = vrt_get32(at + 12);
    uint16_t major = vrt_get16(at + 16);
    if (!vrt_is_one(at, length) || order != VRT_BYTE_ORDER)
        return error_set(err, ERROR_BAD_INPUT, "not a .vrt file of this byte order");
    if (major > VRT_MAJOR)
        return error_set(
            err, ERROR_BAD_INPUT,
            "a .vrt file of version %u.%u; this program reads up to %d, a newer one is "
            "needed",
            major, vrt_get16(at + 18), VRT_MAJOR);
    if (total < VRT_HEADER_BYTES || total > VRT_MAX_HEADER_BYTES || total % VRT_ALIGN != 0)
        return error_set(err, ERROR_BAD_INPUT, "a header of %u bytes", total);
    if (total > length)
        return true;
    uint32_t crc = vrt_crc_of(&r->crc, 0, at, VRT_HEADER_BYTES - 4);
    crc = vrt_crc_of(&r->crc, crc, at + VRT_HEADER_BYTES, total - VRT_HEADER_BYTES);
    if (crc != vrt_get32(at + 60))
        return error_set(err, ERROR_BAD_INPUT, "the header is damaged: its checksum is another");
    r->producer = vrt_get32(at + 20);
    r->minor = vrt_get16(at + 18);
    *bytes = total;
    return true;
}

struct block {
    uint64_t bytes; /* with its head and padding */
    uint32_t stored, raw, rows, sequence, crc;
    uint16_t type;
    uint8_t codec, flags;
};

enum found { FOUND_BLOCK, FOUND_TOO_FEW, FOUND_DAMAGE };

static enum found read_head(const struct vrt_reader *r, const uint8_t *at, uint64_t length,
                            struct block *b) {
    if (length < VRT_BLOCK_BYTES)
        return FOUND_TOO_FEW;
    *b = (struct block){.stored = vrt_get32(at + 4),
                        .raw = vrt_get32(at + 8),
                        .codec = at[12],
                        .flags = at[13],
                        .type = vrt_get16(at + 14),
                        .rows = vrt_get32(at + 16),
                        .sequence = vrt_get32(at + 20),
                        .crc = vrt_get32(at + 40)};
    b->bytes = VRT_BLOCK_BYTES + vrt_padded(b->stored);
    if (vrt_get32(at) != VRT_BLOCK_MAGIC || vrt_crc_of(&r->crc, 0, at, 44) != vrt_get32(at + 44) ||
        b->stored > VRT_MAX_BLOCK_BYTES || b->raw > VRT_MAX_BLOCK_BYTES || b->rows > VRT_MAX_ROWS)
        return FOUND_DAMAGE;
    return b->bytes > length ? FOUND_TOO_FEW : FOUND_BLOCK;
}

/* --- the first walk --- */

struct extent {
    uint64_t end; /* behind the last block that can be taken */
    uint32_t sequence;
    uint64_t rows[TIMELINE_TABLE_COUNT];
    bool has_tables;
};

struct walk {
    struct vrt_reader *r;
    const uint8_t *bytes;
    size_t length;
    uint64_t hashed; /* bytes, in search of what is whole */
    struct extent now;
};

static enum found find_block(struct walk *w, struct block *b, const char **damage) {
    const struct vrt_reader *r = w->r;
    const uint8_t *at = w->bytes + w->now.end;
    enum found found = read_head(r, at, w->length - w->now.end, b);
    *damage = "its head is damaged";
    if (found != FOUND_BLOCK)
        return found;
    if (b->sequence != w->now.sequence)
        return FOUND_DAMAGE;
    *damage = "its bytes are not those that were written";
    return vrt_crc_of(&r->crc, 0, at + VRT_BLOCK_BYTES, b->stored) == b->crc ? FOUND_BLOCK
                                                                             : FOUND_DAMAGE;
}

static void count_block(struct extent *now, const struct block *b) {
    if (b->type >= VRT_TABLE && b->type < VRT_TABLE + TIMELINE_TABLE_COUNT) {
        now->rows[b->type - VRT_TABLE] += b->rows;
        now->has_tables = true;
    }
    now->end += b->bytes;
    now->sequence = b->sequence + 1;
}

/* The next block of records, or the end, behind `at`: NULL: there is none. Bytes may be missing or added, so that it may
 * begin anywhere; checksums are made of twice the file at most, however many heads lie in it. */
static const uint8_t *find_again(struct walk *w, const uint8_t *at, struct block *b,
                                 uint64_t *records) {
    const uint8_t *end = w->bytes + w->length;
    *records = 0;
    while ((at = memchr(at, VRT_BLOCK_MAGIC & 0xff, (size_t)(end - at))) != NULL) {
        bool is_head = read_head(w->r, at, (uint64_t)(end - at), b) == FOUND_BLOCK &&
                       (b->type == VRT_RECORDS || b->type == VRT_END) &&
                       (b->flags & VRT_FLAG_WHOLE) && b->sequence >= w->now.sequence;
        if (!is_head) {
            at++;
            continue;
        }
        if (vrt_crc_of(&w->r->crc, 0, at + VRT_BLOCK_BYTES, b->stored) == b->crc)
            return at;
        *records += b->rows;
        w->hashed += b->bytes;
        at += w->hashed > w->length ? b->bytes : 1;
        if (at > end)
            return NULL;
    }
    return NULL;
}

/* Passes over what is damaged here. False: nothing whole comes behind it, or it would make no sense without that; or
 * host memory, which is told from it by *failed. */
static bool pass_over(struct walk *w, bool *failed) {
    struct vrt_reader *r = w->r;
    struct block b;
    uint64_t records;
    *failed = false;
    if (!r->take_records || r->producer != VRT_CAPTURE || w->now.has_tables ||
        timeline_rows(r->tl, TIMELINE_TABLE_EVENTS) > 0)
        return false;
    const uint8_t *next = find_again(w, w->bytes + w->now.end, &b, &records);
    if (!next)
        return false;
    const struct vrt_gap gap = {.from = r->offset + w->now.end,
                                .to = r->offset + (uint64_t)(next - w->bytes),
                                .sequence = b.sequence};
    if (!array_push(&r->gaps, gap)) {
        *failed = true;
        return false;
    }
    r->lost_bytes += gap.to - gap.from;
    r->lost_blocks += b.sequence - w->now.sequence;
    r->lost_records += records;
    w->now.end = (uint64_t)(next - w->bytes);
    w->now.sequence = b.sequence;
    return true;
}

static bool find_extent(struct vrt_reader *r, const uint8_t *bytes, size_t length, size_t begin,
                        struct extent *whole, struct error *err) {
    struct walk w = {.r = r, .bytes = bytes, .length = length};
    w.now = *whole = (struct extent){.end = begin, .sequence = r->sequence};
    for (;;) {
        struct block b;
        const char *damage;
        bool failed = false;
        enum found found = find_block(&w, &b, &damage);
        if (found == FOUND_DAMAGE && pass_over(&w, &failed))
            continue;
        if (failed)
            return error_host_memory(err);
        if (found == FOUND_DAMAGE) {
            r->damaged_at = r->offset + w.now.end;
            r->damage = damage;
        }
        if (found != FOUND_BLOCK)
            return true;
        count_block(&w.now, &b);
        if (b.flags & VRT_FLAG_WHOLE)
            *whole = w.now;
    }
}

/* Room for all that is to come, which is the better part of the work otherwise. */
static bool reserve(struct vrt_reader *r, const struct extent *extent, struct error *err) {
    uint64_t bytes = 0;
    for (unsigned t = TIMELINE_TABLE_STREAMS; t < TIMELINE_TABLE_COUNT; t++) {
        enum timeline_table_id id = (enum timeline_table_id)t;
        bytes += (timeline_rows(r->tl, id) + extent->rows[t]) * timeline_table(id)->row_bytes;
    }
    if (r->max_bytes > 0 && bytes > r->max_bytes)
        return error_set(err, ERROR_LIMIT,
                         "a timeline of %llu bytes; the import may take %zu (--max-memory)",
                         (unsigned long long)bytes, r->max_bytes);
    for (unsigned t = TIMELINE_TABLE_STREAMS; t < TIMELINE_TABLE_COUNT; t++) {
        enum timeline_table_id id = (enum timeline_table_id)t;
        uint64_t rows = timeline_rows(r->tl, id) + extent->rows[t];
        /* of a file that grows a little at a time, the arrays grow as they like */
        if (r->sequence == 0 && extent->rows[t] > 0 && !timeline_reserve_rows(r->tl, id, rows))
            return rows >= TIMELINE_NONE
                       ? error_set(err, ERROR_LIMIT, "%llu %s", (unsigned long long)rows,
                                   timeline_table(id)->name)
                       : error_host_memory(err);
    }
    return true;
}

/* --- what blocks hold --- */

static bool take_strings(struct vrt_reader *r, const uint8_t *at, size_t length, uint32_t rows,
                         struct error *err) {
    struct strtab *strings = &r->tl->strings;
    uint64_t lengths = 16 + 4 * (uint64_t)rows;
    if (length < lengths || vrt_get64(at) != strtab_count(strings))
        return error_set(
            err, ERROR_BAD_INPUT, "%u strings in %zu bytes, from %llu on, where %zu are", rows,
            length, length < 8 ? 0ull : (unsigned long long)vrt_get64(at), strtab_count(strings));
    size_t text = (size_t)lengths;
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t n = vrt_get32(at + 16 + 4 * (size_t)i), id;
        size_t expected = strtab_count(strings);
        if (n > length - text)
            return error_set(err, ERROR_BAD_INPUT, "string %zu ends behind its block", expected);
        if (!strtab_add(strings, (const char *)at + text, n, &id))
            return error_host_memory(err);
        if (id != expected)
            return error_set(err, ERROR_BAD_INPUT, "string %zu is string %u again", expected, id);
        text += n;
    }
    return r->max_bytes == 0 || strtab_bytes(strings) <= r->max_bytes ||
           error_set(err, ERROR_LIMIT,
                     "strings of %zu bytes; the import may take %zu (--max-memory)",
                     strtab_bytes(strings), r->max_bytes);
}

static uint8_t find_name(uint8_t which, const char *name) {
    uint8_t i = 0;
    switch (which) {
    case VRT_NAMES_KIND:
        while (i < EVENT_OTHER && strcmp(event_kind_name((enum event_kind)i), name) != 0)
            i++;
        return i;
    case VRT_NAMES_CATEGORY:
        return (uint8_t)category_find(name);
    default:
        return (uint8_t)dtype_find(name);
    }
}

static bool take_names(struct vrt_reader *r, const uint8_t *at, size_t length, uint32_t rows,
                       struct error *err) {
    uint8_t *const maps[] = {NULL, r->maps.kind, r->maps.category, r->maps.dtype};
    for (uint32_t i = 0; i < rows; i++) {
        char name[256];
        if (length < 3 || length - 3 < at[2])
            return error_set(err, ERROR_BAD_INPUT, "name %u of %u ends behind its block", i, rows);
        memcpy(name, at + 3, at[2]);
        name[at[2]] = '\0';
        if (at[0] >= VRT_NAMES_KIND && at[0] <= VRT_NAMES_DTYPE)
            maps[at[0]][at[1]] = find_name(at[0], name);
        length -= 3u + at[2];
        at += 3u + at[2];
    }
    return true;
}

static const struct timeline_field *find_field(const struct timeline_table *table, uint16_t id) {
    for (size_t f = 0; f < table->field_count; f++)
        if (table->fields[f].id == id)
            return &table->fields[f];
    return NULL;
}

static bool take_patch(struct vrt_reader *r, const uint8_t *at, struct error *err) {
    uint16_t t = vrt_get16(at);
    uint32_t row = vrt_get32(at + 4);
    if (t <= TIMELINE_TABLE_RUN || t >= TIMELINE_TABLE_COUNT)
        return true;
    enum timeline_table_id id = (enum timeline_table_id)t;
    const struct timeline_field *field = find_field(timeline_table(id), vrt_get16(at + 2));
    if (row >= timeline_rows(r->tl, id))
        return error_set(err, ERROR_BAD_INPUT, "a change of row %u of %zu %s", row,
                         timeline_rows(r->tl, id), timeline_table(id)->name);
    uint64_t value = vrt_get64(at + 8);
    if (!field)
        return true;
    if (!vrt_table_convert(r->tl, field, &r->maps, &value, 1, err))
        return false;
    if (id == TIMELINE_TABLE_STACKS)
        return error_set(err, ERROR_BAD_INPUT, "a change of a stack");
    timeline_field_set(field, timeline_rows_at(r->tl, id) + row * timeline_table(id)->row_bytes,
                       value);
    return true;
}

static bool take_patches(struct vrt_reader *r, const uint8_t *at, size_t length, uint32_t rows,
                         struct error *err) {
    enum { PATCH_BYTES = 16 };
    if (length / PATCH_BYTES < rows)
        return error_set(err, ERROR_BAD_INPUT, "%u changes in %zu bytes", rows, length);
    for (uint32_t i = 0; i < rows; i++)
        if (!take_patch(r, at + (size_t)i * PATCH_BYTES, err))
            return false;
    return true;
}

static bool take_raw(struct vrt_reader *r, const struct block *b, const uint8_t *at, size_t length,
                     struct error *err) {
    if (b->type == VRT_STRINGS)
        return take_strings(r, at, length, b->rows, err);
    if (b->type == VRT_NAMES)
        return take_names(r, at, length, b->rows, err);
    if (b->type == VRT_PATCH)
        return take_patches(r, at, length, b->rows, err);
    if (b->type == VRT_RECORDS) {
        r->records++;
        return !r->take_records || b->codec != VRT_RAW ||
               r->take_records(r->records_user, at, length, err);
    }
    if (b->type < VRT_TABLE || b->type >= VRT_TABLE + TIMELINE_TABLE_COUNT)
        return true;
    enum timeline_table_id id = (enum timeline_table_id)(b->type - VRT_TABLE);
    return vrt_table_unpack(r->tl, id, at, length, b->rows, &r->maps, &r->foretell, err);
}

static bool take_block(struct vrt_reader *r, const struct block *b, const uint8_t *stored,
                       struct error *err) {
    const uint8_t *raw = stored;
    if (b->codec >
        VRT_ZSTD) /* of a later writer: as an unknown type, if it is none that is needed */
        return error_set(err, ERROR_BAD_INPUT, "packed by an unknown codec %u", b->codec);
    if (b->codec == VRT_RAW && b->raw != b->stored)
        return error_set(err, ERROR_BAD_INPUT, "%u bytes stored, %u raw", b->stored, b->raw);
    if (b->codec == VRT_ZSTD) {
        if (!vrt_zstd_unpack(stored, b->stored, b->raw, &r->unpacked, err))
            return false;
        raw = r->unpacked.bytes.at;
    }
    r->has_ended = r->has_ended || (b->flags & VRT_FLAG_END);
    return take_raw(r, b, raw, b->raw, err);
}

/* --- the second walk --- */

/* To where the blocks go on, if a gap begins at the reader's offset: so many bytes. */
static uint64_t cross_gap(struct vrt_reader *r) {
    if (r->crossed == r->gaps.count || r->gaps.at[r->crossed].from != r->offset)
        return 0;
    const struct vrt_gap *gap = &r->gaps.at[r->crossed++];
    r->sequence = gap->sequence;
    r->offset = gap->to;
    return gap->to - gap->from;
}

static bool take_blocks(struct vrt_reader *r, const uint8_t *bytes, size_t at, uint64_t end,
                        struct error *err) {
    while (at < end) {
        struct block b;
        at += cross_gap(r);
        /* the first walk has seen it whole */
        if (read_head(r, bytes + at, end - at, &b) != FOUND_BLOCK ||
            !take_block(r, &b, bytes + at + VRT_BLOCK_BYTES, err))
            return error_wrap(err, "block %u at byte %llu", r->sequence,
                              (unsigned long long)r->offset);
        at += b.bytes;
        r->offset += b.bytes;
        r->sequence++;
        r->blocks++;
        if (r->progress && !r->progress(r->user, at, end))
            return error_set(err, ERROR_INTERRUPTED, "interrupted");
    }
    return true;
}

bool vrt_reader_take(struct vrt_reader *r, const uint8_t *bytes, size_t length, struct error *err) {
    size_t begin = 0;
    if (r->damaged_at != VRT_UNKNOWN || r->has_ended)
        return true;
    if (r->offset == 0) {
        if (!take_header(r, bytes, length, &begin, err))
            return false;
        if (begin == 0)
            return true;
    }
    struct extent extent;
    if (!find_extent(r, bytes, length, begin, &extent, err) || !reserve(r, &extent, err))
        return false;
    r->offset += begin;
    return take_blocks(r, bytes, begin, extent.end, err);
}
