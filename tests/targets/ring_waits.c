/* ring_waits.c -- waits for three completions of an io_uring, and prints how many of these waits were cut short
 *
 * ring_waits WAY ROUNDS. The ways: together (one call of syscall(2) submits and waits), deferring (the same, and the ring defers its task work), direct (the
 * same without syscall(2), as liburing calls), hoisted (as liburing calls in a loop, the number kept in a register), apart (one submits, another waits), signalled (a thread sends a signal of the program's until the wait ends).
 * Where there is no io_uring it prints "none".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
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
enum { FILES = 3, FIRST_NS = 100000 };

static int ring, is_direct, is_hoisted;
static volatile int is_waiting;

static long enter(unsigned submit_count, unsigned wait_count)
{
    unsigned flags = wait_count > 0 ? IORING_ENTER_GETEVENTS : 0;
#ifdef __x86_64__
    register long r10 __asm__("r10") = flags, r8 __asm__("r8") = 0, r9 __asm__("r9") = 0, r15 __asm__("r15") = SYS_io_uring_enter;
    long answer;
    if (is_direct) {
        __asm__ volatile("mov $426, %%eax; syscall"
                         : "=&a"(answer)
                         : "D"((long)ring), "S"((long)submit_count), "d"((long)wait_count), "r"(r10), "r"(r8), "r"(r9)
                         : "rcx", "r11", "memory");
        return answer;
    }
    if (is_hoisted) {
        __asm__ volatile("mov %%r15d, %%eax; syscall"
                         : "=&a"(answer)
                         : "D"((long)ring), "S"((long)submit_count), "d"((long)wait_count), "r"(r10), "r"(r8), "r"(r9), "r"(r15)
                         : "rcx", "r11", "memory");
        return answer;
    }
#endif
    return syscall(SYS_io_uring_enter, ring, submit_count, wait_count, flags, NULL, 0) < 0 ? -errno : (long)submit_count;
}

static void *map(size_t bytes, long offset)
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

static void nothing(int signo)
{
    (void)signo;
}

static void *send(void *waiting_thread)
{
    while (is_waiting) {
        pthread_kill(*(pthread_t *)waiting_thread, SIGUSR1);
        usleep(1000);
    }
    return NULL;
}

/* None of what it waits for ever comes: how many waits the signal did not end. */
static int wait_for_signals(int rounds)
{
    pthread_t self = pthread_self(), sender;
    struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
    int other_count = 0;
    sigaction(SIGUSR1, &action, NULL);
    for (int round = 0; round < rounds; round++) {
        is_waiting = 1;
        pthread_create(&sender, NULL, send, &self);
        other_count += enter(0, 1) != -EINTR;
        is_waiting = 0;
        pthread_join(sender, NULL);
    }
    return other_count;
}

int main(int count, char **arguments)
{
    const char *way = count > 2 ? arguments[1] : "together";
    int rounds = count > 2 ? atoi(arguments[2]) : 20, files[FILES], short_count = 0;
    struct io_uring_params params = {.flags = strcmp(way, "deferring") == 0 ? DEFER_TASKRUN | SINGLE_ISSUER : 0};
    ring = (int)syscall(SYS_io_uring_setup, 4, &params);
    is_direct = strcmp(way, "direct") == 0;
    is_hoisted = strcmp(way, "hoisted") == 0;
    if (ring < 0) {
        printf("none\n");
        return 0;
    }
    if (strcmp(way, "signalled") == 0) {
        printf("short %d\n", wait_for_signals(rounds));
        return 0;
    }
    char *submitted = map(params.sq_off.array + params.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
    char *completed = map(params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
    struct io_uring_sqe *entries = map(params.sq_entries * sizeof *entries, IORING_OFF_SQES);
    unsigned *tail = (unsigned *)(submitted + params.sq_off.tail), *array = (unsigned *)(submitted + params.sq_off.array);
    unsigned *head = (unsigned *)(completed + params.cq_off.head), *end = (unsigned *)(completed + params.cq_off.tail);
    for (int i = 0; i < FILES; i++)
        files[i] = timerfd_create(CLOCK_MONOTONIC, 0);
    for (int round = 0; round < rounds; round++) {
        uint64_t values[FILES];
        for (int i = 0; i < FILES; i++) {
            struct itimerspec when = {.it_value = {0, (i + 1) * FIRST_NS}};
            unsigned place = *tail & (params.sq_entries - 1);
            timerfd_settime(files[i], 0, &when, NULL);
            fill(&entries[place], files[i], &values[i]);
            array[place] = place;
            __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
        }
        int is_apart = strcmp(way, "apart") == 0;
        if ((is_apart && enter(FILES, 0) != FILES) || enter(is_apart ? 0 : FILES, FILES) < 0 ||
            __atomic_load_n(end, __ATOMIC_ACQUIRE) - *head < FILES)
            short_count++;
        while (__atomic_load_n(end, __ATOMIC_ACQUIRE) - *head < FILES) /* until the rest is there */
            enter(0, 1);
        *head += FILES;
    }
    printf("short %d\n", short_count);
    return 0;
}
