/* bfc.h: the best-fit-with-coalescing allocator of TensorFlow and XLA (JAX), as a plan of addresses.
 *
 * Source: tsl/framework/bfc_allocator.cc; rules and vectors: docs/allocators.md. Left out: several
 * sub-allocators, safe-frontier timestamps, waiting for frees, the growing reservation of the newest
 * XLA. Streams are ignored, as the real one ignores them. */
#ifndef BFC_H
#define BFC_H

#include "alloc.h"

/* What its users set; zero bytes are JAX' defaults. */
struct bfc_options {
    uint64_t limit_bytes; /* 0: three quarters of the device's total */
    /* regions as needed, from 2 MiB on; else one region of the limit */
    bool growth;
    bool joining;            /* a new region may join the one that ends where it begins */
    bool garbage_collection; /* wholly free regions are given back when a request fails */
    /* > 0: the split threshold is this part of the limit, not 128 MiB */
    double fragmentation_fraction;
};

extern const struct alloc_ops bfc_ops;
extern const struct alloc_ops bfc_growth_ops; /* XLA_PYTHON_CLIENT_PREALLOCATE=false */

struct alloc *bfc_create(const struct alloc_config *config, const struct bfc_options *options,
                         struct error *err);
/* Bytes of a live chunk (rounding and unsplit rest included). */
uint64_t bfc_chunk_bytes(const struct alloc *al, uint64_t address);
uint64_t bfc_next_region_bytes(const struct alloc *al);

#endif
