/* units.h: byte counts as people write them. MiB, GiB ... are powers of 1024; KB, MB, GB powers of 1000. */
#ifndef UNITS_H
#define UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KIB UINT64_C(1024)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

enum { UNITS_TEXT_BYTES = 32 };

/* "24GiB", "500 MiB", "24564MiB", "1.5GB", "4096", "4096B": the whole text must be a size. */
bool units_parse_bytes(const char *text, uint64_t *bytes);
/* "2ms", "1.5 s", "300us", "17 ns": the whole text must be a time. */
bool units_parse_time(const char *text, uint64_t *ns);
/* "12.55 GiB", "512 B": three significant places at most two decimals; writes into `out` and returns it. */
const char *units_format_bytes(uint64_t bytes, char out[UNITS_TEXT_BYTES]);
/* PyTorch's own format (c10 format_size): "512 bytes", "1.50 KiB", "20.00 MiB", "5.00 GiB", MiB up to and with 2^30. */
const char *units_format_pytorch(uint64_t bytes, char out[UNITS_TEXT_BYTES]);
/* "13,476,831,232" */
const char *units_format_grouped(uint64_t value, char out[UNITS_TEXT_BYTES]);

#endif
