/* matrix.h -- what the cases of the matrix are made of
 *
 * A case is a function: CASE(name, burns, "what it does") { ... }. The runner finds these lines, runs `program name`
 * plain and recorded, and compares all that can be seen from outside; in the experiment it looks for `burns` times
 * 40 ms in the function burn. PART is the same for what a case runs by itself, such as the program it execs.
 * NATURE(case, field, "sentence") says what cannot be kept for it, and why.
 */
#ifndef MATRIX_H
#define MATRIX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef __GLIBC__
#define strerrorname_np strerror
#endif

struct matrix_part {
    const char *name;
    void (*run)(void);
    struct matrix_part *next;
};

static struct matrix_part *matrix_parts;
static char **arguments; /* what follows the name on the command line */

#define PART(name)                                                           \
    static void case_##name(void);                                           \
    __attribute__((constructor)) static void register_##name(void)           \
    {                                                                        \
        static struct matrix_part part = {#name, case_##name, NULL};         \
        part.next = matrix_parts;                                            \
        matrix_parts = &part;                                                \
    }                                                                        \
    static void case_##name(void)
#define CASE(name, burns, sentence) PART(name)
#define NATURE(name, field, sentence)

/* One write, so that nothing waits in a buffer that a fork would double. */
__attribute__((format(printf, 1, 2))) static inline void say(const char *format, ...)
{
    char line[1024];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(line, sizeof line - 1, format, list);
    va_end(list);
    if (length > (int)sizeof line - 2)
        length = sizeof line - 2;
    line[length++] = '\n';
    if (write(1, line, (size_t)length) < 0)
        _exit(99);
}

/* Says what an expression gave, with errno's name if that is -1. */
#define TELL(...)                                                                               \
    ({                                                                                          \
        errno = 0;                                                                              \
        long told_ = (long)(__VA_ARGS__);                                                       \
        int errno_ = errno;                                                                     \
        if (told_ == -1)                                                                        \
            say("%s: -1 %s", #__VA_ARGS__, strerrorname_np(errno_) ? strerrorname_np(errno_) : "?"); \
        else                                                                                    \
            say("%s: %ld", #__VA_ARGS__, told_);                                                \
        told_;                                                                                  \
    })

static inline int64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static volatile uint64_t burned;

/* CPU time without a system call: for places where none is allowed. */
__attribute__((noinline, noclone, unused)) static void spin(long steps)
{
    uint64_t x = burned;
    for (; steps > 0; steps--) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(x));
    }
    burned = x;
}

/* 40 ms of CPU time of the calling thread. */
__attribute__((noinline, noclone, unused)) static void burn(void)
{
    int64_t end = thread_cpu_ns() + 40000000;
    do {
        uint64_t x = burned;
        for (int i = 0; i < 20000; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            __asm__ volatile("" : "+r"(x));
        }
        burned = x;
    } while (thread_cpu_ns() < end);
}

static inline void say_status(const char *who, int status)
{
    if (WIFEXITED(status))
        say("%s exited with %d", who, WEXITSTATUS(status));
    else if (WIFSIGNALED(status))
        say("%s was killed by %d%s", who, WTERMSIG(status), WCOREDUMP(status) ? " and dumped core" : "");
    else if (WIFSTOPPED(status))
        say("%s was stopped by %d", who, WSTOPSIG(status));
    else
        say("%s has status %x", who, (unsigned)status);
}

/* Waits for a child and says how it ended. */
static inline void say_end(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) {
            say("no child: %s", strerrorname_np(errno));
            return;
        }
    say_status("child", status);
}

/* A child that burns and exits with that status; what came of it is said. */
static inline void burn_in_child(int status)
{
    pid_t pid = fork();
    if (pid == 0) {
        burn();
        _exit(status);
    }
    say_end(pid);
}

static inline void say_signals(const char *what, const sigset_t *set)
{
    char line[512];
    size_t used = 0;
    for (int signo = 1; signo <= 64; signo++)
        if (sigismember(set, signo) == 1)
            used += (size_t)snprintf(line + used, sizeof line - used, " %d", signo);
    line[used] = 0;
    say("%s:%s", what, line);
}

#ifndef MATRIX_NO_MAIN
int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    arguments = argv + (argc > 1 ? 2 : 1);
    for (struct matrix_part *part = matrix_parts; part; part = part->next)
        if (argc > 1 && !strcmp(part->name, argv[1])) {
            part->run();
            return 0;
        }
    say("no case %s", argc > 1 ? argv[1] : "named");
    return 98;
}
#endif

#endif
