/* vrt_follow.c: see vrt_follow.h. */
#include "vrt_follow.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "error.h"
#include "timeline.h"
#include "vrt_format.h"
#include "vrt_read.h"
#include "xalloc.h"

/* A group of blocks fits into the second; most of what is new, into the first. */
enum { FIRST_BYTES = 1 << 20, MOST_BYTES = 1 << 30 };

struct vrt_follow {
    char *path;
    int file;
    struct timeline *tl;
    struct vrt_reader reader;
    uint8_t *bytes;
    size_t capacity;
    size_t checked; /* so many events */
    uint64_t bytes_read;
    uint8_t head[VRT_HEADER_BYTES]; /* of the file, once there was more */
};

struct vrt_follow *vrt_follow_open(const char *path, size_t max_bytes, struct error *err) {
    struct vrt_follow *f = xcalloc(1, sizeof *f);
    if (!f) {
        error_host_memory(err);
        return NULL;
    }
    f->path = xstrdup(path);
    f->tl = timeline_create();
    f->file = -1;
    vrt_reader_init(&f->reader, f->tl);
    f->reader.max_bytes = max_bytes;
    if (!f->path || !f->tl) {
        error_host_memory(err);
        vrt_follow_close(f);
        return NULL;
    }
    f->file = open(path, O_RDONLY | O_CLOEXEC);
    if (f->file < 0) {
        error_set(err, ERROR_IO_READ, "%s: %s", path, strerror(errno));
        vrt_follow_close(f);
        return NULL;
    }
    return f;
}

void vrt_follow_close(struct vrt_follow *f) {
    if (!f)
        return;
    if (f->file >= 0)
        close(f->file);
    vrt_reader_fini(&f->reader);
    timeline_destroy(f->tl);
    xfree(f->bytes);
    xfree(f->path);
    xfree(f);
}

/* The bytes from the offset on, as many as there is room for. -1: an error. */
static ssize_t read_on(struct vrt_follow *f, struct error *err) {
    size_t used = 0;
    while (used < f->capacity) {
        off_t at = (off_t)(f->reader.offset + used);
        ssize_t n = pread(f->file, f->bytes + used, f->capacity - used, at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            error_set(err, ERROR_IO_READ, "%s: %s", f->path, strerror(errno));
            return -1;
        }
        if (n == 0)
            break;
        used += (size_t)n;
        f->bytes_read += (uint64_t)n;
    }
    return (ssize_t)used;
}

static bool grow(struct vrt_follow *f, struct error *err) {
    size_t wanted = f->capacity ? f->capacity * 4 : FIRST_BYTES;
    uint8_t *moved = xrealloc(f->bytes, wanted);
    if (!moved)
        return error_host_memory(err);
    f->bytes = moved;
    f->capacity = wanted;
    return true;
}

/* What looks damaged at the end of a file may be half written: it is looked at again. */
static bool is_damaged(const struct vrt_follow *f, size_t got) {
    return f->reader.damaged_at != VRT_UNKNOWN &&
           f->reader.damaged_at + VRT_BLOCK_BYTES < f->reader.offset + got;
}

static bool check(struct vrt_follow *f, struct error *err) {
    if (f->tl->events.count < 2 * f->checked && !f->reader.has_ended)
        return true;
    f->checked = f->tl->events.count;
    return timeline_check(f->tl, err) || error_wrap(err, "%s: the file lies", f->path);
}

/* A file that is written over keeps its name and may be longer than before. */
static bool is_the_same(struct vrt_follow *f, struct error *err) {
    uint8_t head[VRT_HEADER_BYTES];
    if (f->reader.offset == 0)
        return true;
    ssize_t n = pread(f->file, head, sizeof head, 0);
    f->bytes_read += n > 0 ? (uint64_t)n : 0;
    return (n == (ssize_t)sizeof head && memcmp(head, f->head, sizeof head) == 0) ||
           error_set(err, ERROR_BAD_INPUT, "%s: another file than before", f->path);
}

static void keep_head(struct vrt_follow *f, size_t got) {
    if (f->reader.offset == 0 && got >= sizeof f->head)
        memcpy(f->head, f->bytes, sizeof f->head);
}

bool vrt_follow_more(struct vrt_follow *f, bool *more, struct error *err) {
    *more = false;
    if ((f->capacity == 0 && !grow(f, err)) || !is_the_same(f, err))
        return false;
    for (;;) {
        uint64_t before = f->reader.offset;
        ssize_t got = read_on(f, err);
        if (got < 0)
            return false;
        keep_head(f, (size_t)got);
        f->reader.damaged_at = VRT_UNKNOWN;
        if (!vrt_reader_take(&f->reader, f->bytes, (size_t)got, err))
            return error_wrap(err, "%s", f->path);
        bool is_full = (size_t)got == f->capacity;
        if (f->reader.offset > before) {
            *more = is_full;
            return check(f, err);
        }
        if (is_damaged(f, (size_t)got))
            return error_set(err, ERROR_BAD_INPUT, "%s: damaged at byte %llu: %s", f->path,
                             (unsigned long long)f->reader.damaged_at, f->reader.damage);
        if (!is_full || f->capacity >= MOST_BYTES)
            return true;
        if (!grow(f, err))
            return false;
    }
}

const struct timeline *vrt_follow_timeline(const struct vrt_follow *f) {
    return f->tl;
}

uint64_t vrt_follow_offset(const struct vrt_follow *f) {
    return f->reader.offset;
}

uint64_t vrt_follow_bytes_read(const struct vrt_follow *f) {
    return f->bytes_read;
}

uint64_t vrt_follow_records(const struct vrt_follow *f) {
    return f->reader.records;
}

uint64_t vrt_follow_lost_bytes(const struct vrt_follow *f) {
    return f->reader.lost_bytes;
}

void vrt_follow_take_records(struct vrt_follow *f,
                             bool (*take)(void *records, const uint8_t *bytes, size_t length,
                                          struct error *err),
                             void *records) {
    f->reader.take_records = take;
    f->reader.records_user = records;
}

bool vrt_follow_has_ended(const struct vrt_follow *f) {
    return f->reader.has_ended;
}
