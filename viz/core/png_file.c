/* png_file.c: see png_file.h. The only file that names libpng. */
#include "png_file.h"

#include <png.h>
#include <setjmp.h>
#include <stdint.h>

#include "error.h"
#include "raster.h"
#include "text.h"
#include "xalloc.h"

struct writer {
    struct text *out;
    struct error *err;
};

static void on_error(png_structp png, png_const_charp message) {
    struct writer *writer = png_get_error_ptr(png);
    error_set(writer->err, ERROR_IO_WRITE, "png: %s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp message) {
    (void)png, (void)message;
}

static void on_write(png_structp png, png_bytep data, size_t length) {
    struct writer *writer = png_get_io_ptr(png);
    text_add_bytes(writer->out, data, length);
}

static void on_flush(png_structp png) {
    (void)png;
}

static void fill_row(const struct canvas *canvas, int y, uint8_t *row) {
    const uint32_t *from = canvas->pixels + (size_t)y * canvas->pitch;
    for (int x = 0; x < canvas->width; x++) {
        row[3 * x] = (uint8_t)(from[x] >> 16 & 255);
        row[3 * x + 1] = (uint8_t)(from[x] >> 8 & 255);
        row[3 * x + 2] = (uint8_t)(from[x] & 255);
    }
}

/* All that libpng may jump out of; nothing here owns memory. */
static bool write_all(png_structp png, png_infop info, const struct canvas *canvas, uint8_t *row) {
    if (setjmp(png_jmpbuf(png)) != 0)
        return false;
    png_set_IHDR(png, info, (png_uint_32)canvas->width, (png_uint_32)canvas->height, 8,
                 PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 3);
    png_set_filter(png, 0, PNG_FILTER_SUB);
    png_write_info(png, info);
    for (int y = 0; y < canvas->height; y++) {
        fill_row(canvas, y, row);
        png_write_row(png, row);
    }
    png_write_end(png, NULL);
    return true;
}

bool png_file_write(const struct canvas *canvas, struct text *out, struct error *err) {
    struct writer writer = {out, err};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    uint8_t *row = xalloc(3 * (size_t)canvas->width);
    bool written = false;
    if (info && row) {
        png_set_write_fn(png, &writer, on_write, on_flush);
        written = write_all(png, info, canvas, row);
    } else {
        error_host_memory(err);
    }
    xfree(row);
    png_destroy_write_struct(&png, &info);
    if (written && out->failed)
        return error_host_memory(err);
    return written;
}
