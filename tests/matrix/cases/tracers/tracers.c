/* tracers.c -- a program that is traced, or traces */
#include "matrix.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <sys/ptrace.h>
#include <sys/user.h>

CASE(traceme, 1, "a PTRACE_TRACEME child: each stop is one of its own")
{
    pid_t pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        raise(SIGUSR1);
        spin(60000000);
        raise(SIGUSR2);
        spin(60000000);
        _exit(3);
    }
    int status, stops = 0;
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        if (stops++ < 5) say("stopped by %d", WSTOPSIG(status));
        ptrace(PTRACE_CONT, pid, 0, 0);
    }
    say("%d stops", stops);
    say_status("child", status);
    burn();
}
CASE(traceme_exec, 2, "a PTRACE_TRACEME child that execs: one SIGTRAP, for the exec")
{
    pid_t pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execl("/proc/self/exe", "tracers", "image", NULL);
    }
    int status, stops = 0;
    while (waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
        if (stops++ < 5) say("stopped by %d", WSTOPSIG(status));
        ptrace(PTRACE_CONT, pid, 0, 0);
    }
    say("%d stops", stops);
    say_status("child", status);
    burn();
}
NATURE(traceme_exec, time, "While a program is traced no signal is sent into it, and so it is not sampled by one.")
PART(image) { burn(); say("image"); }
NATURE(seized, stdout, "A tracer is shown every signal: one that seizes a process meets those that come before the recorder notices it.")
CASE(seized, 1, "a child that works is seized, interrupted and let go")
{
    pid_t pid = fork();
    if (pid == 0) for (;;) spin(10000);
    usleep(20000);
    TELL(ptrace(PTRACE_SEIZE, pid, 0, 0));
    usleep(30000);
    TELL(ptrace(PTRACE_INTERRUPT, pid, 0, 0));
    int status;
    waitpid(pid, &status, 0);
    say("stopped by %d event %d", WSTOPSIG(status), status >> 16);
    ptrace(PTRACE_DETACH, pid, 0, 0);
    usleep(20000);
    kill(pid, SIGTERM);
    say_end(pid);
    burn();
}
CASE(single_steps, 1, "a child is stepped 1,000 instructions")
{
    pid_t pid = fork();
    if (pid == 0) { ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGSTOP); spin(1000000); _exit(4); }
    int status, steps = 0, others = 0;
    waitpid(pid, &status, 0);
    for (; steps < 1000; steps++) {
        ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
        waitpid(pid, &status, 0);
        others += !WIFSTOPPED(status) || WSTOPSIG(status) != SIGTRAP;
    }
    say("%d steps, %d others", steps, others);
    ptrace(PTRACE_CONT, pid, 0, 0);
    waitpid(pid, &status, 0);
    say_status("child", status);
    burn();
}
CASE(counts_calls, 1, "a tracer counts the system calls of a child that computes between them")
{
    pid_t pid = fork();
    if (pid == 0) { ptrace(PTRACE_TRACEME, 0, 0, 0); raise(SIGSTOP); for (int i = 0; i < 20; i++) { syscall(SYS_getppid); spin(2000000); } _exit(5); }
    int status, calls = 0;
    waitpid(pid, &status, 0);
    ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD);
    for (;;) {
        ptrace(PTRACE_SYSCALL, pid, 0, 0);
        if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status)) break;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            struct user_regs_struct registers;
            ptrace(PTRACE_GETREGS, pid, 0, &registers);
            calls += registers.orig_rax == SYS_getppid;
        } else
            say("stopped by %d", WSTOPSIG(status));
    }
    say("getppid %d times", calls / 2);
    say_status("child", status);
    burn();
}
CASE(traces_parent_refused, 1, "asks who traces it: nobody")
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    burn();
    while (fgets(line, sizeof line, file)) if (!strncmp(line, "TracerPid", 9)) { line[strcspn(line, "\n")] = 0; say("%s", line); }
}
PART(long_work) { for (int i = 0; i < 25; i++) burn(); say("worked"); }
PART(work) { burn(); burn(); say("worked"); }
PART(runs_others)
{
    struct sock_filter allow[] = {{BPF_RET, 0, 0, SECCOMP_RET_ALLOW}};
    struct sock_fprog filter = {1, allow};
    char *words[] = {"true", NULL};
    int status;
    if (posix_spawnp(&(pid_t){0}, "true", NULL, NULL, words, environ) == 0 && wait(&status) > 0)
        say("spawned: %d", status);
    TELL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    TELL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter));
    execlp("echo", "echo", "replaced", NULL);
}
PART(waits_for_file) { while (access("attached", F_OK)) spin(100000); for (int i = 0; i < 3; i++) burn(); say("worked"); }
