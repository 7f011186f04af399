/* ring_waits.c -- waits 20 times for three completions of an io_uring, and prints how many of these waits came back with fewer
 *
 * With an argument the ring defers its task work. Where there is no io_uring it prints "none".
 */
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define DEFER_TASKRUN (1u << 13)
#define SINGLE_ISSUER (1u << 12)
enum { ROUNDS = 20, FILES = 3 };

static void *map(int ring, size_t bytes, long offset)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, offset);
    if (memory == MAP_FAILED)
        abort();
    return memory;
}

static void fill(struct io_uring_sqe *entry, int file, uint64_t *to)
{
    memset(entry, 0, sizeof *entry);
    entry->opcode = IORING_OP_READ;
    entry->fd = file;
    entry->addr = (uintptr_t)to;
    entry->len = sizeof *to;
}

int main(int count, char **arguments)
{
    struct io_uring_params params = {.flags = count > 1 ? DEFER_TASKRUN | SINGLE_ISSUER : 0};
    (void)arguments;
    int ring = (int)syscall(SYS_io_uring_setup, 4, &params), files[FILES], short_count = 0;
    if (ring < 0) {
        printf("none\n");
        return 0;
    }
    char *submitted = map(ring, params.sq_off.array + params.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    char *completed = map(ring, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    struct io_uring_sqe *entries = map(ring, params.sq_entries * sizeof *entries, IORING_OFF_SQES);
    unsigned *tail = (unsigned *)(submitted + params.sq_off.tail), *array = (unsigned *)(submitted + params.sq_off.array);
    unsigned *head = (unsigned *)(completed + params.cq_off.head), *end = (unsigned *)(completed + params.cq_off.tail);
    for (int i = 0; i < FILES; i++)
        files[i] = timerfd_create(CLOCK_MONOTONIC, 0);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t values[FILES];
        for (int i = 0; i < FILES; i++) {
            struct itimerspec when = {.it_value = {0, (i + 1) * 1000000}};
            unsigned place = *tail & (params.sq_entries - 1);
            timerfd_settime(files[i], 0, &when, NULL);
            fill(&entries[place], files[i], &values[i]);
            array[place] = place;
            __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        }
        syscall(SYS_io_uring_enter, ring, FILES, FILES, IORING_ENTER_GETEVENTS, NULL, 0);
        short_count += __atomic_load_n(end, __ATOMIC_ACQUIRE) - *head < FILES;
        while (__atomic_load_n(end, __ATOMIC_ACQUIRE) - *head < FILES) /* until the rest is there */
            syscall(SYS_io_uring_enter, ring, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
        *head += FILES;
    }
    printf("short %d\n", short_count);
    return 0;
}
