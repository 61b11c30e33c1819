/* smi_samples.c: see smi_samples.h. */
#include "smi_samples.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

bool smi_samples_init(struct smi_samples *s, struct timeline *tl, struct error *err) {
    *s = (struct smi_samples){.tl = tl, .err = err};
    tl->has = TIMELINE_HAS_SEGMENTS | TIMELINE_HAS_HISTORY | TIMELINE_SUMS_BLOCKS |
              TIMELINE_SUMS_SEGMENTS | TIMELINE_DEVICE_USE | TIMELINE_NO_COMPLETIONS;
    tl->source_kind = timeline_string(tl, "samples of device memory");
    return emit_init(&s->emit, tl, err);
}

void smi_samples_fini(struct smi_samples *s) {
    emit_fini(&s->emit);
    array_fini(&s->cards);
}

void smi_skip(struct smi_samples *s, const char *why) {
    emit_warn(s->tl, "line %llu: %s", (unsigned long long)s->line, why);
    s->skipped++;
}

static void copy_label(char to[SMI_LABEL_BYTES], struct smi_field f) {
    size_t n = f.length < SMI_LABEL_BYTES - 1 ? f.length : SMI_LABEL_BYTES - 1;
    for (size_t i = 0; i < n; i++)
        to[i] = f.at[i] >= ' ' && f.at[i] < 0x7f ? f.at[i] : '?';
    to[n] = '\0';
}

static bool find_card(struct smi_samples *s, struct smi_field called, struct smi_field name,
                      struct smi_card **out) {
    char label[SMI_LABEL_BYTES];
    copy_label(label, called);
    for (size_t i = 0; i < s->cards.count; i++)
        if (strcmp(s->cards.at[i].label, label) == 0) {
            *out = &s->cards.at[i];
            return true;
        }
    struct smi_card card = {.least = UINT64_MAX, .ordinal = (uint8_t)s->cards.count};
    unsigned index;
    char end;
    if (sscanf(label, "%3u%c", &index, &end) == 1 && index < EMIT_DEVICES)
        card.ordinal = (uint8_t)index;
    memcpy(card.label, label, sizeof label);
    copy_label(card.name, name);
    if (s->cards.count >= EMIT_DEVICES)
        return error_set(s->err, ERROR_LIMIT, "line %llu: more than %d devices",
                         (unsigned long long)s->line, EMIT_DEVICES);
    if (!array_push(&s->cards, card))
        return error_host_memory(s->err);
    *out = array_last(&s->cards);
    return true;
}

bool smi_take(struct smi_samples *s, struct smi_field label, struct smi_field name,
              uint64_t time_ns, uint64_t used, uint64_t total) {
    struct smi_card *card = NULL;
    if (!find_card(s, label, name, &card))
        return false;
    uint8_t device = card->ordinal;
    card->samples++;
    card->last = used;
    if (card->samples == 1)
        card->first = used;
    card->peak = used > card->peak ? used : card->peak;
    card->least = used < card->least ? used : card->least;
    card->total = total > 0 ? total : card->total;
    s->taken++;
    if (card->samples == 1) { /* it was so before the first sample, as far as is known */
        struct timeline_block block = emit_block(device, TIMELINE_NO_ADDRESS, used);
        uint32_t index;
        const struct timeline_event first = {
            .time_ns = time_ns, .ref = TIMELINE_NONE, .kind = EVENT_OTHER, .device = device};
        return emit_total_start(&s->emit, &block) &&
               emit_reserved(&s->emit, time_ns, device, used) &&
               emit_event(&s->emit, &first, &index);
    }
    /* reserved stands above what is made of it at all times */
    bool rises = used > s->emit.devices[device].reserved_bytes;
    return (!rises || emit_reserved(&s->emit, time_ns, device, used)) &&
           emit_total(&s->emit, time_ns, device, CATEGORY_UNKNOWN, used) &&
           (rises || emit_reserved(&s->emit, time_ns, device, used));
}

/* --- what came of it --- */

static bool add_devices(struct smi_samples *s) {
    bool all_totals = true;
    for (size_t i = 0; i < s->cards.count; i++) {
        const struct smi_card *card = &s->cards.at[i];
        while (s->tl->devices.count <= card->ordinal)
            if (!array_push(&s->tl->devices, (struct timeline_device){0}))
                return error_host_memory(s->err);
        struct timeline_device *device = &s->tl->devices.at[card->ordinal];
        device->name = timeline_string(s->tl, card->name);
        device->total_bytes = card->total;
        all_totals = all_totals && card->total > 0;
    }
    s->tl->has |= all_totals ? TIMELINE_HAS_DEVICE : 0;
    s->tl->has |= s->has_time ? TIMELINE_HAS_TIME : 0;
    return true;
}

static bool put_card(struct trace_facts *f, const struct smi_card *card) {
    const enum trace_figure_kind bytes = TRACE_FIGURE_BYTES;
    char sub[8];
    snprintf(sub, sizeof sub, "%u", card->ordinal);
    const char *group = "devices";
    bool ok = (!card->name[0] || trace_figure_text(f, group, sub, "name", card->name)) &&
              trace_figure_add(f, group, sub, "samples", TRACE_FIGURE_COUNT, card->samples) &&
              trace_figure_add(f, group, sub, "used_first", bytes, card->first) &&
              trace_figure_add(f, group, sub, "used_least", bytes, card->least) &&
              trace_figure_add(f, group, sub, "used_peak", bytes, card->peak) &&
              trace_figure_add(f, group, sub, "used_last", bytes, card->last);
    return ok && (card->total == 0 || trace_figure_add(f, group, sub, "total", bytes, card->total));
}

static bool fill_facts(const struct smi_samples *s, const char *form, struct trace_facts *f) {
    f->kind = "samples";
    bool ok = (!form || trace_figure_text(f, NULL, NULL, "form", form)) &&
              trace_figure_add(f, NULL, NULL, "samples", TRACE_FIGURE_COUNT, s->taken) &&
              trace_figure_add(f, NULL, NULL, "skipped", TRACE_FIGURE_COUNT, s->skipped);
    for (size_t i = 0; ok && i < s->cards.count; i++)
        ok = put_card(f, &s->cards.at[i]);
    return ok || error_host_memory(s->err);
}

bool smi_finish(struct smi_samples *s, const char *form, struct trace_facts *facts) {
    if (s->taken == 0)
        return error_set(s->err, ERROR_BAD_INPUT, "no sample below the head");
    return add_devices(s) && fill_facts(s, form, facts);
}
