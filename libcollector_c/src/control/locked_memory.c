/* locked_memory.c -- the program locks its memory: what is ours is not counted */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/locked_memory.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/os.h"
#include "base/real.h"
#include "control/child_environment.h"
#include "target/mapping_lines.h"

#define CHUNK_BYTES 1024

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif
#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 1
#endif

/* Of our library, as the linker has them. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static uint64_t limit_bytes(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

/* The library, and what is mapped of files in the experiment. Small blocks for threads count as the program's. */
static bool is_ours(const struct col_mapping *mapping, const char *path)
{
    const char *experiment = col_child_environment_experiment();
    size_t length = experiment != NULL ? strlen(experiment) : 0;
    if (mapping->high > (uintptr_t)__ehdr_start && mapping->low < (uintptr_t)_end)
        return true;
    return mapping->has_file && length != 0 && strncmp(path, experiment, length) == 0 && path[length] == '/';
}

/* Calls `act` for what is ours, or for all else. False if the list cannot be read. */
static bool for_each(bool are_ours, void (*act)(const struct col_mapping *mapping, void *context), void *context)
{
    char chunk[CHUNK_BYTES], path[PATH_MAX];
    struct col_mapping_lines lines;
    struct col_mapping mapping;
    if (!col_mapping_lines_open(&lines, "/proc/self/maps", chunk, sizeof chunk))
        return false;
    lines.path = path;
    lines.path_room = sizeof path;
    while (col_mapping_lines_next(&lines, &mapping))
        if (mapping.high <= INTPTR_MAX && is_ours(&mapping, path) == are_ours) /* above it is the kernel's own page */
            act(&mapping, context);
    return col_mapping_lines_close(&lines);
}

static void add(const struct col_mapping *mapping, void *sum)
{
    *(uint64_t *)sum += mapping->high - mapping->low;
}

/* As for mlockall, a mapping that cannot be locked is no error. */
static void lock(const struct col_mapping *mapping, void *flags)
{
    mlock2((const void *)mapping->low, mapping->high - mapping->low, *(const unsigned *)flags);
}

static void unlock(const struct col_mapping *mapping, void *unused)
{
    (void)unused;
    munlock((const void *)mapping->low, mapping->high - mapping->low);
}

int col_locked_memory_lock(int flags)
{
    uint64_t sum = 0;
    unsigned kind = (flags & MCL_ONFAULT) != 0 ? MLOCK_ONFAULT : 0;
    if (!for_each(false, add, &sum) || sum > limit_bytes())
        return -ENOMEM;
    munlockall(); /* what is mapped from here on is locked only if these flags say so */
    for_each(false, lock, &kind);
    if ((flags & MCL_FUTURE) != 0 && COL_REAL(mlockall)(flags & ~MCL_CURRENT) != 0)
        return -errno;
    col_os_unlock_from_now((flags & MCL_FUTURE) != 0);
    return 0;
}

void col_locked_memory_give_back(int flags)
{
    if (limit_bytes() == RLIM_INFINITY)
        return;
    col_os_unlock_from_now((flags & MCL_FUTURE) != 0);
    if ((flags & MCL_CURRENT) != 0)
        for_each(true, unlock, NULL);
}
