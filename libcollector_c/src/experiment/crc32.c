/* crc32.c -- CRC-32 eight bytes at a time */
#include "experiment/crc32.h"

/*
 * tables[k][n] is the CRC of byte n followed by k zero bytes. A CRC is linear: the entry of n is the sum of the entries of its bits,
 * so eight numbers a table say it all and the compiler writes out the rest.
 */
#define BIT(n, bit, value) ((n) >> (bit)&1 ? (value) : 0u)
#define ENTRY(n, a, b, c, d, e, f, g, h)                                                                               \
    (BIT(n, 0, a) ^ BIT(n, 1, b) ^ BIT(n, 2, c) ^ BIT(n, 3, d) ^ BIT(n, 4, e) ^ BIT(n, 5, f) ^ BIT(n, 6, g) ^          \
     BIT(n, 7, h))
#define ENTRIES_4(n, ...)                                                                                              \
    ENTRY(n, __VA_ARGS__), ENTRY(n + 1, __VA_ARGS__), ENTRY(n + 2, __VA_ARGS__), ENTRY(n + 3, __VA_ARGS__)
#define ENTRIES_16(n, ...)                                                                                             \
    ENTRIES_4(n, __VA_ARGS__), ENTRIES_4(n + 4, __VA_ARGS__), ENTRIES_4(n + 8, __VA_ARGS__),                           \
        ENTRIES_4(n + 12, __VA_ARGS__)
#define ENTRIES_64(n, ...)                                                                                             \
    ENTRIES_16(n, __VA_ARGS__), ENTRIES_16(n + 16, __VA_ARGS__), ENTRIES_16(n + 32, __VA_ARGS__),                      \
        ENTRIES_16(n + 48, __VA_ARGS__)
#define TABLE(...)                                                                                                     \
    {                                                                                                                  \
        ENTRIES_64(0, __VA_ARGS__), ENTRIES_64(64, __VA_ARGS__), ENTRIES_64(128, __VA_ARGS__),                         \
            ENTRIES_64(192, __VA_ARGS__)                                                                               \
    }

static const uint32_t tables[8][256] = {
    TABLE(0x77073096, 0xee0e612c, 0x076dc419, 0x0edb8832, 0x1db71064, 0x3b6e20c8, 0x76dc4190, 0xedb88320),
    TABLE(0x191b3141, 0x32366282, 0x646cc504, 0xc8d98a08, 0x4ac21251, 0x958424a2, 0xf0794f05, 0x3b83984b),
    TABLE(0x01c26a37, 0x0384d46e, 0x0709a8dc, 0x0e1351b8, 0x1c26a370, 0x384d46e0, 0x709a8dc0, 0xe1351b80),
    TABLE(0xb8bc6765, 0xaa09c88b, 0x8f629757, 0xc5b428ef, 0x5019579f, 0xa032af3e, 0x9b14583d, 0xed59b63b),
    TABLE(0x3d6029b0, 0x7ac05360, 0xf580a6c0, 0x30704bc1, 0x60e09782, 0xc1c12f04, 0x58f35849, 0xb1e6b092),
    TABLE(0xcb5cd3a5, 0x4dc8a10b, 0x9b914216, 0xec53826d, 0x03d6029b, 0x07ac0536, 0x0f580a6c, 0x1eb014d8),
    TABLE(0xa6770bb4, 0x979f1129, 0xf44f2413, 0x33ef4e67, 0x67de9cce, 0xcfbd399c, 0x440b7579, 0x8816eaf2),
    TABLE(0xccaa009e, 0x4225077d, 0x844a0efa, 0xd3e51bb5, 0x7cbb312b, 0xf9766256, 0x299dc2ed, 0x533b85da),
};

static uint32_t load_little_endian(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

uint32_t col_crc32_update(uint32_t crc, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    crc = ~crc;
    for (; bytes >= 8; bytes -= 8, at += 8) {
        uint32_t low = load_little_endian(at) ^ crc, high = load_little_endian(at + 4);
        crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
              tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^ tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
    }
    for (; bytes > 0; bytes--, at++)
        crc = crc >> 8 ^ tables[0][(crc ^ *at) & 255];
    return ~crc;
}
