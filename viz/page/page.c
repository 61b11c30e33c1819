/* page.c: see page.h. */
#include "page.h"

#include <inttypes.h>
#include <string.h>

#include "app_state.h"
#include "error.h"
#include "json_quote.h"
#include "page_html.h"
#include "page_track.h"
#include "state.h"
#include "text.h"
#include "timeline.h"
#include "utf8.h"

enum { NAME_BYTES = 400 };

/* A text of a trace: what utf8.h calls unsafe is U+FFFD, long ones are cut, "<" is an escape, so that
 * nothing in it ends the script element that holds it. */
static void add_string(struct text *out, const char *value) {
    struct text clean = {0}, quoted = {0};
    const char *at = value, *end = value + strlen(value);
    while (at < end && clean.length < NAME_BYTES) {
        char bytes[4];
        text_add_bytes(&clean, bytes, utf8_put(utf8_next(&at, end), bytes));
    }
    if (at < end)
        text_add(&clean, "\xe2\x80\xa6");
    json_quote(&quoted, text_get(&clean));
    for (const char *p = text_get(&quoted); *p;) {
        size_t plain = strcspn(p, "<");
        text_add_bytes(out, p, plain);
        p += plain;
        if (*p == '<') {
            text_add(out, "\\u003c");
            p++;
        }
    }
    out->failed = out->failed || clean.failed || quoted.failed;
    text_fini(&clean);
    text_fini(&quoted);
}

static void add_member(struct text *out, const char *name, const char *value) {
    text_format(out, ",\"%s\":", name);
    add_string(out, value);
}

/* --- words and colours --- */

static void add_pair(struct text *out, const char *english, const char *chinese) {
    text_add(out, "[");
    add_string(out, english);
    text_add(out, ",");
    add_string(out, chinese);
    text_add(out, "]");
}

static void add_texts(struct text *out) {
    static const char *const names[TEXT_COUNT] = {
#define X(id, english, chinese) #id,
        TEXTS(X)
#undef X
    };
    text_add(out, "\"texts\":{");
    for (int i = 0; i < TEXT_COUNT; i++) {
        text_format(out, "%s\"%s\":", i ? "," : "", names[i]);
        add_pair(out, i18n_text(LANGUAGE_ENGLISH, (enum text_id)i),
                 i18n_text(LANGUAGE_CHINESE, (enum text_id)i));
    }
    text_add(out, "}");
}

/* The window's keys; the page takes those whose action it knows. */
static void add_keys(struct text *out) {
    static const char *const names[ACTION_COUNT] = {"",
#define X(id, english, chinese) #id,
                                                    ACTIONS(X)
#undef X
    };
    text_add(out, ",\"keys\":[");
    const struct binding *binding;
    for (size_t i = 0; (binding = keys_binding(i)); i++) {
        char name[KEY_NAME_BYTES];
        text_add(out, i ? ",[" : "[");
        add_string(out, keys_name(binding, name));
        text_format(out, ",\"%s\",", names[binding->action]);
        add_pair(out, keys_doc(binding->action, LANGUAGE_ENGLISH),
                 keys_doc(binding->action, LANGUAGE_CHINESE));
        text_add(out, "]");
    }
    text_add(out, "]");
}

static void add_color(struct text *out, const char *name, uint32_t color) {
    text_format(out, "\"%s\":\"#%06" PRIx32 "\"", name, color & 0xffffff);
}

static void add_themes(const struct app *app, struct text *out) {
    static const char *const names[THEME_COUNT] = {
#define X(id, name) name,
        THEMES(X)
#undef X
    };
    text_add(out, ",\"themes\":{");
    for (int i = 0; i < THEME_COUNT; i++) {
        const struct theme *t = theme_get((enum theme_id)i);
        const struct {
            const char *name;
            uint32_t color;
        } colors[] = {{"ground", t->ground},
                      {"plot", t->plot},
                      {"panel", t->panel},
                      {"raised", t->raised},
                      {"ink", t->ink},
                      {"faint", t->faint},
                      {"line", t->line},
                      {"grid", t->grid},
                      {"accent", t->accent},
                      {"warn", t->warn},
                      {"separator", t->separator},
                      {"hatch", t->hatch},
                      {"reserved", t->reserved},
                      {"capacity", t->capacity},
                      {"overlay", t->overlay},
                      {"phase0", t->phase[0]},
                      {"phase1", t->phase[1]}};
        text_format(out, "%s\"%s\":{", i ? "," : "", names[i]);
        for (size_t k = 0; k < sizeof colors / sizeof colors[0]; k++) {
            text_add(out, k ? "," : "");
            add_color(out, colors[k].name, colors[k].color);
        }
        text_add(out, "}");
    }
    text_add(out, "},\"bands\":[");
    for (int i = 0; i < CATEGORY_COUNT; i++) {
        struct band_style style = app_band(app, (enum category)i);
        text_add(out, i ? ",{" : "{");
        add_color(out, "color", style.color);
        text_add(out, ",");
        add_color(out, "on", style.on);
        text_format(out, ",\"pattern\":%d,\"key\":\"%s\",\"name\":", (int)style.pattern,
                    category_key((enum category)i));
        add_pair(out, category_english((enum category)i), category_chinese((enum category)i));
        text_add(out, "}");
    }
    text_add(out, "]");
}

/* --- one timeline --- */

/* Names of a grouping by index, and where a kind's key is among them. */
struct names {
    ARRAY(uint64_t) keys;
};

static bool name_index(struct names *names, uint64_t key, size_t *index) {
    for (size_t i = 0; i < names->keys.count; i++)
        if (names->keys.at[i] == key) {
            *index = i;
            return true;
        }
    *index = names->keys.count;
    return array_push(&names->keys, key);
}

static bool add_kinds(const struct page_track *page, struct text *out) {
    struct owners owners = page->track->owners; /* to name by another grouping; owns nothing */
    bool ok = true;
    text_add(out, ",\"groupings\":{");
    for (int g = 0; g < PAGE_GROUPING_COUNT && ok; g++) {
        struct names names = {0};
        owners.grouping = page_groupings[g];
        text_format(out, "%s\"%s\":{\"of\":[", g ? "," : "", owners_word(owners.grouping));
        for (size_t i = 0; i < page->kinds.kinds.count && ok; i++) {
            size_t index = 0;
            ok = name_index(&names, page->kinds.kinds.at[i].key[g], &index);
            text_format(out, "%s%zu", i ? "," : "", index);
        }
        text_add(out, "],\"names\":[");
        for (size_t i = 0; i < names.keys.count; i++) {
            struct owner_row row = {.key = names.keys.at[i]};
            char buffer[256];
            text_add(out, i ? "," : "");
            if (page_groupings[g] == OWNER_BY_CATEGORY)
                text_format(out, "%u", (unsigned)row.key);
            else
                add_string(out, owners_name(&owners, &row, LANGUAGE_ENGLISH, buffer));
        }
        text_add(out, "]}");
        array_fini(&names.keys);
    }
    text_add(out, "},\"kept\":[");
    for (size_t i = 0; i < page->kinds.kinds.count; i++)
        text_format(out, "%s%u", i ? "," : "", (unsigned)page->kinds.kinds.at[i].kept);
    text_add(out, "]");
    return ok;
}

static uint64_t time_at(const struct page_track *page, uint32_t moment) {
    const struct timeline *tl = page->track->tl;
    if (moment == 0 || tl->events.count == 0)
        return 0;
    uint64_t start = tl->events.at[0].time_ns;
    uint32_t last = (uint32_t)tl->events.count;
    uint64_t time = tl->events.at[(moment < last ? moment : last) - 1].time_ns;
    return time > start ? time - start : 0;
}

/* Each as its difference to the one before, which takes less room. */
static void add_moments(const struct page_track *page, struct text *out) {
    uint64_t before = 0, t, r;
    text_add(out, ",\"moments\":[");
    for (size_t i = 0; i < page->kept.count; i++)
        text_format(out, "%s%" PRIu32, i ? "," : "",
                    page->kept.at[i] - (i ? page->kept.at[i - 1] : 0));
    if (page->track->lod.time_known) {
        text_add(out, "],\"times\":[");
        for (size_t i = 0; i < page->kept.count; i++, before = t) {
            t = time_at(page, page->kept.at[i]);
            text_format(out, "%s%" PRIu64, i ? "," : "", t > before ? t - before : 0);
        }
    }
    before = 0;
    text_add(out, "],\"reserved\":[");
    for (size_t i = 0; i < page->kept.count && page->track->reserved_known; i++, before = r) {
        r = page->reserved.at[i];
        text_format(out, "%s%" PRId64, i ? "," : "", (int64_t)(r - before));
    }
    text_add(out, "],\"counts\":[");
    for (size_t i = 0; i < page->kept.count; i++)
        text_format(out, "%s%" PRIu32, i ? "," : "", page->first.at[i + 1] - page->first.at[i]);
    text_add(out, "],\"kinds\":[");
    for (size_t i = 0; i < page->changes.count; i++)
        text_format(out, "%s%" PRIu32, i ? "," : "", page->changes.at[i].kind);
    text_add(out, "],\"bytes\":[");
    for (size_t i = 0; i < page->changes.count; i++)
        text_format(out, "%s%" PRId64, i ? "," : "", page->changes.at[i].bytes);
    text_add(out, "],\"blocks\":[");
    for (size_t i = 0; i < page->changes.count; i++)
        text_format(out, "%s%" PRId32, i ? "," : "", page->changes.at[i].blocks);
    text_add(out, "]");
}

enum { PHASES_MAX = 5000, OOMS_MAX = 100 };

/* Phases of the lanes, outermost first within each; those beyond PHASES_MAX a lane are left out. */
static void add_phases(const struct page_track *page, struct text *out) {
    const struct track *track = page->track;
    const char *comma = "";
    uint32_t left_out = 0;
    text_add(out, ",\"phases\":[");
    for (int lane = 0; lane < TRACK_LANES; lane++)
        for (size_t i = 0; i < track->lanes[lane].count; i++) {
            uint32_t phase = track->lanes[lane].at[i];
            const struct timeline_phase *p = &track->tl->phases.at[phase];
            uint32_t begin = p->begin_event + 1, end = track_phase_end(track, phase);
            if (i >= PHASES_MAX) {
                left_out++;
                continue;
            }
            char buffer[I18N_NAME_BYTES];
            const char *name = timeline_text(track->tl, p->name);
            text_format(out, "%s[%d,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",", comma, lane,
                        begin, end, time_at(page, begin), time_at(page, end));
            add_pair(out, name, i18n_name(LANGUAGE_CHINESE, name, buffer));
            text_add(out, "]");
            comma = ",";
        }
    text_format(out, "],\"phasesLeftOut\":%" PRIu32, left_out);
}

static void add_marks(const struct page_track *page, struct text *out) {
    const struct track *track = page->track;
    const char *comma = "";
    text_add(out, ",\"peaks\":[");
    for (size_t i = 0; i < track->peaks.count; i++)
        text_format(out, "%s%" PRIu32, i ? "," : "", track->peaks.at[i].moment);
    text_add(out, "],\"ooms\":[");
    for (size_t i = 0, shown = 0; i < track->tl->ooms.count && shown < OOMS_MAX; i++) {
        const struct timeline_oom *oom = &track->tl->ooms.at[i];
        if (oom->event >= track->tl->events.count ||
            track->tl->events.at[oom->event].device != track->device)
            continue;
        text_format(out, "%s[%" PRIu32 ",%" PRIu64 "]", comma, oom->event + 1,
                    oom->requested_bytes ? oom->requested_bytes : oom->rounded_bytes);
        comma = ",";
        shown++;
    }
    text_add(out, "]");
}

static bool add_track(const struct page_track *page, struct text *out) {
    const struct track *track = page->track;
    const struct timeline *tl = track->tl;
    bool has_device = track->device < tl->devices.count;
    text_add(out, "{\"name\":");
    add_string(out, track_name(track));
    add_member(out, "device",
               has_device ? timeline_text(tl, tl->devices.at[track->device].name) : "");
    add_member(out, "framework", timeline_text(tl, tl->framework));
    add_member(out, "source", timeline_text(tl, tl->source_kind));
    add_member(out, "settings", timeline_text(tl, tl->alloc_settings));
    text_format(out,
                ",\"capacity\":%" PRIu64 ",\"context\":%" PRIu64 ",\"events\":%" PRIu32
                ",\"bucket\":%" PRIu32 ",\"merged\":%" PRIu64 ",\"warnings\":%" PRIu32
                ",\"peak\":%" PRIu64 ",\"peakMoment\":%" PRIu32,
                track->capacity_bytes, track->context_bytes, track->lod.moments - 1, page->bucket,
                page->kinds.merged, tl->warnings, track->lod.peak.max, track->lod.peak.arg);
    if (track->reserved_known)
        text_format(out, ",\"peakReserved\":%" PRIu64, track->lod.peak.reserved_max);
    text_format(out, ",\"categories\":%s", tl->has & TIMELINE_HAS_CATEGORY ? "true" : "false");
    add_moments(page, out);
    bool ok = add_kinds(page, out);
    add_phases(page, out);
    add_marks(page, out);
    text_add(out, "}");
    return ok;
}

/* --- the file --- */

static bool build_second(struct app *app, const struct page_track *first, struct page_track *second,
                         uint32_t *mapped, struct error *err) {
    for (size_t i = 0; i < first->kept.count; i++) {
        uint32_t moment = align_map(&app->align, first->kept.at[i]);
        mapped[i] = moment < app->b.lod.moments ? moment : app->b.lod.moments - 1;
    }
    return page_track_build(second, &app->b, mapped, first->kept.count, err);
}

static bool add_second(struct app *app, const struct page_track *first, struct text *out,
                       struct error *err) {
    struct page_track second;
    uint32_t *mapped = xcalloc(first->kept.count + 1, sizeof *mapped);
    if (!mapped)
        return error_host_memory(err);
    bool ok = build_second(app, first, &second, mapped, err);
    if (ok) {
        text_add(out, ",");
        ok = add_track(&second, out) || error_host_memory(err);
        page_track_fini(&second);
    }
    text_add(out, "],\"map\":[");
    for (size_t i = 0; i < first->kept.count; i++)
        text_format(out, "%s%" PRId64, i ? "," : "",
                    (int64_t)mapped[i] - (i ? (int64_t)mapped[i - 1] : 0));
    xfree(mapped);
    return ok;
}

static bool add_data(struct app *app, struct text *out, struct error *err) {
    struct page_track first;
    struct text state = {0};
    const uint32_t wanted[] = {app->cursor, app->selection.mark};
    if (!page_track_build(&first, &app->a, wanted, 2, err))
        return false;
    text_add(out, "{");
    add_texts(out);
    add_keys(out);
    add_themes(app, out);
    text_format(out, ",\"language\":\"%s\",\"theme\":%d",
                app->language == LANGUAGE_CHINESE ? "zh" : "en", (int)app->theme_id);
    state_write(app, &state);
    add_member(out, "state", text_get(&state));
    text_fini(&state);
    text_add(out, ",\"files\":[");
    bool ok = add_track(&first, out) || error_host_memory(err);
    ok = ok && (!app->has_b || add_second(app, &first, out, err));
    text_add(out, "]}");
    page_track_fini(&first);
    return ok;
}

bool page_write(struct app *app, struct text *out, struct error *err) {
    static const char here[] = "@DATA@";
    const char *data = strstr(page_html, here);
    text_add_bytes(out, page_html, (size_t)(data - page_html));
    bool ok = add_data(app, out, err);
    text_add(out, data + sizeof here - 1);
    return ok && (!out->failed || error_host_memory(err));
}
