/* own_signals.c -- truth: each case prints the same recorded or not; what it uses is used by the program alone
 *
 * own_signals CASE. All of them use some CPU time, so that sampling clocks tick meanwhile, and name what they saw.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <unistd.h>

#include "measured_work.h"

static volatile sig_atomic_t seen_count;
static volatile sig_atomic_t seen_code;

static void count(int signo)
{
    (void)signo;
    seen_count++;
}

static void count_info(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    seen_code = info->si_code;
    seen_count++;
}

static void install(int signo, void (*handler)(int))
{
    struct sigaction action, old;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigaddset(&action.sa_mask, SIGUSR2);
    printf("sigaction %d\n", sigaction(signo, &action, &old));
    printf("old default %d flags %d\n", old.sa_handler == SIG_DFL, old.sa_flags);
    sigaction(signo, NULL, &old);
    printf("mine %d flags %#x usr2 %d\n", old.sa_handler == handler, (unsigned)old.sa_flags & ~0x04000000u, sigismember(&old.sa_mask, SIGUSR2));
}

static void print_set(const char *what, const sigset_t *set)
{
    printf("%s", what);
    for (int signo = 1; signo <= 64; signo++)
        if (sigismember(set, signo) == 1)
            printf(" %d", signo);
    putchar('\n');
}

static void handler_of(int signo)
{
    install(signo, count);
    for (int i = 0; i < 5; i++) {
        work(16000);
        raise(signo);
    }
    printf("seen %d\n", (int)seen_count);
}

static void prof_handler(void) { handler_of(SIGPROF); }
static void trap_handler(void) { handler_of(SIGTRAP); }
static void vtalrm_handler(void) { handler_of(SIGVTALRM); }

static void prof_ignored(void)
{
    signal(SIGPROF, SIG_IGN);
    raise(SIGPROF);
    work(80000);
    printf("still ignored %d\n", signal(SIGPROF, SIG_DFL) == SIG_IGN);
}

static void ignored(void)
{
    static const int signals[] = {SIGTRAP, SIGVTALRM};
    for (int i = 0; i < 2; i++) {
        printf("was default %d\n", signal(signals[i], SIG_IGN) == SIG_DFL);
        raise(signals[i]);
        kill(getpid(), signals[i]);
        work(40000);
        printf("was ignored %d\n", signal(signals[i], SIG_DFL) == SIG_IGN);
    }
}

static void all_blocked(void)
{
    sigset_t all, old, now, pending;
    sigfillset(&all);
    printf("block %d\n", sigprocmask(SIG_SETMASK, &all, &old));
    print_set("before", &old);
    sigprocmask(SIG_BLOCK, NULL, &now);
    print_set("blocked", &now);
    work(80000);
    raise(SIGTRAP);
    raise(SIGVTALRM);
    raise(SIGUSR1);
    sigpending(&pending);
    print_set("pending", &pending);
    signal(SIGTRAP, count);
    signal(SIGVTALRM, count);
    signal(SIGUSR1, count);
    pthread_sigmask(SIG_SETMASK, &old, &now);
    print_set("until now", &now);
    sigprocmask(SIG_BLOCK, NULL, &now);
    print_set("after", &now);
    printf("delivered %d\n", (int)seen_count);
}

static void *inherits(void *unused)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    print_set("in the thread", &now);
    work(80000);
    return unused;
}

static void thread_mask(void)
{
    sigset_t some;
    pthread_t thread;
    sigemptyset(&some);
    sigaddset(&some, SIGTRAP);
    sigaddset(&some, SIGVTALRM);
    sigaddset(&some, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
    pthread_create(&thread, NULL, inherits, NULL);
    pthread_join(thread, NULL);
}

/* Where ticks are scarce, a timer of 10 ms of CPU time comes late, but never early. */
static int work_until_seen(int count)
{
    int rounds = 0;
    do
        work(10000);
    while (++rounds < 300 && seen_count < count);
    return seen_count >= count && seen_count <= rounds * 3 / 2;
}

static void interval_timer(void)
{
    struct itimerval interval = {{0, 10000}, {0, 10000}}, now;
    signal(SIGPROF, count);
    printf("setitimer %d\n", setitimer(ITIMER_PROF, &interval, NULL));
    int is_enough = work_until_seen(15);
    getitimer(ITIMER_PROF, &now);
    printf("interval %ld enough %d\n", (long)now.it_interval.tv_usec, is_enough);
}

static void posix_timer(void)
{
    struct sigevent event;
    struct itimerspec interval = {{0, 10000000}, {0, 10000000}};
    timer_t timer;
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGPROF;
    signal(SIGPROF, count);
    printf("timer_create %d\n", timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer));
    printf("timer_settime %d\n", timer_settime(timer, 0, &interval, NULL));
    printf("enough %d\n", work_until_seen(15));
}

static void trap_info(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = count_info;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < 3; i++) {
        work(50000);
#if defined(__x86_64__)
        __asm__ volatile("int3");
#else
        raise(SIGTRAP);
#endif
        printf("code %d\n", (int)seen_code);
    }
    raise(SIGTRAP);
    printf("code %d seen %d\n", (int)seen_code, (int)seen_count);
}

static sigjmp_buf back;

static void jump_back(int signo)
{
    siglongjmp(back, signo);
}

static void trap_jump(void)
{
    for (volatile int i = 0; i < 3; i++) {
        int signo = sigsetjmp(back, 1);
        if (signo == 0) {
            signal(SIGTRAP, jump_back);
            work(30000);
            raise(SIGTRAP);
        }
        printf("came back by %d\n", signo);
    }
    work(80000);
}

static void trap_once(void)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGTRAP, &action, NULL);
    raise(SIGTRAP);
    work(80000);
    sigaction(SIGTRAP, NULL, &action);
    printf("seen %d default again %d\n", (int)seen_count, action.sa_handler == SIG_DFL);
}

static volatile int is_over;

static void *keep_busy(void *unused)
{
    while (!is_over)
        work(1000);
    return unused;
}

static void waits_for_all(void)
{
    sigset_t all;
    struct timespec span = {0, 60000000};
    siginfo_t info;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    pthread_create(&thread, NULL, keep_busy, NULL);
    for (int i = 0; i < 3; i++) {
        work(20000);
        printf("nothing %d\n", sigtimedwait(&all, &info, &span) == -1 && errno == EAGAIN);
    }
    static const int signals[] = {SIGPROF, SIGTRAP, SIGVTALRM, SIGUSR1};
    for (int i = 0; i < 4; i++) {
        union sigval value = {.sival_int = 40 + i};
        sigqueue(getpid(), signals[i], value);
        int got = sigtimedwait(&all, &info, &span);
        printf("got %d value %d\n", got, got > 0 ? info.si_value.sival_int : -1);
    }
    is_over = 1;
    pthread_join(thread, NULL);
}

static void reads_signals(void)
{
    sigset_t some;
    struct signalfd_siginfo info;
    sigemptyset(&some);
    sigaddset(&some, SIGPROF);
    sigaddset(&some, SIGUSR1);
    sigprocmask(SIG_BLOCK, &some, NULL);
    int fd = signalfd(-1, &some, SFD_NONBLOCK);
    work(80000);
    printf("nothing %d\n", read(fd, &info, sizeof info) == -1 && errno == EAGAIN);
    static const int signals[] = {SIGPROF, SIGUSR1};
    for (int i = 0; i < 2; i++) {
        kill(getpid(), signals[i]);
        printf("got %d\n", read(fd, &info, sizeof info) > 0 ? (int)info.ssi_signo : -1);
    }
}

static void alternate_stack(void)
{
    static char stack[1 << 16];
    stack_t mine = {.ss_sp = stack, .ss_size = sizeof stack}, now;
    sigaltstack(NULL, &now);
    printf("none before %d\n", now.ss_flags == SS_DISABLE);
    sigaltstack(&mine, NULL);
    work(80000);
    sigaltstack(NULL, &now);
    printf("still mine %d\n", now.ss_sp == (void *)stack && now.ss_size == sizeof stack);
    for (size_t i = 0; i < 2048; i++)
        if (stack[i] != 0)
            printf("the low end of it was written to\n"), exit(1);
}

static void trap_default(void) { work(80000), raise(SIGTRAP); }
static void vtalrm_default(void) { work(80000), raise(SIGVTALRM); }
static void prof_default(void) { work(80000), raise(SIGPROF); }
static void term_default(void) { work(80000), kill(getpid(), SIGTERM); }

static void breakpoint(void)
{
    work(80000);
    __builtin_trap();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"prof_handler", prof_handler}, {"trap_handler", trap_handler}, {"vtalrm_handler", vtalrm_handler}, {"prof_ignored", prof_ignored},
    {"ignored", ignored}, {"all_blocked", all_blocked}, {"thread_mask", thread_mask}, 
    {"interval_timer", interval_timer}, {"posix_timer", posix_timer}, {"trap_info", trap_info},
    {"trap_jump", trap_jump}, {"trap_once", trap_once}, {"waits_for_all", waits_for_all}, {"reads_signals", reads_signals},
    {"alternate_stack", alternate_stack}, {"trap_default", trap_default}, {"vtalrm_default", vtalrm_default},
    {"prof_default", prof_default}, {"term_default", term_default}, {"breakpoint", breakpoint},
};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            return 0;
        }
    return 2;
}
