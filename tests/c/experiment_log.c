/* experiment_log.c -- the log writer put through its cases: experiment_log CASE DIRECTORY */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/event.h"
#include "experiment/log_writer.h"

#define CHECK(condition)                                                         \
    do {                                                                         \
        if (!(condition)) {                                                      \
            fprintf(stderr, "%s:%d: not %s\n", __FILE__, __LINE__, #condition);  \
            _exit(1);                                                            \
        }                                                                        \
    } while (0)

static unsigned open_log(const char *directory)
{
    unsigned image;
    int error = col_log_writer_open(directory, getpid(), &image);
    if (error != 0) {
        fprintf(stderr, "open: %s\n", strerror(-error));
        _exit(1);
    }
    return image;
}

static void close_log(void)
{
    uint64_t frame_count, byte_count;
    col_log_writer_counts(&frame_count, &byte_count);
    CHECK(col_event_closelog((struct col_event_head){0, 0}, &(struct col_event_closelog){.frame_count = frame_count}) == 0);
    col_log_writer_close();
    CHECK(!col_log_writer_is_open());
    CHECK(col_log_writer_append("x", 1) == -EBADF);
}

/* What thread `thread` has to say the `number`th time: length and bytes follow from both. */
static int say(uint32_t thread, uint32_t number, size_t most)
{
    static const char filling[1 << 20];
    return col_event_message((struct col_event_head){number, thread}, &(struct col_event_message){.text = filling, .count = number}) != 0 ? -1
         : most != 0 ? col_event_userdata((struct col_event_head){number, thread}, &(struct col_event_userdata){.data = filling, .data_bytes = (number * 7919u + thread) % most}) : 0;
}

/* --- threads: eight of them, each interrupted by a handler that also writes --- */

enum { THREADS = 8 };

static __thread uint32_t thread_number, interruptions;
static uint32_t interruptions_of[THREADS];

static void interrupt(int signo)
{
    (void)signo;
    int saved_errno = errno;
    if (thread_number != 0 && say(thread_number + 100, interruptions, 300) == 0)
        interruptions_of[thread_number - 1] = ++interruptions;
    errno = saved_errno;
}

static void *talk(void *argument)
{
    thread_number = (uint32_t)(uintptr_t)argument;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    struct itimerspec often = {{0, 100000}, {0, 100000}};
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 && timer_settime(timer, 0, &often, NULL) == 0);
    for (uint32_t i = 0; i < SAYINGS; i++)
        CHECK(say(thread_number, i, 300) == 0);
    timer_delete(timer);
    thread_number = 0;
    return NULL;
}

/* 8 threads, 200,000 frames, and those of the handlers. */
static void threads(const char *directory)
{
    pthread_t ids[THREADS];
    struct sigaction action = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    open_log(directory);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&ids[i], NULL, talk, (void *)(i + 1));
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    for (unsigned i = 0; i < THREADS; i++)
        printf("%u\n", interruptions_of[i]);
    close_log();
}

/* --- windows: 60 MB by four threads; memory and mappings stay few --- */

static unsigned mappings_of_log(void)
{
    char line[512];
    unsigned count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL)
        count += strstr(line, ".log") != NULL;
    fclose(maps);
    return count;
}

static void *write_much(void *argument)
{
    for (uint32_t i = 0; i < 300; i++)
        CHECK(say((uint32_t)(uintptr_t)argument, i, 100000) == 0);
    return NULL;
}

static void windows(const char *directory)
{
    pthread_t ids[4];
    static char payload[(1 << 20) - 22];
    open_log(directory);
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&ids[i], NULL, write_much, (void *)(i + 1));
    for (unsigned i = 0; i < 4; i++)
        pthread_join(ids[i], NULL);
    CHECK(col_log_writer_append(payload, sizeof payload) == 0);
    CHECK(col_log_writer_append(payload, sizeof payload + 1) == -EFBIG);
    CHECK(col_event_userdata((struct col_event_head){0, 0}, &(struct col_event_userdata){.data = payload, .data_bytes = sizeof payload}) == -EFBIG);
    printf("%u\n", mappings_of_log());
    close_log();
}

/* --- descriptors: the program closes them all and changes its directory --- */

static void descriptors(const char *directory)
{
    open_log(directory);
    int out = fcntl(1, F_DUPFD, 100);
    CHECK(syscall(SYS_close_range, 3, 99, 0) == 0 && chdir("/") == 0);
    CHECK(open("/dev/null", O_RDONLY) == 3); /* nothing of ours was there */
    for (uint32_t i = 0; i < 100; i++)
        CHECK(say(1, i, 100000) == 0);
    close_log();
    dprintf(out, "%s\n", col_log_writer_path());
}

/* --- forks: a child told of it, and one that nobody told --- */

static void forks(const char *directory)
{
    CHECK(open_log(directory) == 0);
    CHECK(say(1, 0, 0) == 0);
    pid_t child = fork();
    if (child == 0) {
        col_log_writer_forget();
        CHECK(open_log(directory) == 0 && say(2, 0, 0) == 0);
        close_log();
        CHECK(open_log(directory) == 1 && say(2, 1, 0) == 0); /* the next image of this process */
        close_log();
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        CHECK(!col_log_writer_is_open());
        CHECK(say(3, 0, 0) == -1);
        CHECK(open_log(directory) == 0 && say(3, 0, 0) == 0);
        close_log();
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(say(1, 1, 0) == 0);
    close_log();
}

/* --- limit: RLIMIT_FSIZE; SIGXFSZ would kill --- */

static void limit(const char *directory)
{
    struct rlimit size = {300000, 300000};
    setrlimit(RLIMIT_FSIZE, &size);
    open_log(directory);
    uint32_t count = 0;
    int error;
    static const char data[5000];
    while ((error = col_event_userdata((struct col_event_head){count, 1}, &(struct col_event_userdata){.data = data, .data_bytes = sizeof data})) == 0)
        count++;
    CHECK(error == -EFBIG);
    printf("%u\n", count);
    close_log();
}

/* --- batch: many records, few frames; another thread's and a handler's keep out of it --- */

static void *interrupt_batch(void *argument)
{
    (void)argument;
    col_event_batch_begin(); /* not granted */
    CHECK(say(2, 0, 0) == 0);
    CHECK(col_event_batch_finish() == 0);
    return NULL;
}

static void batch(const char *directory)
{
    pthread_t other;
    static const char big[100000];
    open_log(directory);
    col_event_batch_begin();
    for (uint32_t i = 0; i < 3000; i++) {
        CHECK(col_event_mappingchange((struct col_event_head){i, 1}, &(struct col_event_mappingchange){.path = "/lib/x86_64-linux-gnu/libc.so.6"}) == 0);
        if (i == 1000) {
            pthread_create(&other, NULL, interrupt_batch, NULL);
            pthread_join(other, NULL);
            CHECK(col_event_mappingchange((struct col_event_head){i, 3}, &(struct col_event_mappingchange){.code = big, .code_bytes = sizeof big}) == 0);
        }
    }
    CHECK(col_event_batch_finish() == 0);
    CHECK(say(1, 0, 0) == 0);
    close_log();
}

/* --- full: the disk has 400 KB; see test_experiment.py --- */

/* As on a kernel before 5.14: madvise does not know MADV_POPULATE_WRITE. */
static void forbid_populate(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 23, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void full(const char *directory)
{
    char ballast[4096];
    static const char data[3000];
    snprintf(ballast, sizeof ballast, "%s.ballast", directory);
    int fd = open(ballast, O_CREAT | O_WRONLY, 0600);
    for (unsigned i = 0; i < 200; i++)
        CHECK(write(fd, data, 1000) == 1000);
    close(fd);
    open_log(directory);
    uint32_t count = 0, refused = 0;
    while (col_event_userdata((struct col_event_head){count, 1}, &(struct col_event_userdata){.data = data, .data_bytes = sizeof data}) == 0)
        count++;
    for (; refused < 100; refused++)
        CHECK(col_event_userdata((struct col_event_head){0, 2}, &(struct col_event_userdata){.data = data, .data_bytes = sizeof data}) == -ENOSPC);
    printf("%u\n", count);
    unlink(ballast);
    for (unsigned i = 0; i < 20; i++, count++)
        CHECK(col_event_userdata((struct col_event_head){count, 1}, &(struct col_event_userdata){.data = data, .data_bytes = sizeof data}) == 0);
    close_log();
}

static void full_old_kernel(const char *directory)
{
    forbid_populate();
    full(directory);
}

static unsigned stretched, unmapped;

static void look_at_maps(int number)
{
    static char maps[1 << 20]; /* a sanitizer maps a lot */
    size_t bytes = 0;
    int fd = open("/proc/self/maps", O_RDONLY);
    for (ssize_t got = 1; got > 0; bytes += got > 0 ? (size_t)got : 0)
        got = read(fd, maps + bytes, sizeof maps - 1 - bytes);
    close(fd);
    (void)number;
    stretched++;
    unmapped += strstr(maps, ".0.log\n") == NULL;
}

/* What looks from outside when the log gets its length: the call does not come through. */
static void mapped_first(const char *directory)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ftruncate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    CHECK(signal(SIGSYS, look_at_maps) != SIG_ERR);
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
    unsigned image;
    CHECK(col_log_writer_open(directory, getpid(), &image) != 0);
    CHECK(stretched > 0 && unmapped == 0);
}

static const struct {
    const char *name;
    void (*run)(const char *directory);
} cases[] = {{"threads", threads}, {"windows", windows}, {"descriptors", descriptors}, {"forks", forks}, {"limit", limit}, {"batch", batch}, {"full", full}, {"full_old_kernel", full_old_kernel}, {"mapped_first", mapped_first}};

int main(int count, char **arguments)
{
    for (size_t i = 0; count == 3 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(arguments[1], cases[i].name) == 0) {
            cases[i].run(arguments[2]);
            return 0;
        }
    return 2;
}
