/*
 * waiting.c -- a thread for each way to wait, and where each of them waits
 *
 * For each thread, and for main at last, prints a line: its id, the name of its wait, and the return addresses from the function that waits to the start of the thread,
 * as the compiler's unwinder sees them just before. It ends when its standard input does, and leaves a
 * file of the name "fifo" in its working directory.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { MOST_FRAMES = 2000, LINE_BYTES = 20 * MOST_FRAMES };

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_rwlock_t lock;
    pthread_barrier_t barrier;
    sem_t semaphore;
    int pipe[2], locked_file;
    pid_t child;
    pthread_t sleeper;
} self;

/* Not inlined: the first frame is its own, the second its caller's. */
static __attribute__((noinline)) void tell(const char *name)
{
    static __thread void *frames[MOST_FRAMES];
    static __thread char line[LINE_BYTES];
    int count = backtrace(frames, MOST_FRAMES), at = 0;
    at += snprintf(line, sizeof line, "%ld %s", syscall(SYS_gettid), name);
    for (int i = 2; i < count; i++)
        at += snprintf(line + at, sizeof line - (size_t)at, " %lx", (unsigned long)frames[i]);
    line[at++] = '\n';
    if (write(STDOUT_FILENO, line, (size_t)at) != at)
        abort();
}

#define WAIT(name, ...)                                                 \
    static __attribute__((noinline)) void wait_##name(void)             \
    {                                                                   \
        tell(#name);                                                    \
        __VA_ARGS__;                                                    \
        abort(); /* no tail call, and nothing here ever comes back */   \
    }

static const struct timespec long_time = {100000, 0};
static struct timespec far_off(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += 100000;
    return now;
}

WAIT(nanosleep, nanosleep(&long_time, NULL))
WAIT(clock_nanosleep, clock_nanosleep(CLOCK_MONOTONIC, 0, &long_time, NULL))
WAIT(sleep, sleep(100000))
WAIT(usleep, for (;;) usleep(999999999))
WAIT(mutex, pthread_mutex_lock(&self.mutex))
WAIT(mutex_timed, struct timespec until = far_off(); pthread_mutex_timedlock(&self.mutex, &until))
WAIT(condition, static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&own); pthread_cond_wait(&self.condition, &own))
WAIT(condition_timed, static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER; struct timespec until = far_off(); pthread_mutex_lock(&own); pthread_cond_timedwait(&self.condition, &own, &until))
WAIT(rwlock, pthread_rwlock_rdlock(&self.lock))
WAIT(barrier, pthread_barrier_wait(&self.barrier))
WAIT(semaphore, sem_wait(&self.semaphore))
WAIT(semaphore_timed, struct timespec until = far_off(); sem_timedwait(&self.semaphore, &until))
WAIT(join, pthread_join(self.sleeper, NULL))
WAIT(poll, struct pollfd one = {self.pipe[0], POLLIN, 0}; poll(&one, 1, -1))
WAIT(ppoll, struct pollfd one = {self.pipe[0], POLLIN, 0}; ppoll(&one, 1, &long_time, NULL))
WAIT(select, fd_set set; FD_ZERO(&set); FD_SET(self.pipe[0], &set); select(self.pipe[0] + 1, &set, NULL, NULL, NULL))
WAIT(pselect, fd_set set; FD_ZERO(&set); FD_SET(self.pipe[0], &set); pselect(self.pipe[0] + 1, &set, NULL, NULL, &long_time, NULL))
WAIT(epoll, struct epoll_event event; epoll_wait(epoll_create1(0), &event, 1, -1))
WAIT(epoll_masked, struct epoll_event event; sigset_t none; sigemptyset(&none); epoll_pwait(epoll_create1(0), &event, 1, -1, &none))
WAIT(read, char byte; if (read(self.pipe[0], &byte, 1)) abort())
WAIT(readv, char byte; struct iovec part = {&byte, 1}; if (readv(self.pipe[0], &part, 1)) abort())
WAIT(fgets, char line[64]; FILE *file = fdopen(dup(self.pipe[0]), "r"); if (fgets(line, sizeof line, file)) abort())
WAIT(getline, char *line = NULL; size_t room = 0; FILE *file = fdopen(dup(self.pipe[0]), "r"); if (getline(&line, &room, file)) abort())
WAIT(fscanf, int number; FILE *file = fdopen(dup(self.pipe[0]), "r"); if (fscanf(file, "%d", &number)) abort())
WAIT(write, int ends[2]; static char much[1 << 20]; if (pipe(ends) || write(ends[1], much, sizeof much)) abort())
WAIT(fwrite, int ends[2]; static char much[1 << 20]; if (pipe(ends) || fwrite(much, 1, sizeof much, fdopen(ends[1], "w"))) abort())
WAIT(eventfd, uint64_t count; if (read(eventfd(0, 0), &count, sizeof count)) abort())
WAIT(timerfd, uint64_t count; int timer = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec at = {{0, 0}, {100000, 0}}; timerfd_settime(timer, 0, &at, NULL); if (read(timer, &count, sizeof count)) abort())
WAIT(inotify, char event[4096]; int fd = (int)syscall(SYS_inotify_init1, 0); if (read(fd, event, sizeof event)) abort())
WAIT(fifo, mkfifo("fifo", 0600); if (open("fifo", O_RDONLY)) abort())

static int listening(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "waiting.%d.%ld", (int)getpid(), syscall(SYS_gettid));
    if (bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 1))
        abort();
    return fd;
}

static int one_of_a_pair(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        abort();
    return ends[0];
}

WAIT(accept, accept(listening(), NULL, NULL))
WAIT(accept4, accept4(listening(), NULL, NULL, SOCK_CLOEXEC))
WAIT(recv, char byte; recv(one_of_a_pair(), &byte, 1, 0))
WAIT(recvfrom, char byte; recvfrom(one_of_a_pair(), &byte, 1, 0, NULL, NULL))
WAIT(recvmsg, char byte; struct iovec part = {&byte, 1}; struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1}; recvmsg(one_of_a_pair(), &message, 0))
WAIT(recvmmsg, char byte; struct iovec part = {&byte, 1}; struct mmsghdr message = {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}}; recvmmsg(one_of_a_pair(), &message, 1, 0, NULL))
WAIT(send, int fd = one_of_a_pair(); static char much[1 << 16]; while (send(fd, much, sizeof much, 0) > 0) continue)
WAIT(connect, int fd = listening(); struct sockaddr_un to; socklen_t bytes = sizeof to; getsockname(fd, (struct sockaddr *)&to, &bytes); for (;;) connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&to, bytes))
WAIT(waitpid, waitpid(self.child, NULL, 0))
WAIT(wait4, wait4(self.child, NULL, 0, NULL))
WAIT(waitid, siginfo_t info; waitid(P_PID, (id_t)self.child, &info, WEXITED | WNOWAIT))
WAIT(system, if (system("exec cat <&3 >/dev/null")) abort())
WAIT(pause, pause())
WAIT(sigsuspend, sigset_t all; sigfillset(&all); sigsuspend(&all))
WAIT(sigwait, sigset_t one; int number; sigemptyset(&one); sigaddset(&one, SIGUSR2); sigwait(&one, &number))
WAIT(sigtimedwait, sigset_t one; sigemptyset(&one); sigaddset(&one, SIGUSR2); sigtimedwait(&one, NULL, &long_time))
WAIT(msgrcv, struct { long kind; char text[8]; } message; msgrcv(msgget(IPC_PRIVATE, 0600), &message, 8, 0, 0))
WAIT(semop, struct sembuf take = {0, -1, 0}; int set = semget(IPC_PRIVATE, 1, 0600); semop(set, &take, 1))
WAIT(semtimedop, struct sembuf take = {0, -1, 0}; int set = semget(IPC_PRIVATE, 1, 0600); semtimedop(set, &take, 1, &long_time))
WAIT(flock, flock(open("/proc/self/exe", O_RDONLY), LOCK_EX))
WAIT(lockf, int fd = dup(self.locked_file); struct flock range = {.l_type = F_WRLCK}; fcntl(fd, F_OFD_SETLKW, &range); int other = open("/dev/null", O_RDWR); (void)other; pause())
WAIT(futex, static int word; syscall(SYS_futex, &word, 0, 0, NULL, NULL, 0))

static int compare(const void *a, const void *b)
{
    (void)a, (void)b;
    sleep(100000);
    return 0;
}
WAIT(qsort, static int numbers[64]; tell("again"); qsort(numbers, 64, sizeof *numbers, compare))

static __attribute__((noinline)) int descend(int depth)
{
    volatile char local[32];
    local[depth % 32] = 1;
    if (depth == 0) {
        tell("recursion");
        pause();
    }
    return descend(depth - 1) + local[depth % 32];
}
WAIT(recursion_from, if (descend(1500)) abort())

static __attribute__((noinline)) void with_large_frame(int bytes)
{
    char local[bytes];
    memset(local, 1, (size_t)bytes);
    __asm__ volatile("" : : "r"(local) : "memory");
    tell("alloca");
    pause();
    __asm__ volatile("" : : "r"(local) : "memory");
}
WAIT(alloca_from, with_large_frame(20000 + (int)(self.child & 1)))

static void on_signal(int number)
{
    (void)number;
    tell("handler");
    pause();
}
WAIT(handler_from, signal(SIGUSR1, on_signal); raise(SIGUSR1))

#define ALL(X)                                                                                                          \
    X(nanosleep) X(clock_nanosleep) X(sleep) X(usleep) X(mutex) X(mutex_timed) X(condition) X(condition_timed)           \
    X(rwlock) X(barrier) X(semaphore) X(semaphore_timed) X(join) X(poll) X(ppoll) X(select) X(pselect) X(epoll)          \
    X(epoll_masked) X(read) X(readv) X(fgets) X(getline) X(fscanf) X(write) X(fwrite) X(eventfd) X(timerfd) X(inotify)   \
    X(fifo) X(accept) X(accept4) X(recv) X(recvfrom) X(recvmsg) X(recvmmsg) X(send) X(connect) X(waitpid) X(wait4)       \
    X(waitid) X(system) X(pause) X(sigsuspend) X(sigwait) X(sigtimedwait) X(msgrcv) X(semop) X(semtimedop) X(flock)      \
    X(lockf) X(futex) X(qsort) X(recursion_from) X(alloca_from) X(handler_from)

#define ENTRY(name) wait_##name,
static void (*const waits[])(void) = {ALL(ENTRY)};

static __attribute__((noinline)) void lower(void (*wait_here)(void))
{
    wait_here();
    abort();
}

static void *thread_main(void *wait_here)
{
    lower(*(void (*const *)(void))wait_here);
    return NULL;
}

static void *sleep_long(void *unused)
{
    (void)unused;
    sleep(100000);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    void *first[4];
    backtrace(first, 4); /* loads what it needs */
    signal(SIGPIPE, SIG_IGN);
    sigset_t later;
    sigemptyset(&later);
    sigaddset(&later, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &later, NULL);
    pthread_mutex_init(&self.mutex, NULL);
    pthread_mutex_lock(&self.mutex);
    pthread_cond_init(&self.condition, NULL);
    pthread_rwlock_init(&self.lock, NULL);
    pthread_rwlock_wrlock(&self.lock);
    pthread_barrier_init(&self.barrier, NULL, 2);
    sem_init(&self.semaphore, 0, 0);
    if ((self.child = fork()) == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep(100000);
        _exit(0);
    }
    if (pipe(self.pipe) || self.pipe[0] != 3 || fcntl(self.pipe[1], F_SETFD, FD_CLOEXEC) ||
        flock(open("/proc/self/exe", O_RDONLY), LOCK_EX))
        return 1;
    pthread_create(&self.sleeper, NULL, sleep_long, NULL);
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        if (pthread_create(&thread, NULL, thread_main, (void *)&waits[i]))
            return 1;
    tell("main");
    char byte;
    if (read(STDIN_FILENO, &byte, 1) != 0)
        abort();
    _exit(0);
}
