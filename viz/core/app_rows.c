/* app_rows.c: more than two files in the application: told by its host, chosen by a person. */
#include "app_state.h"
#include "error.h"
#include "xalloc.h"

bool app_set_rows(struct app *app, const struct timeline *const *timelines, size_t count,
                  struct error *err) {
    app->rows = xcalloc(1, sizeof *app->rows);
    if (!app->rows)
        return error_host_memory(err);
    if (!track_rows_init(app->rows, timelines, count, app->a.device, err)) {
        xfree(app->rows);
        app->rows = NULL;
        return false;
    }
    app_relayout(app);
    return true;
}

/* The second cannot be the first: it is the one after it, or the one that was first. */
void app_choose_rows(struct app *app, size_t first, size_t second) {
    const struct track_rows *rows = app->rows;
    if (!rows)
        return;
    size_t count = rows->rows.count;
    app->wished_first = first % count;
    app->wished_second = second % count;
    if (app->wished_second == app->wished_first)
        app->wished_second =
            app->wished_first != rows->first ? rows->first : (app->wished_first + 1) % count;
    app->request = APP_SHOW_ROWS;
    app->dirty = true;
}

void app_wished_rows(const struct app *app, size_t *first, size_t *second) {
    *first = app->wished_first;
    *second = app->wished_second;
}

bool app_carry_rows(struct app *app, struct app *from, size_t first, size_t second,
                    struct error *err) {
    if (!from->rows)
        return true;
    if (!track_rows_choose(from->rows, first, second, err))
        return false;
    app->rows = from->rows;
    from->rows = NULL;
    app_relayout(app);
    return true;
}
