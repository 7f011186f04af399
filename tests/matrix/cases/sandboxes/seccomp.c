/* seccomp.c -- filters and strict mode: what a sandboxed program may not do, nobody does in its name */
#include "matrix.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>

#define LOAD BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)
#define OTHERWISE(action) BPF_STMT(BPF_RET | BPF_K, action)

static void enter(struct sock_filter *filter, unsigned short count, int by_prctl)
{
    struct sock_fprog program = {count, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    long result = by_prctl ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) : syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
    if (result) say("no filter: %s", strerrorname_np(errno));
}
#define ENTER(by_prctl, ...) do { struct sock_filter filter_[] = {__VA_ARGS__}; enter(filter_, sizeof filter_ / sizeof *filter_, by_prctl); } while (0)

static void last_words(void) { static const char text[] = "inside\n"; if (write(1, text, sizeof text - 1) < 0) {} }

CASE(strict, 1, "strict mode: only read, write and the raw exit are allowed")
{
    burn();
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    spin(60000000);
    last_words();
    syscall(SYS_exit, 3);
}
CASE(strict_killed, 1, "strict mode and _exit, which is not allowed") { burn(); prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); last_words(); _exit(3); }
CASE(killing, 1, "a filter that kills for all but write and exit_group")
{
    burn();
    ENTER(1, LOAD, ALLOW(SYS_write), ALLOW(SYS_exit_group), OTHERWISE(SECCOMP_RET_KILL_PROCESS));
    spin(60000000);
    last_words();
    _exit(4);
}
CASE(killing_sigreturn, 1, "the same with rt_sigreturn allowed")
{
    burn();
    ENTER(0, LOAD, ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOW(SYS_rt_sigreturn), OTHERWISE(SECCOMP_RET_KILL_PROCESS));
    spin(60000000);
    last_words();
    _exit(4);
}
CASE(refusing, 2, "a filter that answers EPERM to all but a few calls")
{
    burn();
    ENTER(0, LOAD, ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOW(SYS_rt_sigreturn), ALLOW(SYS_clock_gettime), OTHERWISE(SECCOMP_RET_ERRNO | EPERM));
    burn();
    last_words();
    _exit(5);
}
static volatile sig_atomic_t trapped, other_trapped;
static void note_trap(int signo, siginfo_t *info, void *context) { (void)signo, (void)context; if (info->si_syscall == SYS_getppid) trapped++; else other_trapped++; }
CASE(trapping, 1, "SECCOMP_RET_TRAP for getppid: SIGSYS comes for the program's own calls only")
{
    struct sigaction action = {.sa_sigaction = note_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    ENTER(0, LOAD, ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOW(SYS_rt_sigreturn), ALLOW(SYS_clock_gettime), ALLOW(SYS_newfstatat), OTHERWISE(SECCOMP_RET_TRAP));
    burn();
    for (int i = 0; i < 3; i++) syscall(SYS_getppid);
    say("trapped %d, others %d", (int)trapped, (int)other_trapped);
    _exit(6);
}
CASE(refuses_perf, 2, "a filter that refuses perf_event_open and timers, then exec")
{
    ENTER(0, LOAD, REFUSE(SYS_perf_event_open), OTHERWISE(SECCOMP_RET_ALLOW));
    burn();
    execl("/proc/self/exe", "seccomp", "image", NULL);
}
PART(image) { burn(); say("image"); }
CASE(kills_perf, 2, "a filter that kills for perf_event_open, then exec")
{
    ENTER(0, LOAD, BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS), OTHERWISE(SECCOMP_RET_ALLOW));
    burn();
    execl("/proc/self/exe", "seccomp", "image", NULL);
}
CASE(refuses_signals, 2, "a filter that refuses rt_sigaction and rt_sigprocmask, then exec")
{
    ENTER(0, LOAD, REFUSE(SYS_rt_sigaction), REFUSE(SYS_rt_sigprocmask), OTHERWISE(SECCOMP_RET_ALLOW));
    burn();
    execl("/proc/self/exe", "seccomp", "image", NULL);
}
CASE(refuses_files, 2, "a filter that refuses to open or map files for writing, then forks")
{
    ENTER(0, LOAD, REFUSE(SYS_openat), REFUSE(SYS_ftruncate), REFUSE(SYS_fallocate), REFUSE(SYS_mkdir), OTHERWISE(SECCOMP_RET_ALLOW));
    burn();
    pid_t pid = fork();
    if (pid == 0) { burn(); _exit(1); }
    say_end(pid);
}
NATURE(refuses_files, time, "A child that may not open files cannot write a log.")
static void *works(void *unused) { burn(); return unused; }
CASE(tsync, 3, "a filter for all threads at once, set while another works")
{
    pthread_t thread;
    pthread_create(&thread, NULL, works, NULL);
    struct sock_filter filter[] = {LOAD, REFUSE(SYS_getppid), OTHERWISE(SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {4, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    burn();
    TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program));
    burn();
    pthread_join(thread, NULL);
    TELL(syscall(SYS_getppid));
}
CASE(no_new_privs, 2, "PR_SET_NO_NEW_PRIVS, then exec") { TELL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)); burn(); execl("/proc/self/exe", "seccomp", "image", NULL); }
