/* contexts.c -- masks and signals that a program handles by other ways than sigprocmask and kill */
#include "matrix.h"
#include <linux/seccomp.h>
#include <poll.h>
#include <setjmp.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <ucontext.h>

extern char **environ;

static volatile int came[65];

/* ---- user-level threads that are switched by a signal ---- */

#define GREEN_COUNT 3
#define GREEN_BYTES (64 << 10)
static ucontext_t green_main, green[GREEN_COUNT];
static char green_stacks[GREEN_COUNT][GREEN_BYTES] __attribute__((aligned(64)));
static volatile int green_now, green_left = GREEN_COUNT, green_switches;
static int green_signal;
static volatile bool green_done[GREEN_COUNT];

static void green_next(void)
{
    int from = green_now;
    for (int i = 1; i <= GREEN_COUNT; i++) {
        int to = (from + i) % GREEN_COUNT;
        if (!green_done[to]) {
            green_now = to;
            green_switches++;
            if (to != from)
                swapcontext(&green[from], &green[to]);
            return;
        }
    }
    setcontext(&green_main);
}

static void on_green_tick(int signo)
{
    (void)signo;
    int saved = errno;
    green_next();
    errno = saved;
}

static void green_body(void)
{
    spin(150000000);
    sigset_t tick;
    sigemptyset(&tick);
    sigaddset(&tick, green_signal);
    sigprocmask(SIG_BLOCK, &tick, NULL);
    green_done[green_now] = true;
    green_next();
}

static void run_green(int signo, int which)
{
    green_signal = signo;
    struct sigaction action = {.sa_handler = on_green_tick, .sa_flags = SA_RESTART};
    sigaction(signo, &action, NULL);
    for (int i = 0; i < GREEN_COUNT; i++) {
        getcontext(&green[i]);
        green[i].uc_stack.ss_sp = green_stacks[i];
        green[i].uc_stack.ss_size = GREEN_BYTES;
        green[i].uc_link = NULL;
        makecontext(&green[i], green_body, 0);
    }
    struct itimerval every = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = signo};
    timer_t timer;
    if (which >= 0)
        setitimer(which, &every, NULL);
    else {
        timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
        timer_settime(timer, 0, &(struct itimerspec){{0, 10000000}, {0, 10000000}}, NULL);
    }
    swapcontext(&green_main, &green[0]);
    if (which >= 0)
        setitimer(which, &never, NULL);
    else
        timer_delete(timer);
    say("all done %d, switched %s", green_done[0] + green_done[1] + green_done[2], green_switches > 6 ? "often" : "seldom");
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    for (int s = 1; s <= 64; s++)
        if (sigismember(&now, s) == 1)
            say("blocked: %d", s);
}

CASE(green_threads_vtalrm, 0, "user-level threads that SIGVTALRM of ITIMER_VIRTUAL switches by swapcontext") { run_green(SIGVTALRM, ITIMER_VIRTUAL); }
CASE(green_threads_trap, 0, "user-level threads that SIGTRAP of a CPU-time timer switches by swapcontext") { run_green(SIGTRAP, -1); }
CASE(green_threads_prof, 0, "user-level threads that SIGPROF of ITIMER_PROF switches by swapcontext") { run_green(SIGPROF, ITIMER_PROF); }

/* ---- a fault's handler that goes on where the fault was ---- */

/*
 * As that of .NET: on an alternate stack it looks whether the other has come to its end, and if not, all else is done there, while what the kernel has told it
 * lies on the alternate one.
 */
static ucontext_t fault_there, fault_here;
static char fault_stack[GREEN_BYTES] __attribute__((aligned(64)));
static const siginfo_t *fault_info;
static const ucontext_t *fault_context;
static char *fault_page;
static volatile int fault_changes;
static sigjmp_buf fault_end;
static bool is_fault_left;

static void fault_goes_on(void)
{
    siginfo_t info = *fault_info;
    mcontext_t registers = fault_context->uc_mcontext;
    spin(1000000);
    fault_changes += memcmp(&info, fault_info, sizeof info) != 0 || memcmp(&registers, &fault_context->uc_mcontext, sizeof registers) != 0;
    if (!is_fault_left)
        return;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    siglongjmp(fault_end, 1);
}

static void on_fault(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    came[SIGSEGV]++;
    fault_info = info;
    fault_context = context;
    getcontext(&fault_there);
    fault_there.uc_stack.ss_sp = fault_stack;
    fault_there.uc_stack.ss_size = sizeof fault_stack;
    fault_there.uc_link = &fault_here;
    makecontext(&fault_there, fault_goes_on, 0);
    swapcontext(&fault_here, &fault_there);
    mprotect(fault_page, 4096, PROT_READ);
}

static void have_faults(void)
{
    stack_t stack = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigset_t set;
    TELL(sigaltstack(&stack, NULL));
    sigaction(SIGSEGV, &action, NULL);
    fault_page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (volatile int i = 0; i < 100; i++) {
        mprotect(fault_page, 4096, PROT_NONE);
        if (sigsetjmp(fault_end, 0) == 0)
            (void)*(volatile char *)fault_page;
    }
    sigprocmask(SIG_BLOCK, NULL, &set);
    say("%d faults, %d changed while they were handled, blocked %d", came[SIGSEGV], fault_changes, sigismember(&set, SIGSEGV));
    burn();
}

CASE(fault_on_its_stack, 1, "the handler of a fault leaves its alternate stack for another one, works there, and returns") { have_faults(); }
CASE(fault_left_on_its_stack, 1, "the handler of a fault leaves its alternate stack, lets in the next fault, and jumps out")
{
    is_fault_left = true;
    have_faults();
}

/* ---- the mask in a context ---- */

static void count_it(int signo) { came[signo]++; }

static void block_on_return(int signo, siginfo_t *info, void *context)
{
    (void)info;
    came[signo]++;
    sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGVTALRM);
    sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGTRAP);
    sigaddset(&((ucontext_t *)context)->uc_sigmask, SIGUSR2);
}

CASE(mask_of_context, 1, "a handler blocks signals for the time after it by its context; they are sent, and let in")
{
    struct sigaction action = {.sa_sigaction = block_on_return, .sa_flags = SA_SIGINFO};
    int all[] = {SIGVTALRM, SIGTRAP, SIGUSR2};
    sigset_t set;
    sigaction(SIGUSR1, &action, NULL);
    sigemptyset(&set);
    for (int i = 0; i < 3; i++) {
        signal(all[i], count_it);
        sigaddset(&set, all[i]);
    }
    raise(SIGUSR1);
    for (int i = 0; i < 3; i++)
        raise(all[i]);
    say("before: %d %d %d", came[SIGVTALRM], came[SIGTRAP], came[SIGUSR2]);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    say("after: %d %d %d", came[SIGVTALRM], came[SIGTRAP], came[SIGUSR2]);
    for (int i = 0; i < 3; i++)
        raise(all[i]);
    say("again: %d %d %d", came[SIGVTALRM], came[SIGTRAP], came[SIGUSR2]);
    burn();
}

CASE(mask_set_by_context, 1, "setcontext with a mask of the program's: what it blocks stays out until it is let in")
{
    static volatile int round;
    int all[] = {SIGVTALRM, SIGTRAP, SIGUSR2};
    sigset_t set;
    ucontext_t here;
    sigemptyset(&set);
    for (int i = 0; i < 3; i++) {
        signal(all[i], count_it);
        sigaddset(&set, all[i]);
    }
    getcontext(&here);
    if (round++ == 0) {
        for (int i = 0; i < 3; i++)
            sigaddset(&here.uc_sigmask, all[i]);
        setcontext(&here);
    }
    for (int i = 0; i < 3; i++)
        raise(all[i]);
    say("before: %d %d %d", came[SIGVTALRM], came[SIGTRAP], came[SIGUSR2]);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    say("after: %d %d %d", came[SIGVTALRM], came[SIGTRAP], came[SIGUSR2]);
    burn();
}

/* ---- what is not there ---- */

CASE(bad_pointers, 1, "calls with addresses that are not there give EFAULT, and the program goes on")
{
    void *volatile bad = (void *)16;
    int file = epoll_create1(0);
    struct epoll_event event;
    siginfo_t info;
    sigset_t some;
    char *const arguments[] = {"true", NULL};
    struct timespec short_time = {0, 1000};
    sigemptyset(&some);
    TELL(sigsuspend(bad));
    TELL(ppoll(NULL, 0, &short_time, bad));
    TELL(pselect(0, NULL, NULL, NULL, &short_time, bad));
    TELL(epoll_pwait(file, &event, 1, 1, bad));
    TELL(epoll_pwait2(file, &event, 1, &short_time, bad));
    TELL(sigpending(bad));
    TELL(sigaltstack(bad, NULL));
    TELL(sigaltstack(NULL, bad));
    TELL(signalfd(-1, bad, 0));
    TELL(sigtimedwait(bad, &info, &short_time));
    TELL(sigtimedwait(&some, &info, bad));
    TELL(sigwaitinfo(bad, NULL));
    TELL(execve(bad, arguments, environ));
    TELL(execve("/bin/true", bad, environ));
    TELL(execve("/bin/true", arguments, bad));
    TELL(syscall(SYS_execve, bad, arguments, environ));
    TELL(syscall(SYS_execve, "/bin/true", arguments, bad));
    TELL(syscall(SYS_rt_sigaction, SIGTRAP, bad, NULL, 8));
    TELL(syscall(SYS_rt_sigaction, SIGTRAP, NULL, bad, 8));
    TELL(syscall(SYS_io_uring_setup, 4, bad));
    TELL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    TELL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, bad));
    TELL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, bad));
    TELL(syscall(SYS_clone3, bad, 64));
    TELL(read(0, bad, 0));
    burn();
}

/* ---- a vfork child has a mask of its own ---- */

static void say_mask(const char *when)
{
    char text[400] = "";
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    for (int s = 1; s <= 64; s++)
        if (sigismember(&now, s) == 1)
            sprintf(text + strlen(text), " %d", s);
    say("%s:%s", when, text);
}

CASE(vfork_masks, 1, "children of vfork block and unblock signals; their parent's mask stays")
{
    sigset_t all, some;
    sigfillset(&all);
    sigemptyset(&some);
    say_mask("first");
    pid_t pid = vfork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &all, NULL);
        _exit(3);
    }
    say_end(pid);
    say_mask("after a child that blocks all");
    sigaddset(&some, SIGRTMAX - 2);
    sigaddset(&some, SIGRTMAX - 3);
    sigaddset(&some, SIGTRAP);
    sigprocmask(SIG_BLOCK, &some, NULL);
    say_mask("blocked");
    pid = vfork();
    if (pid == 0) {
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        execl("/bin/true", "true", NULL);
        _exit(4);
    }
    say_end(pid);
    say_mask("after a child that unblocks all");
    pid = vfork();
    if (pid == 0) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        execl("/bin/sh", "sh", "-c", "grep SigBlk /proc/self/status", NULL);
        _exit(4);
    }
    say_end(pid);
    say_mask("after a child that ran a shell");
    burn();
}

/* ---- the same functions by other names ---- */

int __sigaction(int, const struct sigaction *, struct sigaction *);
int __sigsuspend(const sigset_t *);
ssize_t __read(int, void *, size_t);
int __close(int);
int __dup2(int, int);
int __clone(int (*)(void *), void *, int, void *, ...);
FILE *_IO_popen(const char *, const char *);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
ssize_t __read_chk(int, void *, size_t, size_t);

static int clone_body(void *unused) { (void)unused; burn(); return 5; }

CASE(other_names, 4, "the second names that the C library has for some of its functions: __sigaction, __sigsuspend, __read_chk, __ppoll_chk, __clone")
{
    struct sigaction action = {.sa_handler = count_it}, old;
    sigset_t two, none;
    int trap = SIGTRAP, alarm = SIGVTALRM;
    for (int i = 0; i < 2; i++) {
        int signo = i ? alarm : trap;
        TELL(__sigaction(signo, NULL, &old));
        say("old %s", old.sa_handler == SIG_DFL ? "default" : "other");
        TELL(__sigaction(signo, &action, NULL));
    }
    burn();
    say("came %d %d", came[trap], came[alarm]);
    raise(trap);
    raise(alarm);
    say("came %d %d", came[trap], came[alarm]);
    sigemptyset(&two);
    sigemptyset(&none);
    sigaddset(&two, trap);
    sigaddset(&two, alarm);
    sigprocmask(SIG_BLOCK, &two, NULL);
    raise(trap);
    TELL(__sigsuspend(&none));
    say("came %d %d", came[trap], came[alarm]);
    raise(alarm);
    struct timespec time = {2, 0};
    TELL(__ppoll_chk(NULL, 0, &time, &none, 0));
    say("came %d %d", came[trap], came[alarm]);
    burn();
    int file = signalfd(-1, &two, 0);
    struct signalfd_siginfo info;
    raise(trap);
    TELL(__read_chk(file, &info, sizeof info, sizeof info) == sizeof info);
    say("read %u", info.ssi_signo);
    raise(alarm);
    TELL(__read(file, &info, sizeof info) == sizeof info);
    say("read %u", info.ssi_signo);
    __close(file);
    static char stack[65536] __attribute__((aligned(16)));
    say_end(__clone(clone_body, stack + sizeof stack, SIGCHLD, NULL));
    FILE *stream = _IO_popen("echo popen", "r");
    char line[20] = "";
    if (stream)
        fgets(line, sizeof line, stream), pclose(stream);
    say("%s", line);
    burn();
}

/* ---- signals with a siginfo that the sender made up ---- */

static void tell_info(int signo, siginfo_t *info, void *context)
{
    (void)context;
    say("%d: signo %d code %d value %x errno %d", signo, info->si_signo, info->si_code, info->si_value.sival_int, info->si_errno);
}

CASE(forged_info, 1, "signals with a siginfo of the sender's making, of each kind there is")
{
    struct sigaction action = {.sa_sigaction = tell_info, .sa_flags = SA_SIGINFO};
    int signals[] = {SIGTRAP, SIGVTALRM, SIGUSR1, SIGRTMIN};
    int codes[] = {SI_QUEUE, SI_TIMER, SI_MESGQ, SI_ASYNCIO, SI_SIGIO, -60, SI_TKILL, SI_USER};
    for (int i = 0; i < 4; i++)
        sigaction(signals[i], &action, NULL);
    for (int i = 0; i < 4; i++)
        for (unsigned j = 0; j < sizeof codes / sizeof *codes; j++) {
            siginfo_t info;
            memset(&info, 0, sizeof info);
            info.si_signo = signals[i];
            info.si_code = codes[j];
            info.si_pid = getpid();
            info.si_errno = 7;
            info.si_value.sival_int = 0x1234;
            TELL(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), signals[i], &info));
            spin(100000);
        }
    burn();
}

/* ---- a child is stopped and continued while it works ---- */

CASE(stop_storm, 2, "a child that works is stopped and continued 300 times")
{
    pid_t pid = fork();
    if (pid == 0) {
        burn();
        burn();
        _exit(6);
    }
    int status = 0, stops = 0;
    for (int i = 0; i < 300; i++) {
        if (kill(pid, SIGSTOP) != 0)
            break;
        if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
            break;
        stops++;
        kill(pid, SIGCONT);
        usleep(200);
    }
    say("%s", stops > 3 ? "stopped often" : "not stopped");
    if (WIFSTOPPED(status))
        waitpid(pid, &status, 0);
    say_status("child", status);
}
