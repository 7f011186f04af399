/*
 * unwind_tables_fuzz.c -- no unwind table, and no pc, must make the search for an entry crash or lie
 *
 *   unwind_tables_fuzz COUNT [SEED]
 *
 * Tables are made in a file that is mapped between pages that cannot be read. They are sound, or absent, empty, with gaps, unsorted,
 * overlapping, cut off at the end of a page, or have some bytes changed; pages of them are protected and the file is cut
 * while they are in use. Addresses of tables and of code come from everywhere, both ends of memory included. A sound table
 * must give what a search from its beginning gives; any other an entry inside its bounds that covers the pc, or none.
 * Prints how many searches there were, how many found an entry, and how many of a sound table were compared.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arch.h"
#include "sample/unwind.h"
#include "sample/unwind_cfi.h"
#include "sample/unwind_row.h"
#include "target/code_finder.h"
#include "target/eh_frame.h"

enum {
    PAGES = 6,
    GUARD_PAGES = 64, /* on either side */
    GUARD_BYTES = GUARD_PAGES * COL_PAGE_BYTES,
    ARENA_BYTES = PAGES * COL_PAGE_BYTES,
    IMAGE_BYTES = 3 * COL_PAGE_BYTES,
    MOST_FUNCTIONS = 60,
    SEARCHES_PER_TABLE = 24,
};

/* A table: the bytes of an .eh_frame_hdr and of the .eh_frame behind it, for the address where it will lie. */
static struct {
    uint8_t bytes[IMAGE_BYTES];
    size_t size, frames_at;
    uintptr_t at; /* where bytes[0] will lie */
    uintptr_t low[MOST_FUNCTIONS], high[MOST_FUNCTIONS];
    size_t count;
    bool is_sound;
} image;

static struct {
    uint64_t random;
    int file;
    uint8_t *arena;
    bool is_whole; /* no page protected, nothing cut off */
    unsigned long searches, found, compared;
} self;

static uint64_t random_number(void)
{
    self.random ^= self.random << 13;
    self.random ^= self.random >> 7;
    self.random ^= self.random << 17;
    return self.random;
}

static size_t random_below(size_t limit)
{
    return random_number() % limit;
}

static bool one_in(size_t n)
{
    return random_below(n) == 0;
}

static void fail(const char *what, uintptr_t pc)
{
    printf("%s; pc %#lx, search %lu\n", what, pc, self.searches);
    exit(1);
}

/* --- making tables --- */

static void put(const void *bytes, size_t size)
{
    if (size > IMAGE_BYTES - image.size)
        size = IMAGE_BYTES - image.size;
    memcpy(image.bytes + image.size, bytes, size);
    image.size += size;
}

static void put_u32(uint64_t value)
{
    uint32_t word = (uint32_t)value;
    put(&word, sizeof word);
}

static void set_u32(size_t at, uint64_t value)
{
    uint32_t word = (uint32_t)value;
    if (at + sizeof word <= IMAGE_BYTES)
        memcpy(image.bytes + at, &word, sizeof word);
}

#ifdef __SANITIZE_ADDRESS__ /* it takes offence at reads of its own memory, which all of it would lead to */
#define LOWEST ((uintptr_t)self.arena - GUARD_BYTES)
#define HIGHEST ((uintptr_t)self.arena + ARENA_BYTES + GUARD_BYTES)
#else
#define LOWEST ((uintptr_t)0)
#define HIGHEST UINTPTR_MAX
#endif

#define PUT(text) put(text, sizeof text - 1)

/* Sound instructions, sound ones of the rare kind, and such as never end or ask for too much. */
static void put_instructions(void)
{
    switch (random_below(20)) {
    case 0: PUT("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00"); break;             /* a realigned stack: CFA = *(rbp - 8) */
    case 1: PUT("\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"); break; /* a PLT entry's */
    case 2: PUT("\x16\x06\x05\x31\x06\x2f\xfb\xff"); break;                     /* dereferences 1, for ever */
    case 3: PUT("\x0f\xff\xff\xff\xff\x0f\x70\x00"); break;                     /* an expression behind the end */
    case 4: PUT("\x0a\x0a\x0a\x0a\x0a\x0b\x0b\x0b\x0b\x0b\x0b"); break;
    case 5: PUT("\x0e\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"); break; /* a number without end */
    case 6: PUT("\x01\xff\xff\xff\xff\xff\xff\xff\x7f\x04\xff\xff\xff\xff"); break;
    case 7:
        for (int i = 0; i < 40; i++)
            PUT("\xc6");
        break;
    case 8: PUT("\x0f\x03\x76\x78\x06\x0e\xff\xff\xff\x7f"); break; /* an expression whose place is changed afterwards */
    case 9: PUT("\x0f\x03\x76\x78\x06\x13\xff\xff\x7f"); break;
    case 10:
        for (size_t i = random_below(40); i > 0; i--)
            put(&(uint8_t){(uint8_t)random_number()}, 1);
        break;
    default: PUT("\x41\x0e\x10\x86\x02\x43\x0d\x06\x4a\x0a\x0c\x07\x08\xc6\x4a\x0b");
    }
}

static void finish_entry(size_t entry)
{
    while (image.size % 4 && image.size < IMAGE_BYTES)
        PUT("\0");
    set_u32(entry, image.size - entry - 4);
}

static size_t put_cie(void)
{
    size_t at = image.size;
    put_u32(0);
    put_u32(0);
    if (one_in(4))
        PUT("\x01zPLR\0\x01\x78\x10\x07\x03\x11\x22\x33\x44\x0b\x1b");
    else
        PUT("\x01zR\0\x01\x78\x10\x01\x1b");
    PUT("\x0c\x07\x08\x90\x01");
    finish_entry(at);
    return at;
}

static void put_fde(size_t cie, size_t function)
{
    size_t at = image.size;
    put_u32(0);
    put_u32(image.size - cie);
    put_u32(image.low[function] - (image.at + image.size));
    put_u32(image.high[function] - image.low[function]);
    PUT("\0");
    put_instructions();
    finish_entry(at);
    set_u32(12 + 8 * function, image.low[function] - image.at);
    set_u32(16 + 8 * function, image.at + at - image.at);
}

/* Functions one behind the other, with gaps. */
static void choose_functions(void)
{
    uintptr_t next = image.at + (one_in(2) ? -random_below(1 << 20) - (1 << 16) : random_below(1 << 30));
    image.count = one_in(8) ? 0 : 1 + random_below(MOST_FUNCTIONS);
    for (size_t i = 0; i < image.count; i++) {
        image.low[i] = next + (one_in(2) ? 0 : random_below(1 << 12));
        image.high[i] = next = image.low[i] + 1 + random_below(one_in(8) ? 1 << 15 : 200);
    }
}

static void make_sound(uintptr_t at)
{
    image.at = at;
    image.size = 0;
    choose_functions();
    PUT("\x01\x1b\x03\x3b");
    put_u32(8 + 8 * image.count);
    put_u32(image.count);
    image.size += 8 * image.count;
    image.frames_at = image.size;
    size_t cie = put_cie();
    for (size_t i = 0; i < image.count; i++)
        put_fde(cie, i);
    put_u32(0);
    image.is_sound = true;
}

static void spoil_index(void)
{
    for (size_t i = 1 + random_below(8); i > 0 && image.count > 0; i--) {
        size_t pair = 12 + 8 * random_below(image.count), other = 12 + 8 * random_below(image.count);
        switch (random_below(4)) {
        case 0: memcpy(image.bytes + pair, image.bytes + other, 4); break; /* overlapping, unsorted, another's entry */
        case 1: memcpy(image.bytes + pair, image.bytes + other, 8); break;
        case 2: set_u32(pair, random_number()); break;
        default: set_u32(pair + 4, one_in(2) ? random_number() : random_below(ARENA_BYTES));
        }
    }
}

/* What tables lie about most dangerously: counts, encodings, lengths, distances, strings without end. */
static void spoil_a_word(void)
{
    static const uint32_t words[] = {0, 1, 3, 4, 7, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x80808080, 0x01010101};
    size_t at = image.frames_at + random_below(image.size - image.frames_at);
    uint64_t word = one_in(2) ? words[random_below(sizeof words / sizeof *words)] : random_number();
    switch (random_below(6)) {
    case 0: set_u32(8, word); break;
    case 1: image.bytes[random_below(4)] = (uint8_t)random_number(); break;
    case 2: set_u32(4, word); break;
    case 3: image.bytes[at] = (uint8_t)random_number(); break;
    case 4: memset(image.bytes + at, one_in(2) ? 0x80 : 'z', image.size - at); break;
    default: set_u32(at & ~(size_t)3, word);
    }
}

/* Sound in a third of the cases; it ends where the arena ends, and so at a page that cannot be read, in half of them. */
static void make_table(void)
{
    uint64_t seed = self.random;
    bool is_at_end = (seed & 1) != 0;
    make_sound((uintptr_t)self.arena); /* to see how large it is */
    uintptr_t last = (uintptr_t)self.arena + ARENA_BYTES - image.size;
    self.random = seed;
    make_sound(is_at_end ? last & ~(uintptr_t)3 : (uintptr_t)self.arena + seed % (ARENA_BYTES - IMAGE_BYTES));
    size_t room = (uintptr_t)self.arena + ARENA_BYTES - image.at;
    if (!one_in(3)) {
        image.is_sound = false;
        if (one_in(2))
            spoil_index();
        for (size_t i = random_below(4); i > 0; i--)
            spoil_a_word();
    }
    if (image.size > room) { /* cut off at the end of a page */
        image.size = room;
        image.is_sound = false;
    }
    memcpy((void *)image.at, image.bytes, image.size);
}

/* --- the ground that tables lie on --- */

static void mend_ground(void)
{
    if (ftruncate(self.file, ARENA_BYTES) != 0 || mprotect(self.arena, ARENA_BYTES, PROT_READ | PROT_WRITE) != 0)
        fail("the arena cannot be mended", 0);
    self.is_whole = true;
}

static void spoil_ground(void)
{
    self.is_whole = false;
    if (one_in(2) ? ftruncate(self.file, (off_t)random_below(ARENA_BYTES)) != 0
                  : mprotect(self.arena + random_below(PAGES) * COL_PAGE_BYTES, COL_PAGE_BYTES, PROT_NONE) != 0)
        fail("the arena cannot be spoilt", 0);
}

/* --- searching --- */

static uintptr_t random_pc(void)
{
    size_t i = image.count ? random_below(image.count) : 0;
    switch (random_below(10)) {
    case 0: return 0;
    case 1: return UINTPTR_MAX - random_below(2);
    case 2: return random_number();
    case 3: return image.low[0] - 1 - random_below(2) * random_below(1 << 24);
    case 4: return image.high[i];
    case 5: return image.low[i] - 1;
    case 6: return image.at + random_below(IMAGE_BYTES);
    case 7: return image.high[i] - 1;
    default: return image.low[i];
    }
}

/* Where the module says that its tables are. Sometimes that is a lie, too. */
static struct col_code_module make_module(void)
{
    uintptr_t low = (uintptr_t)self.arena, high = low + ARENA_BYTES, header = image.at;
    switch (random_below(24)) {
    case 0: low = 0, header = random_below(2 * COL_PAGE_BYTES); break;
    case 1: low = header, high = header + random_below(image.size + 1); break;
    case 2: low = LOWEST, high = HIGHEST; break;
    case 3: header = (uintptr_t)self.arena + random_below(ARENA_BYTES); break;
    case 4: header = low = high - random_below(64); break;
    case 5: low = UINTPTR_MAX - 4096, high = UINTPTR_MAX, header = high - random_below(64); break;
    case 6: low = high = header = 0; break;
    case 7: low -= random_below(GUARD_PAGES) * COL_PAGE_BYTES, high += random_below(GUARD_PAGES) * COL_PAGE_BYTES; break;
    }
    struct col_code_module module = {.low = low, .high = high, .tables_low = low, .tables_high = high};
    if (one_in(8))
        module.frames = header == image.at ? (const uint8_t *)(image.at + image.frames_at) : (const uint8_t *)header;
    else
        module.header = (const uint8_t *)header;
    return module;
}

static bool is_honest(const struct col_code_module *module)
{
    bool is_where_it_is = (uintptr_t)module->header == image.at || (uintptr_t)module->frames == image.at + image.frames_at;
    return image.is_sound && self.is_whole && is_where_it_is && module->tables_low <= image.at
           && module->tables_high >= image.at + image.size;
}

static void compare(uintptr_t pc, bool is_found, const struct col_eh_fde *fde)
{
    size_t i = 0;
    while (i < image.count && !(pc >= image.low[i] && pc < image.high[i]))
        i++;
    self.compared++;
    if (is_found != (i < image.count) || (is_found && (fde->low != image.low[i] || fde->high != image.high[i])))
        fail("a sound table gave the wrong answer", pc);
}

/* The rule and the caller's registers, from registers that point anywhere. */
static void use_entry(const struct col_eh_fde *fde, uintptr_t pc)
{
    struct col_unwind_row row;
    struct col_stack_bounds own = {0, 0};
    struct col_stack_reader reader;
    struct col_regs regs;
    bool sp_is_saved;
    if (!col_unwind_row_find(fde, pc, &row))
        return;
    col_unwind_cfi_pack(fde, &row);
    for (unsigned i = 0; i < COL_DWARF_REGS; i++)
        regs.dwarf[i] = one_in(4) ? random_number() : (uintptr_t)self.arena + random_below(ARENA_BYTES);
    col_safe_read_begin(&reader, &own, regs.dwarf[COL_DWARF_SP]);
    struct col_unwind_cfi_frame frame = {&regs, ~UINT64_C(0) >> (64 - COL_DWARF_REGS)};
    col_unwind_cfi_apply(fde, &row, &reader, &frame, &sp_is_saved);
}

static void search(void)
{
    struct col_code_module module = make_module();
    struct col_proved_pages proved = {.memory = NULL};
    struct col_eh_fde fde;
    uintptr_t pc = random_pc();
    self.searches++;
    bool is_found = col_eh_frame_find(&module, pc, &proved, &fde);
    if (is_honest(&module))
        compare(pc, is_found, &fde);
    if (!is_found)
        return;
    self.found++;
    if (pc < fde.low || pc >= fde.high || (uintptr_t)fde.start < module.tables_low || (uintptr_t)fde.end > module.tables_high
        || fde.instructions > fde.end || (uintptr_t)fde.cie.end > module.tables_high || fde.cie.instructions > fde.cie.end)
        fail("an entry that does not cover the pc, or lies outside", pc);
    use_entry(&fde, pc);
}

/* The same table as one that the program registered: by way of the finder, and of a whole walk. */
static void walk(void)
{
    const uint8_t *frames = (const uint8_t *)image.at + image.frames_at;
    ucontext_t context;
    uintptr_t pcs[16], words[COL_DWARF_REGS];
    enum col_stack_end end;
    memset(&context, 0, sizeof context);
    bool is_added = col_code_finder_add_frames(frames);
    if (one_in(2))
        spoil_ground();
    for (unsigned i = 0; i < COL_DWARF_REGS; i++) {
        words[i] = i == COL_DWARF_PC ? random_pc() : (uintptr_t)self.arena + (random_below(ARENA_BYTES) & ~(size_t)7);
        memcpy((char *)&context + col_arch_context_offset(i), &words[i], sizeof words[i]);
    }
    size_t count = col_unwind_walk(&context, NULL, pcs, NULL, 16, &end);
    if (count < 1 || count > 16 || pcs[0] != words[COL_DWARF_PC])
        fail("a walk without its first frame", words[COL_DWARF_PC]);
    if (is_added)
        col_code_finder_remove_frames(frames);
    col_unwind_forget_modules();
}

static void try_one_table(void)
{
    if (!self.is_whole)
        mend_ground();
    make_table();
    if (one_in(8))
        spoil_ground();
    for (int i = 0; i < SEARCHES_PER_TABLE; i++)
        search();
    if (one_in(4))
        walk();
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    self.random = argc > 2 ? strtoul(argv[2], NULL, 10) : 88172645463325252;
    self.file = memfd_create("tables", 0);
    self.arena = mmap(NULL, ARENA_BYTES + 2 * GUARD_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    self.arena = mmap(self.arena + GUARD_BYTES, ARENA_BYTES, PROT_NONE, MAP_SHARED | MAP_FIXED, self.file, 0);
    col_code_finder_refresh();
    while (self.searches < count)
        try_one_table();
    printf("searches %lu found %lu compared %lu\n", self.searches, self.found, self.compared);
    return 0;
}
