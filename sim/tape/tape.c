/* tape.c: storages, tensors and the way to the sink. See tape.h. */
#include "tape.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "checked.h"
#include "node.h"

bool tape_init(struct tape *tape, const struct tape_sink *sink, const struct framework *framework,
               const struct device *device) {
    memset(tape, 0, sizeof *tape);
    tape->sink = *sink;
    tape->framework = framework;
    tape->cudnn = framework->cudnn;
    tape->device = device;
    tape->grad_enabled = true;
    tape->default_dtype = DTYPE_FLOAT32;
    tape->op = "";
    tape->category = CATEGORY_COUNT;
    tape->next_tensor_id = 1;
    tape->null_storage = (struct storage){.refs = 1, .block = STORAGE_NO_BLOCK};
    tape->null_tensor = (struct tensor){
        .refs = 1, .storage = &tape->null_storage, .dtype = DTYPE_FLOAT32, .shape = {.ndim = 0}};
    return strtab_init(&tape->strings);
}

void tape_fini(struct tape *tape) {
    array_fini(&tape->autocast_cache);
    array_fini(&tape->workspaces);
    array_fini(&tape->modules);
    strtab_fini(&tape->strings);
    arena_fini(&tape->arena);
}

size_t tape_host_bytes(const struct tape *tape) {
    size_t sink = tape->sink.host_bytes ? tape->sink.host_bytes(tape->sink.user) : 0;
    return sink + tape->arena.total_bytes + strtab_bytes(&tape->strings) +
           array_bytes(&tape->autocast_cache) + array_bytes(&tape->modules);
}

void tape_fail(struct tape *tape, enum error_code code, const char *format, ...) {
    if (tape->status != TAPE_OK)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tape->status = TAPE_FAILED;
    error_set(&tape->error, code, "%s", text);
}

void tape_fail_memory(struct tape *tape) {
    if (tape->status != TAPE_OK)
        return;
    tape->status = TAPE_FAILED;
    error_host_memory(&tape->error);
}

void tape_raise(struct tape *tape, enum tape_raised what) {
    if (tape->status != TAPE_OK)
        return;
    tape->status = TAPE_UNWINDING;
    tape->raised = what;
}

bool tape_is_live(const struct tape *tape) {
    return tape->status == TAPE_OK || tape->status == TAPE_UNWINDING;
}

const char *tape_owner(const struct tape *tape) {
    if (tape->backward_owner)
        return tape->backward_owner;
    if (tape->modules.count == 0)
        return "";
    return strtab_text(&tape->strings, tape->modules.at[tape->modules.count - 1]);
}

bool tape_enter_module(struct tape *tape, const char *path) {
    uint32_t id;
    if (!strtab_add(&tape->strings, path, strlen(path), &id) || !array_push(&tape->modules, id)) {
        tape_fail_memory(tape);
        return false;
    }
    return true;
}

void tape_leave_module(struct tape *tape) {
    (void)array_pop(&tape->modules);
}

/* The category a new storage has until a holder tells more: backward and optimizer make
 * temporaries, forward makes temporaries that become activations when a node saves them. */
static enum category first_category(const struct tape *tape) {
    return tape->category != CATEGORY_COUNT ? tape->category : CATEGORY_TEMPORARY;
}

static void request_block(struct tape *tape, struct storage *storage, enum dtype dtype) {
    if (tape->status != TAPE_OK || storage->bytes == 0)
        return;
    struct tape_request request = {.bytes = storage->bytes,
                                   .category = storage->category,
                                   .dtype = dtype,
                                   .op = tape->op,
                                   .owner = tape_owner(tape)};
    if (!tape->sink.request(tape->sink.user, &request, &storage->block)) {
        storage->block = STORAGE_NO_BLOCK;
        if (tape->catchers > 0)
            tape_raise(tape, RAISED_OUT_OF_MEMORY);
        else
            tape->status = TAPE_OUT_OF_MEMORY;
    }
}

static struct storage *new_storage(struct tape *tape) {
    struct storage *storage = tape->free_storages;
    if (storage) {
        tape->free_storages = storage->next_free;
    } else {
        storage = arena_alloc(&tape->arena, sizeof *storage);
        if (!storage) {
            tape_fail_memory(tape);
            return NULL;
        }
    }
    *storage = (struct storage){.refs = 1, .block = STORAGE_NO_BLOCK};
    tape->live_storages++;
    return storage;
}

static void unref_storage(struct tape *tape, struct storage *storage) {
    assert(storage->refs > 0);
    if (--storage->refs > 0)
        return;
    if (storage->block != STORAGE_NO_BLOCK && tape_is_live(tape))
        tape->sink.release(tape->sink.user, storage->block);
    tape->live_storages--;
    storage->next_free = tape->free_storages;
    tape->free_storages = storage;
}

static struct tensor *new_header(struct tape *tape) {
    struct tensor *t = tape->free_tensors;
    if (t) {
        tape->free_tensors = t->grad;
    } else {
        t = arena_alloc(&tape->arena, sizeof *t);
        if (!t) {
            tape_fail_memory(tape);
            return NULL;
        }
    }
    memset(t, 0, sizeof *t);
    t->refs = 1;
    t->id = tape->next_tensor_id++;
    return t;
}

static struct tensor *null_tensor(struct tape *tape) {
    return tensor_ref(&tape->null_tensor);
}

static struct tensor *with_storage(struct tape *tape, enum dtype dtype, const struct shape *shape,
                                   const int64_t *stride, uint64_t bytes, enum category category) {
    struct tensor *t = new_header(tape);
    struct storage *storage = t ? new_storage(tape) : NULL;
    if (!storage)
        return null_tensor(tape);
    t->storage = storage;
    t->dtype = dtype;
    t->shape = *shape;
    if (stride)
        memcpy(t->stride, stride, sizeof t->stride);
    else
        strides_contiguous(shape, t->stride);
    storage->bytes = bytes;
    storage->category = category;
    return t;
}

/* PyTorch refuses 2^60 bytes with a message of its own before the allocator is asked. */
static bool shape_bytes(struct tape *tape, enum dtype dtype, const struct shape *shape,
                        uint64_t *bytes) {
    uint64_t n = dtype_bytes(dtype);
    bool empty = false;
    for (unsigned i = 0; i < shape->ndim; i++) {
        empty = empty || shape->size[i] == 0; /* sums of its other sizes must stand as well */
        if (shape->size[i] < 0) {
            char text[128];
            tape_fail(tape, ERROR_BAD_SCENARIO, "negative size in shape %s",
                      shape_format(shape, text, sizeof text));
            return false;
        }
        uint64_t size = shape->size[i] > 0 ? (uint64_t)shape->size[i] : 1;
        if (!checked_mul(n, size, &n) || n >= UINT64_C(1) << 60) {
            char text[128];
            tape_fail(tape, ERROR_BAD_SCENARIO,
                      "a tensor of shape %s and type %s has 2^60 bytes or more",
                      shape_format(shape, text, sizeof text), dtype_name(dtype));
            return false;
        }
    }
    *bytes = empty ? 0 : n;
    return true;
}

struct tensor *tape_new_strided(struct tape *tape, enum dtype dtype, const struct shape *shape,
                                const int64_t *stride) {
    uint64_t bytes;
    static const struct shape empty = {.ndim = 1, .size = {0}};
    if (!shape_bytes(tape, dtype, shape, &bytes))
        return with_storage(tape, dtype, &empty, NULL, 0, CATEGORY_TEMPORARY);
    struct tensor *t = with_storage(tape, dtype, shape, stride, bytes, first_category(tape));
    if (t != &tape->null_tensor)
        request_block(tape, t->storage, dtype);
    return t;
}

struct tensor *tape_new(struct tape *tape, enum dtype dtype, const struct shape *shape) {
    return tape_new_strided(tape, dtype, shape, NULL);
}

struct tensor *tape_new_host(struct tape *tape, enum dtype dtype, const struct shape *shape) {
    uint64_t bytes;
    if (!shape_bytes(tape, dtype, shape, &bytes))
        return null_tensor(tape);
    struct tensor *t = with_storage(tape, dtype, shape, NULL, bytes, CATEGORY_TEMPORARY);
    if (t != &tape->null_tensor)
        t->host = true;
    return t;
}

struct tensor *tape_new_bytes(struct tape *tape, uint64_t bytes, enum category category) {
    struct shape shape = {.ndim = 1, .size = {(int64_t)bytes}};
    struct tensor *t = with_storage(tape, DTYPE_UINT8, &shape, NULL, bytes, category);
    if (t != &tape->null_tensor)
        request_block(tape, t->storage, DTYPE_UINT8);
    return t;
}

struct tensor *tape_alias(struct tape *tape, struct tensor *t, const struct shape *shape,
                          const int64_t *stride) {
    struct tensor *alias = new_header(tape);
    if (!alias)
        return null_tensor(tape);
    alias->storage = t->storage;
    alias->storage->refs++;
    alias->dtype = t->dtype;
    alias->host = t->host;
    uint64_t bytes; /* a view may have any number of elements, which sums of sizes must stand */
    bool fits = shape_bytes(tape, t->dtype, shape, &bytes);
    alias->shape = fits ? *shape : t->shape;
    memcpy(alias->stride, fits ? stride : t->stride, sizeof alias->stride);
    return alias;
}

struct tensor *tape_detach(struct tape *tape, struct tensor *t) {
    return tape_alias(tape, t, &t->shape, t->stride);
}

void tape_set_data(struct tape *tape, struct tensor *t, struct tensor *from) {
    struct storage *old = t->storage;
    if (t == &tape->null_tensor || from == &tape->null_tensor)
        return;
    t->storage = from->storage;
    t->storage->refs++;
    t->host = from->host;
    t->dtype = from->dtype;
    t->shape = from->shape;
    memcpy(t->stride, from->stride, sizeof t->stride);
    tape_set_category(tape, t, old->category, old->category_fixed);
    unref_storage(tape, old);
}

struct tensor *tensor_ref(struct tensor *t) {
    if (t)
        t->refs++;
    return t;
}

void tensor_unref(struct tape *tape, struct tensor *t) {
    if (!t)
        return;
    assert(t->refs > 0);
    if (--t->refs > 0 || t == &tape->null_tensor)
        return;
    struct node *grad_fn = t->grad_fn;
    struct tensor *grad = t->grad;
    unref_storage(tape, t->storage);
    t->storage = NULL;
    t->grad = tape->free_tensors;
    tape->free_tensors = t;
    tensor_unref(tape, grad);
    if (grad_fn)
        node_unref(tape, grad_fn);
}

void tape_kernel(struct tape *tape, const char *name, uint64_t flops, uint64_t bytes,
                 enum dtype dtype) {
    if (tape->status != TAPE_OK)
        return;
    struct tape_kernel kernel = {
        .name = name, .owner = tape_owner(tape), .flops = flops, .bytes = bytes, .dtype = dtype};
    tape->sink.kernel(tape->sink.user, &kernel);
}

void tape_transfer(struct tape *tape, const char *name, uint64_t bytes, enum dtype dtype) {
    if (tape->status != TAPE_OK)
        return;
    struct tape_kernel kernel = {
        .name = name, .owner = tape_owner(tape), .bytes = bytes, .dtype = dtype, .over_link = true};
    tape->sink.kernel(tape->sink.user, &kernel);
}

void tape_set_category(struct tape *tape, struct tensor *t, enum category category, bool fixed) {
    struct storage *storage = t->storage;
    if (storage->category_fixed || (storage->category == category && !fixed))
        return;
    storage->category = category;
    storage->category_fixed = fixed;
    if (storage->block != STORAGE_NO_BLOCK && tape->status == TAPE_OK)
        tape->sink.label(tape->sink.user, storage->block, category, NULL, NULL);
}

void tape_set_name(struct tape *tape, struct tensor *t, const char *owner, const char *name) {
    if (t->storage->block != STORAGE_NO_BLOCK && tape->status == TAPE_OK)
        tape->sink.label(tape->sink.user, t->storage->block, t->storage->category, owner, name);
}

void tape_autocast_enter(struct tape *tape, enum dtype dtype) {
    tape->autocast = dtype;
    tape->autocast_depth++;
}

void tape_autocast_leave(struct tape *tape, enum dtype outer) {
    tape->autocast = outer;
    if (--tape->autocast_depth > 0)
        return;
    for (size_t i = 0; i < tape->autocast_cache.count; i++) {
        tensor_unref(tape, tape->autocast_cache.at[i].copy);
        tensor_unref(tape, tape->autocast_cache.at[i].leaf);
    }
    array_clear(&tape->autocast_cache);
}
