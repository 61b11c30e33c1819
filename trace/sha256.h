/* sha256.h: SHA-256 (FIPS 180-4), to name a trace file. */
#ifndef SHA256_H
#define SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32 };

void sha256_bytes(const void *data, size_t length, uint8_t digest[SHA256_BYTES]);
/* 64 lower-case digits and a NUL. */
void sha256_hex(const uint8_t digest[SHA256_BYTES], char text[2 * SHA256_BYTES + 1]);

#endif
