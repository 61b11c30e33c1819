/* device.c: the table of cards. See device.h.
 *
 * total: cudaMemGetInfo's total, as real processes print it (out-of-memory messages, torch.cuda.get_device_properties,
 * nvidia-smi in MiB). Multiprocessors, bandwidth and FLOP/s: NVIDIA's data sheets and architecture white papers.
 * context: measured values differ by driver and by the kernels a program loads (274 MiB with lazy loading, 426 MiB on
 * an RTX 6000 Ada with CUDA 13.0, 500 MiB in many reports); where no measurement of the card is known, 500 MiB stands. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "nearest.h"
#include "text.h"
#include "units.h"

/* PCI Express, 16 lanes, one direction: 8, 16, 32 GT/s a lane, 128 of 130 bits (PCI-SIG's specifications 3.0, 4.0, 5.0).
 * Which one a card has: its data sheet. Pinned copies reach some 85 % of it, pageable ones less: link= calibrates. */
#define PCIE3 .link_bytes_per_s = UINT64_C(15753846153), .link_generation = 3
#define PCIE4 .link_bytes_per_s = UINT64_C(31507692307), .link_generation = 4
#define PCIE5 .link_bytes_per_s = UINT64_C(63015384615), .link_generation = 5

/* One channel of DDR5-6400: 6400 MT/s of 8 bytes (JEDEC JESD79-5). What one copying thread sees; hosts have several. */
#define DDR5 .host_memory_bytes_per_s = UINT64_C(51200000000)

#define CONTEXT_ESTIMATE                                                                           \
    "estimate: between the 274 MiB and 636 MiB that PyTorch processes show; calibrate with "       \
    "context="

static const struct device presets[] = {
    {.name = "A100-80GB",
     .product = "NVIDIA A100-SXM4-80GB",
     .source = "NVIDIA A100 data sheet and GA100 white paper; total as PyTorch reports it",
     .total_bytes = UINT64_C(85094039552), /* 81152 MiB */
     .context_bytes = 500 * MIB,
     .context_source = CONTEXT_ESTIMATE,
     .compute_capability = 80,
     .multiprocessors = 108,
     .threads_per_multiprocessor = 2048,
     .bandwidth_bytes_per_s = UINT64_C(2039000000000),
     PCIE4,
     DDR5,
     .flops_16bit_per_s = UINT64_C(312000000000000),
     .flops_fp32_per_s = UINT64_C(19500000000000)},
    {.name = "A100-40GB",
     .product = "NVIDIA A100-SXM4-40GB",
     .source = "NVIDIA A100 data sheet; total from out-of-memory messages (39.39 GiB)",
     .total_bytes = 40338 * MIB,
     .context_bytes = 500 * MIB,
     .context_source = CONTEXT_ESTIMATE,
     .compute_capability = 80,
     .multiprocessors = 108,
     .threads_per_multiprocessor = 2048,
     .bandwidth_bytes_per_s = UINT64_C(1555000000000),
     PCIE4,
     DDR5,
     .flops_16bit_per_s = UINT64_C(312000000000000),
     .flops_fp32_per_s = UINT64_C(19500000000000)},
    {.name = "H100-80GB",
     .product = "NVIDIA H100 80GB HBM3",
     .source = "NVIDIA H100 data sheet (SXM); total 81559 MiB as nvidia-smi prints it",
     .total_bytes = 81559 * MIB,
     .context_bytes = 500 * MIB,
     .context_source = CONTEXT_ESTIMATE,
     .compute_capability = 90,
     .multiprocessors = 132,
     .threads_per_multiprocessor = 2048,
     .bandwidth_bytes_per_s = UINT64_C(3350000000000),
     PCIE5,
     DDR5,
     .flops_16bit_per_s = UINT64_C(989000000000000),
     .flops_fp32_per_s = UINT64_C(67000000000000)},
    {.name = "H200",
     .product = "NVIDIA H200",
     .source = "NVIDIA H200 data sheet (SXM); total 143771 MiB as nvidia-smi prints it",
     .total_bytes = 143771 * MIB,
     .context_bytes = 500 * MIB,
     .context_source = CONTEXT_ESTIMATE,
     .compute_capability = 90,
     .multiprocessors = 132,
     .threads_per_multiprocessor = 2048,
     .bandwidth_bytes_per_s = UINT64_C(4800000000000),
     PCIE5,
     DDR5,
     .flops_16bit_per_s = UINT64_C(989000000000000),
     .flops_fp32_per_s = UINT64_C(67000000000000)},
    {.name = "B200",
     .product = "NVIDIA B200",
     .source = "NVIDIA DGX B200 and Blackwell architecture data sheets; total 183359 MiB as "
               "nvidia-smi prints it",
     .total_bytes = 183359 * MIB,
     .context_bytes = 500 * MIB,
     .context_source = CONTEXT_ESTIMATE,
     .compute_capability = 100,
     .multiprocessors = 148,
     .threads_per_multiprocessor = 2048,
     .bandwidth_bytes_per_s = UINT64_C(8000000000000),
     PCIE5,
     DDR5,
     .flops_16bit_per_s = UINT64_C(2250000000000000),
     .flops_fp32_per_s = UINT64_C(80000000000000)},
    {.name = "RTX4090",
     .product = "NVIDIA GeForce RTX 4090",
     .source = "NVIDIA Ada white paper; total 24564 MiB as nvidia-smi prints it",
     .total_bytes = 24564 * MIB,
     .context_bytes = 500 * MIB,
     .context_source = CONTEXT_ESTIMATE,
     .compute_capability = 89,
     .multiprocessors = 128,
     .threads_per_multiprocessor = 1536,
     .bandwidth_bytes_per_s = UINT64_C(1008000000000),
     PCIE4,
     DDR5,
     .flops_16bit_per_s = UINT64_C(165200000000000),
     .flops_fp32_per_s = UINT64_C(82600000000000)},
    {.name = "RTX3090",
     .product = "NVIDIA GeForce RTX 3090",
     .source = "NVIDIA Ampere GA102 white paper; total 24576 MiB as nvidia-smi prints it",
     .total_bytes = 24576 * MIB,
     .context_bytes = 256 * MIB,
     .context_source = "measured with torch 2.7.1, CUDA 12.8 (InvokeAI issue 9413)",
     .compute_capability = 86,
     .multiprocessors = 82,
     .threads_per_multiprocessor = 1536,
     .bandwidth_bytes_per_s = UINT64_C(936000000000),
     PCIE4,
     DDR5,
     .flops_16bit_per_s = UINT64_C(71000000000000),
     .flops_fp32_per_s = UINT64_C(35600000000000)},
    {.name = "A4000",
     .product = "NVIDIA RTX A4000",
     .source = "NVIDIA RTX A4000 data sheet; total 16101 MiB",
     .total_bytes = 16101 * MIB,
     .context_bytes = 500 * MIB,
     .context_source = CONTEXT_ESTIMATE,
     .compute_capability = 86,
     .multiprocessors = 48,
     .threads_per_multiprocessor = 1536,
     .bandwidth_bytes_per_s = UINT64_C(448000000000),
     PCIE4,
     DDR5,
     .flops_16bit_per_s = UINT64_C(76700000000000),
     .flops_fp32_per_s = UINT64_C(19200000000000)},
    {.name = "V100-16GB",
     .product = "Tesla V100-SXM2-16GB",
     .source =
         "NVIDIA V100 data sheet and Volta white paper; total 16160 MiB as nvidia-smi prints it",
     .total_bytes = 16160 * MIB,
     .context_bytes = 500 * MIB,
     .context_source = CONTEXT_ESTIMATE,
     .compute_capability = 70,
     .multiprocessors = 80,
     .threads_per_multiprocessor = 2048,
     .bandwidth_bytes_per_s = UINT64_C(900000000000),
     PCIE3,
     DDR5,
     .flops_16bit_per_s = UINT64_C(125000000000000),
     .flops_fp32_per_s = UINT64_C(15700000000000)},
    {.name = "T4",
     .product = "Tesla T4",
     .source = "NVIDIA T4 data sheet; total 15102 MiB (14.75 GiB in out-of-memory messages)",
     .total_bytes = 15102 * MIB,
     .context_bytes = 500 * MIB,
     .context_source = CONTEXT_ESTIMATE,
     .compute_capability = 75,
     .multiprocessors = 40,
     .threads_per_multiprocessor = 1024,
     .bandwidth_bytes_per_s = UINT64_C(320000000000),
     PCIE3,
     DDR5,
     .flops_16bit_per_s = UINT64_C(65000000000000),
     .flops_fp32_per_s = UINT64_C(8100000000000)},
};

enum { PRESET_COUNT = sizeof presets / sizeof presets[0] };

const struct device *device_preset(size_t index) {
    return index < PRESET_COUNT ? &presets[index] : NULL;
}

/* In any case; the beginning of one name alone is enough. */
static const struct device *find_preset(const char *name, size_t length) {
    const struct device *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < PRESET_COUNT && length > 0; i++) {
        if (!text_begins(presets[i].name, name, length))
            continue;
        if (strlen(presets[i].name) == length)
            return &presets[i];
        found = &presets[i];
        count++;
    }
    return count == 1 ? found : NULL;
}

/* The names that begin with it, else the nearest one. */
static void hint_device(const char *name, size_t length, struct text *out) {
    struct nearest nearest = {.word = name, .length = length};
    char hint[NEAREST_HINT_BYTES];
    size_t count = 0;
    for (size_t i = 0; i < PRESET_COUNT && length > 0; i++) {
        nearest_offer(&nearest, presets[i].name);
        if (text_begins(presets[i].name, name, length))
            text_format(out, "%s'%s'", count++ ? " or " : " (did you mean ", presets[i].name);
    }
    text_add(out, count > 0 ? "?)" : length > 0 ? nearest_hint(&nearest, hint) : "");
}

static bool unknown_device(const char *name, size_t length, struct error *err) {
    struct text names = {0}, hint = {0};
    hint_device(name, length, &hint);
    for (size_t i = 0; i < PRESET_COUNT; i++)
        text_format(&names, " %s", presets[i].name);
    error_set(err, ERROR_USAGE,
              "unknown device '%.*s'%s; known:%s; for another card take a similar one with its "
              "memory, as %s:total=48GiB",
              (int)length, name, text_get(&hint), text_get(&names), presets[0].name);
    text_fini(&names);
    text_fini(&hint);
    return false;
}

/* "636" is 636 bytes, and hardly meant so. */
static bool too_small(const char *key, const char *value, const char *unit, uint64_t bytes,
                      struct error *err) {
    bool is_bare = value[strspn(value, "0123456789.")] == '\0';
    return is_bare ? error_set(err, ERROR_USAGE, "%s='%s': that is bytes; say %s%s", key, value,
                               value, unit)
                   : error_set(err, ERROR_USAGE, "%s='%s': %llu bytes are less than 1MiB", key,
                               value, (unsigned long long)bytes);
}

static bool apply_override(struct device *device, const char *key, const char *value,
                           struct error *err) {
    if (strcmp(key, "sms") == 0) {
        char *end;
        unsigned long n = strtoul(value, &end, 10);
        if (*end != '\0' || n == 0 || n > 100000)
            return error_set(err, ERROR_USAGE, "sms='%s': expected a count of multiprocessors",
                             value);
        device->multiprocessors = (uint32_t)n;
        return true;
    }
    uint64_t bytes;
    bool total = strcmp(key, "total") == 0, link = strcmp(key, "link") == 0,
         ram = strcmp(key, "ram") == 0;
    if (!total && !link && !ram && strcmp(key, "context") != 0)
        return error_set(err, ERROR_USAGE,
                         "unknown device key '%s'; known: total context sms link ram", key);
    if (!units_parse_bytes(value, &bytes) || ((total || link || ram) && bytes == 0))
        return error_set(err, ERROR_USAGE, "%s='%s': expected a size such as %s", key, value,
                         link || ram ? "25GB (a second)" : "24564MiB");
    if (bytes > 0 && bytes < MIB)
        return too_small(key, value, link || ram ? "GB" : total ? "GiB" : "MiB", bytes, err);
    if (total) {
        device->total_bytes = bytes;
    } else if (link) {
        device->link_bytes_per_s = bytes;
        device->link_generation = 0;
    } else if (ram) {
        device->host_memory_bytes_per_s = bytes;
    } else {
        device->context_bytes = bytes;
        device->context_source = "given by the user";
        device->context_is_given = true;
    }
    return true;
}

bool device_parse(const char *text, struct device *out, struct error *err) {
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : strlen(text);
    const struct device *preset = find_preset(text, length);
    if (!preset)
        return unknown_device(text, length, err);
    struct device device = *preset;
    for (const char *p = colon ? colon + 1 : NULL; p && *p;) {
        char pair[96];
        size_t n = strcspn(p, ",");
        if (n >= sizeof pair)
            return error_set(err, ERROR_USAGE, "device '%s': override too long", text);
        memcpy(pair, p, n);
        pair[n] = '\0';
        char *equals = strchr(pair, '=');
        if (!equals)
            return error_set(err, ERROR_USAGE, "device '%s': '%s' is not of the form key=value",
                             text, pair);
        *equals = '\0';
        if (!apply_override(&device, pair, equals + 1, err))
            return error_wrap(err, "device '%s'", text);
        p = p[n] ? p + n + 1 : NULL;
    }
    if (device.context_bytes > device.total_bytes)
        return error_set(err, ERROR_USAGE, "device '%s': context is larger than total", text);
    *out = device;
    return true;
}

uint64_t device_transfer_rate(const struct device *device) {
    return device->link_bytes_per_s < device->host_memory_bytes_per_s
               ? device->link_bytes_per_s
               : device->host_memory_bytes_per_s;
}
