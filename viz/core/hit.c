/* hit.c: see hit.h. */
#include "hit.h"

#include "app_state.h"
#include "plot.h"

bool app_hit(struct app *app, int x, int y, uint32_t *block, int *group) {
    struct rect r = app_plot_rect(app);
    if (!rect_has(&r, x, y) || !app_read_plot(app, &app->plot, &app->view, r.w))
        return false;
    struct plot_frame frame = app_plot_frame(app, &r, false);
    if (!pieces_read(frame.blocks, &frame, &frame.columns[x - r.x], &app->pieces))
        return false;
    const struct piece *piece = pieces_at(&app->pieces, y);
    if (!piece)
        return false;
    *block = piece->block;
    *group = piece->group;
    return true;
}
