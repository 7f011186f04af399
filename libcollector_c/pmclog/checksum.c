/* checksum.c -- CRC-32 (IEEE), sixteen bytes a step: both checksums of every frame stand between the disk and an event */
#include "checksum.h"

#include <endian.h>
#include <string.h>

enum { LANES = 16 };

/* lane[k][b] is what byte b contributes when k more bytes follow it in the step. */
static struct {
    uint32_t lane[LANES][256];
} self;

/* Before main, so that parsers of several threads need no lock. */
__attribute__((constructor)) static void fill_lanes(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
        self.lane[0][byte] = crc;
    }
    for (int lane = 1; lane < LANES; lane++)
        for (int byte = 0; byte < 256; byte++) {
            uint32_t before = self.lane[lane - 1][byte];
            self.lane[lane][byte] = before >> 8 ^ self.lane[0][before & 255];
        }
}

static uint32_t four_lanes(uint32_t word, int last)
{
    return self.lane[last + 3][word & 255] ^ self.lane[last + 2][word >> 8 & 255] ^
           self.lane[last + 1][word >> 16 & 255] ^ self.lane[last][word >> 24];
}

uint32_t col_checksum_of(const uint8_t *bytes, size_t count)
{
    uint32_t crc = ~0u;
    for (; count >= LANES; bytes += LANES, count -= LANES) {
        uint32_t word[4];
        memcpy(word, bytes, sizeof word);
        crc = four_lanes(crc ^ le32toh(word[0]), 12) ^ four_lanes(le32toh(word[1]), 8) ^
              four_lanes(le32toh(word[2]), 4) ^ four_lanes(le32toh(word[3]), 0);
    }
    for (; count > 0; bytes++, count--)
        crc = crc >> 8 ^ self.lane[0][(crc ^ *bytes) & 255];
    return ~crc;
}
