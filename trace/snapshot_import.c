/* snapshot_import.c: records -> timeline, in order: traces, final state, start state, events, facts.
 * The importer's row. */
#include <string.h>

#include "error.h"
#include "importer.h"
#include "snapshot_build.h"

/* Texts and lists do not grow any more: their maps are made once. */
static bool prepare_maps(struct build *b) {
    size_t strings = strtab_count(&b->s->pickle.strings), lists = b->s->chunks.count + 1;
    b->strings.at = xcalloc(strings, sizeof *b->strings.at);
    b->list_stacks.at = xcalloc(lists, sizeof *b->list_stacks.at);
    if (!b->strings.at || !b->list_stacks.at)
        return build_no_memory(b);
    b->strings.count = b->strings.capacity = strings;
    b->list_stacks.count = b->list_stacks.capacity = lists;
    return true;
}

/* roundup_power2_divisions as the allocator shows it: MiB as text -> divisions, for 1, 2, 4 ...
 * 32768. */
static void read_divisions(struct build *b) {
    uint32_t handle = b->s->settings.divisions_dict;
    if (handle == NO_HANDLE || b->s->pickle.containers.at[handle].kind != PICKLE_DICT ||
        b->s->pickle.containers.at[handle].role != ROLE_NONE)
        return;
    uint32_t pair = b->s->pickle.containers.at[handle].record;
    for (unsigned visits = 0; pair != 0 && visits < 64; visits++) {
        const struct snapshot_pair *p = &b->s->pairs.at[pair - 1];
        uint64_t value;
        pair = p->previous;
        if (pickle_tag(p->key) != PICKLE_STRING ||
            pickle_get_integer(&b->s->pickle, p->value, &value) != PICKLE_NON_NEGATIVE)
            continue;
        const char *text = strtab_text(&b->s->pickle.strings, (uint32_t)pickle_payload(p->key));
        uint64_t mib = 0;
        for (const char *c = text; *c >= '0' && *c <= '9' && mib < 100000; c++)
            mib = mib * 10 + (uint64_t)(*c - '0');
        bool power = value > 0 && value <= 1u << 20 && (value & (value - 1)) == 0;
        for (unsigned slot = 0; slot < CACHING_DIVISION_SLOTS; slot++)
            if (mib == UINT64_C(1) << slot)
                b->rules.divisions[slot] = power ? (uint32_t)value : 0;
    }
}

static void read_rules(struct build *b) {
    const struct snapshot_settings *set = &b->s->settings;
    b->rules = caching_sizes_default();
    b->rules.max_split_bytes = set->max_split;
    b->rules.expandable = set->expandable;
    read_divisions(b);
}

static bool build_traces(struct build *b) {
    struct snapshot_walk walk;
    uint32_t list;
    snapshot_walk_begin(b->s, b->s->traces_list, &walk);
    for (uint32_t ordinal = 0; snapshot_walk_next(b->s, &walk, &list); ordinal++) {
        struct build_device *d = NULL;
        if (snapshot_list_count(b->s, list) == 0)
            continue;
        if (ordinal >= MAX_DEVICES)
            return error_set(b->err, ERROR_LIMIT, "more than %d devices", MAX_DEVICES);
        if (!build_device(b, ordinal, &d) || !build_lives(b, d, list) || !build_entry_facts(b, d))
            return false;
    }
    return true;
}

/* Older releases write the list of segments alone, and any list may pass for it: what is in it must
 * be segments. */
static bool check_segments(const struct build *b) {
    struct snapshot_walk walk;
    uint32_t handle, segments = 0;
    size_t left = b->s->items_left; /* this walk does not count */
    snapshot_walk_begin(b->s, b->s->segments_list, &walk);
    while (snapshot_walk_next(b->s, &walk, &handle))
        segments += snapshot_record(b->s, handle, ROLE_SEGMENT) != NO_HANDLE;
    b->s->items_left = left;
    uint32_t items = snapshot_list_count(b->s, b->s->segments_list);
    return segments == items ||
           error_set(b->err, ERROR_BAD_INPUT,
                     "a list of segments with %u items, of which %u are segments (dicts with "
                     "total_size, segment_type or blocks); "
                     "expected what torch.cuda.memory._dump_snapshot writes",
                     items, segments);
}

static bool build_final_state(struct build *b) {
    struct snapshot_walk walk;
    uint32_t handle;
    if (!check_segments(b))
        return false;
    snapshot_walk_begin(b->s, b->s->segments_list, &walk);
    while (snapshot_walk_next(b->s, &walk, &handle)) {
        uint32_t record = snapshot_record(b->s, handle, ROLE_SEGMENT);
        if (record == NO_HANDLE)
            continue;
        const struct snapshot_segment *r = &b->s->segments.at[record];
        uint32_t ordinal = r->has & HAS_DEVICE ? r->device : 0;
        struct build_device *d = NULL;
        if (ordinal >= MAX_DEVICES) {
            build_warn(b, "a segment on device %u", ordinal);
            continue;
        }
        if (!build_device(b, ordinal, &d) || !build_final_segment(b, d, r))
            return false;
    }
    return true;
}

static bool name_devices(struct build *b) {
    uint32_t last = b->devices.count > 0 ? b->devices.at[b->devices.count - 1].ordinal : 0;
    const struct timeline_device unknown = {0};
    while (b->tl->devices.count <= last)
        if (!array_push(&b->tl->devices, unknown))
            return build_no_memory(b);
    return true;
}

static bool describe(struct build *b) {
    struct timeline *tl = b->tl;
    tl->has = TIMELINE_HAS_ADDRESS | TIMELINE_HAS_BLOCK_BYTES | TIMELINE_HAS_STREAM;
    if (b->s->segments_list != NO_HANDLE)
        tl->has |= TIMELINE_HAS_SEGMENTS;
    if (tl->events.count > 0)
        tl->has |= TIMELINE_HAS_HISTORY;
    if (tl->events.count > 0 && !b->time_unknown)
        tl->has |= TIMELINE_HAS_TIME;
    if (!b->requested_unknown)
        tl->has |= TIMELINE_HAS_REQUESTED;
    if (tl->stacks.count > 1)
        tl->has |= TIMELINE_HAS_STACK;
    if (tl->phases.count > 0)
        tl->has |= TIMELINE_HAS_PHASE;
    tl->source_kind = timeline_string(tl, "pytorch snapshot");
    return name_devices(b) && build_string(b, b->s->settings.conf, &tl->alloc_settings);
}

/* Room for what is coming, so that large arrays are not moved while they grow. */
static bool reserve(struct build *b) {
    size_t entries = b->s->entries.count;
    return (array_reserve(&b->tl->events, entries + b->s->annotations.count) &&
            array_reserve(&b->tl->blocks, entries / 3 + b->s->blocks.count)) ||
           build_no_memory(b);
}

static bool build_all(struct build *b) {
    if (!prepare_maps(b) || !reserve(b))
        return false;
    read_rules(b);
    if (!build_traces(b) || !build_final_state(b))
        return false;
    for (size_t i = 0; i < b->devices.count; i++)
        if (!build_start(b, &b->devices.at[i]))
            return false;
    if (!build_emit(b) || !describe(b))
        return false;
    if (b->s->items_left == 0)
        return error_set(b->err, ERROR_BAD_INPUT,
                         "the same records stand in several places: built to multiply");
    b->s->items_left = snapshot_items(b->s) + 1; /* the facts walk the state once more */
    return build_facts(b);
}

static void build_fini(struct build *b) {
    for (size_t i = 0; i < b->devices.count; i++) {
        struct build_device *d = &b->devices.at[i];
        array_fini(&d->events);
        array_fini(&d->start_blocks);
        array_fini(&d->open_phases);
        addrmap_fini(&d->live);
        addrmap_fini(&d->segments);
        addrmap_fini(&d->finals);
        addrmap_fini(&d->ranges);
        for (size_t k = 0; k < d->facts.actions.list.count; k++)
            xfree(d->facts.actions.list.at[k].name);
        array_fini(&d->facts.actions.list);
    }
    array_fini(&b->devices);
    array_fini(&b->ranges);
    array_fini(&b->strings);
    array_fini(&b->frames);
    array_fini(&b->list_stacks);
    array_fini(&b->stack_slots);
    array_fini(&b->guessed);
    addrmap_fini(&b->streams);
}

/* Protocols 2 to 5 begin with PROTO; 0 and 1 with a dict or a list: "(d", "(l", "}", "]". */
static bool probe_snapshot(const uint8_t *head, size_t length) {
    if (length >= 2 && head[0] == 0x80)
        return head[1] <= 5;
    if (length >= 2 && head[0] == '(')
        return head[1] == 'd' || head[1] == 'l' || head[1] == 'i' || head[1] == 'c';
    return length >= 2 && (head[0] == ']' || head[0] == '}' || head[0] == 'c') && head[1] != '\n' &&
           head[1] != '\r';
}

static bool import_snapshot(const uint8_t *data, size_t length, const struct trace_options *options,
                            struct timeline *tl, struct trace_facts *facts, struct error *err) {
    struct snapshot s;
    struct build b = {.s = &s, .tl = tl, .facts = facts, .err = err};
    bool ok = snapshot_decode(&s, data, length, options, err);
    if (ok) {
        tl->warnings = s.pickle.warnings;
        ok = build_all(&b);
    }
    build_fini(&b);
    snapshot_fini(&s);
    return ok;
}

const struct importer importer_snapshot = {
    .name = "pytorch snapshot",
    .doc = "torch.cuda.memory._dump_snapshot of PyTorch 1.13 and later, a pickle",
    .probe = probe_snapshot,
    .import = import_snapshot,
};
