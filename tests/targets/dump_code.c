/* dump_code.c -- writes a jitdump as compilers do: two tenants of one address, one with lines, and a function that is moved; prints the CPU time of each */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "made_code.h"

static int dump;

static void put(const void *bytes, size_t size)
{
    if (write(dump, bytes, size) != (ssize_t)size)
        exit(1);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static void put_prefix(uint32_t kind, size_t bytes)
{
    struct { uint32_t kind, size; uint64_t time; } prefix = {kind, (uint32_t)(sizeof prefix + bytes), now()};
    put(&prefix, sizeof prefix);
}

static void put_header(void)
{
    struct { uint32_t magic, version, size, machine, padding, pid; uint64_t time, flags; } header = {0x4a695444, 1, sizeof header, 62, 0, (uint32_t)getpid(), now(), 0};
    put(&header, sizeof header);
}

static void put_load(const char *name, const void *code, size_t size)
{
    struct { uint32_t pid, tid; uint64_t vma, address, size, index; } load = {(uint32_t)getpid(), (uint32_t)getpid(), (uintptr_t)code, (uintptr_t)code, size, 0};
    put_prefix(0, sizeof load + strlen(name) + 1 + size);
    put(&load, sizeof load);
    put(name, strlen(name) + 1);
    put(code, size);
}

static void put_move(const void *from, const void *to, size_t size)
{
    struct { uint32_t pid, tid; uint64_t vma, from, to, size, index; } move = {(uint32_t)getpid(), (uint32_t)getpid(), 0, (uintptr_t)from, (uintptr_t)to, size, 0};
    put_prefix(1, sizeof move);
    put(&move, sizeof move);
}

/* Two loops, two lines of one file; the second entry's name says that it is the same one. */
static void put_lines(const char *code)
{
    struct { uint64_t address; uint32_t line, column; } first = {(uintptr_t)code, 21, 0}, second = {(uintptr_t)code + MADE_LOOP_BYTES, 12, 0};
    uint64_t head[2] = {(uintptr_t)code, 2};
    put_prefix(2, sizeof head + sizeof first + sizeof "/src/two.jit" + sizeof second + 2);
    put(head, sizeof head);
    put(&first, sizeof first);
    put("/src/two.jit", sizeof "/src/two.jit");
    put(&second, sizeof second);
    put("\xff", 2);
}

int main(int argc, char **argv)
{
    int64_t ms = argc > 1 ? atoi(argv[1]) : 100, moved;
    char *room = make_room(4 * 4096), path[64];
    snprintf(path, sizeof path, "jit-%s%d.dump", argc > 2 ? argv[2] : "", (int)getpid());
    dump = open(path, O_CREAT | O_TRUNC | O_RDWR, 0666);
    put_header();
    mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0); /* how profilers find it */

    size_t size = (size_t)make_function(room, 2);
    put_load("tenant one", room, size);
    printf("one %ld\n", (long)run_code(room, ms));
    put_lines(room);
    put_load("tenant two", room, size);
    printf("two %ld\n", (long)run_code(room, 2 * ms));

    size = (size_t)make_function(room + 4096, 1);
    put_load("moved", room + 4096, size);
    moved = run_code(room + 4096, ms);
    memcpy(room + 2 * 4096, room + 4096, size);
    __builtin___clear_cache(room + 2 * 4096, room + 3 * 4096);
    put_move(room + 4096, room + 2 * 4096, size);
    moved += run_code(room + 2 * 4096, ms);
    printf("moved %ld\n", (long)moved);
    return 0;
}
