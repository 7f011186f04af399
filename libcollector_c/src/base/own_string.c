/*
 * own_string.c -- what <string.h> declares, for the recorder alone
 *
 * Nothing here leaves the library. By the C library's names a sanitizer's wrappers would be called, and ThreadSanitizer's run the program's waiting
 * handlers: on top of a tick, and wherever the tick has interrupted the sanitizer itself, locks and all. What compilers call by themselves is here, too.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* With glibc 2.43 and a compiler that knows C23 these are macros as well, which keep `const`. */
#undef memchr
#undef strchr
#undef strrchr
#undef strstr

/* Or a loop below becomes a call of the function that it is in. */
#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

typedef uint64_t vector __attribute__((vector_size(16), aligned(1), may_alias));
typedef uint64_t word __attribute__((aligned(1), may_alias));
typedef uint32_t half __attribute__((aligned(1), may_alias));
typedef uint16_t quarter __attribute__((aligned(1), may_alias));

#define AT(type, pointer) (*(type *)(pointer))
#define FROM(type, pointer) (*(const type *)(pointer))

#define ONES UINT64_C(0x0101010101010101)
#define SMALLEST_PAGE_BYTES 4096u
#define READS_WHOLE_WORDS __attribute__((no_sanitize("address"))) /* also of what lies around a string */

/* Up to two vectors: all is read before anything is written, so that it may overlap. */
static void move_few(char *to, const char *from, size_t bytes)
{
    if (bytes >= sizeof(vector)) {
        vector first = FROM(vector, from), last = FROM(vector, from + bytes - sizeof last);
        AT(vector, to) = first;
        AT(vector, to + bytes - sizeof last) = last;
    } else if (bytes >= sizeof(word)) {
        word first = FROM(word, from), last = FROM(word, from + bytes - sizeof last);
        AT(word, to) = first;
        AT(word, to + bytes - sizeof last) = last;
    } else if (bytes >= sizeof(half)) {
        half first = FROM(half, from), last = FROM(half, from + bytes - sizeof last);
        AT(half, to) = first;
        AT(half, to + bytes - sizeof last) = last;
    } else if (bytes >= sizeof(quarter)) {
        quarter first = FROM(quarter, from), last = FROM(quarter, from + bytes - sizeof last);
        AT(quarter, to) = first;
        AT(quarter, to + bytes - sizeof last) = last;
    } else if (bytes != 0) {
        *to = *from;
    }
}

static void *move(void *to, const void *from, size_t bytes)
{
    char *out = to;
    const char *in = from;
    if (bytes <= 2 * sizeof(vector)) {
        move_few(out, in, bytes);
    } else if ((uintptr_t)out - (uintptr_t)in >= bytes) { /* does not begin within `from` */
        vector last = FROM(vector, in + bytes - sizeof last);
        for (size_t at = 0; at < bytes - sizeof last; at += sizeof last)
            AT(vector, out + at) = FROM(vector, in + at);
        AT(vector, out + bytes - sizeof last) = last;
    } else {
        vector first = FROM(vector, in);
        for (size_t at = bytes; at > sizeof first; at -= sizeof first)
            AT(vector, out + at - sizeof first) = FROM(vector, in + at - sizeof first);
        AT(vector, out) = first;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    return move(to, from, bytes);
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    return move(to, from, bytes);
}

void *memset(void *to, int byte, size_t bytes)
{
    char *out = to;
    uint64_t all = ONES * (unsigned char)byte;
    vector value = {all, all};
    size_t at = 0;
    for (; bytes - at >= sizeof value; at += sizeof value)
        AT(vector, out + at) = value;
    if (at != 0 && at != bytes)
        AT(vector, out + bytes - sizeof value) = value;
    else
        for (; at < bytes; at++)
            out[at] = (char)byte;
    return to;
}

int memcmp(const void *one, const void *other, size_t bytes)
{
    const unsigned char *a = one, *b = other;
    size_t at = 0;
    while (bytes - at >= sizeof(word) && FROM(word, a + at) == FROM(word, b + at))
        at += sizeof(word);
    while (at < bytes && a[at] == b[at])
        at++;
    return at < bytes ? a[at] - b[at] : 0;
}

/* The top bit of the first byte that is zero, and perhaps of some behind it. */
static uint64_t zeros(uint64_t bytes)
{
    return (bytes - ONES) & ~bytes & ONES << 7;
}

void *memchr(const void *text, int sought, size_t bytes)
{
    const unsigned char *in = text;
    uint64_t pattern = ONES * (unsigned char)sought;
    size_t at = 0;
    while (bytes - at >= sizeof(word) && zeros(FROM(word, in + at) ^ pattern) == 0)
        at += sizeof(word);
    while (at < bytes && in[at] != (unsigned char)sought)
        at++;
    return at < bytes ? (void *)(uintptr_t)(in + at) : NULL;
}

size_t strnlen(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length] != '\0')
        length++;
    return length;
}

/*
 * The first byte that is `sought`, or the string's end. By whole words at their own alignment: they end where their page does, so that what lies around
 * the string can be read, and it does not count.
 */
READS_WHOLE_WORDS static const char *find(const char *text, char sought)
{
    uint64_t pattern = ONES * (unsigned char)sought;
    unsigned before = (unsigned)((uintptr_t)text % sizeof(word));
    uint64_t hidden = ((uint64_t)1 << 8 * before) - 1, found;
    for (text -= before;; text += sizeof(word)) {
        uint64_t bytes = FROM(word, text);
        found = zeros(bytes | hidden) | zeros((bytes ^ pattern) | hidden);
        if (found != 0)
            return text + __builtin_ctzll(found) / 8;
        hidden = 0;
    }
}

size_t strlen(const char *text)
{
    return (size_t)(find(text, '\0') - text);
}

/* Whether a word at `text` lies within one page. */
static bool can_read_word(const char *text)
{
    return (uintptr_t)text % SMALLEST_PAGE_BYTES <= SMALLEST_PAGE_BYTES - sizeof(word);
}

READS_WHOLE_WORDS int strncmp(const char *one, const char *other, size_t most)
{
    size_t at = 0;
    while (most - at >= sizeof(word) && can_read_word(one + at) && can_read_word(other + at) &&
           FROM(word, one + at) == FROM(word, other + at) && zeros(FROM(word, one + at)) == 0)
        at += sizeof(word);
    while (at < most && one[at] == other[at] && one[at] != '\0')
        at++;
    return at < most ? (unsigned char)one[at] - (unsigned char)other[at] : 0;
}

int strcmp(const char *one, const char *other)
{
    return strncmp(one, other, PTRDIFF_MAX);
}

char *strchr(const char *text, int sought)
{
    const char *found = find(text, (char)sought);
    return *found == (char)sought ? (char *)(uintptr_t)found : NULL;
}

char *strrchr(const char *text, int sought)
{
    const char *last = NULL;
    while ((text = strchr(text, sought)) != NULL) {
        last = text;
        if (*text++ == '\0')
            break;
    }
    return (char *)(uintptr_t)last;
}

char *strchrnul(const char *text, int sought)
{
    return (char *)(uintptr_t)find(text, (char)sought);
}

void *memrchr(const void *memory, int sought, size_t bytes)
{
    const char *last = (const char *)memory + bytes;
    while (last != memory)
        if (*--last == (char)sought)
            return (void *)(uintptr_t)last;
    return NULL;
}

void *memmem(const void *memory, size_t bytes, const void *sought, size_t length)
{
    const char *at = memory, *end = at + bytes;
    if (length == 0)
        return (void *)(uintptr_t)at;
    while ((size_t)(end - at) >= length &&
           (at = memchr(at, *(const char *)sought, (size_t)(end - at) - length + 1)) != NULL) {
        if (memcmp(at, sought, length) == 0)
            return (void *)(uintptr_t)at;
        at++;
    }
    return NULL;
}

char *strstr(const char *text, const char *sought)
{
    size_t length = strlen(sought);
    while (strncmp(text, sought, length) != 0) {
        if (*text == '\0')
            return NULL;
        text = find(text + 1, *sought);
    }
    return (char *)(uintptr_t)text;
}

/* The length of the beginning whose characters all are in `set`, or none is. */
static size_t span(const char *text, const char *set, int is_in)
{
    size_t length = 0;
    while (text[length] != '\0' && (strchr(set, text[length]) != NULL) == is_in)
        length++;
    return length;
}

size_t strspn(const char *text, const char *set)
{
    return span(text, set, 1);
}

size_t strcspn(const char *text, const char *set)
{
    return span(text, set, 0);
}

char *strcpy(char *restrict to, const char *restrict from)
{
    return memcpy(to, from, strlen(from) + 1);
}

char *strcat(char *restrict to, const char *restrict from)
{
    strcpy(to + strlen(to), from);
    return to;
}
