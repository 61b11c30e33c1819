/* convert_all.c: usage: convert_all FOLDER...: every snapshot of the folders goes into a file of each format that is read
 * again, and comes back the same; each piece of a `.vrt` file is a timeline. One line at the end. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "importer.h"
#include "text.h"
#include "timeline.h"
#include "timeline_fields.h"
#include "vrt_fixture.h"
#include "writer.h"

static bool is_snapshot(const char *name) {
    const char *const endings[] = {".pickle", ".pickle.zst"};
    size_t n = strlen(name);
    for (size_t i = 0; i < 2; i++) {
        size_t k = strlen(endings[i]);
        if (n > k && strcmp(name + n - k, endings[i]) == 0)
            return true;
    }
    return false;
}

/* A file that ends at any of its blocks is a timeline. */
static bool check_pieces(const struct vrt_bytes *bytes, struct error *err) {
    size_t at = vrt_get32(bytes->at + 8);
    for (; at < bytes->count; at += VRT_BLOCK_BYTES + vrt_padded(vrt_get32(bytes->at + at + 4))) {
        struct vrt_reader r;
        struct timeline *tl = vrt_bytes_read(bytes->at, at, &r, err);
        bool ok = tl && timeline_check(tl, err);
        timeline_destroy(tl);
        if (!ok)
            return error_wrap(err, "up to byte %zu", at);
    }
    return true;
}

static bool check_pieces_of(const struct timeline *tl, struct error *err) {
    struct vrt_bytes bytes = {0};
    struct vrt_out out = {.write = vrt_bytes_write, .user = &bytes};
    bool ok = vrt_write_all(&out, VRT_CONVERTER, tl, err) && check_pieces(&bytes, err);
    free(bytes.at);
    return ok;
}

static bool check_format(const char *name, const struct timeline *tl, struct error *err) {
    const struct writer *writer = writer_find(name, "", err);
    struct text out = {0}, losses = {0};
    struct timeline *back = NULL;
    bool ok = writer && writer->write(tl, &out, &losses, err) &&
              trace_import_bytes(timeline_text(tl, tl->title), out.at, out.length, NULL, &back,
                                 NULL, err);
    ok = ok && timeline_equal(tl, back, err);
    timeline_destroy(back);
    text_fini(&out);
    text_fini(&losses);
    return ok || error_wrap(err, "%s", name);
}

static bool check(const char *path, struct error *err) {
    static const char *const formats[] = {"vrt", "json", "pickle"};
    struct timeline *tl = NULL;
    bool ok = trace_import(path, NULL, &tl, NULL, err) && check_pieces_of(tl, err);
    for (size_t i = 0; ok && i < sizeof formats / sizeof formats[0]; i++)
        ok = check_format(formats[i], tl, err);
    timeline_destroy(tl);
    return ok;
}

int main(int argc, char **argv) {
    unsigned equal = 0, different = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **names;
        int count = scandir(argv[i], &names, NULL, alphasort);
        for (int k = 0; k < count; k++) {
            char path[2048];
            struct error err = {0};
            snprintf(path, sizeof path, "%s/%s", argv[i], names[k]->d_name);
            if (is_snapshot(names[k]->d_name) && check(path, &err)) {
                equal++;
            } else if (is_snapshot(names[k]->d_name)) {
                different++;
                printf("%s: %s\n", path, err.text);
            }
            free(names[k]);
        }
        if (count >= 0)
            free(names);
    }
    printf("%u equal, %u different\n", equal, different);
    return different > 0 || equal == 0;
}
