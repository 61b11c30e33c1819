/* tape.h: the executor of symbolic tensor programs. An op runs at once: it asks for its outputs and
 * temporaries, gives temporaries back and, where gradients are needed, leaves a node with the
 * tensors that autograd saves. backward() then walks the nodes as PyTorch's engine does.
 *
 * The tape knows no allocator. Every request, release, kernel and phase goes to a sink in program
 * order.
 *
 * Failure is sticky: after the device is out of memory (a result) or the host is (an error) or a
 * shape was wrong, ops go on with tensors that have no block, nothing reaches the sink any more,
 * and the caller of the outermost op looks at tape_status(). So an op never checks what another
 * returned: no pointer is ever NULL but for optional tensors. */
#ifndef TAPE_H
#define TAPE_H

#include "arena.h"
#include "array.h"
#include "attr.h"
#include "device.h"
#include "error.h"
#include "framework.h"
#include "strtab.h"
#include "tensor.h"

struct tape_request {
    uint64_t bytes, stream;
    enum category category;
    enum dtype dtype;
    const char *op;    /* "aten::mm", "MmBackward0" */
    const char *owner; /* module path; "" = none */
};

/* One kernel as dispatched by the host. */
struct tape_kernel {
    const char *name, *owner;
    uint64_t stream;
    uint64_t flops, bytes; /* arithmetic; device memory read and written */
    enum dtype dtype;
    bool over_link; /* a copy: `bytes` cross the link to the host */
};

/* What the allocator and the device have at this point of the run. */
struct tape_memory {
    uint64_t allocated, allocated_peak; /* bytes in blocks */
    uint64_t reserved, reserved_peak;   /* in segments */
    uint64_t free, total;               /* of the device, outside and over all */
};

/* One forward op and what it left for backward; for `dump tape`. */
struct tape_record {
    const char *op, *owner;
    struct tensor *const *inputs, *const *outputs;
    unsigned input_count, output_count;
    const struct node *node; /* NULL: no gradient needed */
};

struct tape_sink {
    void *user;
    /* False: the device is out of memory. *block is the sink's own number. */
    bool (*request)(void *user, const struct tape_request *request, uint32_t *block);
    void (*release)(void *user, uint32_t block);
    /* A holder was found later: what the block is for, whose it is. `name` and `owner` may be NULL
     * (unchanged). */
    void (*label)(void *user, uint32_t block, enum category category, const char *owner,
                  const char *name);
    void (*kernel)(void *user, const struct tape_kernel *kernel);
    void (*phase)(void *user, const char *name, bool begin);
    /* the host waits for the device (item(), cudaDeviceSynchronize) */
    void (*synchronize)(void *user);
    void (*record)(void *user, const struct tape_record *record); /* (optional) */
    /* (optional) set_per_process_memory_fraction */
    void (*limit_memory)(void *user, double fraction);
    /* (optional) torch.cuda.empty_cache */
    void (*empty_cache)(void *user);
    /* (optional) bytes of this machine that the sink's records take */
    size_t (*host_bytes)(const void *user);
    /* (optional) */
    void (*memory)(void *user, struct tape_memory *out);
    /* (optional) the simulated time of the host, an estimate */
    uint64_t (*time_ns)(void *user);
};

/* TAPE_UNWINDING: something was raised that a caller further out catches (tape_raise): as after a
 * failure nothing is asked for and no kernel runs, but what is let go on the way out is released.
 */
enum tape_status { TAPE_OK, TAPE_UNWINDING, TAPE_OUT_OF_MEMORY, TAPE_FAILED };

enum tape_raised { RAISED_STOP, RAISED_OUT_OF_MEMORY };

enum autocast_policy { AUTOCAST_NONE, AUTOCAST_LOW, AUTOCAST_FP32, AUTOCAST_FP32_DTYPE };

enum workspace_library { WORKSPACE_CUBLAS, WORKSPACE_CUBLASLT };

/* Hooks on saved tensors (torch.autograd.graph.saved_tensors_hooks): while they are on, a node
 * keeps what pack made of a tensor in place of the tensor. When the node runs, unpack makes a
 * tensor of it again (a new reference), which lives as long as the node's formula runs; drop ends
 * the packed value after the node has run, or with the node. A pack or unpack that fails leaves the
 * tape stopped. */
struct saved_hooks {
    void *user;
    void *(*pack)(void *user, struct tensor *t);
    struct tensor *(*unpack)(void *user, void *packed);
    void (*drop)(void *user, void *packed);
};

struct tape_workspace { /* kept per library and handle (thread); there is one stream */
    enum workspace_library library;
    unsigned thread;
    struct tensor *tensor;
};

struct autocast_entry { /* low-precision copy of a leaf, kept to the end of the region */
    struct tensor *leaf, *copy;
};

struct tape {
    struct tape_sink sink;
    /* (optional) Tensor.register_post_accumulate_grad_hook: the gradient of a leaf with has_hook is
     * complete for this backward. Runs in the engine; a failure leaves the tape stopped. */
    void (*accumulated)(void *user, struct tensor *leaf);
    void *accumulated_user;
    const struct framework *framework;
    const struct device *device;
    enum tape_status status;
    enum tape_raised raised; /* with TAPE_UNWINDING */
    unsigned catchers;       /* callers that catch an out-of-memory */
    struct error error;      /* with TAPE_FAILED */

    /* 0 the caller's, 1 the backward engine's: each has its own library handles */
    unsigned thread;
    bool grad_enabled;
    bool inference_mode; /* without recording; autocast keeps no copies of weights */
    const struct saved_hooks *saved_hooks; /* innermost; NULL: none */
    enum dtype default_dtype;  /* of factories without a dtype; torch.set_default_dtype */
    bool default_host;         /* factories make host tensors; torch.set_default_device("cpu") */
    uint32_t cudnn;            /* version of cuDNN, the framework's: 9.26.0 is 92600; 0: none */
    bool cudnn_attention_off;  /* torch.backends.cuda.enable_cudnn_sdp(False) */
    bool cudnn_attention_ran;  /* attention went through it */
    bool cudnn_disabled;       /* torch.backends.cudnn.enabled = False */
    bool cudnn_workspace_none; /* else estimated: conv_workspace.h */
    const char *caveat;        /* what in the requests is an estimate; NULL: nothing */
    enum dtype autocast;       /* DTYPE_NONE: off */
    unsigned autocast_depth;
    ARRAY(struct autocast_entry) autocast_cache;
    ARRAY(struct tape_workspace) workspaces;

    struct strtab strings;
    ARRAY(uint32_t) modules;    /* stack of module paths (strings) */
    const char *op;             /* running; "" outside */
    const char *backward_owner; /* module path of the running node; NULL in forward */
    enum category category; /* of new storages, CATEGORY_COUNT: decided by what happens to them */
    uint32_t backward_runs;
    struct engine_run *engine_run; /* innermost backward that is running; NULL: none */
    uint64_t sequence;             /* next node's number */

    struct arena arena;
    struct tensor *free_tensors; /* linked through `grad` */
    struct storage *free_storages;
    struct node_extra *free_extras; /* linked through `next` */
    struct node *free_nodes;        /* linked through edges[0].node */
    struct storage null_storage;
    struct tensor null_tensor; /* what everything becomes when host memory is exhausted */
    uint32_t next_tensor_id;
    uint64_t live_storages;
};

bool tape_init(struct tape *tape, const struct tape_sink *sink, const struct framework *framework,
               const struct device *device); /* false: host memory exhausted */
void tape_fini(struct tape *tape);

/* Bytes of this machine that the tape and its sink take. */
size_t tape_host_bytes(const struct tape *tape);

/* Records the first failure; later ones are dropped. */
void tape_fail(struct tape *tape, enum error_code code, const char *format, ...) ATTR_PRINTF(3, 4);
void tape_fail_memory(struct tape *tape);
void tape_raise(struct tape *tape, enum tape_raised what);
/* Whether memory that is let go is still told to the sink. */
bool tape_is_live(const struct tape *tape);

/* A new tensor (one reference, the caller's). The strides are contiguous / as given. */
struct tensor *tape_new(struct tape *tape, enum dtype dtype, const struct shape *shape);
struct tensor *tape_new_strided(struct tape *tape, enum dtype dtype, const struct shape *shape,
                                const int64_t *stride);
struct tensor *tape_new_host(struct tape *tape, enum dtype dtype, const struct shape *shape);
/* A raw buffer of `bytes` (workspace, reduction staging). */
struct tensor *tape_new_bytes(struct tape *tape, uint64_t bytes, enum category category);
/* Another tensor over t's storage: same type, given shape and strides, no gradient history. */
struct tensor *tape_alias(struct tape *tape, struct tensor *t, const struct shape *shape,
                          const int64_t *stride);
struct tensor *tape_detach(struct tape *tape, struct tensor *t);
/* t.data = from: t gets from's storage, layout and place, and the category that its own storage
 * had. */
void tape_set_data(struct tape *tape, struct tensor *t, struct tensor *from);

void tape_kernel(struct tape *tape, const char *name, uint64_t flops, uint64_t bytes,
                 enum dtype dtype);
/* A copy of `bytes` between host and device. */
void tape_transfer(struct tape *tape, const char *name, uint64_t bytes, enum dtype dtype);
void tape_set_category(struct tape *tape, struct tensor *t, enum category category, bool fixed);
void tape_set_name(struct tape *tape, struct tensor *t, const char *owner, const char *name);

const char *tape_owner(const struct tape *tape); /* of what runs now */
bool tape_enter_module(struct tape *tape, const char *path);
void tape_leave_module(struct tape *tape);
void tape_autocast_enter(struct tape *tape, enum dtype dtype);
void tape_autocast_leave(struct tape *tape, enum dtype outer);

#endif
