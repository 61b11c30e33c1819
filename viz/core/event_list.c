/* event_list.c: see event_list.h. */
#include "event_list.h"

#include "app_state.h"
#include "timeline.h"

void event_list_fini(struct event_list *list) {
    array_fini(&list->rows);
}

uint32_t event_list_block(const struct app *app, uint32_t event) {
    const struct timeline *tl = app->a.tl;
    const struct timeline_event *e = &tl->events.at[event];
    bool has = e->kind <= EVENT_FREE_COMPLETED || e->kind == EVENT_STREAM_USE;
    return has && e->ref < tl->blocks.count ? e->ref : TIMELINE_NONE;
}

static bool find_lit(struct app *app, struct event_list *list) {
    array_clear(&list->rows);
    for (uint32_t i = 0; i < app->a.tl->events.count; i++) {
        uint32_t block = event_list_block(app, i);
        if (block != TIMELINE_NONE && search_has(&app->find.search, block, app->cursor) &&
            !array_push(&list->rows, i))
            return false;
    }
    return true;
}

bool event_list_read(struct app *app, struct event_list *list) {
    bool some = app->find.only && app->find.search.active;
    uint64_t key = app_lit_key(app);
    if (some == list->some && (!some || key == list->key))
        return true;
    list->some = some;
    list->key = key;
    list->follows = false;
    if (!some) {
        array_fini(&list->rows);
        return true;
    }
    if (find_lit(app, list))
        return true;
    array_fini(&list->rows);
    list->key = ~key; /* again the next time */
    return false;
}

size_t event_list_count(const struct app *app, const struct event_list *list) {
    return list->some ? list->rows.count : app->a.tl->events.count;
}

uint32_t event_list_at(const struct event_list *list, size_t row) {
    return list->some ? list->rows.at[row] : (uint32_t)row;
}

size_t event_list_row(const struct event_list *list, uint32_t event) {
    size_t low = 0, high = list->some ? list->rows.count : 0; /* the first after it */
    if (!list->some)
        return event;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->rows.at[middle] <= event)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : 0;
}
