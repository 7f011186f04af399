/* crc32.h -- the CRC-32 of zlib (IEEE 802.3), for frames and open frames */
#ifndef COL_EXPERIMENT_CRC32_H
#define COL_EXPERIMENT_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* CRC of the bytes that `crc` is the CRC of (0: none), followed by these. From anywhere, signal handlers included. */
uint32_t col_crc32_update(uint32_t crc, const void *data, size_t bytes);

#endif
