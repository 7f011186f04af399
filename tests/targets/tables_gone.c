/*
 * tables_gone.c -- works in a library whose unwind tables are taken away, without a word to the dynamic linker
 *
 *   tables_gone LIBRARY unmap | protect | truncate | all
 *
 * `unmap`, `protect` and `truncate` take the segment with the tables; `all` unmaps everything but the code.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

static struct {
    const char *how;
    int file;
    uintptr_t code;
    unsigned long turns;
} self;

static void check(int is_done, const char *what)
{
    if (is_done)
        return;
    perror(what);
    exit(1);
}

static uintptr_t first_page(uintptr_t bias, const ElfW(Phdr) *segment)
{
    return (bias + segment->p_vaddr) & -(uintptr_t)sysconf(_SC_PAGESIZE);
}

static void take(uintptr_t bias, const ElfW(Phdr) *segment)
{
    uintptr_t low = first_page(bias, segment), bytes = bias + segment->p_vaddr + segment->p_memsz - low;
    if (strcmp(self.how, "truncate") == 0)
        check(ftruncate(self.file, (off_t)(segment->p_offset & ~(uintptr_t)4095)) == 0, "ftruncate");
    else if (strcmp(self.how, "protect") == 0)
        check(mprotect((void *)low, bytes, PROT_NONE) == 0, "mprotect");
    else
        check(munmap((void *)low, bytes) == 0, "munmap");
}

static int is_in(uintptr_t address, uintptr_t bias, const ElfW(Phdr) *segment)
{
    return segment->p_type == PT_LOAD && address - (bias + segment->p_vaddr) < segment->p_memsz;
}

/* The headers are copied: they lie in the first of the segments. */
static int find_library(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    ElfW(Phdr) segments[16];
    uintptr_t tables = 0;
    int is_here = 0, count = info->dlpi_phnum < 16 ? info->dlpi_phnum : 16;
    memcpy(segments, info->dlpi_phdr, sizeof *segments * (size_t)count);
    for (int i = 0; i < count; i++) {
        is_here |= is_in(self.code, info->dlpi_addr, &segments[i]);
        if (segments[i].p_type == PT_GNU_EH_FRAME)
            tables = info->dlpi_addr + segments[i].p_vaddr;
    }
    for (int i = 0; i < count && is_here; i++) {
        int is_wanted = strcmp(self.how, "all") == 0 ? !(segments[i].p_flags & PF_X) : is_in(tables, info->dlpi_addr, &segments[i]);
        if (segments[i].p_type == PT_LOAD && is_wanted)
            take(info->dlpi_addr, &segments[i]);
    }
    return is_here;
}

/* A copy of its own, that may be cut. */
static void *open_copy(const char *library)
{
    char path[64];
    int original = open(library, O_RDONLY);
    self.file = memfd_create("library", 0);
    check(original >= 0 && sendfile(self.file, original, NULL, 1 << 24) > 0, library);
    snprintf(path, sizeof path, "/proc/self/fd/%d", self.file);
    void *handle = dlopen(path, RTLD_NOW);
    check(handle != NULL, "dlopen");
    return handle;
}

__attribute__((noinline)) static void work_in_program(void)
{
    for (unsigned long i = 0; i < 10000000; i++)
        __asm__ volatile("");
    self.turns++;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    void (*work)(void (*)(void));
    self.how = argv[2];
    *(void **)&work = dlsym(open_copy(argv[1]), "work_in_library");
    self.code = (uintptr_t)work;
    check(dl_iterate_phdr(find_library, NULL) == 1, "the library");
    for (int i = 0; i < 4; i++)
        work(work_in_program);
    void *other = dlopen("libm.so.6", RTLD_NOW); /* recorders look at all modules again */
    check(other != NULL && dlclose(other) == 0, "libm");
    printf("turns %lu\n", self.turns);
    fflush(stdout);
    _exit(0);
}
