/*
 * remote_fuzz.c -- a walker against a process that lies to it
 *
 *   remote_fuzz WALKS SEED
 *
 * The process is our child, with this program's code and tables, in which we change bytes at random: of the headers of ELF files, of unwind tables, of code, of a stack.
 * Walks begin at random places. Whatever is found, the walk ends, and has read nothing but copies: a sanitizer looks on. Prints how the walks ended.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <link.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sample/remote_process.h"
#include "sample/unwind.h"

enum { MOST_FRAMES = 512, MOST_RANGES = 256, STACK_BYTES = 1 << 14, WALKS_A_CHILD = 400, MOST_CHANGES = 12, ENDS = 7 };

struct range {
    uintptr_t low, high;
};

static struct {
    struct range code[MOST_RANGES], tables[MOST_RANGES];
    unsigned code_count, table_count;
    uint64_t random;
    uintptr_t stack[STACK_BYTES / sizeof(uintptr_t)];
} self;

static uint64_t random_number(void)
{
    self.random ^= self.random << 13;
    self.random ^= self.random >> 7;
    return self.random ^= self.random << 17;
}

static uintptr_t random_place(const struct range *ranges, unsigned count)
{
    const struct range *range = &ranges[random_number() % count];
    return range->low + random_number() % (range->high - range->low);
}

/* The same in the child, which is a copy of us. */
static int note(struct dl_phdr_info *info, size_t size, void *argument)
{
    (void)size, (void)argument;
    for (int i = 0; i < info->dlpi_phnum && self.code_count < MOST_RANGES && self.table_count + 1 < MOST_RANGES; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        struct range range = {info->dlpi_addr + segment->p_vaddr, info->dlpi_addr + segment->p_vaddr + segment->p_memsz};
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
            self.code[self.code_count++] = range;
        if (segment->p_type == PT_GNU_EH_FRAME) /* what it points to lies behind it */
            self.tables[self.table_count++] = (struct range){range.low, range.high + 0x2000};
        if (segment->p_type == PT_PHDR)
            self.tables[self.table_count++] = (struct range){range.low - 64, range.high};
    }
    return 0;
}

static pid_t start(void)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = 0; i < self.table_count; i++) {
        uintptr_t low = self.tables[i].low & ~(uintptr_t)4095;
        mprotect((void *)low, self.tables[i].high - low, PROT_READ | PROT_WRITE);
    }
    for (;;)
        pause();
}

static void change(pid_t child, uintptr_t place, const void *bytes, size_t count)
{
    struct iovec from = {(void *)bytes, count}, to = {(void *)place, count};
    process_vm_writev(child, &from, 1, &to, 1, 0); /* some pages cannot be written to: the walk finds them as they were */
}

static void change_tables(pid_t child)
{
    for (unsigned i = (unsigned)(random_number() % MOST_CHANGES); i > 0; i--) {
        uint8_t byte = random_number() % 3 ? (uint8_t)random_number() : (uint8_t)(random_number() % 2 * 0xff);
        change(child, random_place(self.tables, self.table_count), &byte, 1);
    }
}

/* Words that look like what stacks hold: code, places on the stack, small numbers. */
static void change_stack(pid_t child)
{
    enum { WORDS = 64 };
    uintptr_t words[WORDS];
    const struct range stack = {(uintptr_t)self.stack, (uintptr_t)self.stack + sizeof self.stack};
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = random_number() % 2   ? random_place(self.code, self.code_count)
                   : random_number() % 3 ? random_place(&stack, 1) & ~(uintptr_t)7
                                         : random_number() >> random_number() % 64;
    change(child, stack.low + random_number() % (STACK_BYTES / sizeof words) * sizeof words, words, sizeof words);
}

static struct col_remote_registers choose(void)
{
    const struct range stack = {(uintptr_t)self.stack, (uintptr_t)self.stack + sizeof self.stack};
    struct col_remote_registers registers = {.pc = random_place(self.code, self.code_count),
                                             .sp = random_place(&stack, 1) & ~(uintptr_t)7,
                                             .fp = random_place(&stack, 1),
                                             .has_fp = random_number() % 4 == 0};
    if (random_number() % 64 == 0)
        registers.sp = random_number();
    if (random_number() % 64 == 0)
        registers.pc = random_number();
    return registers;
}

static void walk_child(unsigned long *ends)
{
    static uintptr_t pcs[MOST_FRAMES];
    pid_t child = start();
    struct col_remote_process *process = col_remote_open(child);
    for (unsigned i = 0; i < WALKS_A_CHILD; i++) {
        unsigned end;
        struct col_remote_registers registers = choose();
        if (i % 8 == 0)
            change_tables(child);
        change_stack(child);
        if (i % 16 == 0)
            col_remote_changed(process);
        size_t most = 4 + random_number() % (MOST_FRAMES / 2 - 1) * 2;
        size_t count = col_remote_python(process, child, &registers, pcs, most, &end);
        if (count > most || end >= ENDS || (count > 0 && pcs[0] != registers.pc))
            abort();
        ends[end]++;
    }
    col_remote_close(process);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    unsigned long ends[ENDS] = {0}, walks = argc > 1 ? strtoul(argv[1], NULL, 0) : 4000;
    self.random = (argc > 2 ? strtoul(argv[2], NULL, 0) : 1) * 0x9e3779b97f4a7c15u;
    dl_iterate_phdr(note, NULL);
    for (unsigned long done = 0; done < walks; done += WALKS_A_CHILD)
        walk_child(ends);
    for (unsigned end = 0; end < ENDS; end++)
        printf("%lu ", ends[end]);
    puts("");
    return 0;
}
