/* fuzz_vrt.c: any bytes as a `.vrt` file whose checksums and numbers of blocks are put right, so that what blocks hold
 * is reached. What is imported must pass timeline_check, and come back the same when it is written again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "fuzz.h"
#include "importer.h"
#include "timeline.h"
#include "timeline_fields.h"
#include "vrt_seal.h"
#include "vrt_write.h"

struct bytes {
    uint8_t *at;
    size_t count;
};

static bool append(void *user, const void *bytes, size_t count, struct error *err) {
    struct bytes *b = user;
    uint8_t *moved = realloc(b->at, b->count + count);
    if (!moved)
        return error_host_memory(err);
    memcpy(moved + b->count, bytes, count);
    b->at = moved;
    b->count += count;
    return true;
}

static void check_again(const struct timeline *tl) {
    struct bytes bytes = {0};
    struct vrt_out out = {.write = append, .user = &bytes};
    struct timeline *again = NULL;
    struct error err = {0};
    bool ok = vrt_write_all(&out, VRT_CONVERTER, tl, &err) &&
              trace_import_bytes("fuzz", bytes.at, bytes.count, NULL, &again, NULL, &err) &&
              timeline_equal(tl, again, &err);
    if (!ok) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    timeline_destroy(again);
    free(bytes.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct timeline *tl = NULL;
    struct error err = {0};
    const struct trace_options options = {.max_memory_bytes = 32 << 20};
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    vrt_seal(copy, size);
    if (!trace_import_bytes("fuzz", copy, size, &options, &tl, NULL, &err)) {
        if (err.code == ERROR_NONE || strlen(err.text) == 0)
            abort();
    } else {
        if (!timeline_check(tl, &err)) {
            fprintf(stderr, "%s\n", err.text);
            abort();
        }
        check_again(tl);
        timeline_destroy(tl);
    }
    free(copy);
    return 0;
}
