/* signal_games.c -- truth: each case prints the same recorded or not; all of them use the signals that clocks use, too
 *
 * signal_games CASE. "sent WAY": one way to wait for a signal, for all signals that can be waited for; "inherit" and "inherit plain": what a program finds that
 * is run by exec, posix_spawn, vfork and system, as it sees it itself and as the kernel has it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measured_work.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

extern char **environ;
static const int ours[] = {SIGTRAP, SIGVTALRM};
static volatile sig_atomic_t seen_count, seen_signo, seen_code, seen_value, depth, deepest;

static void count(int signo)
{
    seen_signo = signo;
    seen_count++;
}

static void count_info(int signo, siginfo_t *info, void *context)
{
    (void)context;
    seen_code = info->si_code;
    seen_value = info->si_value.sival_int;
    count(signo + 1000 * (info->si_signo != signo));
}

static void set(int signo, void (*handler)(int), int flags, int masked)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (masked == -1)
        sigfillset(&action.sa_mask);
    else if (masked != 0)
        sigaddset(&action.sa_mask, masked);
    sigaction(signo, &action, NULL);
}

static sigset_t only(int signo)
{
    sigset_t some;
    sigemptyset(&some);
    if (signo != 0)
        sigaddset(&some, signo);
    return some;
}

static void change(int how, int signo)
{
    sigset_t some = only(signo);
    pthread_sigmask(how, &some, NULL);
}

static int is_blocked(int signo)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, signo);
}

static int is_pending(int signo)
{
    sigset_t now;
    sigpending(&now);
    return sigismember(&now, signo);
}

static void trap_here(void)
{
#if defined(__x86_64__)
    __asm__ volatile("int3");
#else
    __builtin_trap();
#endif
}

/* ---- each signal, each way to wait ---- */

static pthread_t waiter;
static volatile int sent_signo;

static void *send_soon(void *unused)
{
    struct timespec nap = {0, 2000000};
    nanosleep(&nap, NULL);
    kill(getpid(), sent_signo);
    return unused;
}

static volatile int has_ended;

/* One signal alone may come before the call that it is to end, when that is given no turn. */
static void *send_until_ended(void *unused)
{
    do
        send_soon(unused);
    while (!has_ended);
    return unused;
}

static int wait_by(const char *way, int signo)
{
    sigset_t some = only(signo), open;
    siginfo_t info = {0};
    struct timespec second = {20, 0};
    int got = 0;
    seen_signo = 0;
    sigfillset(&open);
    sigdelset(&open, signo);
    if (strcmp(way, "sigwait") == 0)
        return sigwait(&some, &got) == 0 ? got : -1;
    if (strcmp(way, "sigwaitinfo") == 0)
        return (got = sigwaitinfo(&some, &info)) > 0 ? got + 1000 * (info.si_signo != signo) : -1;
    if (strcmp(way, "sigtimedwait") == 0)
        return (got = sigtimedwait(&some, &info, &second)) > 0 ? got + 1000 * (info.si_pid != getpid()) : -1;
    if (strcmp(way, "signalfd") == 0) {
        struct signalfd_siginfo read_info = {0};
        int fd = signalfd(-1, &some, 0);
        struct pollfd file = {fd, POLLIN, 0};
        poll(&file, 1, 20000);
        got = read(fd, &read_info, sizeof read_info) > 0 ? (int)read_info.ssi_signo : -1;
        close(fd);
        return got;
    }
    set(signo, count, 0, 0);
    if (strcmp(way, "sigsuspend") == 0)
        sigsuspend(&open);
    else if (strcmp(way, "ppoll") == 0)
        ppoll(NULL, 0, &second, &open);
    else if (strcmp(way, "pselect") == 0)
        pselect(0, NULL, NULL, NULL, &second, &open);
    else if (strcmp(way, "epoll_pwait") == 0) {
        struct epoll_event event;
        int fd = epoll_create1(0);
        epoll_pwait(fd, &event, 1, 20000, &open);
        close(fd);
    }
    int error = errno;
    signal(signo, SIG_DFL);
    return error == EINTR ? (int)seen_signo : -2;
}

static void one_signal(const char *way, int signo, bool is_early)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_t sender;
    sent_signo = signo;
    if (is_early)
        kill(getpid(), signo);
    else
        pthread_create(&sender, NULL, send_soon, NULL);
    int got = wait_by(way, signo);
    if (!is_early)
        pthread_join(sender, NULL);
    change(SIG_SETMASK, 0);
    if (got != signo)
        printf("%s of %d, %s: got %d\n", way, signo, is_early ? "early" : "late", got);
}

static void each_signal(const char *way)
{
    for (int signo = 1; signo <= 64; signo++) {
        if (signo == SIGKILL || signo == SIGSTOP || signo == 32 || signo == 33)
            continue;
        work(2000);
        one_signal(way, signo, signo % 2 != 0); /* half of them before the wait begins */
        if (signo == SIGTRAP || signo == SIGVTALRM)
            one_signal(way, signo, signo % 2 == 0); /* those that clocks use, both ways */
    }
    puts("waited");
}

/* The same with nothing but the one signal blocked: it is what the program names. */
static void named_signals(void)
{
    for (int signo = 1; signo <= 64; signo++) {
        if (signo == SIGKILL || signo == SIGSTOP || signo == 32 || signo == 33)
            continue;
        work(1000);
        sigset_t some = only(signo);
        int got = 0;
        change(SIG_SETMASK, signo);
        bool was_pending = is_pending(signo);
        raise(signo);
        printf("%d: blocked %d pending %d %d", signo, is_blocked(signo), was_pending, is_pending(signo));
        sigwait(&some, &got);
        set(signo, count, 0, 0);
        seen_count = 0;
        raise(signo);
        printf(" got %d seen %d", got, (int)seen_count);
        change(SIG_SETMASK, 0);
        printf(" %d\n", (int)seen_count);
    }
}

/* ---- waiting in another thread ---- */

static void *wait_in_thread(void *unused)
{
    for (int i = 0; i < 6; i++) {
        sigset_t some = only(SIGTRAP);
        sigaddset(&some, SIGVTALRM);
        int got = 0;
        sigwait(&some, &got);
        seen_signo = got;
        __atomic_add_fetch(&seen_count, 1, __ATOMIC_SEQ_CST);
    }
    return unused;
}

static void waits_elsewhere(void)
{
    change(SIG_BLOCK, SIGTRAP);
    change(SIG_BLOCK, SIGVTALRM);
    pthread_create(&waiter, NULL, wait_in_thread, NULL);
    for (int i = 0; i < 6; i++) {
        work(15000);
        kill(getpid(), ours[i % 2]);
        while (seen_count <= i)
            work(1000);
        printf("got %d\n", (int)seen_signo);
    }
    pthread_join(waiter, NULL);
}

static volatile int is_over;
static volatile long handled_by;

static void note_thread(int signo)
{
    handled_by = syscall(SYS_gettid);
    count(signo);
}

static void *take_in_thread(void *tid)
{
    *(volatile long *)tid = syscall(SYS_gettid);
    change(SIG_UNBLOCK, SIGTRAP);
    while (!is_over)
        work(1000);
    return NULL;
}

static void open_elsewhere(void)
{
    volatile long tid = 0;
    set(SIGTRAP, note_thread, SA_RESTART, 0);
    change(SIG_BLOCK, SIGTRAP);
    pthread_create(&waiter, NULL, take_in_thread, (void *)&tid);
    while (tid == 0)
        sched_yield();
    work(20000);
    for (int i = 0; i < 3; i++) {
        kill(getpid(), SIGTRAP);
        while (seen_count <= i)
            work(1000);
        printf("by the other thread %d\n", handled_by == tid);
    }
    is_over = 1;
    pthread_join(waiter, NULL);
}

/* ---- masks ---- */

static sigjmp_buf back;

static void leave(int signo)
{
    count(signo);
    siglongjmp(back, 1);
}

static void leaves_with_mask(void)
{
    for (int i = 0; i < 2; i++)
        for (volatile int saves = 0; saves < 2; saves++) {
            set(ours[i], leave, 0, SIGUSR1);
            if (sigsetjmp(back, saves) == 0) {
                work(20000);
                raise(ours[i]);
            }
            printf("saves %d: blocked %d %d\n", (int)saves, is_blocked(ours[i]), is_blocked(SIGUSR1));
            change(SIG_SETMASK, 0);
        }
}

static void show_mask(int signo)
{
    count(signo);
    depth++;
    if (depth > deepest)
        deepest = depth;
    printf("in %d: trap %d vtalrm %d usr1 %d\n", signo, is_blocked(SIGTRAP), is_blocked(SIGVTALRM), is_blocked(SIGUSR1));
    if (seen_count < 3)
        raise(signo == SIGALRM ? SIGTRAP : signo);
    printf("pending %d\n", is_pending(SIGTRAP));
    work(15000);
    depth--;
}

static void masks_of_handlers(void)
{
    static const int flags[] = {0, SA_NODEFER};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            seen_count = deepest = 0;
            set(ours[i], show_mask, flags[k], k == 0 ? SIGUSR1 : 0);
            raise(ours[i]);
            printf("seen %d deepest %d\n", (int)seen_count, (int)deepest);
        }
        seen_count = deepest = 0;
        set(SIGALRM, show_mask, 0, -1);
        set(SIGTRAP, count, 0, 0);
        raise(SIGALRM);
        printf("seen %d deepest %d after %d\n", (int)seen_count, (int)deepest, is_blocked(SIGTRAP));
        seen_count = deepest = 0;
        set(SIGTRAP, show_mask, SA_NODEFER, SIGTRAP); /* the mask says what the flag takes back */
        raise(SIGTRAP);
        printf("seen %d deepest %d\n", (int)seen_count, (int)deepest);
    }
}

static void reads_back(void)
{
    struct sigaction action, old;
    for (int i = 0; i < 2; i++) {
        memset(&action, 0, sizeof action);
        action.sa_handler = count;
        action.sa_flags = SA_NODEFER | SA_ONSTACK;
        sigfillset(&action.sa_mask);
        sigaction(ours[i], &action, NULL);
        sigaction(SIGUSR2, &action, NULL);
        for (int k = 0; k < 2; k++) {
            sigaction(k == 0 ? ours[i] : SIGUSR2, NULL, &old);
            printf("handler %d flags %#x mask", old.sa_handler == count, (unsigned)old.sa_flags);
            for (int signo = 1; signo <= 64; signo++)
                printf("%d", sigismember(&old.sa_mask, signo));
            puts("");
        }
    }
    printf("refused %d %d\n", sigaction(SIGKILL, &action, NULL), sigaction(65, &action, NULL));
}

/* ---- what is sent ---- */

static void values(void)
{
    for (int i = 0; i < 2; i++) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = count_info;
        action.sa_flags = SA_SIGINFO;
        sigaction(ours[i], &action, NULL);
        for (int value = 1; value < 4; value++) {
            work(10000);
            sigqueue(getpid(), ours[i], (union sigval){.sival_int = value});
            printf("%d: code %d value %d\n", (int)seen_signo, (int)seen_code, (int)seen_value);
        }
        change(SIG_BLOCK, ours[i]);
        seen_count = 0;
        for (int value = 11; value < 14; value++) /* the first stays, as for every old signal */
            sigqueue(getpid(), ours[i], (union sigval){.sival_int = value});
        raise(ours[i]); /* to the thread: a place of its own */
        raise(ours[i]);
        work(10000);
        change(SIG_UNBLOCK, ours[i]);
        printf("seen %d\n", (int)seen_count);
        kill(getpid(), ours[i]);
        printf("code %d\n", (int)seen_code);
        raise(ours[i]);
        printf("code %d\n", (int)seen_code);
    }
}

static void ignored_and_blocked(void)
{
    for (int i = 0; i < 2; i++) {
        sigset_t some = only(ours[i]);
        struct timespec none = {0, 0};
        signal(ours[i], SIG_IGN);
        change(SIG_BLOCK, ours[i]);
        raise(ours[i]);
        work(10000);
        printf("pending %d\n", is_pending(ours[i]));
        printf("got %d\n", sigtimedwait(&some, NULL, &none));
        raise(ours[i]);
        signal(ours[i], SIG_IGN); /* which throws it away */
        printf("pending %d\n", is_pending(ours[i]));
        change(SIG_UNBLOCK, ours[i]);
        signal(ours[i], SIG_DFL);
    }
}

static void calls_end(void)
{
    static const int flags[] = {0, SA_RESTART};
    for (int i = 0; i < 4; i++) {
        int ends[2], got;
        char byte;
        pthread_t sender;
        if (pipe(ends) != 0)
            abort();
        sent_signo = ours[i / 2];
        set(sent_signo, count, flags[i % 2], 0);
        change(SIG_BLOCK, sent_signo);
        has_ended = 0;
        pthread_create(&sender, NULL, send_until_ended, NULL); /* which has it blocked */
        change(SIG_UNBLOCK, sent_signo);
        if (flags[i % 2] == 0) {
            got = (int)read(ends[0], &byte, 1);
            printf("read %d interrupted %d\n", got, got == -1 && errno == EINTR);
        }
        struct timespec nap = {20, 0};
        if (flags[i % 2] != 0)
            printf("slept %d interrupted %d\n", nanosleep(&nap, NULL), errno == EINTR);
        has_ended = 1;
        pthread_join(sender, NULL);
        close(ends[0]), close(ends[1]);
    }
}

/* ---- old calls ---- */

static void old_calls(void)
{
    for (int i = 0; i < 2; i++) {
        int signo = ours[i];
        seen_count = 0;
        printf("sigset %d", sigset(signo, count) == SIG_DFL);
        raise(signo);
        printf(" %d %d", sigset(signo, SIG_HOLD) == count, is_blocked(signo));
        raise(signo);
        printf(" %d %d", is_pending(signo), (int)seen_count);
        printf(" %d %d", sigset(signo, count) == SIG_HOLD, (int)seen_count);
        work(20000);
        printf("\nsighold %d %d", sighold(signo), is_blocked(signo));
        raise(signo);
        printf(" sigrelse %d %d %d\n", sigrelse(signo), is_blocked(signo), (int)seen_count);
        sighold(signo);
        raise(signo);
        printf("sigpause %d", sigpause(signo));
        printf(" %d %d\n", is_blocked(signo), (int)seen_count);
        sigrelse(signo);
        printf("sigignore %d", sigignore(signo));
        raise(signo);
        printf(" %d\n", (int)seen_count);
        work(20000);
        printf("sysv_signal %d", sysv_signal(signo, count) == SIG_IGN);
        raise(signo);
        struct sigaction now;
        sigaction(signo, NULL, &now);
        printf(" %d %d %#x\n", (int)seen_count, now.sa_handler == SIG_DFL, (unsigned)now.sa_flags);
        printf("signal %d", signal(signo, count) == SIG_DFL);
        siginterrupt(signo, 1);
        sigaction(signo, NULL, &now);
        printf(" %#x", (unsigned)now.sa_flags);
        signal(signo, count);
        sigaction(signo, NULL, &now);
        printf(" %#x", (unsigned)now.sa_flags);
        siginterrupt(signo, 0);
        sigaction(signo, NULL, &now);
        printf(" %#x\n", (unsigned)now.sa_flags);
        int mask = sigmask(signo);
        printf("sigblock %#x", (unsigned)sigblock(mask));
        raise(signo);
        printf(" %d sigsetmask %#x %d\n", (int)seen_count, (unsigned)sigsetmask(0), (int)seen_count);
        signal(signo, SIG_DFL);
    }
}

/* ---- what others inherit ---- */

static void tell(void)
{
    for (int i = 0; i < 2; i++) {
        struct sigaction now;
        sigaction(ours[i], NULL, &now);
        printf("%s%d: %s blocked %d pending %d", i == 0 ? "" : "; ", ours[i], now.sa_handler == SIG_DFL ? "default" : now.sa_handler == SIG_IGN ? "ignored" : "handled",
               is_blocked(ours[i]), is_pending(ours[i]));
    }
    printf("; others");
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    for (int signo = 34; signo <= 64; signo++) {
        struct sigaction action;
        sigaction(signo, NULL, &action);
        if (sigismember(&now, signo) || action.sa_handler != SIG_DFL || is_pending(signo))
            printf(" %d", signo);
    }
    puts("");
}

/* As the kernel has it, in a program that is not recorded. The C library's posix_spawn ignores its own two signals at times. */
static char *const plain[] = {"sed", "-n", "/Ign/s/00000001[8-f]/00000000/;/Pnd/p;/Blk/p;/Ign/p", "/proc/self/status", NULL};

static void inherit(const char *program, char *const words[])
{
    for (int i = 0; i < 4; i++) {
        pid_t child;
        signal(SIGTRAP, i & 1 ? SIG_IGN : count);
        signal(SIGVTALRM, i & 1 ? SIG_DFL : SIG_IGN);
        change(SIG_SETMASK, i & 2 ? SIGTRAP : SIGVTALRM);
        work(15000);
        fflush(stdout);
        if (fork() == 0) {
            raise(i & 2 ? SIGTRAP : SIGVTALRM); /* pending, and so it stays over exec */
            execve(program, words, environ);
        }
        wait(NULL);
        posix_spawn(&child, program, NULL, NULL, words, environ);
        waitpid(child, NULL, 0);
        child = vfork();
        if (child == 0) {
            execve(program, words, environ);
            _exit(1);
        }
        waitpid(child, NULL, 0);
        if (words == plain)
            system("sed -n /^SigIgn/s/00000001[8-f]/00000000/p /proc/self/status");
        tell();
        execve("/nowhere", words, environ);
        tell();
    }
}

static void vfork_alone(void)
{
    for (int i = 0; i < 2; i++) {
        set(ours[i], count, 0, 0);
        pid_t child = vfork();
        if (child == 0) {
            struct sigaction was, now;
            signal(ours[i], SIG_IGN);
            change(SIG_BLOCK, ours[i]);
            sigaction(ours[i], NULL, &now);
            signal(ours[i], SIG_DFL);
            sigaction(ours[i], NULL, &was);
            _exit((now.sa_handler == SIG_IGN) + 2 * (was.sa_handler == SIG_DFL) + 4 * is_blocked(ours[i]));
        }
        int status = 0;
        waitpid(child, &status, 0);
        struct sigaction now;
        sigaction(ours[i], NULL, &now);
        seen_count = 0;
        raise(ours[i]);
        work(20000);
        printf("child %d parent %d blocked %d seen %d\n", WEXITSTATUS(status), now.sa_handler == count, is_blocked(ours[i]), (int)seen_count);
    }
}

/* ---- death ---- */

static void trap_blocked(void) { set(SIGTRAP, count, 0, 0), change(SIG_BLOCK, SIGTRAP), work(30000), trap_here(), puts("survived"); }
static void trap_ignored(void) { signal(SIGTRAP, SIG_IGN), work(30000), trap_here(), puts("survived"); }

static void trap_again(int signo)
{
    (void)signo;
    puts("in the handler");
    trap_here();
    puts("survived");
}

static void trap_in_handler(void) { signal(SIGTRAP, trap_again), work(30000), trap_here(), puts("survived"); }
static void unblocked_default(void) { change(SIG_BLOCK, SIGTRAP), raise(SIGTRAP), work(30000), puts("still here"), fflush(stdout), change(SIG_UNBLOCK, SIGTRAP), puts("survived"); }
static void unblocked_vtalrm(void) { change(SIG_BLOCK, SIGVTALRM), raise(SIGVTALRM), work(30000), puts("still here"), fflush(stdout), change(SIG_UNBLOCK, SIGVTALRM), puts("survived"); }

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"named_signals", named_signals}, {"waits_elsewhere", waits_elsewhere}, {"open_elsewhere", open_elsewhere}, {"leaves_with_mask", leaves_with_mask},
    {"masks_of_handlers", masks_of_handlers}, {"reads_back", reads_back}, {"values", values}, {"ignored_and_blocked", ignored_and_blocked}, {"calls_end", calls_end},
    {"old_calls", old_calls}, {"vfork_alone", vfork_alone}, {"trap_blocked", trap_blocked}, {"trap_ignored", trap_ignored},
    {"trap_in_handler", trap_in_handler}, {"unblocked_default", unblocked_default}, {"unblocked_vtalrm", unblocked_vtalrm},
};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2 && strcmp(argv[1], "sent") == 0)
        each_signal(argv[2]);
    else if (strcmp(argv[1], "tell") == 0)
        tell();
    else if (strcmp(argv[1], "inherit") == 0)
        argc > 2 ? inherit("/bin/sed", plain) : inherit(argv[0], (char *const[]){argv[0], "tell", NULL});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            work(80000); /* enough for three samples, however scarce the kernel's ticks are */
            cases[i].run();
        }
    return 0;
}
