/* font_ft_none.c: a build without FreeType: the embedded font alone. */
#include "font_ft.h"

#include <stddef.h>

struct font_ft *font_ft_create(void) {
    return NULL;
}

void font_ft_destroy(struct font_ft *ft) {
    (void)ft;
}

bool font_ft_add(struct font_ft *ft, const char *path, long face, bool bold) {
    (void)ft, (void)path, (void)face, (void)bold;
    return false;
}

bool font_ft_metrics(struct font_ft *ft, int size, int *ascent, int *height) {
    (void)ft, (void)size, (void)ascent, (void)height;
    return false;
}

bool font_ft_render(struct font_ft *ft, uint32_t code, int size, bool bold,
                    struct font_ft_glyph *out) {
    (void)ft, (void)code, (void)size, (void)bold, (void)out;
    return false;
}
