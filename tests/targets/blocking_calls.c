/* blocking_calls.c -- truth: calls that wait answer as they always do; each prints `name result errno`, where what would vary is left out
 *
 * A call ends by its own timeout or because the other thread does what it waits for.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>

#define WAIT_NS 3000000L

static struct timespec relative = {0, WAIT_NS};
static struct timespec in_future(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    time.tv_nsec += WAIT_NS;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

/* The other thread: what it does a moment later, to the thread that waits. */
static void (*deed)(void);
static pthread_t waiter;
static void *do_later(void *unused)
{
    nanosleep(&relative, NULL);
    deed();
    return unused;
}
static pthread_t later(void (*what)(void))
{
    pthread_t thread;
    deed = what;
    waiter = pthread_self();
    pthread_create(&thread, NULL, do_later, NULL);
    return thread;
}

static int ends[2], sockets[2], event, file;
static char buffer[1 << 16];
static struct iovec vector = {buffer, 8};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int sysv_semaphore, sysv_queue, word = 1;
static sigset_t usr1;
static struct pollfd never;
static struct { long type; char text[8]; } message = {1, "text"};
static void note(int number) { (void)number; }
static void fill_pipe(void) { fcntl(ends[1], F_SETFL, O_NONBLOCK); while (write(ends[1], buffer, 4096) > 0); fcntl(ends[1], F_SETFL, 0); }
static void empty_pipe(void) { fcntl(ends[0], F_SETFL, O_NONBLOCK); while (read(ends[0], buffer, sizeof buffer) > 0); fcntl(ends[0], F_SETFL, 0); }
static void put_byte(void) { if (write(ends[1], "x", 1) != 1) abort(); }
static void put_event(void) { uint64_t one = 1; if (write(event, &one, 8) != 8) abort(); }
static void send_byte(void) { send(sockets[1], "x", 1, 0); }
static void signal_it(void) { pthread_kill(waiter, SIGUSR1); }
static int has_slept; /* atomic */
static void signal_on(void) /* the first may come before it sleeps */
{
    while (!__atomic_load_n(&has_slept, __ATOMIC_ACQUIRE)) {
        signal_it();
        nanosleep(&relative, NULL);
    }
}
static void unlock(void) { pthread_mutex_unlock(&mutex); }
static void post(void) { sem_post(&semaphore); }
static void wake(void) { pthread_mutex_lock(&mutex); pthread_cond_signal(&condition); pthread_mutex_unlock(&mutex); }
static void cross(void) { pthread_barrier_wait(&barrier); }
static void nothing(void) {}
static void raise_semaphore(void) { semop(sysv_semaphore, &(struct sembuf){0, 1, 0}, 1); }
static void send_message(void) { msgsnd(sysv_queue, &message, 5, 0); }
static pid_t child_that_sleeps(void) { pid_t child = fork(); if (child == 0) { nanosleep(&relative, NULL); _exit(7); } return child; }

/* Runs what comes behind with the deed under way. */
#define DURING(what, ...) pthread_t other = later(what); long answer = (__VA_ARGS__); int error = errno; pthread_join(other, NULL); errno = error; return answer

#define CALL(name, ...) static long name(void) { __VA_ARGS__; }
CALL(c_nanosleep, return nanosleep(&relative, NULL))
CALL(c_usleep, return usleep(3000))
CALL(c_clock_nanosleep, return clock_nanosleep(CLOCK_MONOTONIC, 0, &relative, NULL))
CALL(c_clock_nanosleep_until, struct timespec at = in_future(CLOCK_REALTIME); return clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL))
CALL(c_poll, return poll(&never, 1, 3))
CALL(c_poll_nothing, return poll(NULL, 0, 3))
CALL(c_ppoll, return ppoll(&never, 1, &relative, NULL))
CALL(c_select, struct timeval time = {0, 3000}; return select(0, NULL, NULL, NULL, &time))
CALL(c_pselect, return pselect(0, NULL, NULL, NULL, &relative, NULL))
CALL(c_epoll_wait, struct epoll_event found; int epoll = epoll_create1(0); long n = epoll_wait(epoll, &found, 1, 3); close(epoll); return n)
CALL(c_epoll_pwait, struct epoll_event found; int epoll = epoll_create1(0); long n = epoll_pwait(epoll, &found, 1, 3, NULL); close(epoll); return n)
CALL(c_futex, return syscall(SYS_futex, &word, FUTEX_WAIT, 1, &relative, NULL, 0))
CALL(c_futex_bitset, struct timespec at = in_future(CLOCK_MONOTONIC); return syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 1, &at, NULL, -1))
CALL(c_sem_timedwait, struct timespec at = in_future(CLOCK_REALTIME); return sem_timedwait(&semaphore, &at))
CALL(c_cond_timedwait, struct timespec at = in_future(CLOCK_REALTIME); pthread_mutex_lock(&mutex); long n = pthread_cond_timedwait(&condition, &mutex, &at); unlock(); return n)
CALL(c_mutex_timedlock, struct timespec at = in_future(CLOCK_REALTIME); pthread_mutex_lock(&mutex); long n = pthread_mutex_timedlock(&mutex, &at); unlock(); return n)
CALL(c_rwlock_timedwrlock, struct timespec at = in_future(CLOCK_REALTIME); pthread_rwlock_rdlock(&rwlock); long n = pthread_rwlock_timedwrlock(&rwlock, &at); pthread_rwlock_unlock(&rwlock); return n)
CALL(c_sigtimedwait, return sigtimedwait(&usr1, NULL, &relative))
CALL(c_semtimedop, return semtimedop(sysv_semaphore, &(struct sembuf){0, -1, 0}, 1, &relative))
CALL(c_mq_timedreceive, struct mq_attr a = {.mq_maxmsg = 1, .mq_msgsize = 8}; mqd_t q = mq_open("/blocking_calls", O_CREAT | O_RDWR, 0600, &a); struct timespec at = in_future(CLOCK_REALTIME);
     long n = mq_timedreceive(q, buffer, 8, NULL, &at); int error = errno; mq_close(q); mq_unlink("/blocking_calls"); errno = error; return n)
CALL(c_recv_timeout, struct timeval time = {0, 3000}; setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time); long n = recv(sockets[0], buffer, 1, 0); int error = errno;
     setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0, 0}, sizeof time); errno = error; return n)
CALL(c_recvmmsg_timeout, struct mmsghdr h = {.msg_hdr = {.msg_iov = &vector, .msg_iovlen = 1}}; struct timespec left = relative; DURING(send_byte, recvmmsg(sockets[0], &h, 1, 0, &left)))
CALL(c_timerfd, int timer = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec at = {.it_value = relative}; timerfd_settime(timer, 0, &at, NULL); long n = read(timer, buffer, 8); close(timer); return n)
CALL(c_read_pipe, DURING(put_byte, read(ends[0], buffer, 8)))
CALL(c_readv_pipe, DURING(put_byte, readv(ends[0], &vector, 1)))
CALL(c_write_pipe, fill_pipe(); DURING(empty_pipe, write(ends[1], buffer, 4096)))
CALL(c_writev_pipe, fill_pipe(); DURING(empty_pipe, writev(ends[1], &vector, 1)))
CALL(c_splice, int to[2]; if (pipe(to)) return -2; DURING(put_byte, splice(ends[0], NULL, to[1], NULL, 8, 0)))
CALL(c_tee, int to[2]; if (pipe(to)) return -2; empty_pipe(); DURING(put_byte, tee(ends[0], to[1], 8, 0)))
CALL(c_sendfile, empty_pipe(); fill_pipe(); lseek(file, 0, SEEK_SET); DURING(empty_pipe, sendfile(ends[1], file, NULL, 100)))
CALL(c_poll_pipe, empty_pipe(); struct pollfd pipe_end = {ends[0], POLLIN, 0}; DURING(put_byte, poll(&pipe_end, 1, -1)))
CALL(c_select_pipe, empty_pipe(); fd_set set; FD_ZERO(&set); FD_SET(ends[0], &set); DURING(put_byte, select(ends[0] + 1, &set, NULL, NULL, NULL)))
CALL(c_epoll_event, int epoll = epoll_create1(0); struct epoll_event want = {.events = EPOLLIN}; epoll_ctl(epoll, EPOLL_CTL_ADD, event, &want); DURING(put_event, epoll_wait(epoll, &want, 1, -1)))
CALL(c_read_event, uint64_t drained; if (read(event, &drained, 8) != 8) return -2; DURING(put_event, read(event, buffer, 8)))
CALL(c_recv, DURING(send_byte, recv(sockets[0], buffer, 8, 0)))
CALL(c_recv_all, DURING(send_byte, recv(sockets[0], buffer, 1, MSG_WAITALL)))
CALL(c_recvfrom, DURING(send_byte, recvfrom(sockets[0], buffer, 8, 0, NULL, NULL)))
CALL(c_recvmsg, struct msghdr h = {.msg_iov = &vector, .msg_iovlen = 1}; DURING(send_byte, recvmsg(sockets[0], &h, 0)))
CALL(c_read_socket, DURING(send_byte, read(sockets[0], buffer, 8)))
CALL(c_accept, int listener = socket(AF_UNIX, SOCK_STREAM, 0); struct sockaddr_un name = {.sun_family = AF_UNIX}; bind(listener, (void *)&name, sizeof(sa_family_t)); listen(listener, 1);
     struct timeval time = {0, 3000}; setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time); return accept(listener, NULL, NULL))
CALL(c_sem_wait, DURING(post, sem_wait(&semaphore)))
CALL(c_cond_wait, pthread_mutex_lock(&mutex); DURING(wake, (pthread_cond_wait(&condition, &mutex), pthread_mutex_unlock(&mutex))))
CALL(c_mutex_lock, pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&slow); struct timespec at = in_future(CLOCK_REALTIME); return pthread_mutex_timedlock(&slow, &at))
CALL(c_barrier, pthread_barrier_init(&barrier, NULL, 2); pthread_t other = later(cross); pthread_barrier_wait(&barrier); pthread_join(other, NULL); return 0)
CALL(c_join, return pthread_join(later(nothing), NULL))
CALL(c_sigwaitinfo, DURING(signal_it, sigwaitinfo(&usr1, NULL)))
CALL(c_sigwait, int number; DURING(signal_it, sigwait(&usr1, &number)))
CALL(c_sigsuspend, sigset_t none; sigemptyset(&none); DURING(signal_it, sigsuspend(&none)))
CALL(c_interrupted_sleep, has_slept = 0; pthread_sigmask(SIG_UNBLOCK, &usr1, NULL); struct timespec second = {1, 0}; pthread_t other = later(signal_on); long n = nanosleep(&second, NULL); int error = errno;
     __atomic_store_n(&has_slept, 1, __ATOMIC_RELEASE); pthread_join(other, NULL); pthread_sigmask(SIG_BLOCK, &usr1, NULL); errno = error; return n)
CALL(c_signalfd, int fd = signalfd(-1, &usr1, 0); DURING(signal_it, read(fd, buffer, sizeof(struct signalfd_siginfo))))
CALL(c_semop, DURING(raise_semaphore, semop(sysv_semaphore, &(struct sembuf){0, -1, 0}, 1)))
CALL(c_msgrcv, DURING(send_message, msgrcv(sysv_queue, &message, 8, 0, 0)))
CALL(c_waitpid, int status; waitpid(child_that_sleeps(), &status, 0); return WEXITSTATUS(status))
CALL(c_wait4, int status; wait4(child_that_sleeps(), &status, 0, NULL); return WEXITSTATUS(status))
CALL(c_waitid, siginfo_t info; waitid(P_PID, (id_t)child_that_sleeps(), &info, WEXITED); return info.si_status)
CALL(c_system, return system("exec sleep 0.003"))
CALL(c_vfork, int status; pid_t child = vfork(); if (child == 0) { nanosleep(&relative, NULL); _exit(3); } waitpid(child, &status, 0); return WEXITSTATUS(status))
CALL(c_flock, if (fork() == 0) { int mine = open("/proc/self/fd/0", O_RDONLY); (void)mine; flock(file, LOCK_EX); nanosleep(&relative, NULL); _exit(0); } nanosleep(&relative, NULL);
     long n = flock(file, LOCK_EX); flock(file, LOCK_UN); wait(NULL); return n)
CALL(c_fsync, return write(file, buffer, 4096) == 4096 ? fsync(file) : -2)
CALL(c_inotify, int fd = inotify_init(); struct pollfd it = {fd, POLLIN, 0}; long n = poll(&it, 1, 3); close(fd); return n)

#define NAMED(name) {#name, name}
static const struct { const char *name; long (*call)(void); } calls[] = {
    NAMED(c_nanosleep), NAMED(c_usleep), NAMED(c_clock_nanosleep), NAMED(c_clock_nanosleep_until), NAMED(c_poll), NAMED(c_poll_nothing), NAMED(c_ppoll), NAMED(c_select),
    NAMED(c_pselect), NAMED(c_epoll_wait), NAMED(c_epoll_pwait), NAMED(c_futex), NAMED(c_futex_bitset), NAMED(c_sem_timedwait), NAMED(c_cond_timedwait), NAMED(c_mutex_timedlock),
    NAMED(c_rwlock_timedwrlock), NAMED(c_sigtimedwait), NAMED(c_semtimedop), NAMED(c_mq_timedreceive), NAMED(c_recv_timeout), NAMED(c_recvmmsg_timeout), NAMED(c_timerfd),
    NAMED(c_read_pipe), NAMED(c_readv_pipe), NAMED(c_write_pipe), NAMED(c_writev_pipe), NAMED(c_splice), NAMED(c_tee), NAMED(c_sendfile), NAMED(c_poll_pipe), NAMED(c_select_pipe),
    NAMED(c_epoll_event), NAMED(c_read_event), NAMED(c_recv), NAMED(c_recv_all), NAMED(c_recvfrom), NAMED(c_recvmsg), NAMED(c_read_socket), NAMED(c_accept), NAMED(c_sem_wait),
    NAMED(c_cond_wait), NAMED(c_mutex_lock), NAMED(c_barrier), NAMED(c_join), NAMED(c_sigwaitinfo), NAMED(c_sigwait), NAMED(c_sigsuspend), NAMED(c_interrupted_sleep), NAMED(c_signalfd),
    NAMED(c_semop), NAMED(c_msgrcv), NAMED(c_waitpid), NAMED(c_wait4), NAMED(c_waitid), NAMED(c_system), NAMED(c_vfork), NAMED(c_flock), NAMED(c_fsync), NAMED(c_inotify)};

int main(void)
{
    char name[] = "blocking_calls.XXXXXX";
    file = mkstemp(name);
    unlink(name);
    event = eventfd(0, 0);
    if (file < 0 || event < 0 || pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0 || write(file, buffer, 8192) != 8192)
        return 1;
    never = (struct pollfd){ends[0], POLLIN, 0};
    sem_init(&semaphore, 0, 0);
    sysv_semaphore = semget(IPC_PRIVATE, 1, 0600);
    sysv_queue = msgget(IPC_PRIVATE, 0600);
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    signal(SIGUSR1, note);
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    for (size_t round = 0; round < 3; round++)
        for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
            empty_pipe(); /* of what the call before may have left */
            errno = 0;
            long answer = calls[i].call();
            printf("%s %ld %d\n", calls[i].name, answer, answer < 0 ? errno : 0);
        }
    semctl(sysv_semaphore, 0, IPC_RMID);
    msgctl(sysv_queue, IPC_RMID, NULL);
}
