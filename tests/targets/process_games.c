/* process_games.c -- truth: each case makes processes or threads in its own way; each of them works 50 ms in the function the case names, and the parent prints what came back
 *
 * process_games CASE [ARGUMENT]. `work_in_child` is what children do, `work_in_parent` the parent, `work_in_image` a program that was executed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include "measured_work.h"

extern char **environ;

NOINLINE static void work_in_parent(void) { work(50000); }
NOINLINE static void work_in_child(void) { work(50000); }
NOINLINE static void work_in_image(void) { work(50000); }

static void await(pid_t pid)
{
    int status = -1;
    pid_t got;
    while ((got = waitpid(pid, &status, 0)) == -1 && errno == EINTR)
        ;
    printf("mine %d exited %d status %d\n", got == pid, WIFEXITED(status), WEXITSTATUS(status));
}

static void child_part(void)
{
    work_in_child();
    exit(7);
}

static void by_fork(void)
{
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        if (getppid() != parent)
            _exit(9);
        child_part();
    }
    work_in_parent();
    await(pid);
}

static void by_raw_fork(void)
{
#ifdef SYS_fork
    pid_t pid = (pid_t)syscall(SYS_fork);
#else
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
    if (pid == 0)
        child_part();
    work_in_parent();
    await(pid);
}

static int clone_part(void *shared)
{
    work_in_child();
    if (shared != NULL)
        *(int *)shared = 42;
    _exit(7);
}

static char *new_stack(void)
{
    enum { BYTES = 1 << 18 };
    char *stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    return stack + BYTES;
}

static void by_clone(void)
{
    pid_t pid = clone(clone_part, new_stack(), SIGCHLD, NULL);
    work_in_parent();
    await(pid);
}

static void by_clone_shared(void)
{
    int shared = 0;
    pid_t pid = clone(clone_part, new_stack(), CLONE_VM | CLONE_VFORK | SIGCHLD, &shared);
    await(pid);
    work_in_parent();
    printf("shared %d\n", shared);
}

/* A thread that no library knows. */
static int bare_thread_is_over;

static int bare_part(void *unused)
{
    (void)unused;
    uint64_t x = 1;
    for (int i = 0; i < 8000; i++)
        x = churn(x, 20000);
    churned = x;
    __atomic_store_n(&bare_thread_is_over, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &bare_thread_is_over, FUTEX_WAKE, 1, NULL, NULL, 0);
    syscall(SYS_exit, 0);
    return 0;
}

static void by_bare_clone(void)
{
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
    printf("made %d\n", clone(bare_part, new_stack(), flags, NULL) > 0);
    work_in_parent();
    while (!__atomic_load_n(&bare_thread_is_over, __ATOMIC_ACQUIRE)) /* asleep: hundreds of short naps are milliseconds of work */
        syscall(SYS_futex, &bare_thread_is_over, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void by_vfork(void)
{
    static volatile int shared;
    pid_t pid = vfork();
    if (pid == 0) {
        shared = 42;
        execl("/proc/self/exe", "process_games", "image", (char *)NULL);
        _exit(9);
    }
    printf("shared %d\n", shared);
    await(pid);
    shared = 0;
    pid = vfork();
    if (pid == 0) {
        shared = 43;
        _exit(6);
    }
    await(pid);
    printf("shared %d\n", shared);
    work_in_parent();
}

static void by_spawn(void)
{
    char *arguments[] = {"process_games", "image", NULL};
    pid_t pid;
    printf("spawn %d\n", posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environ));
    await(pid);
    printf("spawn %d\n", posix_spawnp(&pid, "no such program", NULL, NULL, arguments, environ));
    work_in_parent();
}

static void by_system(void)
{
    char command[4200];
    char own[4096];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = '\0';
    snprintf(command, sizeof command, "'%s' image", own);
    fflush(stdout);
    printf("system %d\n", WEXITSTATUS(system(command)));
    FILE *pipe = popen(command, "r");
    char line[100] = "";
    if (pipe == NULL || fgets(line, sizeof line, pipe) == NULL)
        printf("popen failed\n");
    printf("said %s", line);
    printf("pclose %d\n", WEXITSTATUS(pclose(pipe)));
    work_in_parent();
}

static void by_exec(void)
{
    work_in_parent();
    fflush(stdout);
    execl("/no/such/program", "x", (char *)NULL);
    printf("still here %d\n", errno);
    work_in_parent();
    fflush(stdout);
    execl("/proc/self/exe", "process_games", "image", (char *)NULL);
}

static void by_bare_exec(void)
{
    char *arguments[] = {"process_games", "image", NULL}, *nothing[] = {NULL};
    work_in_parent();
    fflush(stdout);
    execve("/proc/self/exe", arguments, nothing);
}

static void by_daemon(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        if (daemon(0, 0) != 0)
            _exit(9);
        work_in_child();
        if (write(ends[1], "d", 1) != 1)
            _exit(9);
        exit(0);
    }
    close(ends[1]);
    await(pid);
    printf("heard %d\n", read(ends[0], &byte, 1) == 1);
    /* The end of the pipe is the end of the daemon. */
    printf("gone %d\n", read(ends[0], &byte, 1) == 0);
}

static int thread_part(void *argument)
{
    work_in_child();
    return *(int *)argument + 1;
}

static void by_c11(void)
{
    thrd_t threads[3];
    int number = 41, result;
    for (int i = 0; i < 3; i++)
        thrd_create(&threads[i], thread_part, &number);
    for (int i = 0; i < 3; i++) {
        thrd_join(threads[i], &result);
        printf("returned %d\n", result);
    }
}

/* The C library once more, with memory and state of its own. */
static void by_namespace(void)
{
    void *again = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    void *(*allocate)(size_t) = again != NULL ? (void *(*)(size_t))dlsym(again, "malloc") : NULL;
    printf("opened %d other %d\n", again != NULL, allocate != NULL && allocate != malloc);
    int (*fork_again)(void) = again != NULL ? (int (*)(void))dlsym(again, "fork") : NULL;
    fflush(stdout);
    pid_t pid = fork_again != NULL ? fork_again() : -1;
    if (pid == 0) {
        work_in_child();
        _exit(7);
    }
    work_in_parent();
    await(pid);
}

static void grandchildren(void)
{
    for (int i = 0; i < 3; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            pid_t second = fork();
            if (second == 0)
                child_part();
            waitpid(second, NULL, 0);
            _exit(3);
        }
        await(pid);
    }
}

static void image(void)
{
    work_in_image();
    printf("the image was here, %d\n", getenv("LD_PRELOAD") == NULL || getenv("HOME") != NULL || environ[0] != NULL);
    fflush(stdout);
    exit(8);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"fork", by_fork}, {"raw_fork", by_raw_fork}, {"clone", by_clone}, {"clone_shared", by_clone_shared}, {"bare_clone", by_bare_clone},
    {"vfork", by_vfork}, {"spawn", by_spawn}, {"system", by_system}, {"exec", by_exec}, {"bare_exec", by_bare_exec}, {"daemon", by_daemon},
    {"c11", by_c11}, {"namespace", by_namespace}, {"grandchildren", grandchildren}, {"image", image},
};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 4;
        }
    return 2;
}
