/* bare_calls.c -- truth: a copy of the process, made by a system call that no library sees, works 50 ms in work_in_child, and ends with status 6
 *
 * bare_calls HOW WAY [PROGRAM]: HOW is clone, clone3 (inline assembly) or libc (by syscall(2)); WAY is what the copy does besides.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measured_work.h"

NOINLINE static void work_in_child(void) { work(50000); }

extern char **environ;

static long bare_call(long number, long a, long b, long c)
{
#ifdef __x86_64__
    register long fourth __asm__("r10") = 0, fifth __asm__("r8") = 0;
    long answer;
    __asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth) : "rcx", "r11", "memory");
    return answer;
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c, x3 __asm__("x3") = 0, x4 __asm__("x4") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4) : "memory");
    return x0;
#endif
}

static pid_t copy_process(const char *how)
{
    struct clone_args arguments = {.exit_signal = SIGCHLD};
    if (strcmp(how, "clone") == 0)
        return (pid_t)bare_call(SYS_clone, SIGCHLD, 0, 0);
    if (strcmp(how, "clone3") == 0)
        return (pid_t)bare_call(SYS_clone3, (long)&arguments, sizeof arguments, 0);
    return (pid_t)syscall(SYS_clone3, &arguments, sizeof arguments);
}

static void *thread_part(void *unused)
{
    work_in_child();
    return unused;
}

static void live_on(const char *way, char *program)
{
    pthread_t thread;
    if (strcmp(way, "thread") == 0 && pthread_create(&thread, NULL, thread_part, NULL) == 0)
        pthread_join(thread, NULL);
    else if (strcmp(way, "dlopen") == 0 && dlopen("libm.so.6", RTLD_NOW) != NULL)
        work_in_child();
    else if (strcmp(way, "fork") == 0) {
        pid_t pid = fork();
        if (pid == 0) {
            work_in_child();
            exit(7);
        }
        waitpid(pid, NULL, 0);
    } else if (strcmp(way, "exec") == 0)
        execl(program, "child", (char *)NULL);
    else if (strcmp(way, "bare_exec") == 0)
        bare_call(SYS_execve, (long)program, (long)(char *[]){"child", NULL}, (long)environ);
    else
        work_in_child();
    if (strcmp(way, "bare_exit") == 0)
        bare_call(SYS_exit_group, 6, 0, 0);
    if (strcmp(way, "exit") == 0)
        exit(6);
    _exit(6);
}

int main(int argc, char **argv)
{
    int status = -1;
    if (argc < 3)
        return 2;
    pid_t pid = copy_process(argv[1]);
    if (pid == 0)
        live_on(argv[2], argc > 3 ? argv[3] : NULL);
    waitpid(pid, &status, 0);
    printf("exited %d status %d\n", WIFEXITED(status), WEXITSTATUS(status));
    return 4;
}
