/* symbol_name.c -- what can be asked of the name of a symbol */
#include "symbol_name.h"

enum { LONGEST_NAME = 1 << 16, HIGHEST_CHARACTER = 0x10ffff, FIRST_SURROGATE = 0xd800, LAST_SURROGATE = 0xdfff };

struct col_symbol_name col_symbol_name_at(struct col_dwarf_bytes strings, uint32_t offset)
{
    if (offset >= strings.size)
        return (struct col_symbol_name){"", 0};
    const char *text = (const char *)strings.start + offset;
    size_t most = strings.size - offset < LONGEST_NAME ? strings.size - offset : LONGEST_NAME;
    const char *end = memchr(text, 0, most);
    return (struct col_symbol_name){text, (uint32_t)(end ? (size_t)(end - text) : most)};
}

struct col_symbol_name col_symbol_name_without_version(struct col_symbol_name name)
{
    const char *version = memchr(name.text, '@', name.bytes);
    if (version && version > name.text)
        name.bytes = (uint32_t)(version - name.text);
    return name;
}

static bool is_ascii(struct col_symbol_name name)
{
    uint64_t bits = 0, word;
    uint32_t at = 0;
    for (; name.bytes - at >= sizeof word; at += (uint32_t)sizeof word) {
        memcpy(&word, name.text + at, sizeof word);
        bits |= word;
    }
    for (; at < name.bytes; at++)
        bits |= (unsigned char)name.text[at];
    return (bits & UINT64_C(0x8080808080808080)) == 0;
}

/* How many bytes the character at `text` has; 0: it is none. */
static uint32_t character_bytes(const unsigned char *text, uint32_t left)
{
    static const uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t bytes = *text < 0x80 ? 1 : *text >> 5 == 0x6 ? 2 : *text >> 4 == 0xe ? 3 : *text >> 3 == 0x1e ? 4 : 0;
    uint32_t value = bytes == 1 ? *text : *text & 0x7fu >> bytes;
    if (bytes == 0 || bytes > left)
        return 0;
    for (uint32_t i = 1; i < bytes; i++) {
        if (text[i] >> 6 != 0x2)
            return 0;
        value = value << 6 | (text[i] & 0x3fu);
    }
    bool is_surrogate = value >= FIRST_SURROGATE && value <= LAST_SURROGATE;
    return value < lowest[bytes] || value > HIGHEST_CHARACTER || is_surrogate ? 0 : bytes;
}

bool col_symbol_name_characters(struct col_symbol_name name, uint32_t *count)
{
    *count = name.bytes;
    if (is_ascii(name))
        return true;
    *count = 0;
    for (uint32_t at = 0, bytes; at < name.bytes; at += bytes, ++*count) {
        bytes = character_bytes((const unsigned char *)name.text + at, name.bytes - at);
        if (bytes == 0)
            return false;
    }
    return true;
}

uint32_t col_symbol_name_underscores(struct col_symbol_name name)
{
    uint32_t count = 0;
    while (count < name.bytes && name.text[count] == '_')
        count++;
    return count;
}

bool col_symbol_name_equals(struct col_symbol_name one, struct col_symbol_name other)
{
    return one.bytes == other.bytes && memcmp(one.text, other.text, one.bytes) == 0;
}
