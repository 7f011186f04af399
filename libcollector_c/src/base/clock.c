/* clock.c -- what time it is, asked of the kernel itself */
#include "base/clock.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/arch.h"

typedef int gettime_function(clockid_t clock, struct timespec *time);

static int ask_kernel(clockid_t clock, struct timespec *time)
{
    return (int)col_arch_syscall(SYS_clock_gettime, clock, (long)time, 0, 0, 0, 0);
}

static struct {
    gettime_function *gettime; /* the vdso's, or ask_kernel; NULL until it was looked for */
} self;

static bool is_gettime(const char *name)
{
    return strcmp(name, "__vdso_clock_gettime") == 0 || strcmp(name, "__kernel_clock_gettime") == 0;
}

/* The vdso is a small shared object that the kernel maps whole, section headers included. */
static gettime_function *find_in_vdso(const char *image)
{
    const ElfW(Ehdr) *header = (const void *)image;
    const ElfW(Shdr) *sections = (const void *)(image + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        const ElfW(Sym) *symbols = (const void *)(image + sections[i].sh_offset);
        const char *names = image + sections[sections[i].sh_link].sh_offset;
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
            if (symbols[k].st_shndx != SHN_UNDEF && is_gettime(names + symbols[k].st_name))
                return (gettime_function *)(uintptr_t)(image + symbols[k].st_value);
    }
    return ask_kernel;
}

static uint64_t read_clock(gettime_function *gettime, clockid_t clock)
{
    struct timespec time;
    if (gettime(clock, &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t read_fast_clock(clockid_t clock)
{
    gettime_function *gettime = __atomic_load_n(&self.gettime, __ATOMIC_RELAXED);
    if (gettime == NULL) {
        const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
        gettime = image != NULL ? find_in_vdso(image) : ask_kernel;
        __atomic_store_n(&self.gettime, gettime, __ATOMIC_RELAXED);
    }
    return read_clock(gettime, clock);
}

uint64_t col_clock_now(void)
{
    return read_fast_clock(CLOCK_MONOTONIC);
}

uint64_t col_clock_wall(void)
{
    return read_fast_clock(CLOCK_REALTIME);
}

uint64_t col_clock_thread_cpu(void)
{
    return read_clock(ask_kernel, CLOCK_THREAD_CPUTIME_ID);
}

uint64_t col_clock_process_cpu(void)
{
    return read_clock(ask_kernel, CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t col_clock_cpu_of(uint32_t thread)
{
    /* The kernel's numbering of per-thread scheduler clocks: ~tid << 3 | 4 (thread) | 2 (scheduler). */
    return read_clock(ask_kernel, (clockid_t)(~thread << 3 | 6));
}

static uint64_t timeval_ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

static void read_usage(int who, uint64_t *user_ns, uint64_t *system_ns)
{
    struct rusage usage = {0};
    col_arch_syscall(SYS_getrusage, who, (long)&usage, 0, 0, 0, 0);
    *user_ns = timeval_ns(usage.ru_utime);
    *system_ns = timeval_ns(usage.ru_stime);
}

void col_clock_thread_times(uint64_t *user_ns, uint64_t *system_ns)
{
    read_usage(RUSAGE_THREAD, user_ns, system_ns);
}

void col_clock_process_times(uint64_t *user_ns, uint64_t *system_ns)
{
    read_usage(RUSAGE_SELF, user_ns, system_ns);
}
