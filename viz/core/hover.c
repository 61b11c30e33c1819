/* hover.c: see hover.h. */
#include "hover.h"

#include "app_state.h"
#include "error.h"
#include "timeline.h"

static bool same(const struct owner_node *a, const struct owner_node *b) {
    return a->level == b->level && a->is_block == b->is_block && a->row.key == b->row.key &&
           memcmp(a->keys, b->keys, sizeof a->keys) == 0;
}

static bool is_its(const void *user, uint32_t block) {
    const struct app *app = user;
    return owner_tree_has(&app->owner_tree, &app->hover.node, block);
}

void hover_set(struct app *app, const struct owner_node *node) {
    struct hover *hover = &app->hover;
    struct error ignored = {0}; /* host memory: as with too many blocks */
    if (!node && !hover->on)
        return;
    if (node && hover->on && same(node, &hover->node))
        return;
    hover->search.track = &app->a;
    search_clear(&hover->search);
    hover->on = node != NULL;
    hover->serial++;
    app->dirty = true;
    if (!node)
        return;
    hover->node = *node;
    if (app->a.tl->blocks.count <= HOVER_BLOCKS)
        search_set_blocks(&hover->search, is_its, app, &ignored);
}

void hover_fini(struct app *app) {
    search_fini(&app->hover.search);
}

bool hover_has(const struct app *app, uint32_t block) {
    return app->hover.search.active ? search_has(&app->hover.search, block, app->cursor)
                                    : is_its(app, block);
}
