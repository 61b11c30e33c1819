/* cub.c: see cub.h. CUB lays several arrays into one allocation, each rounded up to 256 bytes, and adds 255 for alignment
 * (AliasTemporaries). Tile sizes are its tunings for 8-byte items; checked against recordings of PyTorch 2.15
 * (docs/validation.md). */
#include "cub.h"

#include "device.h"

enum { ALIGN = 256, TILE_PADDING = 32 };

static uint64_t aligned(uint64_t bytes) {
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static uint64_t div_up(uint64_t a, uint64_t b) {
    return (a + b - 1) / b;
}

/* Cards of 8.9 run a wheel's 8.6 code. */
static bool is_sm86(const struct device *device) {
    return device->compute_capability == 86 || device->compute_capability == 89;
}

/* Onesweep: histograms of 256 digits a pass (int64), look-back of 256 counters a tile (int32), a second buffer of keys and
 * values, a counter a pass. */
uint64_t cub_sort_bytes(const struct device *device, uint64_t n, uint64_t keys) {
    uint64_t bits = 1;
    for (uint64_t k = keys; k > 1; k >>= 1)
        bits++;
    uint64_t passes = div_up(bits, 8);
    uint64_t tile = device->compute_capability >= 90 ? 4224 : 3840;
    return ALIGN - 1 + aligned(passes * 256 * 8) + div_up(n, tile) * 256 * 4 + 2 * aligned(8 * n) +
           aligned(passes * 4);
}

/* One 16-byte state a tile and 32 more; one more array. */
static uint64_t tile_states(uint64_t n, uint64_t tile) {
    return ALIGN - 1 + aligned((div_up(n, tile) + TILE_PADDING) * 16) + ALIGN;
}

uint64_t cub_unique_bytes(const struct device *device, uint64_t n) {
    return tile_states(n, is_sm86(device) ? 320 : 896);
}

uint64_t cub_scan_bytes(const struct device *device, uint64_t n) {
    (void)device;
    return tile_states(n, 1920);
}
