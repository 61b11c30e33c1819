/* sink.c: see sink.h. */
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"
#include "records.h"
#include "ring.h"
#include "strings.h"
#include "vrt_format.h"
#include "vrt_out.h"

enum { BLOCK_BYTES = 256 << 10, BUFFER_BYTES = 1 << 20, MOST_JSON = 4096 };

struct sink {
    pthread_mutex_t lock; /* never held across a call of CUPTI's */
    struct strings *strings;
    struct vrt_out out;
    int file; /* -1: closed */
    bool has_header;
    uint64_t sources, started_real, started_monotonic;
    char json[MOST_JSON];
    uint8_t *buffer; /* records of the block that is being filled */
    size_t used;
    uint32_t rows;
    uint64_t first, last, records;
    uint8_t *block; /* as it goes out */
    size_t block_used;
    char path[4096];
};

/* vrt_out writes a block in pieces; they go out in one call. */
static bool collect(void *user, const void *bytes, size_t count, struct error *err) {
    struct sink *s = user;
    if (s->block_used + count > BUFFER_BYTES + 64 * 1024)
        return error_set(err, ERROR_LIMIT, "a block too large");
    memcpy(s->block + s->block_used, bytes, count);
    s->block_used += count;
    return true;
}

static void close_file(struct sink *s) {
    if (s->file >= 0)
        close(s->file);
    s->file = -1;
}

/* A limit of the size of files is an error, not the end of the program. */
static ssize_t write_quietly(int file, const void *bytes, size_t count) {
    static const struct timespec at_once = {0, 0};
    sigset_t limit, before;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    if (pthread_sigmask(SIG_BLOCK, &limit, &before) != 0)
        return write(file, bytes, count);
    ssize_t n = write(file, bytes, count);
    int error = errno;
    if (n < 0 && error == EFBIG)
        sigtimedwait(&limit, NULL, &at_once);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return n;
}

static void write_out(struct sink *s) {
    size_t done = 0;
    while (s->file >= 0 && done < s->block_used) {
        ssize_t n = write_quietly(s->file, s->block + done, s->block_used - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            fprintf(stderr, "vramsim capture: %s: %s; recording ends here\n", s->path,
                    n < 0 ? strerror(errno) : "nothing could be written");
            close_file(s);
            break;
        }
        done += (size_t)n;
    }
    s->block_used = 0;
}

static void write_header(struct sink *s) {
    struct vrt_header header = {.producer = VRT_CAPTURE,
                                .pid = (uint32_t)getpid(),
                                .start_realtime_ns = s->started_real,
                                .start_monotonic_ns = s->started_monotonic,
                                .sources = s->sources,
                                .json = s->json};
    s->has_header = true;
    if (vrt_out_begin(&s->out, &header, NULL))
        write_out(s);
}

static void write_block(struct sink *s, uint8_t flags) {
    if (!s->has_header)
        write_header(s);
    struct vrt_block block = {.type = VRT_RECORDS,
                              .flags = (uint8_t)(flags | VRT_FLAG_WHOLE),
                              .rows = s->rows,
                              .stored_bytes = (uint32_t)s->used,
                              .raw_bytes = (uint32_t)s->used,
                              .first_ns = s->rows ? s->first : VRT_UNKNOWN,
                              .last_ns = s->rows ? s->last : VRT_UNKNOWN,
                              .stored = s->buffer};
    if (vrt_out_block(&s->out, &block, NULL))
        write_out(s);
    s->used = 0;
    s->rows = 0;
}

/* Whole records; the lock is held. */
static void append(struct sink *s, const uint8_t *bytes, size_t count) {
    if (s->file < 0)
        return;
    if (s->used + count > BUFFER_BYTES)
        write_block(s, 0);
    memcpy(s->buffer + s->used, bytes, count);
    size_t end = s->used + count;
    while (s->used < end) {
        struct record_head head;
        memcpy(&head, s->buffer + s->used, sizeof head);
        if (s->rows == 0)
            s->first = s->last = head.t;
        s->first = head.t < s->first ? head.t : s->first;
        s->last = head.t > s->last ? head.t : s->last;
        s->rows++;
        s->records++;
        s->used += (size_t)head.len8 * 8;
    }
    if (s->used > BLOCK_BYTES)
        write_block(s, 0);
}

/* Rings give pieces that may end within a record where a ring wraps around. */
struct pieces {
    struct sink *sink;
    uint8_t half[BLOCK_BYTES];
    size_t used;
};

static size_t record_bytes(const uint8_t *at) {
    struct record_head head;
    memcpy(&head, at, sizeof head);
    return (size_t)head.len8 * 8;
}

static void take_piece(void *user, const uint8_t *bytes, size_t count) {
    struct pieces *p = user;
    while (count > 0 || (p->used >= 16 && p->used >= record_bytes(p->half))) {
        size_t want = p->used < 16 ? 16 - p->used : record_bytes(p->half) - p->used;
        size_t n = want < count ? want : count;
        memcpy(p->half + p->used, bytes, n);
        p->used += n;
        bytes += n;
        count -= n;
        if (p->used >= 16 && p->used == record_bytes(p->half)) {
            append(p->sink, p->half, p->used);
            p->used = 0;
        } else if (n == 0) {
            return;
        }
    }
}

static void take_string(void *user, uint32_t id, const char *text, size_t bytes) {
    struct sink *s = user;
    uint8_t record[sizeof(struct record_string) + STRINGS_LONGEST + 8] = {0};
    size_t total = (sizeof(struct record_string) + bytes + 7) / 8 * 8;
    struct record_string head = {
        .head = {.type = RECORD_STRING, .len8 = (uint16_t)(total / 8), .t = clock_realtime()},
        .id = id,
        .bytes = (uint32_t)bytes};
    memcpy(record, &head, sizeof head);
    memcpy(record + sizeof head, text, bytes);
    append(s, record, total);
}

void sink_add(struct sink *s, const uint8_t *records, size_t bytes) {
    pthread_mutex_lock(&s->lock);
    strings_take_new(s->strings, take_string, s);
    for (size_t at = 0; at < bytes;) { /* in pieces that a block holds */
        size_t end = at;
        while (end < bytes && end - at < BLOCK_BYTES)
            end += record_bytes(records + end);
        append(s, records + at, end - at);
        at = end;
    }
    pthread_mutex_unlock(&s->lock);
}

void sink_flush(struct sink *s, struct rings *rings) {
    static struct pieces pieces; /* under the lock */
    pthread_mutex_lock(&s->lock);
    rings_mark(rings); /* texts of what is there by now are known by now */
    strings_take_new(s->strings, take_string, s);
    pieces.sink = s;
    pieces.used = 0;
    rings_drain(rings, take_piece, &pieces);
    if (s->rows > 0 || !s->has_header)
        write_block(s, 0);
    pthread_mutex_unlock(&s->lock);
}

void sink_end(struct sink *s, uint64_t dropped, uint32_t reason) {
    pthread_mutex_lock(&s->lock);
    struct record_end end = {
        .head = {.type = RECORD_END, .len8 = sizeof end / 8, .t = clock_realtime()},
        .records = s->records + 1,
        .dropped = dropped,
        .reason = reason};
    append(s, (const uint8_t *)&end, sizeof end);
    if (s->file >= 0)
        write_block(s, VRT_FLAG_END);
    close_file(s);
    pthread_mutex_unlock(&s->lock);
}

void sink_forget(struct sink *s) {
    close_file(s); /* the lock may be held by a thread that is not here */
}

bool sink_is_open(const struct sink *s) {
    return s->file >= 0;
}

void sink_set_header(struct sink *s, uint64_t sources, const char *json) {
    pthread_mutex_lock(&s->lock);
    if (!s->has_header) {
        s->sources = sources;
        snprintf(s->json, sizeof s->json, "%s", json);
    }
    pthread_mutex_unlock(&s->lock);
}

/* --- opening --- */

static void add_text(char *path, size_t *used, const char *text) {
    for (; *text && *used + 1 < 4000; text++)
        path[(*used)++] = *text == '/' ? '_' : *text;
}

static void expand(const char *pattern, char *path) {
    char word[256];
    size_t used = 0;
    const char *rank = getenv("RANK");
    for (; *pattern && used + 1 < 4000; pattern++) {
        if (*pattern != '%' || !strchr("hpr%", pattern[1]) || !pattern[1]) {
            path[used++] = *pattern;
            continue;
        }
        switch (*++pattern) {
        case 'h':
            if (gethostname(word, sizeof word) != 0)
                strcpy(word, "host");
            word[sizeof word - 1] = '\0';
            break;
        case 'p':
            snprintf(word, sizeof word, "%ld", (long)getpid());
            break;
        case 'r':
            snprintf(word, sizeof word, "%.200s", rank ? rank : "0");
            break;
        default:
            strcpy(word, "%");
        }
        add_text(path, &used, word);
    }
    path[used] = '\0';
}

/* "a.vrt" -> "a.123.vrt", then "a.123.2.vrt" */
static void rename_path(const char *path, int attempt, char *out, size_t out_bytes) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    size_t stem = dot && (!slash || dot > slash) ? (size_t)(dot - path) : strlen(path);
    char number[16] = "";
    if (attempt > 1)
        snprintf(number, sizeof number, ".%d", attempt);
    snprintf(out, out_bytes, "%.*s.%ld%s%s", (int)stem, path, (long)getpid(), number, path + stem);
}

static int open_new(const char *wanted, char path[4096]) {
    snprintf(path, 4096, "%s", wanted);
    for (int attempt = 1; attempt < 1000; attempt++) {
        int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
        if (file >= 0 || errno != EEXIST)
            return file;
        rename_path(wanted, attempt, path, 4096);
    }
    return -1;
}

struct sink *sink_open(const char *pattern, struct strings *strings) {
    char wanted[4096];
    struct sink *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    expand(pattern, wanted);
    s->file = open_new(wanted, s->path);
    s->buffer = malloc(BUFFER_BYTES + 1024);
    s->block = malloc(BUFFER_BYTES + 64 * 1024);
    if (s->file < 0)
        fprintf(stderr, "vramsim capture: %s: %s; nothing is recorded\n", s->path, strerror(errno));
    if (s->file < 0 || !s->buffer || !s->block || pthread_mutex_init(&s->lock, NULL) != 0) {
        close_file(s);
        free(s->buffer);
        free(s->block);
        free(s);
        return NULL;
    }
    s->strings = strings;
    s->out = (struct vrt_out){.write = collect, .user = s};
    s->started_real = clock_realtime();
    s->started_monotonic = clock_monotonic();
    strcpy(s->json, "{}");
    return s;
}
