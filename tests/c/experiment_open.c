/* experiment_open.c -- open frames put through their cases: experiment_open CASE DIRECTORY */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiment/event.h"
#include "experiment/log_writer.h"
#include "experiment/open_frame.h"

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition);  \
            _exit(1);                                                            \
        }                                                                        \
    } while (0)

#define MS 1000000u

static void open_log(const char *directory)
{
    unsigned image;
    CHECK(col_log_writer_open(directory, getpid(), &image) == 0);
}

static struct col_open_frame *new_frame(void)
{
    size_t bytes = (sizeof(struct col_open_frame) + 63) / 64 * 64;
    char *memory = mmap(NULL, bytes + col_open_frame_private_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct col_open_frame *frame = (struct col_open_frame *)(void *)memory;
    CHECK(memory != MAP_FAILED);
    col_open_frame_prepare(frame, memory + bytes);
    return frame;
}

/*
 * Sample `number` of thread `thread` can be known again: it stands for `number` us of user and `thread` us of system time, its time is number * 10 ms,
 * and its stack is the numbers 1 to number % 37 in some order that both determine.
 */
enum { MOST_FRAMES = 40 };

static size_t stack_of(uint32_t thread, uint32_t number, uintptr_t *pcs)
{
    size_t count = number % 37 + 1;
    for (size_t i = 0; i < count; i++)
        pcs[count - 1 - i] = 0x1000 * (thread + 1) + i * 16 + (i > 20 ? number / 3 % 5 : 0);
    return count;
}

static int add(struct col_open_frame *frame, uint32_t thread, uint32_t number)
{
    uintptr_t pcs[MOST_FRAMES];
    size_t count = stack_of(thread, number, pcs);
    return col_open_frame_add(frame, (uint64_t)number * 10 * MS, (uint64_t[]){number, thread}, pcs, count, 0);
}

/* --- kill: four threads that sample, and say how far they are, until the kernel kills the process, $KILLED_AFTER_NS from then on --- */

static volatile uint32_t *progress; /* in a file, so that it outlives us */
static pthread_barrier_t start;     /* no sample before the time runs: a loaded machine would make tens of thousands meanwhile */

static void *sample_for_ever(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    struct col_open_frame *frame = new_frame();
    CHECK(col_open_frame_acquire(frame, thread, 1, 2, 0) == 0);
    pthread_barrier_wait(&start);
    for (uint32_t i = 1;; i++) {
        CHECK(add(frame, thread, i) == 0);
        __atomic_store_n(&progress[thread], i, __ATOMIC_RELEASE);
        if (i % 64 == 0)
            CHECK(col_event_thr_create((struct col_event_head){i, thread}, &(struct col_event_thr_create){.name = "x", .start_address = i}) == 0);
    }
    return NULL;
}

static void kill_us(const char *directory)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.progress", directory);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(ftruncate(fd, 4096) == 0);
    progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    open_log(directory);
    pthread_t ids[4];
    pthread_barrier_init(&start, NULL, 5);
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&ids[i], NULL, sample_for_ever, (void *)(i + 1));
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
    CHECK(timer_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = atol(getenv("KILLED_AFTER_NS"))}, NULL) == 0);
    pthread_barrier_wait(&start);
    for (;;)
        pause();
}

/* --- threads: the same, ended in order --- */

enum { THREADS = 6, SAMPLES = 7000 };

static void *sample(void *argument)
{
    uint32_t thread = (uint32_t)(uintptr_t)argument;
    struct col_open_frame *frame = new_frame();
    CHECK(col_open_frame_acquire(frame, thread, 1, 2, 0) == 0);
    for (uint32_t i = 1; i <= SAMPLES; i++)
        CHECK(add(frame, thread, i) == 0);
    col_open_frame_release(frame);
    return NULL;
}

static void threads(const char *directory)
{
    open_log(directory);
    pthread_t ids[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, sample, (void *)(i + 1));
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    CHECK(col_open_frame_sample_count() == THREADS * SAMPLES);
    col_log_writer_close();
    CHECK(col_open_frame_sample_count() == THREADS * SAMPLES);
}

/* --- slots: 500 frames one after the other take one slot; 200 at once take 200, in several windows --- */

static void slots(const char *directory)
{
    open_log(directory);
    struct col_open_frame *first = new_frame(), *frames[200];
    for (uint32_t i = 1; i <= 500; i++) {
        CHECK(col_open_frame_acquire(first, i, 1, 2, i) == 0 && first->slot_index == 0);
        CHECK(add(first, i, i) == 0);
        col_open_frame_release(first);
        CHECK(add(first, i, i) == -EBADF);
    }
    for (uint32_t i = 0; i < 200; i++) {
        frames[i] = new_frame();
        CHECK(col_open_frame_acquire(frames[i], 1000 + i, 1, 2, 1) == 0 && frames[i]->slot_index == i);
        CHECK(add(frames[i], 1000 + i, 1) == 0);
    }
    CHECK(col_open_frame_sample_count() == 500);
    kill(getpid(), SIGKILL); /* the rest is in the slots */
}

/* --- values: sources of any number of values, in frames and in slots; value i of source s is 100 s + i, and the last does not fit 32 bits --- */

static void values(const char *directory)
{
    static const char *const names[] = {"blocked ns", "minor_faults", "user ns", "a", "b", "c", "d", "e", "f", "g",
                                        "h",          "i",            "j",       "k", "l", "m", "n", "o", "p", "q ns"};
    _Static_assert(sizeof names / sizeof *names == COL_SAMPLE_MAX_VALUES, "a name for each");
    static const uint32_t counts[] = {0, 1, 3, COL_SAMPLE_MAX_VALUES};
    open_log(directory);
    for (uint32_t source = 0; source < 4; source++) {
        struct col_event_pmcallocate allocate = {
            .source = source, .name = "test", .values = names, .value_count = counts[source], .counted_as = "looks"};
        CHECK(col_event_pmcallocate((struct col_event_head){MS, 0}, &allocate) == 0);
        struct col_open_frame *frame = new_frame();
        CHECK(col_open_frame_acquire(frame, source + 1, source, counts[source], MS) == 0);
        for (uint32_t i = 0; i < 3; i++) {
            uint64_t own[COL_SAMPLE_MAX_VALUES];
            for (uint32_t value = 0; value < COL_SAMPLE_MAX_VALUES; value++)
                own[value] = 100 * source + value + (value == COL_SAMPLE_MAX_VALUES - 1 ? (uint64_t)1 << 33 : 0);
            CHECK(col_open_frame_add(frame, (i + 1) * MS, own, &(uintptr_t){0x1000 + i % 2}, 1, 0) == 0);
            if (i == 1)
                CHECK(col_open_frame_flush(frame) == 0);
        }
    }
    kill(getpid(), SIGKILL);
}

/* --- stacks: deep ones, wild ones, none at all, and all reasons to end --- */

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void add_stack(struct col_open_frame *frame, uint32_t number, const uintptr_t *pcs, size_t count, unsigned end)
{
    CHECK(col_open_frame_add(frame, (uint64_t)number * MS, (uint64_t[]){number, 0}, pcs, count, end) == 0);
    printf("%u %u", number, end);
    for (size_t i = count; i > 0; i--)
        printf(" %lx", (unsigned long)pcs[i - 1]);
    printf("\n");
}

static void stacks(const char *directory)
{
    static uintptr_t pcs[5000];
    struct col_open_frame *frame = new_frame();
    uint32_t number = 1;
    open_log(directory);
    CHECK(col_open_frame_acquire(frame, 1, 1, 2, MS) == 0);
    add_stack(frame, number++, pcs, 0, 5);
    add_stack(frame, number++, pcs, 1, 0); /* a jump to address 0 */
    add_stack(frame, number++, pcs, 5, 0);
    for (unsigned end = 0; end < 8; end++)
        add_stack(frame, number++, pcs, 2, end);
    for (unsigned round = 0; round < 20; round++) { /* every address anywhere in 64 bits: as long as a definition can be */
        for (unsigned i = 0; i < 5000; i++)
            pcs[i] = random_number();
        add_stack(frame, number++, pcs, random_number() % 4097, 1);
        add_stack(frame, number++, pcs, 4096, 0);
        add_stack(frame, number++, pcs, 5000, 0);
    }
    for (unsigned i = 0; i < 3000; i++) { /* recursion: one address over itself */
        for (unsigned k = 0; k < 60; k++)
            pcs[k] = 0x7f0000001000 + (k < 3 ? random_number() % 3 : 0);
        add_stack(frame, number++, pcs, 1 + random_number() % 60, 0);
    }
    for (unsigned i = 0; i < 2000; i++) { /* more parents, and more children of one, than are kept; 0 is one of both */
        for (unsigned k = 0; k < 40; k++)
            pcs[k] = random_number() % 3 ? 16 * (random_number() % 12) : 0x7f0000001000 + 16 * (random_number() % 2000);
        add_stack(frame, number++, pcs, 1 + random_number() % 40, 0);
    }
    col_open_frame_release(frame);
    col_log_writer_close();
}

/* --- times: samples that stand for hours, clocks that stand still or go back, long silences --- */

static void times(const char *directory)
{
    struct col_open_frame *frame = new_frame();
    uintptr_t pc = 1;
    uint64_t hour_us = 3600000000u, day_ns = 24 * hour_us * 1000;
    open_log(directory);
    CHECK(col_open_frame_acquire(frame, 1, 1, 2, day_ns) == 0);
    CHECK(col_open_frame_add(frame, day_ns, (uint64_t[]){1, 2}, &pc, 1, 0) == 0);
    CHECK(col_open_frame_add(frame, day_ns + 1999, (uint64_t[]){1, 2}, &pc, 1, 0) == 0);
    CHECK(col_open_frame_add(frame, day_ns - 5000, (uint64_t[]){1, 2}, &pc, 1, 0) == 0);
    CHECK(col_open_frame_add(frame, 3 * day_ns, (uint64_t[]){30 * hour_us, 2 * hour_us}, &pc, 1, 0) == 0);
    CHECK(col_open_frame_add(frame, 9 * day_ns, (uint64_t[]){0, 0}, &pc, 1, 0) == 0);
    col_open_frame_release(frame);
    col_log_writer_close();
}

/* --- forks: a frame of the parent's does nothing in a child until it is acquired there --- */

static void forks(const char *directory)
{
    struct col_open_frame *frame = new_frame();
    open_log(directory);
    CHECK(col_open_frame_acquire(frame, 1, 1, 2, 0) == 0 && add(frame, 1, 1) == 0);
    for (int is_told = 0; is_told < 2; is_told++) {
        pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0) {
            if (is_told)
                col_log_writer_forget();
            CHECK(add(frame, 1, 2) == -EBADF && col_open_frame_flush(frame) == -EBADF && col_open_frame_acquire(frame, 1, 1, 2, 0) == -EBADF);
            open_log(directory);
            CHECK(add(frame, 1, 2) == -EBADF);
            CHECK(col_open_frame_sample_count() == 0);
            CHECK(col_open_frame_acquire(frame, 1, 1, 2, 0) == 0 && add(frame, 1, 3) == 0);
            col_open_frame_release(frame);
            col_log_writer_close();
            _exit(0);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
    CHECK(add(frame, 1, 2) == 0);
    col_open_frame_release(frame);
    col_log_writer_close();
    CHECK(add(frame, 1, 4) == -EBADF);
}

/* --- full: the disk has 400 KB, filled but for a little; prints the samples that were refused --- */

static void full(const char *directory)
{
    char ballast[4096];
    static const char data[50000];
    snprintf(ballast, sizeof ballast, "%s.ballast", directory);
    int fd = open(ballast, O_CREAT | O_WRONLY, 0600);
    for (unsigned i = 0; i < 3; i++)
        CHECK(write(fd, data, sizeof data) == sizeof data);
    open_log(directory);
    struct col_open_frame *frame = new_frame(), *other = new_frame(), *late = new_frame();
    CHECK(col_open_frame_acquire(frame, 1, 1, 2, 0) == 0 && col_open_frame_acquire(other, 2, 1, 2, 0) == 0);
    while (write(fd, data, 1000) > 0)
        continue;
    uint32_t number = 1, refused = 0;
    for (; number <= 600; number++) { /* there is a page of rows, and no room for a frame of the log beyond its first page */
        int error = add(frame, 1, number);
        CHECK(error == 0 || error == -ENOSPC);
        if (error != 0 && ++refused > 0)
            printf("%u\n", number);
    }
    CHECK(refused > 100);
    CHECK(col_open_frame_acquire(late, 3, 1, 2, 0) == -ENOSPC);
    CHECK(add(other, 2, 1) == 0);
    unlink(ballast);
    close(fd);
    for (; number <= 2000; number++)
        CHECK(add(frame, 1, number) == 0);
    CHECK(col_open_frame_acquire(late, 3, 1, 2, 0) == 0 && add(late, 3, 1) == 0);
    col_open_frame_release(frame);
    col_open_frame_release(late);
    col_log_writer_close(); /* `other` was not released: its sample stays in the file of slots */
}

/* --- writeback: a full disk whose pages are written back all the time, so that file systems that copy on write want new room for them --- */

static void writeback(const char *directory)
{
    char ballast[4096];
    static char data[1 << 16];
    struct col_open_frame *frame = new_frame();
    open_log(directory);
    CHECK(col_open_frame_acquire(frame, 1, 1, 2, 0) == 0);
    uint32_t number = 1, taken = 0;
    for (; number <= 500; number++)
        taken += add(frame, 1, number) == 0;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)random_number(); /* nothing to compress */
    snprintf(ballast, sizeof ballast, "%s.ballast", directory);
    int fd = open(ballast, O_CREAT | O_WRONLY, 0600);
    for (unsigned round = 0; round < 10; round++) {
        while (write(fd, data, sizeof data) > 0 || write(fd, data, 512) > 0)
            continue;
        CHECK(syscall(SYS_syncfs, fd) == 0);
        for (unsigned i = 0; i < 300; i++, number++) {
            int error = add(frame, 1, number);
            CHECK(error == 0 || error == -ENOSPC);
            taken += error == 0;
        }
    }
    close(fd);
    unlink(ballast);
    CHECK(taken < number - 1);
    for (uint32_t last = number + 300; number < last; number++)
        taken += add(frame, 1, number) == 0;
    col_open_frame_release(frame);
    col_log_writer_close();
    printf("%u\n", taken);
}

/* --- cut: somebody cuts the log, to nothing, to a length it once had, or before the slots; from then on all is refused, and nothing is touched behind the end --- */

static void cut(const char *directory)
{
    for (unsigned round = 0; round < 3; round++) {
        struct col_open_frame *frame = new_frame(), *late = new_frame(), *idle = new_frame();
        open_log(directory);
        CHECK(col_open_frame_acquire(frame, 1, 1, 2, 0) == 0 && col_open_frame_acquire(idle, 2, 1, 2, 0) == 0);
        for (uint32_t i = 1; i <= 300; i++)
            CHECK(add(frame, 1, i) == 0);
        struct stat about;
        CHECK(stat(col_log_writer_path(), &about) == 0);
        off_t slots = about.st_size - (off_t)COL_OPEN_AREA_BYTES(about.st_size);
        CHECK(truncate(col_log_writer_path(), round == 0 ? 0 : round == 1 ? 1 << 20 : slots) == 0);
        for (uint32_t i = 301; i <= 700; i++)
            CHECK(add(frame, 1, i) == -ENOSPC);
        CHECK(col_open_frame_flush(frame) == -ENOSPC && col_open_frame_acquire(late, 3, 1, 2, 0) == -ENOSPC);
        if (round == 0)
            CHECK(col_event_thr_create((struct col_event_head){1, 1}, &(struct col_event_thr_create){.name = "x"}) == -ENOSPC);
        col_open_frame_release(frame);
        col_open_frame_release(idle);
        col_log_writer_close();
    }
}

/* --- replaced: a file of the program's has the log's name when it is closed: it keeps its length --- */

static void replaced(const char *directory)
{
    static const off_t lengths[] = {5, 1 << 20};
    for (unsigned round = 0; round < 2; round++) {
        struct stat about;
        open_log(directory);
        CHECK(col_event_thr_create((struct col_event_head){1, 1}, &(struct col_event_thr_create){.name = "x"}) == 0);
        CHECK(unlink(col_log_writer_path()) == 0);
        close(open(col_log_writer_path(), O_CREAT | O_WRONLY, 0600));
        CHECK(truncate(col_log_writer_path(), lengths[round]) == 0);
        col_log_writer_close();
        CHECK(stat(col_log_writer_path(), &about) == 0 && about.st_size == lengths[round]);
    }
}

static const struct {
    const char *name;
    void (*run)(const char *directory);
} cases[] = {{"kill", kill_us}, {"threads", threads}, {"slots", slots}, {"values", values}, {"stacks", stacks}, {"times", times}, {"forks", forks}, {"full", full}, {"writeback", writeback}, {"cut", cut}, {"replaced", replaced}};

int main(int count, char **arguments)
{
    for (size_t i = 0; count == 3 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(arguments[1], cases[i].name) == 0) {
            cases[i].run(arguments[2]);
            return 0;
        }
    return 2;
}
