/*
 * unwind_fuzz.c -- random registers must never make the unwinder crash
 *
 *   unwind_fuzz COUNT [SEED]
 *
 * Each context takes its pc from anywhere in the executable segments of the loaded modules, or from nowhere, and its
 * other registers from the real stack, from a landscape of pages of which every other one cannot be read, from code,
 * or from chance. The landscape is filled with the same sort of words and changes its gaps all the time. Every answer
 * is checked for what the interface promises. Prints how often each end was reached.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/arch.h"
#include "sample/unwind.h"
#include "target/code_finder.h"

enum {
    PAGES = 64,
    MOST_SEGMENTS = 64,
    MOST_FRAMES = 2048,
    CANARIES = 8,
    CHANGE_EVERY = 500,
    END_COUNT = COL_END_BAD_FRAME + 1,
};

static struct {
    uint64_t random;
    char *land;      /* PAGES pages */
    uintptr_t segments[MOST_SEGMENTS][2];
    size_t segment_count;
    struct col_stack_bounds bounds;
    ucontext_t true_context;
    uintptr_t pcs[MOST_FRAMES + CANARIES];
    unsigned long ends[END_COUNT], frames;
} self;

extern void *__libc_stack_end;

/* xorshift64: the same seed gives the same contexts, as far as addresses are the same. */
static uint64_t random_number(void)
{
    self.random ^= self.random << 13;
    self.random ^= self.random >> 7;
    self.random ^= self.random << 17;
    return self.random;
}

static uintptr_t random_below(uintptr_t limit)
{
    return random_number() % limit;
}

static int note_segments(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (int i = 0; i < info->dlpi_phnum && self.segment_count < MOST_SEGMENTS; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || segment->p_memsz == 0)
            continue;
        self.segments[self.segment_count][0] = info->dlpi_addr + segment->p_vaddr;
        self.segments[self.segment_count++][1] = segment->p_memsz;
    }
    return 0;
}

static uintptr_t random_code(void)
{
    const uintptr_t *segment = self.segments[random_below(self.segment_count)];
    return segment[0] + random_below(segment[1]);
}

/* Mostly a word's address, sometimes a byte's; sometimes at the very edge of a page. */
static uintptr_t random_land(void)
{
    uintptr_t at = (uintptr_t)self.land + random_below(PAGES * COL_PAGE_BYTES);
    if (random_below(8) == 0)
        return at;
    if (random_below(4) == 0)
        at |= COL_PAGE_BYTES - 8 * (1 + random_below(4));
    return at & ~(uintptr_t)7;
}

static uintptr_t random_stack(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), room = self.bounds.high - here + 4 * COL_PAGE_BYTES;
    return (here + random_below(room)) & ~(uintptr_t)(random_below(8) ? 7 : 0);
}

static uintptr_t random_word(void)
{
    switch (random_below(8)) {
    case 0: return random_number();
    case 1: return random_below(4096);
    case 2: return random_code();
    case 3:
    case 4: return random_stack();
    default: return random_land();
    }
}

/* Gives every page of the landscape new rights, and those that can be written new words. */
static void change_landscape(void)
{
    for (uintptr_t page = 0; page < PAGES; page++) {
        char *at = self.land + page * COL_PAGE_BYTES;
        mprotect(at, COL_PAGE_BYTES, PROT_READ | PROT_WRITE);
        for (size_t i = 0; i < 64; i++) {
            uintptr_t word = random_word();
            memcpy(at + (random_below(COL_PAGE_BYTES / 8)) * 8, &word, sizeof word);
        }
        if (random_below(2))
            mprotect(at, COL_PAGE_BYTES, random_below(4) ? PROT_NONE : PROT_READ | PROT_EXEC);
    }
}

/* The registers of a true frame, some of them spoilt: leads deeper into the unwinder than pure chance. */
static void spoil(ucontext_t *context)
{
    for (uintptr_t i = random_below(3); i > 0; i--) {
        uintptr_t word = random_word();
        size_t at = col_arch_context_offset((unsigned)random_below(COL_DWARF_REGS));
        memcpy((char *)context + at, &word, sizeof word);
    }
    uintptr_t sp;
    memcpy(&sp, (char *)context + col_arch_context_offset(COL_DWARF_SP), sizeof sp);
    sp += 8 * random_below(random_below(2) ? 2 : 64);
    memcpy((char *)context + col_arch_context_offset(COL_DWARF_SP), &sp, sizeof sp);
}

static void fill(ucontext_t *context)
{
    for (unsigned i = 0; i < COL_DWARF_REGS; i++) {
        uintptr_t word = random_word();
        if (i == COL_DWARF_PC && random_below(8))
            word = random_code();
        memcpy((char *)context + col_arch_context_offset(i), &word, sizeof word);
    }
}

static void fail(const char *what, const ucontext_t *context)
{
    printf("%s;", what);
    for (unsigned i = 0; i < COL_DWARF_REGS; i++) {
        uintptr_t word;
        memcpy(&word, (const char *)context + col_arch_context_offset(i), sizeof word);
        printf(" %#lx", word);
    }
    printf("\n");
    exit(1);
}

static void try_one(void)
{
    static const uintptr_t canary = 0x6361766174696f6e;
    ucontext_t context;
    uintptr_t pc;
    enum col_stack_end end = (enum col_stack_end)END_COUNT;
    struct col_stack_bounds bounds = self.bounds, *own = &bounds;
    size_t max = random_below(16) ? 1 + random_below(100) : 1 + random_below(MOST_FRAMES);
    if (random_below(2)) {
        context = self.true_context;
        spoil(&context);
    } else {
        fill(&context);
    }
    memcpy(&pc, (const char *)&context + col_arch_context_offset(COL_DWARF_PC), sizeof pc);
    switch (random_below(4)) {
    case 0: bounds = (struct col_stack_bounds){0, 0}; break;
    case 1: bounds.low = 0; break;
    case 2: own = random_below(8) ? &self.bounds : NULL; break;
    }
    uintptr_t low = own ? own->low : 0;
    for (size_t i = 0; i < CANARIES; i++)
        self.pcs[max + i] = canary;
    size_t count = col_unwind_walk(&context, own, self.pcs, NULL, max, &end);
    if (count < 1 || count > max || self.pcs[0] != pc || (unsigned)end >= END_COUNT)
        fail("broken promise", &context);
    if (end == COL_END_DEPTH_LIMIT && count != max)
        fail("depth limit before the limit", &context);
    for (size_t i = 0; i < CANARIES; i++)
        if (self.pcs[max + i] != canary)
            fail("wrote behind the end", &context);
    for (size_t i = 1; i < count; i++)
        if (self.pcs[i] - (uintptr_t)self.land > PAGES * COL_PAGE_BYTES /* there, what is code changes all the time */
            && !col_code_finder_is_known_code_in(NULL, self.pcs[i] - 1))
            fail("a frame that is not code", &context);
    if (own && own->low < low && !col_safe_read_probe(own->low))
        fail("a lower bound that is not mapped", &context);
    self.ends[end]++;
    self.frames += count;
}

static void try_many(unsigned long count)
{
    for (unsigned long i = 0; i < count; i++) {
        if (i % CHANGE_EVERY == 0)
            change_landscape();
        if (i % (CHANGE_EVERY * 100) == 0)
            col_unwind_forget_modules();
        try_one();
    }
}

/* Stands at the bottom of a few frames, and its context is the true one that is spoilt. */
__attribute__((noinline)) static int descend(int depth, unsigned long count)
{
    volatile char locals[100];
    locals[depth] = 1;
    if (depth > 0)
        return descend(depth - 1, count) + locals[depth];
    getcontext(&self.true_context);
    try_many(count);
    return 0;
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    self.random = argc > 2 ? strtoul(argv[2], NULL, 10) : 88172645463325252;
    self.bounds.high = (uintptr_t)__libc_stack_end;
    self.land = mmap(NULL, PAGES * COL_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    dl_iterate_phdr(note_segments, NULL);
    col_code_finder_refresh();
    descend(30, count);
    printf("contexts %lu frames %lu ends", count, self.frames);
    for (int i = 0; i < END_COUNT; i++)
        printf(" %lu", self.ends[i]);
    printf("\n");
    return 0;
}
