/* export.c: see export.h. */
#include "export.h"

#include <inttypes.h>

#include "app_state.h"
#include "error.h"
#include "json_quote.h"
#include "text.h"
#include "timeline.h"

static void add_moment(struct app *app, struct text *out) {
    struct lod_state s;
    struct ruler time = ruler_of(&app->a.lod, RULER_TIME);
    uint32_t phase = track_phase(&app->a, app->cursor);
    lod_state_at(&app->a.lod, app->cursor, &s);
    text_add(out, "{\n    \"event\": ");
    if (app->cursor > 0)
        text_format(out, "%" PRIu32, app->cursor - 1);
    else
        text_add(out, "null"); /* before the first */
    text_format(out, ",\n    \"events\": %" PRIu32, app->a.lod.moments - 1);
    if (time.mode == RULER_TIME)
        text_format(out, ",\n    \"time_ns\": %.0f", ruler_position(&time, app->cursor));
    if (phase != TIMELINE_NONE) {
        text_add(out, ",\n    \"phase\": ");
        json_quote(out, timeline_text(app->a.tl, app->a.tl->phases.at[phase].name));
    }
    text_format(out, ",\n    \"allocated_bytes\": %" PRIu64, s.total);
    if (app->a.reserved_known)
        text_format(out, ",\n    \"reserved_bytes\": %" PRIu64, s.reserved);
    if (app->has_b) {
        lod_state_at(&app->b.lod, app_cursor_b(app), &s);
        text_format(out, ",\n    \"other_allocated_bytes\": %" PRIu64, s.total);
    }
    text_add(out, "\n  }");
}

static void add_row(const struct owners *owners, const struct owner_row *row, struct text *out) {
    char buffer[256];
    text_add(out, "    {\"name\": ");
    json_quote(out, owners_name(owners, row, LANGUAGE_ENGLISH, buffer));
    text_format(out,
                ", \"bytes\": %" PRIu64 ", \"blocks\": %" PRIu32 ", \"largest_bytes\": %" PRIu64
                ", \"never_freed_bytes\": %" PRIu64 ", \"by_category\": {",
                row->bytes, row->count, row->largest, row->kept_bytes);
    const char *comma = "";
    for (unsigned i = 0; i < CATEGORY_COUNT; i++)
        if (row->by_category[i] > 0) {
            text_format(out, "%s\"%s\": %" PRIu64, comma, category_key((enum category)i),
                        row->by_category[i]);
            comma = ", ";
        }
    text_add(out, "}}");
}

/* The open tab's table, cell by cell as it is copied. */
static bool add_table(struct app *app, const struct pane_ops *tab, struct text *out) {
    const struct table_ops *ops = tab->table;
    char buffer[TABLE_CELL];
    if (!ops->read(app))
        return false;
    text_format(out, ",\n  \"table\": {\n    \"name\": \"%s\",\n    \"columns\": [", tab->name);
    for (int i = 0; i < ops->column_count; i++) {
        text_add(out, i ? ", " : "");
        json_quote(out, i18n_text(LANGUAGE_ENGLISH, ops->columns[i].title));
    }
    text_add(out, "],\n    \"rows\": [");
    for (size_t row = 0; row < ops->count(app); row++) {
        text_add(out, row ? ",\n      [" : "\n      [");
        for (int i = 0; i < ops->column_count; i++) {
            text_add(out, i ? ", " : "");
            json_quote(out, ops->cell(app, row, i, true, buffer));
        }
        text_add(out, "]");
    }
    text_add(out, "\n    ]\n  }");
    return true;
}

bool export_json(struct app *app, struct text *out, struct error *err) {
    if (!app_read_owners(app))
        return error_host_memory(err);
    const struct owners *owners = &app->a.owners;
    text_add(out, "{\n  \"file\": ");
    json_quote(out, timeline_text(app->a.tl, app->a.tl->title));
    if (app->has_b) {
        text_add(out, ",\n  \"other_file\": ");
        json_quote(out, timeline_text(app->b.tl, app->b.tl->title));
    }
    text_add(out, ",\n  \"moment\": ");
    add_moment(app, out);
    text_format(out, ",\n  \"peak_allocated_bytes\": %" PRIu64, app->a.lod.peak.max);
    if (app->a.reserved_known)
        text_format(out, ",\n  \"peak_reserved_bytes\": %" PRIu64, app->a.lod.peak.reserved_max);
    text_format(out,
                ",\n  \"grouping\": \"%s\",\n  \"total_bytes\": %" PRIu64
                ",\n  \"total_blocks\": %" PRIu32 ",\n  \"rows\": [",
                owners_word(app->grouping), owners->total_bytes, owners->total_count);
    for (size_t i = 0; i < owners->rows.count; i++) {
        text_add(out, i ? ",\n" : "\n");
        add_row(owners, &owners->rows.at[i], out);
    }
    text_add(out, owners->rows.count ? "\n  ]" : "]");
    if (panes_tabs[app->tab]->table && panes_tabs[app->tab] != &pane_owners &&
        !add_table(app, panes_tabs[app->tab], out))
        return error_host_memory(err);
    text_add(out, "\n}\n");
    return !out->failed || error_host_memory(err);
}
