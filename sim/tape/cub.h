/* cub.h: the temporary storage that CUB's device-wide algorithms ask for, by element count and
 * architecture. int64 keys, values and sums, as PyTorch uses them. */
#ifndef CUB_H
#define CUB_H

#include <stdint.h>

struct device;
struct framework;

/* DeviceRadixSort::SortPairs of n int64 pairs with keys below `keys` */
uint64_t cub_sort_bytes(const struct device *device, uint64_t n, uint64_t keys);
/* DeviceSelect::UniqueByKey of n */
uint64_t cub_unique_bytes(const struct framework *framework, const struct device *device,
                          uint64_t n);
/* DeviceScan sums of n; from 2^30 on PyTorch cuts the work in pieces, which is not modelled */
uint64_t cub_scan_bytes(const struct framework *framework, uint64_t n);
/* The same of 4-byte values */
uint64_t cub_scan4_bytes(const struct framework *framework, uint64_t n);
/* DeviceReduce::Sum of n flags to an int32 */
uint64_t cub_sum_bytes(const struct device *device, uint64_t n);
/* DeviceSelect::Flagged of n numbers */
uint64_t cub_select_bytes(const struct framework *framework, const struct device *device,
                          uint64_t n);

#endif
