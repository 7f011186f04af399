/* waiting.c -- each way to wait for a signal, with each kind of signal that a profiler might want for itself
 *
 * `waiting CASE`; what the signal is, is the case's name. All of it prints what was received and how the call ended.
 */
#include "matrix.h"
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>

static volatile sig_atomic_t seen;
static void count(int signo) { (void)signo; seen++; }
static void idle(int signo) { (void)signo; }

static pthread_t main_thread;
static int wanted;
static void *sends(void *unused)
{
    burn();
    kill(getpid(), wanted);
    return unused;
}

static void *sends_to_main(void *unused)
{
    burn();
    pthread_kill(main_thread, wanted);
    return unused;
}

static pthread_t send_soon(int signo, void *(*how)(void *))
{
    pthread_t thread;
    wanted = signo;
    main_thread = pthread_self();
    pthread_create(&thread, NULL, how, NULL);
    return thread;
}

static sigset_t only(int signo)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signo);
    return set;
}

static sigset_t block(int signo)
{
    sigset_t set = only(signo), old;
    pthread_sigmask(SIG_BLOCK, &set, &old);
    return old;
}

static void by_sigwait(int signo)
{
    sigset_t set = only(signo);
    int got = 0;
    block(signo);
    pthread_t thread = send_soon(signo, sends);
    TELL(sigwait(&set, &got));
    say("got %d", got);
    pthread_join(thread, NULL);
    burn();
}
CASE(sigwait_usr1, 2, "sigwait for SIGUSR1 from another thread") { by_sigwait(SIGUSR1); }
CASE(sigwait_trap, 2, "sigwait for SIGTRAP from another thread") { by_sigwait(SIGTRAP); }
CASE(sigwait_vtalrm, 2, "sigwait for SIGVTALRM from another thread") { by_sigwait(SIGVTALRM); }
CASE(sigwait_prof, 2, "sigwait for SIGPROF from another thread") { by_sigwait(SIGPROF); }
CASE(sigwait_rtmin, 2, "sigwait for SIGRTMIN from another thread") { by_sigwait(SIGRTMIN); }

static void by_sigwaitinfo(int signo)
{
    sigset_t set = only(signo);
    siginfo_t info = {0};
    block(signo);
    sigqueue(getpid(), signo, (union sigval){.sival_int = 77});
    burn();
    TELL(sigwaitinfo(&set, &info));
    say("code %d value %d mine %d", info.si_code, info.si_value.sival_int, info.si_pid == getpid());
    TELL(sigtimedwait(&set, &info, &(struct timespec){0, 1000000}));
}
CASE(sigwaitinfo_usr1, 1, "sigwaitinfo with a queued value of SIGUSR1") { by_sigwaitinfo(SIGUSR1); }
CASE(sigwaitinfo_trap, 1, "sigwaitinfo with a queued value of SIGTRAP") { by_sigwaitinfo(SIGTRAP); }
CASE(sigwaitinfo_vtalrm, 1, "sigwaitinfo with a queued value of SIGVTALRM") { by_sigwaitinfo(SIGVTALRM); }

static void by_sigsuspend(int signo)
{
    sigset_t old = block(signo);
    signal(signo, count);
    pthread_t thread = send_soon(signo, sends_to_main);
    sigdelset(&old, signo);
    TELL(sigsuspend(&old));
    say("seen %d", (int)seen);
    sigpending(&old);
    say("pending %d", sigismember(&old, signo));
    pthread_join(thread, NULL);
}
CASE(sigsuspend_usr1, 1, "sigsuspend until SIGUSR1") { by_sigsuspend(SIGUSR1); }
CASE(sigsuspend_trap, 1, "sigsuspend until SIGTRAP") { by_sigsuspend(SIGTRAP); }
CASE(sigsuspend_vtalrm, 1, "sigsuspend until SIGVTALRM") { by_sigsuspend(SIGVTALRM); }
CASE(sigsuspend_prof, 1, "sigsuspend until SIGPROF") { by_sigsuspend(SIGPROF); }

static void by_pause(int signo)
{
    signal(signo, count);
    pid_t me = getpid(), pid = fork();
    if (pid == 0) {
        burn();
        while (kill(me, 0) == 0 && seen == 0) {
            kill(me, signo);
            usleep(20000);
        }
        _exit(0);
    }
    while (!seen)
        pause();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    say("seen");
}
CASE(pause_usr2, 1, "pause until SIGUSR2 from a child") { by_pause(SIGUSR2); }
CASE(pause_trap, 1, "pause until SIGTRAP from a child") { by_pause(SIGTRAP); }
CASE(pause_vtalrm, 1, "pause until SIGVTALRM from a child") { by_pause(SIGVTALRM); }

static void by_signalfd(int signo)
{
    sigset_t set = only(signo);
    struct signalfd_siginfo info;
    block(signo);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    pthread_t thread = send_soon(signo, sends);
    struct pollfd poll_for = {fd, POLLIN, 0};
    TELL(poll(&poll_for, 1, 3000));
    TELL(read(fd, &info, sizeof info));
    say("signal %u", info.ssi_signo);
    pthread_join(thread, NULL);
}
CASE(signalfd_usr1, 1, "poll and read a signalfd for SIGUSR1") { by_signalfd(SIGUSR1); }
NATURE(signalfd_trap, stdout, "Sent by another process, a SIGTRAP or SIGVTALRM that is blocked ends one poll or sleep of the main thread early, with EINTR.")
CASE(signalfd_trap, 1, "poll and read a signalfd for SIGTRAP") { by_signalfd(SIGTRAP); }
NATURE(signalfd_vtalrm, stdout, "Sent by another process, a SIGTRAP or SIGVTALRM that is blocked ends one poll or sleep of the main thread early, with EINTR.")
CASE(signalfd_vtalrm, 1, "poll and read a signalfd for SIGVTALRM") { by_signalfd(SIGVTALRM); }

static void by_masked_wait(int signo, int which)
{
    sigset_t old = block(signo);
    struct timespec limit = {1, 0};
    signal(signo, count);
    raise(signo);
    burn();
    say("seen before %d", (int)seen);
    sigdelset(&old, signo);
    if (which == 0)
        TELL(ppoll(NULL, 0, &limit, &old));
    else if (which == 1)
        TELL(pselect(0, NULL, NULL, NULL, &limit, &old));
    else
        TELL(epoll_pwait(epoll_create1(0), &(struct epoll_event){0}, 1, 1000, &old));
    say("seen after %d", (int)seen);
    pthread_sigmask(SIG_BLOCK, NULL, &old);
    say("blocked again %d", sigismember(&old, signo));
}
CASE(ppoll_usr1, 1, "ppoll lets SIGUSR1 in") { by_masked_wait(SIGUSR1, 0); }
CASE(ppoll_trap, 1, "ppoll lets SIGTRAP in") { by_masked_wait(SIGTRAP, 0); }
CASE(ppoll_vtalrm, 1, "ppoll lets SIGVTALRM in") { by_masked_wait(SIGVTALRM, 0); }
CASE(pselect_trap, 1, "pselect lets SIGTRAP in") { by_masked_wait(SIGTRAP, 1); }
CASE(pselect_vtalrm, 1, "pselect lets SIGVTALRM in") { by_masked_wait(SIGVTALRM, 1); }
CASE(epoll_pwait_trap, 1, "epoll_pwait lets SIGTRAP in") { by_masked_wait(SIGTRAP, 2); }
CASE(epoll_pwait_vtalrm, 1, "epoll_pwait lets SIGVTALRM in") { by_masked_wait(SIGVTALRM, 2); }

/* Each one ends a wait of its own: one that ends without its signal leaves it to the next. */
static void *answers_always(void *request)
{
    char byte;
    block(wanted);
    while (read(*(int *)request, &byte, 1) == 1)
        kill(getpid(), wanted);
    return NULL;
}

static void by_many_waits(int signo)
{
    int request[2], rounds = 40000, unanswered = 0;
    struct sigaction action = {.sa_handler = count};
    struct timespec limit = {30, 0};
    pthread_t thread;
    TELL(sigaction(signo, &action, NULL));
    sigset_t old = block(signo);
    TELL(pipe(request));
    wanted = signo;
    pthread_create(&thread, NULL, answers_always, &request[0]);
    for (int i = 1; i <= rounds; i++) {
        if (write(request[1], "", 1) == 1 && pselect(0, NULL, NULL, NULL, &limit, &old) == -1 && seen == i)
            continue;
        unanswered++;
        while (seen < i && pselect(0, NULL, NULL, NULL, &limit, &old) == -1)
            continue;
    }
    close(request[1]);
    pthread_join(thread, NULL);
    say("%d of %d without its signal", unanswered, rounds);
}
CASE(pselect_often_trap, 0, "pselect lets SIGTRAP in, 40000 times") { by_many_waits(SIGTRAP); }
CASE(pselect_often_vtalrm, 0, "pselect lets SIGVTALRM in, 40000 times") { by_many_waits(SIGVTALRM); }

CASE(sigtimedwait_nothing, 1, "sigtimedwait for all signals while a thread works: none comes")
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    pthread_t thread = send_soon(0, sends);
    TELL(sigtimedwait(&all, NULL, &(struct timespec){0, 60000000}));
    pthread_join(thread, NULL);
}

NATURE(sigwait_all, stdout, "A real-time signal stands for a blocked SIGTRAP: of several that wait, it is taken after those of lower numbers.")
CASE(sigwait_all, 2, "a thread that takes every signal by sigwait, as servers do")
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    static const int signals[] = {SIGUSR1, SIGTRAP, SIGVTALRM, SIGPROF, SIGTERM, SIGCHLD};
    burn();
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++)
        kill(getpid(), signals[i]);
    burn();
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        siginfo_t info;
        say("took %d", sigtimedwait(&all, &info, &(struct timespec){2, 0}));
    }
    TELL(sigtimedwait(&all, NULL, &(struct timespec){0, 1000000}));
}

CASE(read_interrupted, 1, "read of a pipe is interrupted by SIGTRAP, once")
{
    int ends[2];
    char byte;
    struct sigaction action = {.sa_handler = idle};
    sigaction(SIGTRAP, &action, NULL);
    if (pipe(ends))
        return;
    burn();
    pid_t me = getpid(), pid = fork();
    if (pid == 0) {
        usleep(100000);
        kill(me, SIGTRAP);
        usleep(100000);
        if (write(ends[1], "x", 1) != 1)
            _exit(1);
        _exit(0);
    }
    TELL(read(ends[0], &byte, 1));
    TELL(read(ends[0], &byte, 1));
    say_end(pid);
}

/* ---- a signal that the kernel sends to a process; its code is a number that other signals have for something else ---- */

static void *take_one(void *set)
{
    siginfo_t info = {0};
    int got = sigtimedwait(set, &info, &(struct timespec){5, 0});
    say("took %d code %d", got, got > 0 ? info.si_code : 0);
    return NULL;
}

static void take_in_thread(int signo, pid_t (*send)(int signo))
{
    sigset_t set;
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, signo);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, take_one, &set);
    pid_t pid = send(signo);
    burn();
    pthread_join(thread, NULL);
    int status = 0;
    TELL(waitpid(pid, &status, __WALL) == pid);
    say_status("child", status);
}

static pid_t end_with(int signo)
{
    pid_t pid = (pid_t)syscall(SYS_clone, signo, 0, 0, 0, 0);
    if (pid == 0) {
        usleep(20000);
        _exit(3);
    }
    return pid;
}

static pid_t write_to_told(int signo)
{
    int ends[2];
    if (pipe(ends))
        _exit(1);
    fcntl(ends[0], F_SETOWN, getpid());
    fcntl(ends[0], F_SETSIG, signo);
    fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
    pid_t pid = fork();
    if (pid == 0) {
        usleep(20000);
        if (write(ends[1], "x", 1) != 1)
            _exit(1);
        _exit(0);
    }
    return pid;
}

CASE(child_ends_usr1, 1, "a child that ends with SIGUSR1 as its signal, which another thread takes") { take_in_thread(SIGUSR1, end_with); }
CASE(child_ends_trap, 1, "a child that ends with SIGTRAP as its signal, which another thread takes") { take_in_thread(SIGTRAP, end_with); }
CASE(child_ends_vtalrm, 1, "a child that ends with SIGVTALRM as its signal, which another thread takes") { take_in_thread(SIGVTALRM, end_with); }
CASE(file_tells_trap, 1, "a pipe tells by SIGTRAP (F_SETSIG), which another thread takes") { take_in_thread(SIGTRAP, write_to_told); }
CASE(file_tells_vtalrm, 1, "a pipe tells by SIGVTALRM (F_SETSIG), which another thread takes") { take_in_thread(SIGVTALRM, write_to_told); }

static volatile sig_atomic_t told_code, told_count;
static void on_told(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    told_code = info->si_code;
    told_count++;
}

CASE(child_ends_handled, 3, "children that end with SIGTRAP and SIGVTALRM as their signals, and a pipe that tells by SIGVTALRM, with a handler")
{
    struct sigaction action = {.sa_sigaction = on_told, .sa_flags = SA_SIGINFO | SA_RESTART};
    int signals[] = {SIGTRAP, SIGVTALRM, SIGVTALRM};
    for (int i = 0; i < 3; i++) {
        sigaction(signals[i], &action, NULL);
        pid_t pid = i < 2 ? end_with(signals[i]) : write_to_told(signals[i]);
        burn();
        int status = 0;
        while (waitpid(pid, &status, __WALL) < 0)
            continue;
        say("handled %d code %d", (int)told_count, (int)told_code);
    }
}
