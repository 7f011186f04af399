/* mapped_again.c -- maps the page of its own file that a function is in once more, and runs the function there two parts of the time, one where it was; prints the CPU time of each */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef uint64_t spin_function(uint64_t, uint64_t (*)(uint64_t));

/* Each alone on its page; what they call is given to them, so that they run anywhere. */
__attribute__((noinline, noclone, aligned(4096))) static uint64_t spin_there(uint64_t count, uint64_t (*step)(uint64_t))
{
    for (uint64_t i = 0; i < count; i++)
        count -= step(i);
    return count;
}

__attribute__((noinline, noclone, aligned(4096))) static uint64_t spin_here(uint64_t count, uint64_t (*step)(uint64_t))
{
    for (uint64_t i = 0; i < count; i++)
        count -= 2 * step(i);
    return count;
}

__attribute__((noinline, noclone, aligned(4096))) static uint64_t nothing(uint64_t i)
{
    for (volatile int turn = 0; turn < 100; turn++)
        continue;
    return i >> 63;
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int64_t run(spin_function *function, int64_t ms)
{
    int64_t begun = now(), spent = 0;
    for (; spent < ms * 1000000; spent = now() - begun)
        function(1000, nothing);
    return spent;
}

/* The offset in the file of a mapped address, by /proc/self/maps. */
static off_t offset_of(const void *address)
{
    char line[512];
    unsigned long low, high, offset, found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%lx-%lx %*s %lx", &low, &high, &offset) == 3 && (uintptr_t)address >= low && (uintptr_t)address < high)
            found = (uintptr_t)address - low + offset;
    if (maps != NULL)
        fclose(maps);
    return (off_t)found;
}

int main(int argc, char **argv)
{
    int64_t ms = argc > 1 ? atoi(argv[1]) : 100;
    int file = open("/proc/self/exe", O_RDONLY);
    void *copy = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, offset_of((void *)spin_there));
    if (copy == MAP_FAILED || memcmp(copy, (void *)spin_there, 64) != 0)
        return 1;
    printf("spin_here %ld\n", (long)run(spin_here, ms));
    printf("spin_there %ld\n", (long)run((spin_function *)copy, 2 * ms));
    munmap(copy, 4096); /* as V8 does when it ends */
    return 0;
}
