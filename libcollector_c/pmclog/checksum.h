/* checksum.h -- CRC-32 (IEEE) of a run of bytes, as in zlib */
#ifndef COL_PMCLOG_CHECKSUM_H
#define COL_PMCLOG_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint32_t col_checksum_of(const uint8_t *bytes, size_t count);

#endif
