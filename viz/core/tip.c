/* tip.c: see tip.h. */
#include "tip.h"

#include <stdarg.h>
#include <stdio.h>

#include "app_state.h"
#include "label.h"
#include "timeline.h"

void tip_add(struct tip *tip, const char *format, ...) {
    va_list arguments;
    if (tip->count == TIP_LINES)
        return;
    va_start(arguments, format);
    vsnprintf(tip->lines[tip->count++], TIP_BYTES, format, arguments);
    va_end(arguments);
}

bool tip_life(struct app *app, uint32_t block, char out[TIP_BYTES]) {
    const struct timeline_block *b = &app->a.tl->blocks.at[block];
    char figure[LABEL_BYTES];
    struct ruler time = ruler_of(&app->a.lod, RULER_TIME);
    uint32_t events = app->a.lod.moments - 1;
    if (b->alloc_event >= events || b->free_event >= events || b->free_event < b->alloc_event)
        return false;
    int length =
        snprintf(out, TIP_BYTES, "%s %.80s", label_count(b->free_event - b->alloc_event, figure),
                 app_text(app, b->free_event - b->alloc_event == 1 ? TEXT_ONE_EVENT : TEXT_EVENTS));
    double ns =
        ruler_position(&time, b->free_event + 1) - ruler_position(&time, b->alloc_event + 1);
    if (time.mode == RULER_TIME && ns >= 0 && length < TIP_BYTES)
        snprintf(out + length, (size_t)(TIP_BYTES - length), ", %s",
                 label_time((uint64_t)ns, figure));
    return true;
}

static void add_string(struct app *app, uint32_t string, struct tip *tip) {
    if (string != 0)
        tip_add(tip, "%.230s", timeline_text(app->a.tl, string));
}

void tip_block(struct app *app, uint32_t block, struct tip *tip) {
    const struct timeline_block *b = &app->a.tl->blocks.at[block];
    char text[TIP_BYTES];
    tip->swatch = app_band_style(app, app_block_band(app, block)).color;
    tip_add(tip, "%s", label_bytes_exact(b->block_bytes, text));
    add_string(app, b->owner, tip);
    add_string(app, b->name, tip);
    add_string(app, b->op, tip);
    if (app->a.tl->has & TIMELINE_HAS_CATEGORY)
        tip_add(tip, "%.100s",
                i18n_category(app->language, b->category < CATEGORY_COUNT
                                                 ? (enum category)b->category
                                                 : CATEGORY_UNKNOWN));
    if (tip_life(app, block, text))
        tip_add(tip, "%.60s %.160s", app_text(app, TEXT_LIFETIME), text);
    else if (b->free_event == TIMELINE_NONE && !b->pending_at_start)
        tip_add(tip, "%.100s", app_text(app, TEXT_KEPT));
}
