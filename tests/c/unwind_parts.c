/*
 * unwind_parts.c -- the parts of the unwinder, each by itself
 *
 *   unwind_parts NAME     runs one; exit status 0 and no output when all is well
 *   unwind_parts          prints the names
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/cursor.h"
#include "base/safe_read.h"
#include "sample/unwind.h"
#include "sample/unwind_cache.h"
#include "sample/unwind_cfi.h"
#include "sample/unwind_expression.h"
#include "sample/unwind_frames.h"
#include "sample/unwind_row.h"
#include "target/code_finder.h"
#include "target/eh_frame.h"
#include "target/executable_mappings.h"
#include "target/stack_room.h"
#include "target/range_table.h"

#define CHECK(what)                                                      \
    do {                                                                 \
        if (!(what)) {                                                   \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what);    \
            exit(1);                                                     \
        }                                                                \
    } while (0)

extern void *__libc_stack_end;

static char *map_pages(size_t pages, int rights)
{
    char *at = mmap(NULL, pages * COL_PAGE_BYTES, rights, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    return at;
}

static void hide_page(char *at, size_t page)
{
    CHECK(mprotect(at + page * COL_PAGE_BYTES, COL_PAGE_BYTES, PROT_NONE) == 0);
}

/* --- safe_read --- */

static void test_safe_read(void)
{
    char *at = map_pages(3, PROT_READ | PROT_WRITE);
    uintptr_t value = 7;
    memset(at, 0x5a, 3 * COL_PAGE_BYTES);
    hide_page(at, 2);
    errno = 123;
    CHECK(col_safe_read_word((uintptr_t)at, &value) && value == 0x5a5a5a5a5a5a5a5a);
    CHECK(col_safe_read_word((uintptr_t)at + COL_PAGE_BYTES - 3, &value)); /* across two pages */
    value = 7;
    CHECK(!col_safe_read_word((uintptr_t)at + 2 * COL_PAGE_BYTES - 3, &value) && value == 7);
    CHECK(!col_safe_read_word((uintptr_t)at + 2 * COL_PAGE_BYTES, &value));
    CHECK(!col_safe_read_word(0, &value) && !col_safe_read_word(UINTPTR_MAX - 3, &value));
    CHECK(!col_safe_read_word(UINTPTR_MAX, &value) && !col_safe_read_word((uintptr_t)1 << 63, &value) && value == 7);
    CHECK(errno == 123);
    char bytes[4];
    CHECK(col_safe_read_bytes((uintptr_t)at + 2 * COL_PAGE_BYTES - 4, bytes, 4) && bytes[3] == 0x5a);
    CHECK(!col_safe_read_bytes((uintptr_t)at + 2 * COL_PAGE_BYTES - 3, bytes, 4));
}

/* The thread's own stack is joined when proved pages reach it without a gap, and not otherwise. */
static void test_stack_bounds(void)
{
    char *at = map_pages(12, PROT_READ | PROT_WRITE);
    uintptr_t page = COL_PAGE_BYTES, low = (uintptr_t)at, value;
    struct col_stack_bounds own = {low + 8 * page, low + 12 * page};
    struct col_stack_reader reader;

    hide_page(at, 4);
    col_safe_read_begin(&reader, &own, low + page);
    CHECK(col_safe_read_stack(&reader, low + page, &value) && col_safe_read_stack(&reader, low + 3 * page, &value));
    CHECK(!col_safe_read_stack(&reader, low + 4 * page, &value));
    CHECK(!col_safe_read_stack(&reader, low + 5 * page - 8, &value));
    CHECK(own.low == low + 8 * page);
    CHECK(col_safe_read_stack(&reader, low + 5 * page, &value)); /* a new run, behind the gap */
    CHECK(own.low == low + 8 * page);
    CHECK(col_safe_read_stack(&reader, low + 7 * page, &value)); /* proves page 6 on the way, touches page 8 */
    CHECK(own.low == low + 5 * page);
    CHECK(reader.low == own.low && reader.last == own.high - sizeof value);

    /* Below the stack pointer only the red zone is read unasked, and only in the same page. */
    col_safe_read_begin(&reader, &own, low + 10 * page + 2 * COL_ARCH_RED_ZONE_BYTES);
    CHECK(reader.low == low + 10 * page + COL_ARCH_RED_ZONE_BYTES);
    col_safe_read_begin(&reader, &own, low + 10 * page + 8);
    CHECK(reader.low == low + 10 * page);
    hide_page(at, 9);
    CHECK(!col_safe_read_stack(&reader, low + 10 * page - 8, &value));
    col_safe_read_begin(&reader, &own, low + 10 * page);
    CHECK(!col_safe_read_stack(&reader, low + 10 * page - 8, &value) && col_safe_read_stack(&reader, low + 10 * page, &value));
    hide_page(at, 6);
    CHECK(!col_safe_read_stack(&reader, low + 6 * page, &value));

    /* Nothing is known but the end: found from the first page on. */
    own = (struct col_stack_bounds){0, low + 12 * page - 100};
    col_safe_read_begin(&reader, &own, low + 11 * page);
    CHECK(own.low == own.high && col_safe_read_stack(&reader, low + 11 * page, &value) && own.low == low + 11 * page);

    /* Not even that. */
    own = (struct col_stack_bounds){0, 0};
    col_safe_read_begin(&reader, &own, low + page);
    CHECK(col_safe_read_stack(&reader, low + page, &value) && own.low == 0 && own.high == 0);
}

/* --- range_table, executable_mappings, code_finder --- */

static bool finds(const struct col_code_module *module, uintptr_t pc, struct col_eh_fde *fde)
{
    struct col_proved_pages proved = {.memory = NULL};
    return col_eh_frame_find(module, pc, &proved, fde);
}

static void test_range_table(void)
{
    static struct col_range_table table;
    struct col_range found;
    CHECK(!col_range_table_find(&table, 5, &found));
    struct col_range_side *side = col_range_table_begin(&table);
    CHECK(side && !col_range_table_begin(&table));
    col_range_table_add(side, (struct col_range){50, 60, 1});
    col_range_table_add(side, (struct col_range){10, 20, 2});
    col_range_table_add(side, (struct col_range){20, 30, 2}); /* a neighbour */
    col_range_table_add(side, (struct col_range){30, 40, 3});
    CHECK(!col_range_table_find(&table, 15, &found)); /* not shown yet */
    col_range_table_finish(&table, side);
    CHECK(side->count == 3);
    CHECK(col_range_table_find(&table, 25, &found) && found.low == 10 && found.high == 30 && found.payload == 2);
    CHECK(col_range_table_find(&table, 30, &found) && found.payload == 3 && !col_range_table_find(&table, 40, &found));
    CHECK(col_range_table_find(&table, 59, &found) && !col_range_table_find(&table, 60, &found));
    CHECK(!col_range_table_find(&table, 9, &found));

    side = col_range_table_begin(&table);
    for (uintptr_t i = 0; i < COL_RANGE_TABLE_SIZE + 10; i++)
        col_range_table_add(side, (struct col_range){100 * i, 100 * i + 1, i});
    col_range_table_cancel(&table, side);
    CHECK(col_range_table_find(&table, 25, &found)); /* the old ones stand */
    col_range_table_begin(&table);
    col_range_table_after_fork(&table);
    side = col_range_table_begin(&table);
    CHECK(side);
    col_range_table_finish(&table, side);
    CHECK(!col_range_table_find(&table, 25, &found));
}

static struct {
    struct col_range_table table;
    _Atomic int is_over;
} racing;

static void *replace_ranges(void *unused)
{
    for (unsigned round = 0; !racing.is_over; round++) {
        struct col_range_side *side = col_range_table_begin(&racing.table);
        for (uintptr_t i = 0; side && i < 100; i++)
            col_range_table_add(side, (struct col_range){100 * i, 100 * i + 50, i + round % 2});
        if (side)
            col_range_table_finish(&racing.table, side);
    }
    return unused;
}

/* How often a race is run: the thread sanitizer sees what is not guarded without any luck, and takes its time. */
static unsigned long races(unsigned long usual)
{
#ifdef __SANITIZE_THREAD__
    return getenv("COLLECTOR_TEST_THOROUGH") ? usual : usual / 4;
#else
    return usual;
#endif
}

/* Two writers replace the ranges all the time; every answer must be one that some version gives. */
static void test_range_table_race(void)
{
    pthread_t writers[2];
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&writers[i], NULL, replace_ranges, NULL) == 0);
    unsigned long hits = 0, wanted = races(100000);
    for (uintptr_t at = 0; hits < wanted; at = (at + 37) % 10000) {
        struct col_range found;
        if (!col_range_table_find(&racing.table, at, &found))
            continue;
        hits++;
        CHECK(found.low == at / 100 * 100 && found.high == found.low + 50);
        CHECK(found.payload == at / 100 || found.payload == at / 100 + 1);
    }
    racing.is_over = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
}

static struct {
    _Atomic int is_over;
} caching;

static col_unwind_rule rule_of(uint64_t place)
{
    return place << 8 | COL_RULE_SIMPLE;
}

static void *add_rules(void *first)
{
    for (uint64_t place = (uintptr_t)first; !caching.is_over; place = (place + 7) % 200000)
        col_unwind_cache_add((struct col_unwind_rules){col_unwind_cache, 0}, place, rule_of(place));
    return NULL;
}

/* Threads fight for the same entries; a rule that is found belongs to its place. */
static void test_cache_race(void)
{
    pthread_t writers[2];
    for (uintptr_t i = 0; i < 2; i++)
        CHECK(pthread_create(&writers[i], NULL, add_rules, (void *)(1000 * i)) == 0);
    unsigned long hits = 0, wanted = races(1000000);
    for (uint64_t place = 0; hits < wanted; place = (place + 1) % 200000) {
        col_unwind_rule rule = col_unwind_cache_find((struct col_unwind_rules){col_unwind_cache, 0}, place);
        CHECK(rule == COL_RULE_UNKNOWN || rule == rule_of(place));
        hits += rule != COL_RULE_UNKNOWN;
    }
    caching.is_over = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(writers[i], NULL);
}

static void test_executable_mappings(void)
{
    char *code = map_pages(2, PROT_READ | PROT_EXEC), *data = map_pages(1, PROT_READ | PROT_WRITE);
    CHECK(!col_executable_mappings_cover((uintptr_t)code, false));
    CHECK(col_executable_mappings_cover((uintptr_t)code, true));
    CHECK(col_executable_mappings_cover((uintptr_t)code + 2 * COL_PAGE_BYTES - 1, false));
    CHECK(!col_executable_mappings_cover((uintptr_t)data, true));
    CHECK(col_executable_mappings_cover((uintptr_t)test_executable_mappings, false));
}

static unsigned told_count;

static void count_told(uintptr_t start, uintptr_t end, uint64_t file_offset)
{
    (void)start, (void)end, (void)file_offset;
    told_count++;
}

/* Where an alternate stack has room for a reading, but not for what its observer does, a question with more room tells the observer. */
static void test_mappings_owed_to_an_observer(void)
{
    char *code = map_pages(1, PROT_READ | PROT_EXEC);
    col_executable_mappings_observe(count_told, 4096);
    col_stack_room_note((uintptr_t)__builtin_frame_address(0) - 3000);
    while (!col_executable_mappings_cover((uintptr_t)code, true))
        continue;
    CHECK(told_count == 0);
    col_stack_room_note(0);
    while (told_count == 0)
        CHECK(col_executable_mappings_cover((uintptr_t)code, true));
    col_executable_mappings_observe(NULL, 0);
}

static void test_code_finder(void)
{
    static char in_data_segment = 1;
    struct col_code_module module;
    uintptr_t here = (uintptr_t)test_code_finder;
    col_code_finder_refresh();
    CHECK(col_code_finder_find(here, &module) && module.low <= here && here < module.high && module.header);
    CHECK(col_code_finder_is_code_in(NULL, here) && !col_code_finder_is_code_in(NULL, (uintptr_t)&in_data_segment));
    CHECK(!col_code_finder_is_code_in(NULL, 0) && !col_code_finder_is_code_in(NULL, UINTPTR_MAX) && !col_code_finder_is_code_in(NULL, (uintptr_t)1 << 55));
    CHECK(!col_code_finder_find((uintptr_t)&module, &module));
    extern char _start[];
    CHECK(col_code_finder_entry_point(&module) == (uintptr_t)_start);
    struct col_eh_fde fde;
    CHECK(finds(&module, here, &fde) && fde.low == here && fde.high > here);
    CHECK(finds(&module, fde.high - 1, &fde) && fde.low == here);
}

/* A module made by hand: an index of functions of all sizes with gaps between them, one after the other at the same place. */
enum { INDEXED_FUNCTIONS = 3000, INDEXED_CODE_AT = 1 << 18, INDEXED_BYTES = 1 << 21 };

static struct {
    uint8_t *memory;
    uintptr_t low[INDEXED_FUNCTIONS], high[INDEXED_FUNCTIONS];
    size_t count;
} indexed;

static void store_distance(size_t at, uintptr_t target, uintptr_t from)
{
    int32_t distance = (int32_t)(target - from);
    memcpy(indexed.memory + at, &distance, sizeof distance);
}

static void index_functions(size_t count, uint32_t longest, uint32_t random)
{
    static const uint8_t cie[] = {20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0};
    uintptr_t header = (uintptr_t)indexed.memory, next = header + INDEXED_CODE_AT;
    size_t cie_at = 12 + 8 * count, at = cie_at + sizeof cie;
    memcpy(indexed.memory, (uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
    store_distance(4, header + cie_at, header + 4);
    store_distance(8, count, 0);
    memcpy(indexed.memory + cie_at, cie, sizeof cie);
    indexed.count = count;
    for (size_t i = 0; i < count; i++, at += 20) {
        random = random * 1664525 + 1013904223;
        uint32_t size = 1 + (random >> 8) % (random >> 28 == 0 ? 20 * longest : longest), gap = random >> 7 & 1 ? 0 : size % 16;
        indexed.low[i] = next + gap;
        indexed.high[i] = next = next + gap + size;
        store_distance(12 + 8 * i, indexed.low[i], header);
        store_distance(16 + 8 * i, header + at, header);
        store_distance(at, 16, 0);
        store_distance(at + 4, at + 4, cie_at);
        store_distance(at + 8, indexed.low[i], header + at + 8);
        store_distance(at + 12, size, 0);
        store_distance(at + 16, 0, 0);
    }
}

static void check_index(size_t stride)
{
    uintptr_t low = (uintptr_t)indexed.memory, high = low + INDEXED_BYTES;
    struct col_code_module module = {.low = low, .high = high, .header = indexed.memory, .tables_low = low, .tables_high = high};
    struct col_eh_fde fde;
    for (size_t turn = 0, i = 0; turn < indexed.count; turn++, i = (i + stride) % indexed.count) {
        CHECK(finds(&module, indexed.low[i], &fde) && fde.low == indexed.low[i] && fde.high == indexed.high[i]);
        CHECK(finds(&module, indexed.high[i] - 1, &fde) && fde.low == indexed.low[i]);
        CHECK(fde.cie.return_column == 16 && fde.cie.data_factor == -8 && fde.end - fde.instructions == 3);
        bool is_gap = i + 1 == indexed.count || indexed.low[i + 1] > indexed.high[i];
        CHECK(!is_gap || !finds(&module, indexed.high[i], &fde));
    }
    CHECK(!finds(&module, indexed.low[0] - 1, &fde) && !finds(&module, module.low, &fde));
}

/* What searches remember of an index leads astray once another module lies there, and must not be believed. */
static void test_index(void)
{
    indexed.memory = (uint8_t *)map_pages(INDEXED_BYTES / 4096, PROT_READ | PROT_WRITE);
    for (uint32_t seed = 1; seed <= 5; seed++) {
        index_functions(INDEXED_FUNCTIONS, 200, seed);
        check_index(1);
        check_index(701);
        index_functions(INDEXED_FUNCTIONS / 3, 900, seed);
        check_index(701);
        index_functions(INDEXED_FUNCTIONS, 4, seed);
        check_index(1);
        index_functions(1, 50, seed);
        check_index(1);
    }
}

#if defined(__x86_64__)
static bool follows_call(const char *code, size_t size)
{
    static char *page;
    page = page ? page : map_pages(1, PROT_READ | PROT_WRITE);
    memset(page, 0x90, 64);
    memcpy(page + 32 - size, code, size);
    return col_arch_ends_in_call((const uint8_t *)page + 32);
}

static void test_code_bytes(void)
{
#define BYTES(text) text, sizeof text - 1
    CHECK(follows_call(BYTES("\xe8\x01\x02\x03\x04")) && follows_call(BYTES("\xff\xd0")));
    CHECK(follows_call(BYTES("\x41\xff\xd4")) && follows_call(BYTES("\xff\x50\x08")));
    CHECK(follows_call(BYTES("\xff\x54\xc8\x08")) && follows_call(BYTES("\xff\x15\x01\x02\x03\x04")));
    CHECK(follows_call(BYTES("\xff\x94\xc8\x01\x02\x03\x04")));
    CHECK(!follows_call(BYTES("\xff\xe0")) && !follows_call(BYTES("\xe9\x01\x02\x03\x04")) && !follows_call(BYTES("")));

    /* A direct call; through a PLT entry; through the table that the PLT entry reads. */
    unsigned char *page = (unsigned char *)map_pages(1, PROT_READ | PROT_WRITE);
    uintptr_t at = (uintptr_t)page, function = 0x123456;
    struct col_proved_pages proved = {.memory = NULL};
    memcpy(page, "\xe8\x3b\x00\x00\x00", 5);
    memmove(page + 8, page, 5);            /* to 72 */
    CHECK(col_arch_called_address(&proved, at + 13) == at + 72);
    memcpy(page + 72, "\xf3\x0f\x1e\xfa\xf2\xff\x25\x75\x00\x00\x00", 11); /* word at 72 + 11 + 0x75 = 200 */
    memcpy(page + 200, &function, sizeof function);
    CHECK(col_arch_called_address(&proved, at + 13) == function);
    memcpy(page + 72, "\xff\x25\x7a\x00\x00\x00", 6);
    CHECK(col_arch_called_address(&proved, at + 13) == function);
    memcpy(page + 16, "\xff\x15\xb2\x00\x00\x00", 6);
    CHECK(col_arch_called_address(&proved, at + 22) == function);

    CHECK(!col_arch_is_signal_return(&proved, at));
    memcpy(page, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9);
    CHECK(col_arch_is_signal_return(&proved, at));
}
#endif

/* --- the cache --- */

static void test_rules(void)
{
    col_unwind_rule rule;
    CHECK(col_unwind_rule_pack(16, -16, -8, COL_RULE_FP_IS_SAVED, &rule));
    CHECK((rule & COL_RULE_TYPE_MASK) == COL_RULE_SIMPLE && rule & COL_RULE_FP_IS_SAVED && !(rule & COL_RULE_FROM_FP));
    CHECK(rule == ((uint64_t)2 << 42 | (uint64_t)(-2 & 0x3ffff) << 24 | (uint64_t)(-1 & 0x3ffff) << 6 | 1 << 4 | 1));
    static const int64_t offsets[] = {0, 8, -8, 4096, -1048576, 1048568};
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        CHECK(col_unwind_rule_pack(offsets[i] * 8, offsets[i], -offsets[i] - 8, COL_RULE_FROM_FP, &rule));
        CHECK(col_unwind_rule_cfa_offset(rule) == offsets[i] * 8 && col_unwind_rule_fp_offset(rule) == offsets[i]);
        CHECK(col_unwind_rule_return_offset(rule) == -offsets[i] - 8 && rule & COL_RULE_FROM_FP);
    }
    CHECK(!col_unwind_rule_pack(4, 0, 0, 0, &rule) && !col_unwind_rule_pack(8, 1 << 20, 0, 0, &rule));
    CHECK(!col_unwind_rule_pack(1 << 24, 0, 0, 0, &rule) && !col_unwind_rule_pack(8, 0, -(1 << 20) - 8, 0, &rule));
}

static void test_cache(void)
{
    struct col_unwind_rules rules = col_unwind_cache_own();
    uint64_t place = col_unwind_place(0x7f1234567890, false);
    CHECK(col_unwind_cache_find(rules, place) == COL_RULE_UNKNOWN);
    col_unwind_cache_add(rules, place, 0x123451);
    CHECK(col_unwind_cache_find(rules, place) == 0x123451);
    CHECK(col_unwind_cache_find(rules, col_unwind_place(0x7f1234567890, true)) == COL_RULE_UNKNOWN);
    CHECK(col_unwind_cache_find(rules, col_unwind_place(0x7f1234567891, false)) == COL_RULE_UNKNOWN);
    col_unwind_cache_forget();
    struct col_unwind_rules fresh = col_unwind_cache_own();
    CHECK(fresh.tag != rules.tag && col_unwind_cache_find(fresh, place) == COL_RULE_UNKNOWN);
    col_unwind_cache_add(rules, place, 0x123451); /* a walk that began before */
    CHECK(col_unwind_cache_find(fresh, place) == COL_RULE_UNKNOWN);

    /* When the tags have gone round, nothing of their first round is left. */
    col_unwind_cache_add(fresh, place, 0x123451);
    do
        col_unwind_cache_forget();
    while (col_unwind_cache_own().tag != fresh.tag);
    CHECK(col_unwind_cache_find(fresh, place) == COL_RULE_UNKNOWN);

    /* Far more places than room: what is found is right. */
    unsigned found = 0;
    for (uintptr_t i = 1; i <= 100000; i++)
        col_unwind_cache_add(fresh, col_unwind_place(i * 16, false), i << 8 | 1);
    for (uintptr_t i = 1; i <= 100000; i++) {
        col_unwind_rule rule = col_unwind_cache_find(fresh, col_unwind_place(i * 16, false));
        CHECK(rule == COL_RULE_UNKNOWN || rule == (i << 8 | 1));
        found += rule != COL_RULE_UNKNOWN;
    }
    CHECK(found > 1 << COL_UNWIND_CACHE_BITS);
}

/* --- numbers, expressions, tables --- */

static void test_cursor(void)
{
    static const uint8_t bytes[] = {0xe5, 0x8e, 0x26, 0x9b, 0xf1, 0x59, 0x7f, 0x80};
    struct col_cursor in = {bytes, bytes + sizeof bytes, false};
    CHECK(col_cursor_uleb(&in) == 624485 && col_cursor_sleb(&in) == -624485 && col_cursor_sleb(&in) == -1);
    CHECK(col_cursor_uleb(&in) == 0 && in.failed && in.at == bytes + sizeof bytes);
    CHECK(col_cursor_u32(&in) == 0 && in.failed);
    in = (struct col_cursor){bytes, bytes + 4, false};
    CHECK(col_cursor_pointer(&in, 0x1b, 0) == (uintptr_t)bytes + 0xffffffff9b268ee5); /* own place + int32 */
    in = (struct col_cursor){bytes, bytes + 4, false};
    CHECK(col_cursor_pointer(&in, 0x3a, 0x10000) == 0x10000 - 0x711b && !in.failed); /* data + int16 */
    CHECK(col_cursor_pointer(&in, 0x5a, 0) == 0 && in.failed);
}

static bool evaluates(const char *code, size_t size, const uintptr_t *initial, uintptr_t *result)
{
    struct col_stack_bounds own = {0, 0};
    struct col_stack_reader reader;
    struct col_regs regs;
    uint8_t block[300];
    for (unsigned i = 0; i < COL_DWARF_REGS; i++)
        regs.dwarf[i] = 1000 + i;
    static uintptr_t pointed_to = 0x1122334455667788;
    regs.dwarf[3] = (uintptr_t)&pointed_to;
    col_safe_read_begin(&reader, &own, (uintptr_t)&own);
    struct col_unwind_expression_scene scene = {&regs, 0x10fff, &reader};
    CHECK(size < 128);
    block[0] = (uint8_t)size;
    memcpy(block + 1, code, size);
    return col_unwind_expression_evaluate(&scene, (struct col_cursor){block, block + sizeof block, false}, initial, result);
}

static void test_expressions(void)
{
    static const struct {
        const char *code;
        size_t size;
        intptr_t expected;
    } good[] = {
#define CODE(text) text, sizeof text - 1
        {CODE("\x77\x08"), 1007 + 8},                         /* register 7 + 8 */
        {CODE("\x77\x78"), 1007 - 8},                         /* register 7 - 8 */
        {CODE("\x92\x05\x01"), 1006},                         /* register 5 + 1, the long way */
        {CODE("\x73\x00\x06"), 0x1122334455667788},           /* dereference */
        {CODE("\x73\x00\x94\x02"), 0x7788},                   /* dereference two bytes */
        {CODE("\x31\x32\x1c"), -1},                           /* 1 - 2 */
        {CODE("\x09\xf9\x32\x1b"), -3},                       /* -7 / 2 */
        {CODE("\x37\x33\x1d"), 1},                            /* 7 mod 3 */
        {CODE("\x09\xf8\x31\x26"), -4},                       /* -8 >> 1 */
        {CODE("\x09\xf8\x1f\x20"), ~8},                       /* ~-(-8) */
        {CODE("\x09\xfb\x19"), 5},                            /* |-5| */
        {CODE("\x31\x32\x33\x17\x1c"), -1},                  /* rot: 3 1 2, then 1 - 2 */
        {CODE("\x31\x32\x16\x1c"), 1},                        /* swap: 2 - 1 */
        {CODE("\x35\x36\x14\x22"), 11},                       /* over: 6 + 5 */
        {CODE("\x35\x36\x37\x15\x02"), 5},                    /* pick */
        {CODE("\x31\x28\x01\x00\x30\x3a"), 10},               /* branch over a push */
        {CODE("\x3a\x2f\x01\x00\x31"), 10},                   /* skip */
        {CODE("\x0a\x34\x12"), 0x1234},
        {CODE("\x0b\xfe\xff"), -2},
        {CODE("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"), 1015}, /* a PLT entry's: sp + 8 + (pc & 15 >= 11) * 8 */
        {CODE("\x77\x08\x80\x04\x3f\x1a\x3b\x2a\x33\x24\x22"), 1023},
        {CODE("\x96\x3f\x23\x81\x01"), 15 + 129},
    };
    uintptr_t result;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!evaluates(good[i].code, good[i].size, NULL, &result) || result != (uintptr_t)good[i].expected) {
            printf("expression %zu: %#lx\n", i, result);
            exit(1);
        }
    uintptr_t initial = 100;
    CHECK(evaluates(CODE("\x38\x22"), &initial, &result) && result == 108);
    CHECK(!evaluates(CODE(""), NULL, &result));                  /* nothing on the stack */
    CHECK(!evaluates(CODE("\x22"), &initial, &result));          /* too little on the stack */
    CHECK(!evaluates(CODE("\x7d\x00"), NULL, &result));          /* register 13 is not known */
    CHECK(!evaluates(CODE("\x31\x06"), NULL, &result));          /* dereferences 1 */
    CHECK(!evaluates(CODE("\x31\x30\x1b"), NULL, &result));      /* divides by 0 */
    CHECK(!evaluates(CODE("\x0a\x34"), NULL, &result));          /* ends in an operand */
    CHECK(!evaluates(CODE("\x2f\xfd\xff"), NULL, &result));      /* goes round forever */
    CHECK(!evaluates(CODE("\x30\x2f\xfc\xff"), NULL, &result));  /* pushes forever */
    CHECK(!evaluates(CODE("\x30\x2f\x70\x00"), NULL, &result));  /* jumps out */
    CHECK(!evaluates(CODE("\x30\xe0"), NULL, &result));          /* unknown operation */
}

/* An .eh_frame by hand: one CIE, one FDE for 100 bytes of code, and the end. */
struct made_frames {
    uint8_t bytes[128];
    size_t size, entry;
};

static void put(struct made_frames *made, const void *bytes, size_t size)
{
    memcpy(made->bytes + made->size, bytes, size);
    made->size += size;
}

static void put_u32(struct made_frames *made, size_t value)
{
    uint32_t word = (uint32_t)value;
    put(made, &word, sizeof word);
}

static void finish_entry(struct made_frames *made)
{
    while (made->size % 8)
        put(made, "", 1); /* DW_CFA_nop */
    uint32_t length = (uint32_t)(made->size - made->entry - 4);
    memcpy(made->bytes + made->entry, &length, sizeof length);
    made->entry = made->size;
}

static void make_frames(struct made_frames *made, uintptr_t code, const char *instructions, size_t size)
{
    *made = (struct made_frames){.size = 0};
    uint64_t words[2] = {code, 100};
    put_u32(made, 0);
    put_u32(made, 0);
    put(made, "\x01zR\0\x01\x78\x10\x01\x00", 9); /* version, augmentation, factors 1 and -8, column 16, absolute */
    put(made, "\x0c\x07\x08\x90\x01", 5);         /* CFA = rsp + 8, return address at CFA - 8 */
    finish_entry(made);
    put_u32(made, 0);
    put_u32(made, made->size);
    put(made, words, sizeof words);
    put(made, "\0", 1);
    put(made, instructions, size);
    finish_entry(made);
    put_u32(made, 0);
}

/* push %rbp at 1, mov at 4, something else remembered at 14 and restored at 24. */
static const char prologue[] = "\x41\x0e\x10\x86\x02\x43\x0d\x06\x4a\x0a\x0c\x07\x08\xc6\x4a\x0b";

static void test_rows(void)
{
    static struct made_frames made;
    struct col_eh_fde fde;
    struct col_unwind_row row;
    col_unwind_rule rule;
    uintptr_t code = 0x500000;
    make_frames(&made, code, prologue, sizeof prologue - 1);
    struct col_code_module module;
    CHECK(col_eh_frame_measure(made.bytes, &module) && module.low == code && module.high == code + 100);
    CHECK(finds(&module, code, &fde) && fde.low == code && fde.high == code + 100);
    CHECK(!finds(&module, code + 100, &fde) && !finds(&module, code - 1, &fde));
    CHECK(finds(&module, code + 99, &fde));
    static const struct {
        unsigned at;
        int cfa_offset;
        bool from_fp, fp_is_saved;
    } expected[] = {{0, 8, false, false},  {1, 16, false, true}, {3, 16, false, true},
                    {4, 16, true, true},   {13, 16, true, true}, {14, 8, false, false},
                    {23, 8, false, false}, {24, 16, true, true}, {99, 16, true, true}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        CHECK(col_unwind_row_find(&fde, code + expected[i].at, &row));
        rule = col_unwind_cfi_pack(&fde, &row);
        CHECK((rule & COL_RULE_TYPE_MASK) == COL_RULE_SIMPLE);
        CHECK(col_unwind_rule_cfa_offset(rule) == expected[i].cfa_offset);
        CHECK(!!(rule & COL_RULE_FROM_FP) == expected[i].from_fp);
        CHECK(!!(rule & COL_RULE_FP_IS_SAVED) == expected[i].fp_is_saved);
    }
    static const char *damaged[] = {"\x0b", "\x3f", "\x0c\x70\x08", "\x10\x06\x50", "\x0a\x0a\x0a\x0a\x0a"};
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        make_frames(&made, code, damaged[i], strlen(damaged[i]));
        CHECK(finds(&module, code, &fde) && !col_unwind_row_find(&fde, code, &row));
    }
}

/* Tables that the program made for code that it made. */
static void test_registered_frames(void)
{
    static struct made_frames made, other;
    char *code = map_pages(1, PROT_READ | PROT_WRITE | PROT_EXEC);
    uintptr_t pcs[8], stack[64] = {0}, pc = (uintptr_t)code + 50, sp = (uintptr_t)&stack[10];
    enum col_stack_end end;
    ucontext_t context;
    struct col_code_module module;
    memset(&context, 0, sizeof context);
    make_frames(&made, (uintptr_t)code, "\x0e\x20", 2); /* CFA = rsp + 32 all along */
    make_frames(&other, (uintptr_t)code + 200, "", 0);
    CHECK(!col_code_finder_find(pc, &module));
    CHECK(col_code_finder_add_frames(other.bytes) && col_code_finder_add_frames(made.bytes));
    CHECK(col_code_finder_find(pc, &module) && module.frames == made.bytes && module.high == (uintptr_t)code + 100);
    stack[13] = (uintptr_t)code + 60;
    stack[17] = 0;
    memcpy((char *)&context + col_arch_context_offset(COL_DWARF_PC), &pc, sizeof pc);
    memcpy((char *)&context + col_arch_context_offset(COL_DWARF_SP), &sp, sizeof sp);
    CHECK(col_unwind_walk(&context, NULL, pcs, NULL, 8, &end) == 2 && end == COL_END_COMPLETE);
    CHECK(pcs[0] == pc && pcs[1] == (uintptr_t)code + 60);
    col_code_finder_remove_frames(made.bytes);
    col_unwind_forget_modules();
    CHECK(!col_code_finder_find(pc, &module) && col_code_finder_find(pc + 200, &module));
    CHECK(col_unwind_walk(&context, NULL, pcs, NULL, 8, &end) == 1 && end == COL_END_NO_UNWIND_INFO);
    CHECK(!col_code_finder_add_frames(NULL));
}

/* --- frames of deep stacks --- */

enum { DEEP_ROOM = 4096, DEEPEST = 10000, DEEP_TICKS = 2000 };

/* A stack that grows and shrinks, from the root; and what a walk over its first `depth` frames gives. */
static struct {
    uintptr_t pc[DEEPEST], sp[DEEPEST], pcs[DEEP_ROOM], sps[DEEP_ROOM];
    struct col_unwind_frames frames;
} deep;

static uint32_t deep_random(uint32_t below)
{
    static uint32_t state = 1;
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
}

static void make_deep_stack(void)
{
    uintptr_t sp = 0x7ffffffde000;
    for (size_t i = 0; i < DEEPEST; i++) {
        deep.pc[i] = 0x401000 + i;
        deep.sp[i] = sp -= 16 * (1 + deep_random(deep_random(50) == 0 ? 200 : 8));
    }
}

static bool walk_deep_stack(size_t depth, bool is_rooted, uintptr_t *sps)
{
    struct col_deep_stack state = {{0, 0, 0}, 0};
    struct col_unwind_frames *frames = &deep.frames;
    *frames = (struct col_unwind_frames){.pcs = deep.pcs, .sps = sps, .max = DEEP_ROOM, .deep = &state};
    col_unwind_frames_begin(frames);
    for (size_t i = depth; i-- > 0; frames->pcs[frames->count++] = deep.pc[i]) {
        struct col_regs regs = {.pc = deep.pc[i], .sp = deep.sp[i]};
        CHECK(frames->count < frames->max || col_unwind_frames_turn(frames, NULL, &regs));
        if (sps != NULL)
            sps[frames->count] = deep.sp[i];
    }
    return col_unwind_frames_finish(frames, is_rooted, !is_rooted);
}

/* Frames of the leaf's part; those of the root's must be all that there is room for. */
static size_t check_deep_stack(size_t depth)
{
    const struct col_unwind_frames *frames = &deep.frames;
    size_t root_part = DEEP_ROOM / 2, kept = frames->count - 1 - root_part;
    CHECK(kept >= DEEP_ROOM / 4 && kept < DEEP_ROOM / 2 && deep.pcs[kept] == COL_FRAMES_LEFT_OUT);
    for (size_t i = 0; i < frames->count; i++) {
        size_t level = i <= kept ? depth - 1 - i : frames->count - 1 - i;
        CHECK(i == kept || deep.pcs[i] == deep.pc[level]);
        CHECK(frames->sps == NULL || deep.sps[i] == deep.sp[level]);
    }
    return kept;
}

/* What is left out begins at the same frame nearly always, whatever the depth. */
static void test_deep_frames(void)
{
    size_t depth = DEEP_ROOM + 1, first = 0, moves = 0;
    make_deep_stack();
    for (size_t tick = 0; tick < DEEP_TICKS; tick++) {
        CHECK(!walk_deep_stack(depth, true, deep.sps));
        size_t begin = depth - check_deep_stack(depth);
        moves += begin != first;
        first = begin;
        depth += deep_random(201);
        depth = depth < DEEP_ROOM + 101 ? DEEP_ROOM + 1 : depth - 100;
        depth = depth < DEEPEST ? depth : DEEPEST - 1;
    }
    CHECK(moves > 1 && moves < DEEP_TICKS / 10);
    CHECK(!walk_deep_stack(DEEPEST, true, NULL) && check_deep_stack(DEEPEST) == DEEP_ROOM / 2 - 1);
    CHECK(!walk_deep_stack(DEEPEST, true, deep.sps));
    size_t kept = check_deep_stack(DEEPEST);
    CHECK(walk_deep_stack(DEEPEST, false, deep.sps) && deep.frames.count == kept);
    CHECK(!walk_deep_stack(DEEP_ROOM, true, deep.sps) && deep.frames.count == DEEP_ROOM);
}

/* --- what a walk costs a handler's stack --- */

static struct {
    size_t used_bytes[2];
    char *stack;
    int is_walking;
    uintptr_t pcs[64], pc;
} stack_use;

enum { USE_STACK_BYTES = 1 << 16 };

/* The handler returns to where it interrupted: only a copy of the context is spoilt. */
static void use_stack(int signal_number, siginfo_t *info, void *interrupted)
{
    (void)signal_number;
    (void)info;
    ucontext_t context = *(ucontext_t *)interrupted;
    enum col_stack_end end;
    if (stack_use.pc)
        memcpy((char *)&context + col_arch_context_offset(COL_DWARF_PC), &stack_use.pc, sizeof stack_use.pc);
    if (stack_use.is_walking)
        col_unwind_walk(&context, NULL, stack_use.pcs, NULL, 64, &end);
}

/* Once without and once with a walk, at `pc`, or where the signal came if that is 0. */
static void measure_stack_use(uintptr_t pc)
{
    for (stack_use.is_walking = 0; stack_use.is_walking < 2; stack_use.is_walking++) {
        size_t untouched = 0;
        memset(stack_use.stack, 0x5a, USE_STACK_BYTES);
        stack_use.pc = pc;
        raise(SIGUSR1);
        while (stack_use.stack[untouched] == 0x5a)
            untouched++;
        stack_use.used_bytes[stack_use.is_walking] = USE_STACK_BYTES - untouched;
    }
}

static void test_stack_use(void)
{
    stack_use.stack = malloc(USE_STACK_BYTES);
    sigaltstack(&(stack_t){.ss_sp = stack_use.stack, .ss_size = USE_STACK_BYTES}, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_sigaction = use_stack, .sa_flags = SA_SIGINFO | SA_ONSTACK}, NULL);
    uintptr_t unknown_code = (uintptr_t)map_pages(1, PROT_READ | PROT_EXEC);
    uintptr_t places[] = {0, unknown_code, 0x1000};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        measure_stack_use(places[i]);
        size_t more = stack_use.used_bytes[1] - stack_use.used_bytes[0];
        printf("stack %zu\n", more);
        CHECK(more <= 2048);
        col_unwind_forget_modules();
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} tests[] = {
    {"safe_read", test_safe_read},
    {"stack_bounds", test_stack_bounds},
    {"range_table", test_range_table},
    {"range_table_race", test_range_table_race},
    {"executable_mappings", test_executable_mappings},
    {"mappings_owed_to_an_observer", test_mappings_owed_to_an_observer},
    {"code_finder", test_code_finder},
    {"index", test_index},
#if defined(__x86_64__)
    {"code_bytes", test_code_bytes},
#endif
    {"rules", test_rules},
    {"cache", test_cache},
    {"cache_race", test_cache_race},
    {"cursor", test_cursor},
    {"expressions", test_expressions},
    {"rows", test_rows},
    {"registered_frames", test_registered_frames},
    {"deep_frames", test_deep_frames},
    {"stack_use", test_stack_use},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (argc < 2)
            puts(tests[i].name);
        else if (strcmp(argv[1], tests[i].name) == 0) {
            tests[i].run();
            return 0;
        }
    return argc < 2 ? 0 : 2;
}
