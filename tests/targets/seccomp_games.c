/* seccomp_games.c -- one way after the other into seccomp */
/*
 * seccomp_games GAME: works 100 ms before and 100 ms after it enters. Filters that allow little kill whoever makes another call: the program makes none but
 * those it allows. Where one may be made, it prints how long a function worked, `FUNCTION_ns NUMBER`: the same loop may take twice the CPU time in another thread.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measured_work.h"
#include "target/recorder_calls.h"

#ifdef __x86_64__
#define ARCH AUDIT_ARCH_X86_64
#else
#define ARCH AUDIT_ARCH_AARCH64
#endif
#define WORK_LOOPS_MAX 2000000000ul

static unsigned long loops_50ms;
static __thread volatile unsigned long sink; /* of each thread: two that share it hinder each other tenfold */

/* No system call inside: the length is measured before. */
__attribute__((noinline)) static void spin(unsigned long loops)
{
    for (unsigned long i = 0; i < loops; i++)
        sink += i;
}

__attribute__((noinline)) void work_before(void) { spin(loops_50ms); __asm__ volatile(""); }
__attribute__((noinline)) void work_after(void) { spin(loops_50ms); __asm__ volatile(""); }
__attribute__((noinline)) void work_beside(void) { spin(loops_50ms * 4); __asm__ volatile(""); }

__attribute__((noinline)) void measure(void)
{
    unsigned long loops = 1000000;
    int64_t start = process_ns();
    spin(loops);
    loops_50ms = loops * (50000000ul / (unsigned long)(process_ns() - start + 1) + 1);
}

#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define HEAD LOAD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), LOAD(nr)
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, (action))
#define PROGRAM(...) (&(struct sock_fprog){sizeof((struct sock_filter[]){__VA_ARGS__}) / sizeof(struct sock_filter), (struct sock_filter[]){__VA_ARGS__}})

static void check(long answer)
{
    if (answer != 0) {
        perror("seccomp");
        exit(3);
    }
}

static void promise(void)
{
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

static void by_prctl(struct sock_fprog *filter)
{
    promise();
    check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filter));
}

static void by_syscall(struct sock_fprog *filter, unsigned flags)
{
    promise();
    check(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, filter));
}

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        syscall(SYS_exit_group, 9);
}

#define LITTLE HEAD, ALLOW(write), ALLOW(exit_group), ALLOW(exit)

static void *beside(void *argument)
{
    work_beside();
    return argument;
}

static struct account work_beside_ns = {"work_beside_ns", 0}, work_after_ns = {"work_after_ns", 0};

static void *timed_beside(void *argument)
{
    BOOK(work_beside_ns, work_beside());
    return argument;
}

static int has_entered; /* atomic: the thread that entered alone has said so */

static void *enter_alone(void *game)
{
    work_before();
    if (strcmp(game, "thread_strict") == 0)
        check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
    else if (strcmp(game, "thread_kill") == 0)
        by_prctl(PROGRAM(LITTLE, ALLOW(rt_sigreturn), RETURN(SECCOMP_RET_KILL_PROCESS)));
    else
        by_syscall(PROGRAM(LITTLE, ALLOW(rt_sigreturn), ALLOW(munmap), ALLOW(madvise), ALLOW(futex), ALLOW(rt_sigprocmask), RETURN(SECCOMP_RET_KILL_PROCESS)), SECCOMP_FILTER_FLAG_TSYNC);
    work_after();
    say("entered alone\n");
    __atomic_store_n(&has_entered, 1, __ATOMIC_RELEASE);
    syscall(SYS_exit, 0);
    return NULL;
}

static int in_thread(char *game)
{
    pthread_t one, other;
    pthread_create(&other, NULL, strcmp(game, "thread_tsync") == 0 ? beside : timed_beside, NULL);
    pthread_create(&one, NULL, enter_alone, game);
    pthread_detach(one); /* it leaves by a bare exit, which nobody can join */
    pthread_join(other, NULL);
    spin(loops_50ms * 2);
    while (!__atomic_load_n(&has_entered, __ATOMIC_ACQUIRE)) /* by no system call: a filter may be there for all threads */
        spin(1000);
    say("beside\n");
    if (strcmp(game, "thread_tsync") == 0)
        syscall(SYS_exit_group, 0);
    print_account(&work_beside_ns);
    return 0;
}

/* What the recorder needs, and what the C library does on its own: nothing else may be called. */
#define OURS(name, ...) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
static struct sock_filter exact[] = {HEAD, COL_RECORDER_CALLS(OURS, OURS) ALLOW(exit_group), ALLOW(exit), ALLOW(wait4), ALLOW(clone), ALLOW(clone3), ALLOW(set_robust_list), ALLOW(mprotect),
    ALLOW(rseq), ALLOW(brk), ALLOW(execve), ALLOW(set_tid_address), ALLOW(getrandom),
#ifdef __x86_64__
    ALLOW(arch_prctl), ALLOW(access),
#endif
    RETURN(SECCOMP_RET_KILL_PROCESS)};

static int under_exact(char *program)
{
    pthread_t thread;
    by_prctl(&(struct sock_fprog){sizeof exact / sizeof *exact, exact});
    work_after();
    pthread_create(&thread, NULL, beside, NULL);
    pthread_join(thread, NULL);
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        work_after();
        char *const arguments[] = {program, "plain", NULL}, *const environment[] = {NULL};
        execve("/proc/self/exe", arguments, environment);
        _exit(8);
    }
    waitpid(child, &status, 0);
    say(status == 0 ? "child ended well\n" : "child was killed\n");
    return status != 0;
}

static int before_exec(char *program, struct sock_fprog *filter)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        work_before();
        by_prctl(filter);
        work_after();
        execl("/proc/self/exe", program, "plain", NULL);
        _exit(8);
    }
    waitpid(child, &status, 0);
    work_beside();
    printf("child %d\n", status);
    return 0;
}

int main(int argc, char **argv)
{
    char *game = argc > 1 ? argv[1] : "";
    measure();
    if (strncmp(game, "thread_", 7) == 0)
        return in_thread(game);
    if (strcmp(game, "exec_errno") == 0) /* perf_event_open, timer_create and prctl by errors, as containers have it */
        return before_exec(argv[0], PROGRAM(HEAD, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0), RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_ERRNO | EPERM)));
    if (strcmp(game, "exec_kill") == 0) /* a call of ours that the program and its dynamic linker never make */
        return before_exec(argv[0], PROGRAM(HEAD, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_gettid, 2, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 1, 0), RETURN(SECCOMP_RET_ALLOW), RETURN(SECCOMP_RET_KILL_PROCESS)));
    work_before();
    if (strcmp(game, "plain") == 0) {
        say("plain\n");
        return 0;
    }
    if (strcmp(game, "exact") == 0)
        return under_exact(argv[0]);
    if (strcmp(game, "strict") == 0)
        check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT));
    else if (strcmp(game, "kill") == 0)
        by_prctl(PROGRAM(LITTLE, RETURN(SECCOMP_RET_KILL_PROCESS)));
    else if (strcmp(game, "trap") == 0)
        by_syscall(PROGRAM(LITTLE, RETURN(SECCOMP_RET_TRAP)), 0);
    else if (strcmp(game, "errno") == 0)
        by_syscall(PROGRAM(LITTLE, RETURN(SECCOMP_RET_ERRNO | EPERM)), 0);
    else if (strcmp(game, "allow") == 0)
        by_syscall(PROGRAM(HEAD, ALLOW(ptrace), RETURN(SECCOMP_RET_ALLOW)), SECCOMP_FILTER_FLAG_TSYNC);
    else if (strcmp(game, "refused") == 0) {
        struct sock_filter bad[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 4096}, {BPF_RET | BPF_K, 0, 0, 0}};
        promise();
        printf("%d %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){2, bad}), errno);
        printf("%d %d\n", prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL), errno);
        struct sock_filter good[] = {RETURN(SECCOMP_RET_KILL_PROCESS)};
        printf("%ld %d\n", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1u << 30, &(struct sock_fprog){1, good}), errno);
    }
    if (strcmp(game, "allow") == 0) {
        BOOK(work_after_ns, work_after());
        print_account(&work_after_ns);
    } else
        work_after();
    fflush(stdout);
    say("after\n");
    if (strcmp(game, "allow") == 0 || strcmp(game, "refused") == 0)
        exit(0);
    syscall(strcmp(game, "strict") == 0 ? SYS_exit : SYS_exit_group, 7);
}
