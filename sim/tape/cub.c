/* cub.c: see cub.h. CUB lays several arrays into one allocation, each rounded up to 256 bytes, and
 * adds 255 for alignment (AliasTemporaries). Tile sizes are its tunings for 8-byte items; checked
 * against recordings of PyTorch 2.15 (docs/validation.md). */
#include "cub.h"

#include "device.h"
#include "framework.h"

enum { ALIGN = 256, TILE_PADDING = 32, SINGLE_TILE = 256 * 9 };

static uint64_t aligned(uint64_t bytes) {
    return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static uint64_t div_up(uint64_t a, uint64_t b) {
    return (a + b - 1) / b;
}

/* Tiles of the int64 forms by the architecture whose code a wheel brings (cards of 8.9 run its 8.6
 * code): CUB 3.2's tuning_radix_sort.cuh (onesweep) and tuning_unique_by_key.cuh, threads times
 * items; those of a selection and of unique before CUB 3.2 were read off recordings of many sizes a
 * card (framework.h, cub_unique_tuned). */
struct tiles {
    uint32_t from; /* compute capability */
    uint64_t sort, unique, early_unique, select;
};

static const struct tiles tilings[] = {{100, 384 * 12, 448 * 11, 4480, 3520},
                                       {90, 384 * 12, 448 * 11, 4480, 4224},
                                       {86, 384 * 10, 64 * 5, 64 * 5, 640},
                                       {80, 384 * 10, 192 * 7, 1792, 2304},
                                       {0, 256 * 11, 64 * 5, 64 * 5, 640}};

static const struct tiles *tiles_of(const struct device *device) {
    const struct tiles *row = tilings;
    while (device->compute_capability < row->from)
        row++;
    return row;
}

/* Up to 2,304 pairs one block sorts, without memory but the least that can be asked for. Above,
 * onesweep: histograms of 256 digits a pass and portion (int64), look-back of 256 counters a tile
 * (int32), with several passes a second buffer of keys and of values, a counter a pass and portion.
 * A portion is what 2^28 - 1 leaves of whole tiles. */
uint64_t cub_sort_bytes(const struct device *device, uint64_t n, uint64_t keys) {
    if (n <= SINGLE_TILE)
        return 1;
    uint64_t tile = tiles_of(device)->sort, portion = ((UINT64_C(1) << 28) - 1) / tile * tile,
             bits = 1;
    for (uint64_t k = keys; k > 1; k >>= 1)
        bits++;
    uint64_t passes = div_up(bits, 8), portions = div_up(n, portion);
    uint64_t largest = n < portion ? n : portion;
    return ALIGN - 1 + aligned(portions * passes * 256 * 8) + div_up(largest, tile) * 256 * 4 +
           (passes > 1 ? 2 * aligned(8 * n) : 0) + aligned(portions * passes * 4);
}

/* One state a tile and 32 more, of a value and as much again for its flag; in newer ones one more
 * array. */
static uint64_t tile_states(const struct framework *framework, uint64_t n, uint64_t tile,
                            uint64_t value_bytes) {
    return ALIGN - 1 + aligned((div_up(n, tile) + TILE_PADDING) * 2 * value_bytes) +
           (framework->cub_second_array ? ALIGN : 0);
}

uint64_t cub_unique_bytes(const struct framework *framework, const struct device *device,
                          uint64_t n) {
    const struct tiles *tiles = tiles_of(device);
    return tile_states(framework, n,
                       framework->cub_unique_tuned ? tiles->unique : tiles->early_unique, 8);
}

/* tuning_scan.cuh: 128 threads of 7 items on every architecture */
uint64_t cub_scan_bytes(const struct framework *framework, uint64_t n) {
    return tile_states(framework, n, 128 * 7, 8);
}

uint64_t cub_scan4_bytes(const struct framework *framework, uint64_t n) {
    return tile_states(framework, n, 128 * 15, 4);
}

/* tuning_reduce.cuh: tiles of 256 threads with 16 items; up to one of them, one block. Above, five
 * blocks for each that the card holds at once keep a sum each (dispatch_reduce.cuh); how many it
 * holds, the kernel's registers aside, is a matter of threads. */
uint64_t cub_sum_bytes(const struct device *device, uint64_t n) {
    if (n <= UINT64_C(256) * 16)
        return 1;
    uint64_t blocks =
        UINT64_C(5) * device->multiprocessors * (device->threads_per_multiprocessor / 256);
    return ALIGN - 1 + aligned(blocks * 4);
}

uint64_t cub_select_bytes(const struct framework *framework, const struct device *device,
                          uint64_t n) {
    return tile_states(framework, n, tiles_of(device)->select, 4);
}
