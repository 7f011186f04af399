/* timing.c -- timers, sleeps and calls that a signal would interrupt: none is, and all come when they should */
#include "matrix.h"
#include <linux/io_uring.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <sys/eventfd.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <linux/futex.h>

static volatile sig_atomic_t ticks;
static void tick(int signo) { (void)signo; ticks++; }
static void on(int signo) { struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART}; sigaction(signo, &action, NULL); }
static void by_itimer(int which, int signo)
{
    struct itimerval timer = {{0, 10000}, {0, 10000}}, left;
    on(signo);
    TELL(setitimer(which, &timer, NULL));
    while (ticks < 5) spin(10000);
    getitimer(which, &left);
    say("interval %ld", (long)left.it_interval.tv_usec);
    timer = (struct itimerval){0};
    setitimer(which, &timer, NULL);
    burn();
    int before = (int)ticks;
    burn();
    say("more after it was stopped: %d", (int)ticks - before);
}
CASE(itimer_real, 2, "setitimer(ITIMER_REAL)") { by_itimer(ITIMER_REAL, SIGALRM); }
CASE(itimer_virtual, 2, "setitimer(ITIMER_VIRTUAL)") { by_itimer(ITIMER_VIRTUAL, SIGVTALRM); }
static volatile int is_over;
static void *wait_for_ten(void *argument)
{
    struct timespec patience = {5, 0};
    int count = 0, missed = 0;
    while (count < 10 && !missed)
        if (sigtimedwait(argument, NULL, &patience) == SIGVTALRM)
            count++;
        else
            missed = errno == EAGAIN;
    say("%d came", count);
    is_over = 1;
    return NULL;
}
CASE(itimer_virtual_sigwait, 0, "a thread with SIGVTALRM blocked uses up ITIMER_VIRTUAL, and another waits for the signal")
{
    struct itimerval timer = {{0, 10000}, {0, 10000}};
    sigset_t set;
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGVTALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_create(&thread, NULL, wait_for_ten, &set);
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
    while (!is_over)
        spin(1000);
    pthread_join(thread, NULL);
}
CASE(itimer_prof, 2, "setitimer(ITIMER_PROF), as other profilers do") { by_itimer(ITIMER_PROF, SIGPROF); }
CASE(itimer_prof_unset, 1, "nobody has set any interval timer") { struct itimerval now; burn(); for (int which = 0; which < 3; which++) { getitimer(which, &now); say("%ld %ld", (long)now.it_interval.tv_usec, (long)now.it_value.tv_usec); } }
static void by_timer(int signo, clockid_t clock)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signo};
    struct itimerspec every = {{0, 8000000}, {0, 8000000}};
    timer_t timer;
    on(signo);
    TELL(timer_create(clock, &event, &timer));
    TELL(timer_settime(timer, 0, &every, NULL));
    while (ticks < 5) spin(10000);
    TELL(timer_delete(timer));
    burn();
    int before = (int)ticks;
    burn();
    say("more after it was deleted: %d", (int)ticks - before);
}
CASE(timer_prof, 2, "timer_create with SIGPROF on the process's CPU clock") { by_timer(SIGPROF, CLOCK_PROCESS_CPUTIME_ID); }
CASE(timer_trap, 2, "timer_create with SIGTRAP on the thread's CPU clock") { by_timer(SIGTRAP, CLOCK_THREAD_CPUTIME_ID); }
CASE(timer_vtalrm, 2, "timer_create with SIGVTALRM on the monotonic clock") { by_timer(SIGVTALRM, CLOCK_MONOTONIC); }
CASE(timer_rtmax, 2, "timer_create with SIGRTMAX on the real clock") { by_timer(SIGRTMAX, CLOCK_REALTIME); }
static void by_thread(union sigval value) { (void)value; ticks++; }
CASE(timer_thread, 2, "timer_create with SIGEV_THREAD")
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = by_thread};
    struct itimerspec once = {{0, 0}, {0, 1000000}};
    timer_t timer;
    TELL(timer_create(CLOCK_MONOTONIC, &event, &timer));
    timer_settime(timer, 0, &once, NULL);
    burn();
    while (!ticks) usleep(1000);
    burn();
    say("ticks %d", (int)ticks);
}
CASE(timer_count, 1, "RLIMIT_SIGPENDING bounds how many timers a program can have, as it would")
{
    struct rlimit limit = {20, 20};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t timer;
    int count = 0;
    burn();
    if (setuid(65533)) exit(77);
    setrlimit(RLIMIT_SIGPENDING, &limit);
    while (count < 100 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0) count++;
    say("timers %d", count);
}
CASE(alarms, 1, "alarm() and what is left of it") { signal(SIGALRM, tick); alarm(10); burn(); say("left %u", alarm(0)); }
static volatile int done;
static void *works(void *unused) { while (!done) spin(10000); return unused; }
static pthread_t worker;
static void start(void) { pthread_create(&worker, NULL, works, NULL); }
static void end(void) { done = 1; pthread_join(worker, NULL); }
CASE(sleeps, 0, "200 sleeps of 1 ms beside a thread that works: none is cut short") { int cut = 0, early = 0; start(); for (int i = 0; i < 200; i++) { struct timespec wish = {0, 1000000}, left = {0}; int64_t from = wall_ns(); cut += nanosleep(&wish, &left) != 0; early += wall_ns() - from < 1000000; } end(); say("cut %d early %d", cut, early); }
CASE(sleeps_own, 0, "100 sleeps of 1 ms of a thread that works between them") { int cut = 0, early = 0; for (int i = 0; i < 100; i++) { struct timespec wish = {0, 1000000}; int64_t from = wall_ns(); spin(1000000); from = wall_ns(); cut += nanosleep(&wish, NULL) != 0; early += wall_ns() - from < 1000000; } say("cut %d early %d", cut, early); }
CASE(polls, 0, "100 poll, select and epoll_wait of 1 ms by a thread that works: none gives EINTR") { int cut = 0, fd = epoll_create1(0); for (int i = 0; i < 100; i++) { spin(500000); cut += poll(NULL, 0, 1) < 0; cut += select(0, NULL, NULL, NULL, &(struct timeval){0, 1000}) < 0; struct epoll_event event; cut += epoll_wait(fd, &event, 1, 1) < 0; } say("cut %d", cut); }
CASE(sigtimedwaits, 0, "50 sigtimedwait of 1 ms by a thread that works: all give EAGAIN") { int other = 0; sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); sigprocmask(SIG_BLOCK, &set, NULL); for (int i = 0; i < 50; i++) { spin(1000000); other += sigtimedwait(&set, NULL, &(struct timespec){0, 1000000}) != -1 || errno != EAGAIN; } say("other %d", other); }
CASE(semaphores, 0, "sem_timedwait, pthread_cond_timedwait and futex by a thread that works: none gives EINTR")
{
    sem_t semaphore;
    int cut = 0, word = 0;
    sem_init(&semaphore, 0, 0);
    for (int i = 0; i < 50; i++) {
        struct timespec until;
        spin(1000000);
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000;
        if (until.tv_nsec >= 1000000000) { until.tv_sec++; until.tv_nsec -= 1000000000; }
        cut += sem_timedwait(&semaphore, &until) == 0 || errno == EINTR;
        cut += syscall(SYS_futex, &word, FUTEX_WAIT, 0, &(struct timespec){0, 1000000}, NULL, 0) == 0 || errno == EINTR;
    }
    say("cut %d", cut);
}
CASE(sockets, 0, "recv with a timeout, accept and connect by a thread that works")
{
    int ends[2], cut = 0;
    char byte;
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 1000}, sizeof(struct timeval));
    for (int i = 0; i < 50; i++) { spin(1000000); cut += recv(ends[0], &byte, 1, 0) >= 0 || errno != EAGAIN; }
    say("cut %d", cut);
}
CASE(timerfds, 1, "timerfd and eventfd") { int fd = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec every = {{0, 2000000}, {0, 2000000}}; uint64_t count, sum = 0; timerfd_settime(fd, 0, &every, NULL); burn(); while (sum < 10) { if (read(fd, &count, 8) != 8) say("cut"); sum += count; } say("enough"); }
CASE(clocks, 1, "CPU clocks of thread and process agree with getrusage, and never go back")
{
    int back = 0;
    int64_t last = 0;
    for (int i = 0; i < 10000; i++) { int64_t now = thread_cpu_ns(); back += now < last; last = now; }
    burn();
    struct timespec process;
    struct rusage usage;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process);
    getrusage(RUSAGE_SELF, &usage);
    int64_t used = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000LL + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000LL;
    int64_t clock = process.tv_sec * 1000000000LL + process.tv_nsec;
    say("back %d, apart by less than 5 ms %d", back, llabs(used - clock) < 5000000);
}
CASE(own_cost, 1, "what the process used before main and in 40 ms of work, by its own clock")
{
    struct timespec process;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &process);
    say("less than 20 ms before main %d", process.tv_sec == 0 && process.tv_nsec < 20000000);
    burn();
}
CASE(ring, 1, "io_uring: a timeout of 20 ms completes as such")
{
    struct io_uring_params how = {0};
    int fd = (int)syscall(SYS_io_uring_setup, 4, &how);
    if (fd < 0) { say("this system has no io_uring"); exit(77); }
    char *queue = mmap(NULL, how.sq_off.array + how.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQ_RING);
    struct io_uring_sqe *entries = mmap(NULL, how.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_SQES);
    char *completions = mmap(NULL, how.cq_off.cqes + how.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED, fd, IORING_OFF_CQ_RING);
    static struct { long long seconds, ns; } wish = {0, 20000000};
    entries[0] = (struct io_uring_sqe){.opcode = IORING_OP_TIMEOUT, .fd = -1, .addr = (uintptr_t)&wish, .len = 1};
    ((unsigned *)(queue + how.sq_off.array))[0] = 0;
    __atomic_store_n((unsigned *)(queue + how.sq_off.tail), 1, __ATOMIC_RELEASE);
    burn();
    TELL(syscall(SYS_io_uring_enter, fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0));
    struct io_uring_cqe *completion = (void *)(completions + how.cq_off.cqes);
    say("result %s", strerrorname_np(-completion->res));
}
