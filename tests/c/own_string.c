/* own_string.c -- base/own_string.c, under names of its own, beside the C library's: the same answers, and no byte written outside, none read in the next page */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#undef memchr /* as in base/own_string.c */
#undef strchr
#undef strrchr
#undef strstr

#define SAME(name) __typeof__(name) own_##name;
SAME(memmove) SAME(memcpy) SAME(memset) SAME(memcmp) SAME(memchr) SAME(strnlen) SAME(strlen) SAME(strncmp) SAME(strcmp)
SAME(strchr) SAME(strchrnul) SAME(memrchr) SAME(memmem) SAME(strrchr) SAME(strstr) SAME(strspn) SAME(strcspn) SAME(strcpy) SAME(strcat)

enum { MOST = 200, PAGE = 4096 };

static unsigned long failures;

static void expect(int is_true, const char *what)
{
    if (!is_true && failures++ < 20)
        printf("%s differs\n", what);
}

static size_t below(size_t limit)
{
    return (size_t)rand() % limit;
}

static int sign(int number)
{
    return (number > 0) - (number < 0);
}

/* Of few characters, so that much is equal. */
static char *fill(char *text, size_t length)
{
    for (size_t at = 0; at < length; at++)
        text[at] = "ab\xe1z"[below(4)];
    text[length] = '\0';
    return text;
}

/* Exactly as large as needed, so that a sanitizer sees each byte too many. */
static char *text_of(size_t length)
{
    return fill(malloc(length + 1), length);
}

/* At the end of a page behind which nothing can be read, or a few bytes before: whole words may be read, and no other page. */
static char *text_at_edge(char *page, size_t length)
{
    return fill(page + PAGE - 1 - length - below(20), length);
}

static char *make_page(void)
{
    char *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || mprotect(page + PAGE, PAGE, PROT_NONE) != 0)
        abort();
    memset(page, 'b', PAGE);
    return page;
}

static void blocks(void)
{
    size_t bytes = below(MOST), to = below(MOST), from = below(MOST), size = bytes + (to > from ? to : from);
    char *own = text_of(size), *other = malloc(size + 1);
    memcpy(other, own, size + 1);
    expect(own_memmove(own + to, own + from, bytes) == own + to, "memmove's answer");
    memmove(other + to, other + from, bytes);
    expect(memcmp(own, other, size + 1) == 0, "memmove");
    int byte = (int)below(256);
    expect(own_memset(own + to, byte, bytes) == own + to, "memset's answer");
    memset(other + to, byte, bytes);
    expect(memcmp(own, other, size + 1) == 0, "memset");
    char *copy = malloc(bytes + 1);
    expect(own_memcpy(copy, other + from, bytes) == copy, "memcpy's answer");
    expect(memcmp(copy, other + from, bytes) == 0, "memcpy");
    expect(sign(own_memcmp(other + to, other + from, bytes)) == sign(memcmp(other + to, other + from, bytes)), "memcmp");
    expect(own_memchr(other + from, byte, bytes) == memchr(other + from, byte, bytes), "memchr");
    expect(own_memchr(other + from, 'z', bytes) == memchr(other + from, 'z', bytes), "memchr");
    free(own), free(other), free(copy);
}

static void texts(void)
{
    static char *pages[2];
    for (int i = 0; i < 2; i++)
        pages[i] = pages[i] != NULL ? pages[i] : make_page();
    char *one = text_at_edge(pages[0], below(60)), *other = text_at_edge(pages[1], below(6)), sought = "abz"[below(4)];
    if (below(4) == 0) /* much alike */
        other = memcpy(pages[1] + PAGE - 1 - strlen(one) - below(20), one, strlen(one) + 1);
    size_t most = below(30);
    expect(own_strlen(one) == strlen(one), "strlen");
    expect(own_strnlen(one, most) == strnlen(one, most), "strnlen");
    expect(sign(own_strcmp(one, other)) == sign(strcmp(one, other)), "strcmp");
    expect(sign(own_strncmp(one, other, most)) == sign(strncmp(one, other, most)), "strncmp");
    expect(own_strchr(one, sought) == strchr(one, sought), "strchr");
    expect(own_strchrnul(one, sought) == strchrnul(one, sought), "strchrnul");
    expect(own_memrchr(one, sought, strlen(one)) == memrchr(one, sought, strlen(one)), "memrchr");
    expect(own_memmem(one, strlen(one), other, strlen(other)) == memmem(one, strlen(one), other, strlen(other)), "memmem");
    expect(own_strrchr(one, sought) == strrchr(one, sought), "strrchr");
    expect(own_strstr(one, other) == strstr(one, other), "strstr");
    expect(own_strspn(one, other) == strspn(one, other), "strspn");
    expect(own_strcspn(one, other) == strcspn(one, other), "strcspn");
    char *joined = malloc(strlen(one) + strlen(other) + 1), *expected = malloc(strlen(one) + strlen(other) + 1);
    expect(own_strcat(own_strcpy(joined, one), other) == joined, "strcat's answer");
    expect(strcmp(joined, strcat(strcpy(expected, one), other)) == 0, "strcat");
    free(joined), free(expected);
}

int main(int argc, char **argv)
{
    srand(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
    for (long round = argc > 1 ? atol(argv[1]) : 1000; round > 0; round--) {
        blocks();
        texts();
    }
    printf("%lu failures\n", failures);
    return failures != 0;
}
