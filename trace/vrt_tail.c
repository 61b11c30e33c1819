/* vrt_tail.c: see vrt_tail.h. */
#include "vrt_tail.h"

#include <string.h>

#include "array.h"
#include "capture_records.h"
#include "error.h"
#include "machine.h"
#include "timeline.h"
#include "vrt_follow.h"

struct vrt_tail {
    char *path;
    struct vrt_follow *follow;
    struct capture_records records;
    ARRAY(uint8_t *) kept; /* the bytes of the records */
};

/* The reader's buffer is used again: records stay where they are only in memory of our own. */
static bool keep_records(void *user, const uint8_t *bytes, size_t length, struct error *err) {
    struct vrt_tail *tail = user;
    uint8_t *own = xalloc(length + 1);
    if (!own || !array_push(&tail->kept, own)) {
        xfree(own);
        return error_host_memory(err);
    }
    memcpy(own, bytes, length);
    return capture_records_add(&tail->records, own, length, err);
}

struct vrt_tail *vrt_tail_open(const char *path, size_t max_bytes, struct error *err) {
    struct vrt_tail *tail = xcalloc(1, sizeof *tail);
    size_t most = max_bytes > 0 ? max_bytes : machine_memory_bytes() / 4 * 3;
    if (!tail || !(tail->path = xstrdup(path))) {
        error_host_memory(err);
        vrt_tail_close(tail);
        return NULL;
    }
    tail->follow = vrt_follow_open(path, most, err);
    if (!tail->follow) {
        vrt_tail_close(tail);
        return NULL;
    }
    vrt_follow_take_records(tail->follow, keep_records, tail);
    return tail;
}

void vrt_tail_close(struct vrt_tail *tail) {
    if (!tail)
        return;
    vrt_follow_close(tail->follow);
    capture_records_fini(&tail->records);
    for (size_t i = 0; i < tail->kept.count; i++)
        xfree(tail->kept.at[i]);
    array_fini(&tail->kept);
    xfree(tail->path);
    xfree(tail);
}

static bool take_new(struct vrt_tail *tail,
                     bool (*progress)(void *user, uint64_t done, uint64_t total), void *user,
                     struct error *err) {
    bool more = true;
    while (more) {
        if (!vrt_follow_more(tail->follow, &more, err))
            return false;
        if (progress && !progress(user, 0, 0))
            return error_set(err, ERROR_INTERRUPTED, "interrupted");
    }
    if (vrt_follow_lost_bytes(tail->follow) > 0)
        return error_set(err, ERROR_BAD_INPUT, "%s: %llu bytes are damaged", tail->path,
                         (unsigned long long)vrt_follow_lost_bytes(tail->follow));
    return true;
}

/* The follower looks whether the events make sense only now and then; who asks for them relies on it. */
static struct timeline *copy(struct vrt_tail *tail, struct error *err) {
    struct timeline *tl = timeline_copy(vrt_follow_timeline(tail->follow));
    if (!tl) {
        error_host_memory(err);
        return NULL;
    }
    if (vrt_follow_records(tail->follow) == 0 || capture_records_build(&tail->records, tl, err))
        return tl;
    timeline_destroy(tl);
    return NULL;
}

struct timeline *vrt_tail_read(struct vrt_tail *tail,
                               bool (*progress)(void *user, uint64_t done, uint64_t total),
                               void *user, struct error *err) {
    struct timeline *tl = take_new(tail, progress, user, err) ? copy(tail, err) : NULL;
    if (!tl)
        return NULL;
    tl->title = timeline_string(tl, tail->path);
    if (timeline_check(tl, err))
        return tl;
    error_wrap(err, "%s: the file lies", tail->path);
    timeline_destroy(tl);
    return NULL;
}

bool vrt_tail_has_ended(const struct vrt_tail *tail) {
    return vrt_follow_has_ended(tail->follow);
}

uint64_t vrt_tail_bytes_read(const struct vrt_tail *tail) {
    return vrt_follow_bytes_read(tail->follow);
}
