/* png_file.h: pixels as a PNG file in memory. */
#ifndef PNG_FILE_H
#define PNG_FILE_H

#include <stdbool.h>

struct canvas;
struct error;
struct text;

/* 8-bit RGB, quickly compressed. Appends to `out`. */
bool png_file_write(const struct canvas *canvas, struct text *out, struct error *err);

#endif
