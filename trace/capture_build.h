/* capture_build.h: the timeline of a capture while it is being built. Private to capture_*.c. */
#ifndef CAPTURE_BUILD_H
#define CAPTURE_BUILD_H

#include "addrmap.h"
#include "capture_records.h"
#include "emit.h"
#include "records.h"
#include "timeline.h"

enum { CAPTURE_DEVICES = 64 };

struct capture_device {
    struct addrmap blocks;   /* live, by address */
    struct addrmap segments; /* live plain ones, by address */
    struct addrmap mapped;   /* live mapped pieces, by address */
    uint64_t bytes;          /* reserved now */
    uint64_t outside;        /* the least that samples show beyond it; UINT64_MAX: none */
    bool is_there;
};

struct capture_pool {
    uint64_t pool; /* its address */
    uint64_t bytes;
    uint64_t address; /* of a range that nothing else has */
    uint8_t device;
};

struct capture_build {
    struct timeline *tl;
    struct error *err;
    struct emit emit;
    struct capture_device devices[CAPTURE_DEVICES];
    uint8_t host; /* the device that stands for pinned memory */
    bool has_tensors, has_host;
    ARRAY(uint32_t) strings; /* id -> string of the timeline */
    ARRAY(struct capture_pool) pools;
    struct addrmap handles; /* -> device */
    uint32_t main_tid;
    uint64_t now;      /* ns */
    uint64_t unpaired; /* frees of what was there before */
};

/* The records in order -> a timeline. */
bool capture_build(struct capture_records *records, struct timeline *tl, struct error *err);

bool capture_no_memory(struct capture_build *b);
bool capture_stream(struct capture_build *b, uint64_t handle, uint16_t *stream);
uint32_t capture_string(const struct capture_build *b, uint32_t id);
/* A device ordinal that the timeline can have. False: not counted. */
bool capture_device_of(struct capture_build *b, uint32_t device, uint8_t *out);

/* The innermost phase: ranges are the program's, of no device, and kept with the first. */
uint32_t capture_phase(const struct capture_build *b);

/* capture_memory.c */
bool capture_memory(struct capture_build *b, const uint8_t *at);
bool capture_tensor(struct capture_build *b, const uint8_t *at);
bool capture_pool_record(struct capture_build *b, const uint8_t *at);
/* capture_virtual.c. A mapped piece is a segment of its own. */
bool capture_virtual(struct capture_build *b, const uint8_t *at);
bool capture_map(struct capture_build *b, uint8_t device, uint64_t address, uint64_t bytes);
/* All pieces that begin at or behind `address`, before `end`. */
bool capture_unmap(struct capture_build *b, uint8_t device, uint64_t address, uint64_t end);

#endif
