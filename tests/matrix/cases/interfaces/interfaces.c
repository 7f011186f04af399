/* interfaces.c -- interfaces of the kernel that watch, redirect or forbid what a program does, used by the program itself
 *
 * build: -pthread -lrt
 */
#include "matrix.h"
#include <aio.h>
#include <linux/io_uring.h>
#include <linux/landlock.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <linux/filter.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define PR_SYS_DISPATCH_ON 1
#endif

/* As Wine does it: system calls of the program are redirected to its handler while a byte says so. */
static volatile char dispatch_selector;
static volatile int redirected;

static void on_sigsys(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)context;
    dispatch_selector = 0;
    redirected += info->si_code == 2; /* SYS_USER_DISPATCH */
}

CASE(syscall_user_dispatch, 1, "system calls are redirected to its own handler while it computes (PR_SET_SYSCALL_USER_DISPATCH)")
{
    struct sigaction action = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    if (TELL(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &dispatch_selector)) < 0)
        return;
    for (int round = 0; round < 5; round++) {
        dispatch_selector = 1;
        spin(20000000);
        syscall(SYS_getpid);
        dispatch_selector = 0;
    }
    say("redirected %d", redirected);
    burn();
}

CASE(syscall_user_dispatch_always, 0, "the byte stays set for a second of work; only its own call is redirected")
{
    struct sigaction action = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO};
    sigaction(SIGSYS, &action, NULL);
    if (syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &dispatch_selector) < 0)
        return;
    dispatch_selector = 1;
    spin(400000000);
    int before = redirected;
    syscall(SYS_gettid);
    int after = redirected;
    dispatch_selector = 0;
    say("redirected %d, then %d", before, after);
}

static long perf_open(struct perf_event_attr *attr, pid_t pid)
{
    attr->size = sizeof *attr;
    attr->exclude_kernel = 1;
    return syscall(SYS_perf_event_open, attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

CASE(own_counter, 1, "counts its own context switches and task clock by perf_event_open")
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK};
    long fd = perf_open(&attr, 0);
    burn();
    uint64_t value = 0;
    ssize_t count = read((int)fd, &value, sizeof value);
    say("read %zd, counted %d", count, value > 30000000 && value < 80000000);
}

enum { OWN_PAGES = 64, PAGE_BYTES = 4096 };
static volatile int own_signals, page_signals;
static char *own_pages;
static void on_own_trap(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)context;
    own_signals += info->si_code == 6; /* TRAP_PERF */
    page_signals += own_pages && (char *)info->si_addr - own_pages >= 0 && (char *)info->si_addr - own_pages < OWN_PAGES * PAGE_BYTES;
}

static long open_page_faults(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1, .sigtrap = 1, .remove_on_exec = 1, .sig_data = 4711, .sample_type = PERF_SAMPLE_ADDR};
    own_pages = mmap(NULL, OWN_PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return perf_open(&attr, 0);
}

CASE(own_sigtrap_event, 1, "has a perf event of its own that sends SIGTRAP")
{
    struct sigaction action = {.sa_sigaction = on_own_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGTRAP, &action, NULL);
    long fd = open_page_faults();
    say("opened %d", fd >= 0);
    for (int i = 0; i < OWN_PAGES; i++)
        own_pages[i * PAGE_BYTES] = 1;
    say("signals of %d pages", page_signals); /* a handler of the recorder has page faults as well, in the same thread */
    close((int)fd);
    burn();
}

static void touch_own_page(int signo, siginfo_t *info, void *context)
{
    static int next = 1;
    on_own_trap(signo, info, context);
    if (next < OWN_PAGES)
        own_pages[next++ * PAGE_BYTES] = 1; /* its signal waits until this handler has returned */
}

CASE(own_sigtrap_event_nested, 1, "has a perf event of its own whose SIGTRAP comes while it handles the one before")
{
    struct sigaction action = {.sa_sigaction = touch_own_page, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGTRAP, &action, NULL);
    long fd = open_page_faults();
    say("opened %d", fd >= 0);
    own_pages[0] = 1;
    say("signals of most pages %d", page_signals > OWN_PAGES / 2); /* one that finds another waiting is dropped, the recorder's page faults too */
    close((int)fd);
    burn();
}

CASE(own_sigtrap_event_blocked, 1, "has a perf event of its own that sends SIGTRAP while it has that blocked")
{
    struct sigaction action = {.sa_sigaction = on_own_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    sigaction(SIGTRAP, &action, NULL);
    sigprocmask(SIG_BLOCK, &trap, NULL);
    long fd = open_page_faults();
    say("opened %d", fd >= 0);
    own_pages[0] = own_pages[PAGE_BYTES] = 1;
    ioctl((int)fd, PERF_EVENT_IOC_DISABLE, 0);
    say("signals %d", own_signals);
    sigprocmask(SIG_UNBLOCK, &trap, NULL);
    say("signals %d", own_signals);
    close((int)fd);
    burn();
}

CASE(own_sigtrap_event_ignored, 1, "has a perf event of its own that sends SIGTRAP, which it ignores")
{
    signal(SIGTRAP, SIG_IGN);
    long fd = open_page_faults();
    say("opened %d", fd >= 0);
    own_pages[0] = 1;
    close((int)fd);
    burn();
}

CASE(own_sigio_event, 1, "has a perf event of its own that sends a real-time signal by F_SETSIG")
{
    struct sigaction action = {.sa_sigaction = on_own_trap, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGRTMIN + 3, &action, NULL);
    struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = 1000000, .wakeup_events = 1};
    long fd = perf_open(&attr, 0);
    fcntl((int)fd, F_SETFL, O_ASYNC);
    fcntl((int)fd, F_SETSIG, SIGRTMIN + 3);
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    say("owner %d", fcntl((int)fd, F_SETOWN_EX, &owner));
    ioctl((int)fd, PERF_EVENT_IOC_REFRESH, 1);
    burn();
    close((int)fd);
}

CASE(landlocked, 1, "may open nothing from here on (Landlock)")
{
    struct landlock_ruleset_attr rules = {.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_READ_DIR};
    long fd = syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (fd < 0) {
        say("this system has no Landlock");
        exit(77);
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    TELL(syscall(SYS_landlock_restrict_self, fd, 0));
    TELL(open("/etc/passwd", O_RDONLY));
    burn();
    burn_in_child(3);
}

static void *notified(void *context)
{
    int fd = *(int *)context;
    struct { struct seccomp_notif notice; char room[256]; } in;
    struct { struct seccomp_notif_resp answer; char room[256]; } out;
    memset(&in, 0, sizeof in);
    memset(&out, 0, sizeof out);
    if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &in.notice) == 0) {
        out.answer.id = in.notice.id;
        out.answer.val = 4242;
        ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &out.answer);
    }
    return NULL;
}

CASE(seccomp_notify, 1, "another thread answers its getppid (seccomp user notification)")
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    say("listens %d", fd >= 0);
    pthread_t thread;
    pthread_create(&thread, NULL, notified, &fd);
    TELL(syscall(SYS_getppid));
    pthread_join(thread, NULL);
    burn();
}

CASE(io_uring_waits, 1, "waits in io_uring_enter for several timeouts at once")
{
    struct io_uring_params params = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 8, &params);
    if (ring < 0) {
        say("this system has no io_uring");
        exit(77);
    }
    char *sq = mmap(NULL, params.sq_off.array + params.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQ_RING);
    char *cq = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_CQ_RING);
    struct io_uring_sqe *entries = mmap(NULL, params.sq_entries * sizeof *entries, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring, IORING_OFF_SQES);
    struct __kernel_timespec times[4];
    for (unsigned i = 0; i < 4; i++) {
        times[i].tv_sec = 0;
        times[i].tv_nsec = (long)(i + 1) * 10000000;
        memset(&entries[i], 0, sizeof entries[i]);
        entries[i].opcode = IORING_OP_TIMEOUT;
        entries[i].addr = (uint64_t)(uintptr_t)&times[i];
        entries[i].len = 1;
        entries[i].fd = -1;
        ((unsigned *)(sq + params.sq_off.array))[i] = i;
    }
    __atomic_store_n((unsigned *)(sq + params.sq_off.tail), 4, __ATOMIC_RELEASE);
    burn();
    unsigned *tail = (unsigned *)(cq + params.cq_off.tail);
    TELL(syscall(SYS_io_uring_enter, ring, 4, 4, IORING_ENTER_GETEVENTS, NULL, 0));
    while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) < 4) /* the kernel itself comes back early now and then */
        syscall(SYS_io_uring_enter, ring, 0, 4, IORING_ENTER_GETEVENTS, NULL, 0);
    say("completed %u", *tail);
}

static void *computes_beside(void *context)
{
    while (!__atomic_load_n((bool *)context, __ATOMIC_ACQUIRE))
        spin(100000);
    return NULL;
}

CASE(io_uring_polls, 1, "a kernel thread of its own takes requests from the ring (SQPOLL) while another thread computes")
{
    struct io_uring_params params = {.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 1};
    int ring = (int)syscall(SYS_io_uring_setup, 4, &params);
    bool is_over = false;
    pthread_t thread;
    pthread_create(&thread, NULL, computes_beside, &is_over);
    burn();
    __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    say("ring %d", ring >= 0);
}

CASE(message_queue, 1, "is told of a message by a signal (mq_notify)")
{
    char name[64];
    snprintf(name, sizeof name, "/matrix-%d", (int)getpid());
    struct mq_attr attr = {.mq_maxmsg = 4, .mq_msgsize = 16};
    mqd_t queue = mq_open(name, O_CREAT | O_RDWR | O_EXCL, 0600, &attr);
    mq_unlink(name);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 7};
    TELL(mq_notify(queue, &event));
    burn();
    TELL(mq_send(queue, "hello", 6, 1));
    siginfo_t info;
    int signo = sigwaitinfo(&set, &info);
    say("told by %d of %d", signo, info.si_value.sival_int);
}

static volatile int completions;
static void completed(union sigval value)
{
    __atomic_add_fetch(&completions, value.sival_int, __ATOMIC_SEQ_CST);
}

CASE(asynchronous_files, 1, "reads and writes by POSIX AIO, told by a thread")
{
    char path[] = "aio-XXXXXX", buffer[4096] = "text";
    int fd = mkstemp(path);
    unlink(path);
    struct aiocb block = {.aio_fildes = fd, .aio_buf = buffer, .aio_nbytes = sizeof buffer, .aio_sigevent = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = 1, .sigev_notify_function = completed}};
    TELL(aio_write(&block));
    burn();
    const struct aiocb *list[] = {&block};
    while (aio_error(&block) == EINPROGRESS)
        aio_suspend(list, 1, NULL);
    say("wrote %zd", aio_return(&block));
    while (__atomic_load_n(&completions, __ATOMIC_SEQ_CST) == 0)
        sched_yield();
    say("told %d", completions);
}

static volatile sig_atomic_t io_signals;
static void on_io(int signo)
{
    (void)signo;
    io_signals++;
}

CASE(signal_driven, 1, "a socket tells by SIGIO that it can be read (O_ASYNC)")
{
    int pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGIO);
    sigprocmask(SIG_BLOCK, &set, &old);
    signal(SIGIO, on_io);
    fcntl(pair[0], F_SETOWN, getpid());
    fcntl(pair[0], F_SETFL, O_ASYNC | O_NONBLOCK);
    burn();
    say("wrote %zd", write(pair[1], "x", 1));
    while (io_signals == 0)
        sigsuspend(&old);
    say("signals %d", (int)io_signals);
}

CASE(leases, 1, "has a lease on a file, which it is told to give back by a signal when another process opens it")
{
    char path[] = "lease-XXXXXX";
    int fd = mkstemp(path);
    signal(SIGIO, on_io);
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGIO);
    sigprocmask(SIG_BLOCK, &set, &old);
    TELL(fcntl(fd, F_SETLEASE, F_WRLCK));
    burn();
    pid_t child = fork();
    if (child == 0)
        _exit(open(path, O_RDONLY) >= 0 ? 5 : 6);
    while (io_signals == 0)
        sigsuspend(&old);
    TELL(fcntl(fd, F_SETLEASE, F_UNLCK));
    say_end(child);
    unlink(path);
}

CASE(membarriers, 1, "membarrier in all threads, private and expedited")
{
    bool is_over = false;
    pthread_t thread;
    pthread_create(&thread, NULL, computes_beside, &is_over);
    TELL(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0));
    int failed = 0;
    for (int i = 0; i < 200; i++) {
        spin(100000);
        failed += syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0;
    }
    __atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
    pthread_join(thread, NULL);
    say("failed %d", failed);
    burn();
}

CASE(secret_memory, 1, "keeps data and its stack in memory that nobody else can read (memfd_secret)")
{
    int fd = (int)syscall(447, 0);
    if (fd < 0 || ftruncate(fd, 65536) < 0) {
        say("no secret memory");
    } else {
        char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        say("mapped %d", memory != MAP_FAILED);
        if (memory != MAP_FAILED)
            memset(memory, 1, 65536);
    }
    burn();
}

CASE(fixed_addresses, 1, "executes itself without randomized addresses (personality)")
{
    if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE)) {
        personality(personality(0xffffffff) | ADDR_NO_RANDOMIZE);
        char *words[] = {(char *)"/proc/self/exe", (char *)"fixed_addresses", NULL};
        execv(words[0], words);
    }
    burn();
    say("fixed %d", (personality(0xffffffff) & ADDR_NO_RANDOMIZE) != 0);
}

static char clone_stack[65536] __attribute__((aligned(64)));
static int shares_everything(void *context)
{
    (void)context;
    spin(40000000);
    return 9;
}

CASE(shares_without_thread, 1, "a process that shares memory, files and signal handlers with it, but is no thread")
{
    pid_t child = clone(shares_everything, clone_stack + sizeof clone_stack, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | SIGCHLD, NULL);
    burn();
    say_end(child);
}

CASE(reads_itself, 1, "reads and writes its own memory as another process would (process_vm_readv, /proc/self/mem)")
{
    char from[4096], to[4096] = "";
    memset(from, 7, sizeof from);
    struct iovec local = {to, sizeof to}, remote = {from, sizeof from};
    int wrong = 0;
    for (int i = 0; i < 1000; i++)
        wrong += process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != sizeof to;
    int fd = open("/proc/self/mem", O_RDWR);
    wrong += pwrite(fd, "z", 1, (off_t)(uintptr_t)from) != 1 || from[0] != 'z';
    burn();
    say("wrong %d, same %d", wrong, to[4095] == 7);
}

CASE(steals_descriptor, 1, "takes a descriptor out of its child (pidfd_getfd)")
{
    int ready[2];
    if (pipe(ready) < 0)
        return;
    pid_t child = fork();
    if (child == 0) {
        int fd = eventfd(42, 0);
        dup2(fd, 77);
        if (write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    char byte;
    if (read(ready[0], &byte, 1) != 1)
        return;
    int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    int stolen = (int)syscall(SYS_pidfd_getfd, pidfd, 77, 0);
    uint64_t value = 0;
    ssize_t count = read(stolen, &value, sizeof value);
    say("read %zd: %d", count, (int)value);
    TELL(syscall(SYS_pidfd_send_signal, pidfd, SIGTERM, NULL, 0));
    say_end(child);
    burn();
}

CASE(watches_files, 1, "watches its directory while it computes (fanotify)")
{
    int fd = fanotify_init(FAN_CLASS_NOTIF | FAN_NONBLOCK, O_RDONLY);
    char path[] = "watched-XXXXXX";
    int file = mkstemp(path);
    if (fd >= 0)
        fanotify_mark(fd, FAN_MARK_ADD, FAN_OPEN | FAN_CLOSE, AT_FDCWD, path);
    burn();
    close(open(path, O_RDONLY));
    char buffer[4096];
    say("events %d", fd < 0 ? -1 : read(fd, buffer, sizeof buffer) >= (ssize_t)FAN_EVENT_METADATA_LEN);
    close(file);
    unlink(path);
}

CASE(runs_first_in_first_out, 1, "runs under SCHED_FIFO and yields")
{
    struct sched_param parameter = {.sched_priority = 1};
    int status = sched_setscheduler(0, SCHED_FIFO, &parameter);
    burn();
    for (int i = 0; i < 1000; i++)
        sched_yield();
    say("policy %d of %d", sched_getscheduler(0), status);
}

CASE(moves_between_processors, 1, "pins itself to one processor after the other")
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    int failed = 0;
    for (int round = 0; round < 100; round++)
        for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
            if (CPU_ISSET(cpu, &all)) {
                CPU_ZERO(&one);
                CPU_SET(cpu, &one);
                failed += sched_setaffinity(0, sizeof one, &one) != 0 || sched_getcpu() != cpu;
            }
    say("failed %d", failed);
    burn();
}
