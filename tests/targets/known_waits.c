/* known_waits.c -- truth: eight threads that wait, each in a function of its own, from 50 us to the whole run; `function ns` is the time on no processor there, `function.tid` its thread,
 * `function.ends ns` how long that was made before, and at most is there after, it counts: it may have to wait for a processor then
 *
 * The first argument is how long it runs, in milliseconds; with a second one nobody may look at it. The threads that wake others wait in `give`.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000L
#define APART __attribute__((noinline, noclone))

static long run_ns;
static int pipe_ends[2], socket_ends[2], file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, condition_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static int64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int64_t start_ns;
static volatile int is_over;

static int goes_on(void)
{
    return now(CLOCK_MONOTONIC) < start_ns + run_ns;
}

static void nap(long ns)
{
    struct timespec time = {ns / 1000000000, ns % 1000000000};
    nanosleep(&time, NULL);
}

/* Each waits once. What follows the call keeps it from being the last one, whose frame would be reused. */
APART static void wait_whole_run(void)
{
    nap(run_ns);
    __asm__ volatile("");
}

APART static void wait_mutex(void)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    __asm__ volatile("");
}

APART static void wait_condition(void)
{
    pthread_mutex_lock(&condition_lock);
    pthread_cond_wait(&condition, &condition_lock);
    pthread_mutex_unlock(&condition_lock);
    __asm__ volatile("");
}

APART static void wait_pipe(void)
{
    char byte;
    if (read(pipe_ends[0], &byte, 1) != 1)
        abort();
    __asm__ volatile("");
}

APART static void wait_socket(void)
{
    char byte;
    if (recv(socket_ends[0], &byte, 1, 0) != 1)
        abort();
    __asm__ volatile("");
}

APART static void wait_file(void)
{
    char block[4096] = {1};
    if (pwrite(file, block, sizeof block, 0) != sizeof block || fsync(file) != 0)
        abort();
    __asm__ volatile("");
}

APART static void wait_child(pid_t child)
{
    waitpid(child, NULL, 0);
    __asm__ volatile("");
}

static void run_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        nap(30 * MS);
        _exit(0);
    }
    wait_child(child);
}

static int64_t briefly_ns, a_little_ns;

static void nap_and_add(long ns, int64_t *off_ns)
{
    int64_t wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    nap(ns);
    cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    *off_ns += now(CLOCK_MONOTONIC) - wall - cpu;
}

APART static void wait_briefly(void)
{
    nap_and_add(50000, &briefly_ns);
    __asm__ volatile("");
}

APART static void wait_a_little(void)
{
    nap_and_add(800000, &a_little_ns);
    __asm__ volatile("");
}

APART static void wait_both(void)
{
    for (int i = 0; i < 10; i++)
        wait_briefly();
    wait_a_little();
    __asm__ volatile("");
}

APART static void give(long ns)
{
    nap(ns);
    __asm__ volatile("");
}

static void *give_mutex(void *argument)
{
    while (!is_over) {
        pthread_mutex_lock(&lock);
        give(20 * MS);
        pthread_mutex_unlock(&lock);
        give(MS);
    }
    return argument;
}

static void *give_others(void *argument)
{
    for (unsigned round = 0; !is_over; round++) {
        give(5 * MS);
        if (write(pipe_ends[1], "", 1) != 1 || (round % 2 == 1 && write(socket_ends[1], "", 1) != 1))
            abort();
        pthread_mutex_lock(&condition_lock);
        if (round % 4 == 3)
            pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&condition_lock);
    }
    return argument;
}

struct kind {
    const char *name;
    void (*wait)(void);
    int64_t off_ns;
    int64_t ends_ns; /* between its being made, or joined, and what it counts */
    long tid;
};

static void *repeat(void *argument)
{
    struct kind *kind = argument;
    int64_t wall = now(CLOCK_MONOTONIC), cpu = now(CLOCK_THREAD_CPUTIME_ID);
    kind->ends_ns += wall;
    while (goes_on())
        kind->wait();
    cpu = now(CLOCK_THREAD_CPUTIME_ID) - cpu;
    int64_t end = now(CLOCK_MONOTONIC);
    kind->off_ns = end - wall - cpu;
    kind->ends_ns -= end;
    kind->tid = syscall(SYS_gettid);
    return NULL;
}

int main(int count, char **arguments)
{
    struct kind kinds[] = {{"wait_whole_run", wait_whole_run}, {"wait_mutex", wait_mutex},
                           {"wait_condition", wait_condition}, {"wait_pipe", wait_pipe},
                           {"wait_socket", wait_socket},       {"wait_file", wait_file},
                           {"wait_child", run_child},         {"wait_both", wait_both}};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    pthread_t threads[KINDS], givers[2];
    char name[] = "known_waits.XXXXXX";
    run_ns = (count > 1 ? atol(arguments[1]) : 1000) * MS;
    if (count > 2)
        prctl(PR_SET_DUMPABLE, 0);
    file = mkstemp(name);
    unlink(name);
    if (file < 0 || pipe(pipe_ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, socket_ends) != 0)
        return 1;
    start_ns = now(CLOCK_MONOTONIC);
    pthread_create(&givers[0], NULL, give_mutex, NULL);
    pthread_create(&givers[1], NULL, give_others, NULL);
    for (int i = 0; i < KINDS; i++) {
        kinds[i].ends_ns = -now(CLOCK_MONOTONIC);
        pthread_create(&threads[i], NULL, repeat, &kinds[i]);
    }
    for (int i = 0; i < KINDS; i++) {
        pthread_join(threads[i], NULL);
        kinds[i].ends_ns += now(CLOCK_MONOTONIC);
    }
    is_over = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(givers[i], NULL);
    for (int i = 0; i < KINDS; i++)
        printf("%s %lld\n%s.tid %ld\n%s.ends %lld\n", kinds[i].name, (long long)kinds[i].off_ns, kinds[i].name,
               kinds[i].tid, kinds[i].name, (long long)kinds[i].ends_ns);
    printf("wait_briefly %lld\nwait_a_little %lld\n", (long long)briefly_ns, (long long)a_little_ns);
}
