/* snapshot_decode.c: the pickle's dicts, lists and tuples -> the records of snapshot.h, as they are
 * filled. */
#include <string.h>

#include "error.h"
#include "importer.h"
#include "pickle_machine.h"
#include "snapshot.h"
#include "timeline.h"

static const struct {
    const char *text;
    size_t length;
} keys[KEY_COUNT] = {
#define X(id, text) {text, sizeof(text) - 1},
    SNAPSHOT_KEYS(X)
#undef X
};

/* The key that settles what a dict is; a dict with none of them is not needed. */
static const uint8_t role_of_key[KEY_COUNT] = {
    [KEY_SEGMENTS] = ROLE_TOP,
    [KEY_DEVICE_TRACES] = ROLE_TOP,
    [KEY_HOST_SEGMENTS] = ROLE_TOP,
    [KEY_HOST_TRACES] = ROLE_TOP,
    [KEY_ALLOC_CONF] = ROLE_SETTINGS,
    [KEY_MAX_SPLIT_SIZE] = ROLE_SETTINGS,
    [KEY_GC_THRESHOLD] = ROLE_SETTINGS,
    [KEY_EXPANDABLE_SEGMENTS] = ROLE_SETTINGS,
    [KEY_ROUNDUP_DIVISIONS] = ROLE_SETTINGS,
    [KEY_TOTAL_SIZE] = ROLE_SEGMENT,
    [KEY_BLOCKS] = ROLE_SEGMENT,
    [KEY_SEGMENT_TYPE] = ROLE_SEGMENT,
    [KEY_STATE] = ROLE_BLOCK,
    [KEY_REAL_SIZE] = ROLE_HISTORY,
    [KEY_ACTION] = ROLE_ENTRY,
    [KEY_STAGE] = ROLE_ANNOTATION,
    [KEY_FILENAME] = ROLE_FRAME,
    [KEY_LINE] = ROLE_FRAME,
};

/* A number that is not negative. */
static bool get_size(const struct pickle *p, struct pickle_value v, uint64_t *out, uint16_t *has,
                     unsigned bit) {
    if (pickle_get_integer(p, v, out) != PICKLE_NON_NEGATIVE)
        return false;
    *has = (uint16_t)(*has | bit);
    return true;
}

/* A number of any sign, as 64 bits: handles of streams. */
static void get_bits(const struct pickle *p, struct pickle_value v, uint64_t *out, uint16_t *has,
                     unsigned bit) {
    if (pickle_get_integer(p, v, out) != PICKLE_NOT_INTEGER)
        *has = (uint16_t)(*has | bit);
}

static uint32_t get_text(struct pickle_value v) {
    return pickle_tag(v) == PICKLE_STRING ? (uint32_t)pickle_payload(v) : 0;
}

static uint32_t get_handle(struct pickle_value v) {
    return pickle_is_container(v) ? (uint32_t)pickle_payload(v) : NO_HANDLE;
}

static bool get_bool(struct pickle_value v) {
    return (pickle_tag(v) == PICKLE_BOOL || pickle_tag(v) == PICKLE_INT) && pickle_payload(v) != 0;
}

static uint32_t get_device(const struct pickle *p, struct pickle_value v, uint16_t *has) {
    uint64_t device;
    if (!get_size(p, v, &device, has, HAS_DEVICE))
        return NO_HANDLE;
    return device < NO_HANDLE ? (uint32_t)device : NO_HANDLE;
}

static void set_top(struct snapshot *s, uint32_t key, struct pickle_value v) {
    switch (key) {
    case KEY_SEGMENTS:
        s->segments_list = get_handle(v);
        break;
    case KEY_DEVICE_TRACES:
        s->traces_list = get_handle(v);
        break;
    case KEY_EXTERNAL_ANNOTATIONS:
        s->annotations_list = get_handle(v);
        break;
    case KEY_HOST_SEGMENTS:
        s->host_segments_list = get_handle(v);
        break;
    case KEY_HOST_TRACES:
        s->host_traces_list = get_handle(v);
        break;
    }
}

static void set_settings(struct snapshot *s, uint32_t key, struct pickle_value v) {
    struct snapshot_settings *set = &s->settings;
    set->known = true;
    switch (key) {
    case KEY_ALLOC_CONF:
        set->conf = get_text(v);
        break;
    case KEY_MAX_SPLIT_SIZE: /* -1: unlimited */
        if (pickle_get_integer(&s->pickle, v, &set->max_split) != PICKLE_NON_NEGATIVE)
            set->max_split = UINT64_MAX;
        break;
    case KEY_EXPANDABLE_SEGMENTS:
        set->expandable = get_bool(v);
        break;
    case KEY_ROUNDUP_DIVISIONS:
        set->divisions_dict = get_handle(v);
        break;
    }
}

static void set_segment(struct snapshot *s, uint32_t record, uint32_t key, struct pickle_value v) {
    struct snapshot_segment *r = &s->segments.at[record];
    const struct pickle *p = &s->pickle;
    switch (key) {
    case KEY_DEVICE:
        r->device = get_device(p, v, &r->has);
        break;
    case KEY_ADDRESS:
        get_size(p, v, &r->address, &r->has, HAS_ADDRESS);
        break;
    case KEY_TOTAL_SIZE:
        get_size(p, v, &r->total, &r->has, HAS_SIZE);
        break;
    case KEY_REQUESTED_SIZE:
        get_size(p, v, &r->requested, &r->has, HAS_REQUESTED);
        break;
    case KEY_STREAM:
        get_bits(p, v, &r->stream, &r->has, HAS_STREAM);
        break;
    case KEY_SEGMENT_TYPE:
        r->type = get_text(v);
        break;
    case KEY_SEGMENT_POOL_ID:
        r->pool_tuple = get_handle(v);
        break;
    case KEY_IS_EXPANDABLE:
        r->expandable = get_bool(v);
        break;
    case KEY_FRAMES:
        r->frames_list = get_handle(v);
        break;
    case KEY_BLOCKS:
        r->blocks_list = get_handle(v);
        break;
    }
}

static void set_block(struct snapshot *s, uint32_t record, uint32_t key, struct pickle_value v) {
    struct snapshot_block *r = &s->blocks.at[record];
    const struct pickle *p = &s->pickle;
    switch (key) {
    case KEY_ADDRESS:
        get_size(p, v, &r->address, &r->has, HAS_ADDRESS);
        break;
    case KEY_SIZE:
        get_size(p, v, &r->size, &r->has, HAS_SIZE);
        break;
    case KEY_REQUESTED_SIZE:
        get_size(p, v, &r->requested, &r->has, HAS_REQUESTED);
        break;
    case KEY_STATE:
        r->state = get_text(v);
        break;
    case KEY_FRAMES:
        r->frames_list = get_handle(v);
        break;
    case KEY_HISTORY:
        r->history_list = get_handle(v);
        break;
    }
}

static void set_history(struct snapshot *s, uint32_t record, uint32_t key, struct pickle_value v) {
    struct snapshot_history *r = &s->histories.at[record];
    if (key == KEY_REAL_SIZE)
        get_size(&s->pickle, v, &r->real_size, &r->has, HAS_SIZE);
    else if (key == KEY_FRAMES)
        r->frames_list = get_handle(v);
}

static void set_entry(struct snapshot *s, uint32_t record, uint32_t key, struct pickle_value v) {
    struct snapshot_entry *r = &s->entries.at[record];
    const struct pickle *p = &s->pickle;
    switch (key) {
    case KEY_ACTION:
        r->action = get_text(v);
        break;
    case KEY_ADDR:
        get_size(p, v, &r->address, &r->has, HAS_ADDRESS);
        break;
    case KEY_DEVICE_FREE:
        get_size(p, v, &r->address, &r->has, HAS_DEVICE_FREE);
        break;
    case KEY_SIZE:
        get_size(p, v, &r->size, &r->has, HAS_SIZE);
        break;
    case KEY_STREAM:
        get_bits(p, v, &r->stream, &r->has, HAS_STREAM);
        break;
    case KEY_TIME_US:
        get_size(p, v, &r->time_us, &r->has, HAS_TIME);
        break;
    case KEY_POOL_ID:
        r->pool_tuple = get_handle(v);
        break;
    case KEY_FRAMES:
        r->frames_list = get_handle(v);
        break;
    }
}

static void set_annotation(struct snapshot *s, uint32_t record, uint32_t key,
                           struct pickle_value v) {
    struct snapshot_annotation *r = &s->annotations.at[record];
    switch (key) {
    case KEY_STAGE:
        r->stage = get_text(v);
        break;
    case KEY_NAME:
        r->name = get_text(v);
        break;
    case KEY_DEVICE:
        r->device = get_device(&s->pickle, v, &r->has);
        break;
    case KEY_TIME_US:
        get_size(&s->pickle, v, &r->time_us, &r->has, HAS_TIME);
        break;
    }
}

static void set_frame(struct snapshot *s, uint32_t record, uint32_t key, struct pickle_value v) {
    struct snapshot_frame *r = &s->frames.at[record];
    uint64_t line;
    if (key == KEY_NAME)
        r->name = get_text(v);
    else if (key == KEY_FILENAME)
        r->file = get_text(v);
    else if (key == KEY_LINE && pickle_get_integer(&s->pickle, v, &line) == PICKLE_NON_NEGATIVE)
        r->line = line < UINT32_MAX ? (uint32_t)line : UINT32_MAX;
}

static void set_key(struct snapshot *s, enum snapshot_role role, uint32_t record,
                    struct pickle_value key, struct pickle_value value) {
    uint32_t id = pickle_tag(key) == PICKLE_STRING ? get_text(key) : 0;
    if (id == KEY_NONE || id >= KEY_COUNT)
        return;
    switch (role) {
    case ROLE_TOP:
        set_top(s, id, value);
        break;
    case ROLE_SETTINGS:
        set_settings(s, id, value);
        break;
    case ROLE_SEGMENT:
        set_segment(s, record, id, value);
        break;
    case ROLE_BLOCK:
        set_block(s, record, id, value);
        break;
    case ROLE_HISTORY:
        set_history(s, record, id, value);
        break;
    case ROLE_ENTRY:
        set_entry(s, record, id, value);
        break;
    case ROLE_ANNOTATION:
        set_annotation(s, record, id, value);
        break;
    case ROLE_FRAME:
        set_frame(s, record, id, value);
        break;
    case ROLE_NONE:
    case ROLE_COUNT:
        break;
    }
}

#define ADD_RECORD(s, array, ...)                                                                  \
    if (!PICKLE_RESERVE(&(s)->pickle, array, (array)->count + 1))                                  \
        return false;                                                                              \
    (array)->at[(array)->count] = (__VA_ARGS__);                                                   \
    *record = (uint32_t)(array)->count++

/* An empty record; there are never more of a kind than containers, whose handles fit 32 bits. */
static bool add_record(struct snapshot *s, enum snapshot_role role, uint32_t *record) {
    switch (role) {
    case ROLE_SEGMENT:
        ADD_RECORD(s, &s->segments,
                   (struct snapshot_segment){.blocks_list = NO_HANDLE,
                                             .frames_list = NO_HANDLE,
                                             .pool_tuple = NO_HANDLE});
        break;
    case ROLE_BLOCK:
        ADD_RECORD(s, &s->blocks,
                   (struct snapshot_block){.frames_list = NO_HANDLE, .history_list = NO_HANDLE});
        break;
    case ROLE_HISTORY:
        ADD_RECORD(s, &s->histories, (struct snapshot_history){.frames_list = NO_HANDLE});
        break;
    case ROLE_ENTRY:
        ADD_RECORD(s, &s->entries,
                   (struct snapshot_entry){.frames_list = NO_HANDLE, .pool_tuple = NO_HANDLE});
        break;
    case ROLE_ANNOTATION:
        ADD_RECORD(s, &s->annotations, (struct snapshot_annotation){0});
        break;
    case ROLE_FRAME:
        ADD_RECORD(s, &s->frames, (struct snapshot_frame){0});
        break;
    case ROLE_TOP:
    case ROLE_SETTINGS:
    case ROLE_NONE:
    case ROLE_COUNT:
        *record = 0;
        break;
    }
    return true;
}

static enum snapshot_role find_role(const struct pickle_value *items, size_t pairs) {
    for (size_t i = 0; i < pairs; i++) {
        uint32_t id = get_text(items[2 * i]);
        if (id < KEY_COUNT && role_of_key[id] != ROLE_NONE)
            return (enum snapshot_role)role_of_key[id];
    }
    return ROLE_NONE;
}

/* Keeps pairs until the dict's role is known. */
static bool keep_pairs(struct snapshot *s, struct pickle_container *c,
                       const struct pickle_value *items, size_t pairs) {
    if (s->pairs.count + pairs >= UINT32_MAX)
        return error_set(s->pickle.err, ERROR_LIMIT,
                         "more than 2^32 pairs in dicts of unknown kinds");
    if (!PICKLE_RESERVE(&s->pickle, &s->pairs, s->pairs.count + pairs))
        return false;
    for (size_t i = 0; i < pairs; i++) {
        s->pairs.at[s->pairs.count++] = (struct snapshot_pair){
            .key = items[2 * i], .value = items[2 * i + 1], .previous = c->record};
        c->record = (uint32_t)s->pairs.count;
    }
    return true;
}

/* Gives a dict its role; what was put in before is applied now (last pair first: later ones of the
 * same key lose, but Python never writes a key twice). */
static bool settle_role(struct snapshot *s, struct pickle_container *c, enum snapshot_role role) {
    uint32_t kept = c->record, record = 0;
    if (!add_record(s, role, &record))
        return false;
    c->role = (uint8_t)role;
    c->record = record;
    for (; kept != 0; kept = s->pairs.at[kept - 1].previous)
        set_key(s, role, record, s->pairs.at[kept - 1].key, s->pairs.at[kept - 1].value);
    return true;
}

/* The outermost dict was the first container made; its keys are shown by name. */
static bool keep_top_keys(struct snapshot *s, const struct pickle_value *items, size_t pairs) {
    for (size_t i = 0; i < pairs; i++) {
        if (!PICKLE_RESERVE(&s->pickle, &s->top_keys, s->top_keys.count + 1))
            return false;
        s->top_keys.at[s->top_keys.count++] = get_text(items[2 * i]);
    }
    return true;
}

static bool fold_dict(void *user, struct pickle *p, uint32_t dict, const struct pickle_value *items,
                      size_t pairs, struct error *err) {
    struct snapshot *s = user;
    (void)err;
    struct pickle_container *c = pickle_container(p, dict);
    if (dict == 0 && !keep_top_keys(s, items, pairs))
        return false;
    if (c->role == ROLE_NONE) {
        enum snapshot_role role = find_role(items, pairs);
        if (role == ROLE_NONE)
            return keep_pairs(s, c, items, pairs);
        if (!settle_role(s, c, role))
            return false;
    }
    for (size_t i = 0; i < pairs; i++)
        set_key(s, (enum snapshot_role)c->role, c->record, items[2 * i], items[2 * i + 1]);
    return true;
}

/* A list that begins with a shared chunk gets its own. */
static bool unshare(struct snapshot *s, struct pickle_container *c) {
    if (c->record == 0 || !s->chunks.at[c->record - 1].shared)
        return true;
    if (!PICKLE_RESERVE(&s->pickle, &s->chunks, s->chunks.count + 1))
        return false;
    struct snapshot_chunk own = s->chunks.at[c->record - 1];
    s->chunks.at[s->chunks.count++] = own;
    c->record = (uint32_t)s->chunks.count;
    s->chunks.at[c->record - 1].shared = false;
    s->chunks.at[c->record - 1].last = c->record;
    return true;
}

/* The chunk to append to: the list's last one if it still ends where `items` ends, else a new one.
 */
static bool find_chunk(struct snapshot *s, struct pickle_container *c,
                       struct snapshot_chunk **out) {
    if (!unshare(s, c))
        return false;
    if (c->record != 0) {
        struct snapshot_chunk *head = &s->chunks.at[c->record - 1],
                              *last = &s->chunks.at[head->last - 1];
        if (last->first + last->count == s->items.count) {
            *out = last;
            return true;
        }
    }
    if (!PICKLE_RESERVE(&s->pickle, &s->chunks, s->chunks.count + 1))
        return false;
    s->chunks.at[s->chunks.count++] = (struct snapshot_chunk){.first = (uint32_t)s->items.count};
    uint32_t made = (uint32_t)s->chunks.count;
    if (c->record == 0) {
        c->record = made;
        s->chunks.at[made - 1].last = made;
    } else {
        struct snapshot_chunk *head = &s->chunks.at[c->record - 1];
        s->chunks.at[head->last - 1].next = made;
        head->last = made;
    }
    *out = &s->chunks.at[made - 1];
    return true;
}

static bool fold_list(void *user, struct pickle *p, uint32_t list, const struct pickle_value *items,
                      size_t count, struct error *err) {
    struct snapshot *s = user;
    struct snapshot_chunk *chunk;
    if (count >= UINT32_MAX - s->items.count)
        return error_set(err, ERROR_LIMIT, "more than 2^32 list items");
    if (!PICKLE_RESERVE(p, &s->items, s->items.count + count) ||
        !find_chunk(s, pickle_container(p, list), &chunk))
        return false;
    uint32_t *to = s->items.at + s->items.count;
    for (size_t i = 0; i < count; i++)
        to[i] = pickle_is_container(items[i]) ? (uint32_t)pickle_payload(items[i]) : NO_HANDLE;
    s->items.count += count;
    chunk->count += (uint32_t)count;
    return true;
}

static bool share_list(void *user, struct pickle *p, uint32_t list, uint32_t like, uint32_t count) {
    struct snapshot *s = user;
    uint32_t record = pickle_container(p, like)->record;
    struct snapshot_chunk *head = &s->chunks.at[record - 1];
    if (head->next != 0 || head->count != count)
        return false;
    head->shared = true;
    pickle_container(p, list)->record = record;
    s->items_shared += count;
    return true;
}

/* Only pairs of numbers are kept. Equal neighbours (nearly all pools are the default one) share a
 * record. */
static bool fold_tuple(void *user, struct pickle *p, uint32_t tuple,
                       const struct pickle_value *items, size_t count, struct error *err) {
    struct snapshot *s = user;
    uint64_t a, b;
    (void)err;
    if (count != 2 || pickle_get_integer(p, items[0], &a) == PICKLE_NOT_INTEGER ||
        pickle_get_integer(p, items[1], &b) == PICKLE_NOT_INTEGER)
        return true;
    size_t n = s->tuples.count;
    if (n < 2 || s->tuples.at[n - 2] != a || s->tuples.at[n - 1] != b) {
        if (!PICKLE_RESERVE(p, &s->tuples, n + 2))
            return false;
        s->tuples.at[n] = a;
        s->tuples.at[n + 1] = b;
        s->tuples.count += 2;
    }
    pickle_container(p, tuple)->record = (uint32_t)(s->tuples.count / 2);
    return true;
}

static size_t held_memory(const void *user) {
    const struct snapshot *s = user;
    return s->entries.capacity * sizeof *s->entries.at +
           s->segments.capacity * sizeof *s->segments.at +
           s->blocks.capacity * sizeof *s->blocks.at +
           s->histories.capacity * sizeof *s->histories.at +
           s->annotations.capacity * sizeof *s->annotations.at +
           s->frames.capacity * sizeof *s->frames.at + s->pairs.capacity * sizeof *s->pairs.at +
           s->chunks.capacity * sizeof *s->chunks.at + s->items.capacity * sizeof *s->items.at +
           s->tuples.capacity * sizeof *s->tuples.at +
           s->top_keys.capacity * sizeof *s->top_keys.at;
}

static bool report_progress(void *user, uint64_t done, uint64_t total) {
    const struct trace_options *o = ((const struct snapshot *)user)->options;
    return !o->progress || o->progress(o->user, done, total);
}

static bool intern_keys(struct snapshot *s, struct error *err) {
    for (uint32_t i = 0; i < KEY_COUNT; i++) {
        uint32_t id;
        if (!strtab_add(&s->pickle.strings, keys[i].text, keys[i].length, &id))
            return error_host_memory(err);
        assert(id == i);
    }
    return true;
}

/* The outermost value: a dict of the known keys, or the bare list of segments of 1.13. */
static bool settle_top(struct snapshot *s, struct error *err) {
    uint32_t handle = get_handle(s->root);
    if (handle != NO_HANDLE && pickle_tag(s->root) == PICKLE_LIST) {
        s->is_list = true;
        s->segments_list = handle;
        array_clear(&s->top_keys);
        return true;
    }
    if (handle != NO_HANDLE && pickle_container(&s->pickle, handle)->role == ROLE_TOP)
        return true;
    return error_set(
        err, ERROR_BAD_INPUT,
        "a pickle, but not of a memory snapshot: the outermost value is no dict with 'segments' or "
        "'device_traces', and no list of segments");
}

/* Room for what files of this size hold, so that large arrays are not moved while they grow.
 * Untouched pages cost nothing; a file that is different grows its arrays as usual. */
static bool reserve(struct snapshot *s, size_t length) {
    struct pickle *p = &s->pickle;
    return PICKLE_RESERVE(p, &p->memo, length / 32) &&
           PICKLE_RESERVE(p, &p->containers, length / 40) &&
           PICKLE_RESERVE(p, &s->items, length / 6) && PICKLE_RESERVE(p, &s->entries, length / 100);
}

bool snapshot_decode(struct snapshot *s, const void *data, size_t length,
                     const struct trace_options *options, struct error *err) {
    memset(s, 0, sizeof *s);
    s->options = options;
    s->segments_list = s->traces_list = s->annotations_list = s->settings.divisions_dict =
        s->host_segments_list = s->host_traces_list = NO_HANDLE;
    s->settings.max_split = UINT64_MAX;
    const struct pickle_handler handler = {.user = s,
                                           .set_items = fold_dict,
                                           .append = fold_list,
                                           .append_same = share_list,
                                           .fill_tuple = fold_tuple,
                                           .progress = report_progress,
                                           .memory = held_memory};
    if (!pickle_init(&s->pickle, data, length, &handler, options->max_memory_bytes, err) ||
        !intern_keys(s, err) || !reserve(s, length) || !pickle_read(&s->pickle, &s->root))
        return false;
    pickle_drop_memo(&s->pickle);
    s->items_left = snapshot_items(s) + 1;
    return settle_top(s, err);
}

void snapshot_fini(struct snapshot *s) {
    pickle_fini(&s->pickle);
    array_fini(&s->top_keys);
    array_fini(&s->entries);
    array_fini(&s->segments);
    array_fini(&s->blocks);
    array_fini(&s->histories);
    array_fini(&s->annotations);
    array_fini(&s->frames);
    array_fini(&s->pairs);
    array_fini(&s->chunks);
    array_fini(&s->items);
    array_fini(&s->tuples);
}
