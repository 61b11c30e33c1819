/* font_ft.c: see font_ft.h. The only file that names FreeType. */
#include "font_ft.h"

#include <ft2build.h>
#include FT_FREETYPE_H

#include "array.h"
#include "xalloc.h"

struct ft_face {
    FT_Face face;
    bool bold;
    int size; /* the one it is set to */
};

struct font_ft {
    FT_Library library;
    ARRAY(struct ft_face) faces;
};

struct font_ft *font_ft_create(void) {
    struct font_ft *ft = xcalloc(1, sizeof *ft);
    if (ft && FT_Init_FreeType(&ft->library) != 0) {
        xfree(ft);
        return NULL;
    }
    return ft;
}

void font_ft_destroy(struct font_ft *ft) {
    if (!ft)
        return;
    for (size_t i = 0; i < ft->faces.count; i++)
        FT_Done_Face(ft->faces.at[i].face);
    array_fini(&ft->faces);
    FT_Done_FreeType(ft->library);
    xfree(ft);
}

bool font_ft_add(struct font_ft *ft, const char *path, long face, bool bold) {
    struct ft_face added = {.bold = bold};
    if (FT_New_Face(ft->library, path, face, &added.face) != 0)
        return false;
    if (FT_IS_SCALABLE(added.face) && array_push(&ft->faces, added))
        return true;
    FT_Done_Face(added.face);
    return false;
}

static bool set_size(struct ft_face *face, int size) {
    if (face->size == size)
        return true;
    if (FT_Set_Pixel_Sizes(face->face, 0, (FT_UInt)size) != 0)
        return false;
    face->size = size;
    return true;
}

/* 26.6 fixed point, up. */
static int up(FT_Pos value) {
    return (int)((value + 63) >> 6);
}

bool font_ft_metrics(struct font_ft *ft, int size, int *ascent, int *height) {
    int below = 0;
    *ascent = 0;
    for (size_t i = 0; i < ft->faces.count; i++) {
        struct ft_face *face = &ft->faces.at[i];
        if (!set_size(face, size))
            continue;
        int a = up(face->face->size->metrics.ascender),
            b = up(-face->face->size->metrics.descender);
        *ascent = a > *ascent ? a : *ascent;
        below = b > below ? b : below;
    }
    *height = *ascent + below;
    return *height > 0;
}

static bool render(struct ft_face *face, uint32_t code, int size, struct font_ft_glyph *out) {
    FT_UInt index = FT_Get_Char_Index(face->face, code);
    if (index == 0 || !set_size(face, size) ||
        FT_Load_Glyph(face->face, index, FT_LOAD_RENDER | FT_LOAD_TARGET_LIGHT) != 0)
        return false;
    const FT_GlyphSlot slot = face->face->glyph;
    if (slot->bitmap.pixel_mode != FT_PIXEL_MODE_GRAY || slot->bitmap.pitch < 0)
        return false;
    *out = (struct font_ft_glyph){.coverage = slot->bitmap.buffer,
                                  .width = (int)slot->bitmap.width,
                                  .height = (int)slot->bitmap.rows,
                                  .pitch = slot->bitmap.pitch,
                                  .left = slot->bitmap_left,
                                  .above = slot->bitmap_top,
                                  .advance = (int)((slot->advance.x + 32) >> 6)};
    return true;
}

bool font_ft_render(struct font_ft *ft, uint32_t code, int size, bool bold,
                    struct font_ft_glyph *out) {
    for (int pass = 0; pass < 2; pass++) /* the wanted weight first, then any */
        for (size_t i = 0; i < ft->faces.count; i++)
            if ((ft->faces.at[i].bold == bold) == (pass == 0) &&
                render(&ft->faces.at[i], code, size, out))
                return true;
    return false;
}
