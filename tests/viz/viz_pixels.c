/* viz_pixels FILE.png...: size and checksum of each picture's pixels, a line each. The bytes of a PNG vary with
 * zlib, what it shows does not. */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include <png.h>

static int tell(const char *path) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path)) {
        fprintf(stderr, "%s: %s\n", path, image.message);
        return 1;
    }
    image.format = PNG_FORMAT_RGBA;
    unsigned char *pixels = malloc(PNG_IMAGE_SIZE(image));
    int bad = !pixels || !png_image_finish_read(&image, NULL, pixels, 0, NULL);
    if (bad)
        fprintf(stderr, "%s: %s\n", path, image.message);
    else
        printf("%ux%u %08lx\n", image.width, image.height,
               crc32(0, pixels, (uInt)PNG_IMAGE_SIZE(image)));
    free(pixels);
    png_image_free(&image);
    return bad;
}

int main(int argc, char **argv) {
    int bad = 0;
    for (int i = 1; i < argc; i++)
        bad |= tell(argv[i]);
    return bad;
}
