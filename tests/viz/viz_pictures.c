/* viz_pictures.c: writes the viewer's pictures of a made-up training run into a folder, to be
 * looked at. */
#include <stdio.h>

#include "error.h"
#include "file.h"
#include "picture.h"
#include "text.h"
#include "viz_fixture.h"

static bool write_one(const char *folder, const char *name, const struct timeline *a,
                      const struct timeline *b, const struct picture_options *options) {
    struct text out = {0};
    struct error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    bool good = picture_render(a, b, options, picture_kind_of(name), &out, &err) &&
                file_write(path, text_get(&out), out.length, &err);
    if (!good)
        fprintf(stderr, "%s: %s\n", name, err.text);
    text_fini(&out);
    return good;
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : ".";
    struct timeline *a = fixture_llama("scenarios/llama7b.lua", false);
    struct timeline *b = fixture_llama("llama7b_recompute.pickle", true);
    struct timeline *r = fixture_random(3, 20000, 400);
    const struct {
        const char *name;
        const struct timeline *a, *b;
        struct picture_options options;
    } pictures[] = {
        {"dark.png", a, NULL, {0}},
        {"light.png", a, NULL, {.theme = THEME_LIGHT}},
        {"contrast.png", a, NULL, {.theme = THEME_CONTRAST}},
        {"embedded.png", a, NULL, {.embedded_font = true}},
        {"chinese.png", a, NULL, {.language = LANGUAGE_CHINESE}},
        {"overlay.png", a, b, {0}},
        {"below.png", a, b, {.below = true, .theme = THEME_LIGHT}},
        {"twice.png", a, NULL, {.width = 3200, .height = 1800, .scale_percent = 200}},
        {"small.png", a, NULL, {.width = 320, .height = 200}},
        {"random.png", r, NULL, {0}},
        {"dark.svg", a, b, {0}},
    };
    int failures = 0;
    for (size_t i = 0; i < sizeof pictures / sizeof pictures[0]; i++)
        failures += !write_one(folder, pictures[i].name, pictures[i].a, pictures[i].b,
                               &pictures[i].options);
    timeline_destroy(a);
    timeline_destroy(b);
    timeline_destroy(r);
    return failures ? 1 : 0;
}
