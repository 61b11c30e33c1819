/* device.h: the cards vramsim knows. A row states facts with their source in device.c; `context` is what the process
 * takes outside the allocator before its first tensor (CUDA context, libraries), an estimate that the user overrides:
 * "NAME:total=24564MiB,context=500MiB". */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum { DEVICE_NAME_BYTES = 48 };

struct device {
    char name[DEVICE_NAME_BYTES];
    const char *product;    /* the driver's name of the card */
    const char *source;     /* where the row's figures come from */
    uint64_t total_bytes;   /* what cudaMemGetInfo reports as total */
    uint64_t context_bytes; /* taken outside the allocator */
    const char *context_source;
    bool context_is_given;       /* by an override: no estimate any more */
    uint32_t compute_capability; /* 80 = sm_80 */
    uint32_t multiprocessors;
    uint32_t threads_per_multiprocessor;
    uint64_t bandwidth_bytes_per_s; /* device memory, nominal */
    /* the link to the host, one direction, nominal: PCI Express of `link_generation`, 16 lanes */
    uint64_t link_bytes_per_s;
    uint32_t link_generation;
    /* the host's memory: not the card's; an estimate that the user overrides */
    uint64_t host_memory_bytes_per_s;
    uint64_t flops_16bit_per_s; /* dense tensor-core bf16/fp16, nominal */
    uint64_t flops_fp32_per_s;  /* fp32 without tensor cores, nominal */
};

/* The presets in table order; NULL after the last. */
const struct device *device_preset(size_t index);
/* "NAME" or "NAME:key=value,..." (keys total, context, sms, link, ram) into *out. Sizes are of at
 * least 1 MiB (a context may be 0): less was meant to have a unit. The error lists the names or the
 * keys. */
bool device_parse(const char *text, struct device *out, struct error *err);
/* Bytes a second between the host's memory and the device: the slower of the link and that memory. */
uint64_t device_transfer_rate(const struct device *device);

#endif
