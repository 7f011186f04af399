/* handling.c -- handlers, masks, nesting, stacks, inheritance: SIGTRAP and SIGVTALRM are the program's like any other */
#include "matrix.h"
#include <dlfcn.h>
#include <execinfo.h>
#include <setjmp.h>
#include <spawn.h>
#include <ucontext.h>

extern char **environ;
static volatile sig_atomic_t seen, depth, deepest;

static void count(int signo) { (void)signo; seen++; }
static void set_handler(int signo, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(signo, &action, NULL);
}

static void nest(int signo)
{
    if (++depth > deepest)
        deepest = depth;
    if (depth < 4)
        raise(signo);
    seen++;
    depth--;
}

CASE(nodefer, 1, "SA_NODEFER nests SIGTRAP and SIGVTALRM four deep")
{
    static const int signals[] = {SIGTRAP, SIGVTALRM, SIGUSR1};
    burn();
    for (int i = 0; i < 3; i++) {
        seen = deepest = 0;
        set_handler(signals[i], nest, SA_NODEFER);
        raise(signals[i]);
        say("%d: seen %d deepest %d", signals[i], (int)seen, (int)deepest);
    }
}

static void not_nested(int signo)
{
    if (++depth > deepest)
        deepest = depth;
    if (seen++ < 3)
        raise(signo);
    depth--;
}
CASE(deferred, 1, "without SA_NODEFER a handler's own signal waits until it returns")
{
    static const int signals[] = {SIGTRAP, SIGVTALRM, SIGUSR1};
    burn();
    for (int i = 0; i < 3; i++) {
        seen = deepest = 0;
        set_handler(signals[i], not_nested, 0);
        raise(signals[i]);
        say("%d: seen %d deepest %d", signals[i], (int)seen, (int)deepest);
    }
}

static void say_mask(int signo)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    say("in %d", signo);
    say_signals("blocked", &now);
}
CASE(mask_in_handler, 1, "the mask inside a handler is its sa_mask and its own signal")
{
    static const int signals[] = {SIGTRAP, SIGVTALRM, SIGUSR1, SIGPROF};
    burn();
    for (int i = 0; i < 4; i++) {
        struct sigaction action = {.sa_handler = say_mask}, got;
        sigaddset(&action.sa_mask, SIGTRAP);
        sigaddset(&action.sa_mask, SIGUSR2);
        sigaddset(&action.sa_mask, SIGVTALRM);
        sigaction(signals[i], &action, NULL);
        raise(signals[i]);
        sigaction(signals[i], NULL, &got);
        say_signals("sa_mask", &got.sa_mask);
    }
}

CASE(mask_round_trip, 1, "each signal alone blocked and read back, by sigprocmask and pthread_sigmask")
{
    burn();
    for (int signo = 1; signo <= 64; signo++) {
        sigset_t set, now;
        sigemptyset(&set);
        sigaddset(&set, signo);
        int result = (signo % 2 ? sigprocmask : pthread_sigmask)(SIG_SETMASK, &set, NULL);
        pthread_sigmask(SIG_BLOCK, NULL, &now);
        say("%d: %d", signo, result);
        say_signals("blocked", &now);
    }
}

CASE(resethand, 1, "SA_RESETHAND: the second SIGTRAP kills")
{
    set_handler(SIGTRAP, count, SA_RESETHAND);
    burn();
    raise(SIGTRAP);
    struct sigaction now;
    sigaction(SIGTRAP, NULL, &now);
    say("seen %d default %d flags %x", (int)seen, now.sa_handler == SIG_DFL, (unsigned)now.sa_flags & ~0x04000000u);
    raise(SIGTRAP);
    say("unexpected");
}

static void say_value(int signo, siginfo_t *info, void *context)
{
    (void)context;
    say("%d: code %d value %d mine %d", signo, info->si_code, info->si_value.sival_int, info->si_pid == getpid());
}
NATURE(queue, stdout, "A real-time signal stands for a blocked SIGTRAP: of several that wait, the kernel delivers it after real-time signals of lower numbers.")
CASE(queue, 1, "sigqueue: values and order, several of a real-time signal, one of others")
{
    static const int signals[] = {SIGTRAP, SIGVTALRM, SIGUSR1};
    sigset_t all, old;
    burn();
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    for (int i = 0; i < 4; i++) {
        int signo = i < 3 ? signals[i] : SIGRTMIN + 3;
        struct sigaction action = {.sa_sigaction = say_value, .sa_flags = SA_SIGINFO};
        sigaction(signo, &action, NULL);
        for (int value = 1; value <= 3; value++)
            TELL(sigqueue(getpid(), signo, (union sigval){.sival_int = value}));
    }
    sigset_t pending;
    sigpending(&pending);
    say_signals("pending", &pending);
    burned++;
    sigprocmask(SIG_SETMASK, &old, NULL);
    sigpending(&pending);
    say_signals("pending", &pending);
}

CASE(pending_when_ignored, 1, "a pending signal vanishes when it is ignored")
{
    static const int signals[] = {SIGTRAP, SIGVTALRM, SIGUSR1};
    burn();
    for (int i = 0; i < 3; i++) {
        sigset_t set, pending;
        sigemptyset(&set);
        sigaddset(&set, signals[i]);
        sigprocmask(SIG_BLOCK, &set, NULL);
        raise(signals[i]);
        signal(signals[i], SIG_IGN);
        sigpending(&pending);
        say_signals("pending", &pending);
        signal(signals[i], count);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        say("seen %d", (int)seen);
    }
}

static void say_trap(int signo, siginfo_t *info, void *context)
{
    (void)context;
    say("%d code %d", signo, info->si_code);
}
CASE(int3_handled, 1, "int3 with a handler for SIGTRAP")
{
    struct sigaction action = {.sa_sigaction = say_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    burn();
    for (int i = 0; i < 3; i++)
        __asm__ volatile("int3");
}
CASE(int3_blocked, 1, "int3 while SIGTRAP is blocked kills, handler or not")
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    set_handler(SIGTRAP, count, 0);
    sigprocmask(SIG_BLOCK, &set, NULL);
    burn();
    __asm__ volatile("int3");
    say("unexpected");
}
CASE(int3_ignored, 1, "int3 while SIGTRAP is ignored kills") { signal(SIGTRAP, SIG_IGN); burn(); __asm__ volatile("int3"); say("unexpected"); }

static volatile int steps;
static void count_steps(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    steps += info->si_code == TRAP_TRACE;
    if (steps == 20)
        ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~0x100LL;
}
CASE(single_step, 1, "steps itself by the trap flag for twenty instructions")
{
    struct sigaction action = {.sa_sigaction = count_steps, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    burn();
    __asm__ volatile("pushfq\n orq $0x100, (%%rsp)\n popfq\n .rept 40\n nop\n .endr" ::: "memory", "cc");
    say("steps %d", steps);
}

static volatile int step_signals;
static void count_all_steps(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    step_signals += info->si_code == TRAP_TRACE;
}
static void set_trap_flag(void) { __asm__ volatile("sub $128, %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::: "memory", "cc"); }
static void clear_trap_flag(void) { __asm__ volatile("sub $128, %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::: "memory", "cc"); }
CASE(single_step_calls, 1, "steps itself by the trap flag through calls of the C library")
{
    struct sigaction action = {.sa_sigaction = count_all_steps, .sa_flags = SA_SIGINFO}, old;
    sigaction(SIGTRAP, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    char text[64];
    set_trap_flag();
    for (int i = 0; i < 2; i++) {
        free(malloc(100000));
        snprintf(text, sizeof text, "%s %d", getenv("PATH"), getpid());
        sigprocmask(SIG_BLOCK, &none, NULL);
        sigaction(SIGUSR1, NULL, &old);
        sigaction(SIGTRAP, &action, NULL);
        signal(SIGVTALRM, SIG_DFL);
        raise(SIGCONT);
        void *library = dlopen("libm.so.6", RTLD_NOW);
        dlclose(library);
        int file = open("/dev/null", O_WRONLY);
        dup2(file, 77);
        close(77);
        close(file);
        prctl(PR_GET_DUMPABLE);
        mprotect(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, PROT_READ | PROT_EXEC);
        syscall(SYS_getpid);
    }
    clear_trap_flag();
    say("stepped %d", step_signals > 1000);
    burn();
}

CASE(single_step_processes, 1, "steps itself by the trap flag while it forks and runs programs")
{
    struct sigaction action = {.sa_sigaction = count_all_steps, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    burn();
    set_trap_flag();
    pid_t child = fork();
    if (child == 0) {
        clear_trap_flag();
        execl("/bin/true", "true", NULL);
    }
    int status;
    waitpid(child, &status, 0);
    clear_trap_flag();
    say("stepped %d, child %d", step_signals > 100, status);
}
CASE(single_step_to_end, 1, "steps itself by the trap flag to its end")
{
    struct sigaction action = {.sa_sigaction = count_all_steps, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    say("begins");
    burn();
    set_trap_flag();
    exit(3);
}

static sigjmp_buf place;
static volatile int round_number;
static void leave(int signo) { (void)signo; siglongjmp(place, 1); }
static void leave_often(int signo)
{
    set_handler(signo, leave, SA_NODEFER);
    for (round_number = 0; round_number < 20; round_number++)
        if (!sigsetjmp(place, 1)) {
            spin(2000000);
            raise(signo);
            say("unexpected");
        }
    say("left %d times", round_number);
}
CASE(siglongjmp_usr1, 0, "leaves its SIGUSR1 handler by siglongjmp, 20 times") { leave_often(SIGUSR1); }
CASE(siglongjmp_trap, 0, "leaves its SIGTRAP handler by siglongjmp, 20 times") { leave_often(SIGTRAP); }
CASE(siglongjmp_vtalrm, 0, "leaves its SIGVTALRM handler by siglongjmp, 20 times") { leave_often(SIGVTALRM); }

static void leave_fault(int signo) { (void)signo; siglongjmp(place, 1); }
CASE(siglongjmp_segv, 1, "leaves its SIGSEGV handler by siglongjmp 1000 times, while samples are taken")
{
    set_handler(SIGSEGV, leave_fault, 0);
    for (round_number = 0; round_number < 1000; round_number++)
        if (!sigsetjmp(place, 1))
            *(volatile int *)8 = 1;
    burn();
    say("left %d times", round_number);
}

static void leave_by_alarm(int signo) { (void)signo; siglongjmp(place, 1); }
CASE(siglongjmp_timer, 0, "leaves its SIGALRM handler by siglongjmp every millisecond, wherever it was")
{
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    set_handler(SIGALRM, leave_by_alarm, 0);
    if (!sigsetjmp(place, 1)) /* before the first signal, which may come at once */
        setitimer(ITIMER_REAL, &timer, NULL);
    for (round_number = 0; round_number < 150; round_number++)
        if (!sigsetjmp(place, 1))
            for (;;)
                spin(10000);
    timer = (struct itimerval){0};
    setitimer(ITIMER_REAL, &timer, NULL);
    say("left %d times", round_number);
}

PART(inherited)
{
    sigset_t now;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    say_signals("inherited mask", &now);
    for (int signo = 1; signo <= 64; signo++) {
        struct sigaction action;
        if (sigaction(signo, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            say("%d is %s", signo, action.sa_handler == SIG_IGN ? "ignored" : "handled");
    }
    sigpending(&now);
    say_signals("pending", &now);
    burn();
}

static void make_legacy(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigaddset(&set, SIGVTALRM);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGTRAP, SIG_IGN);
    signal(SIGVTALRM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGUSR1, count);
}
CASE(inherit_exec, 2, "mask, ignored and pending signals over exec")
{
    make_legacy();
    signal(SIGVTALRM, count);
    raise(SIGVTALRM);
    raise(SIGUSR2);
    burn();
    execl("/proc/self/exe", "handling", "inherited", NULL);
}
CASE(inherit_spawn, 2, "mask and ignored signals over posix_spawn")
{
    pid_t pid;
    char *words[] = {"handling", "inherited", NULL};
    make_legacy();
    burn();
    int error = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, words, environ);
    say_end(pid);
    TELL(error);
}
CASE(inherit_spawn_attributes, 2, "posix_spawn with its own mask and default signals")
{
    pid_t pid;
    char *words[] = {"handling", "inherited", NULL};
    posix_spawnattr_t wish;
    sigset_t set;
    make_legacy();
    burn();
    posix_spawnattr_init(&wish);
    posix_spawnattr_setflags(&wish, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    posix_spawnattr_setsigdefault(&wish, &set);
    sigaddset(&set, SIGTERM);
    posix_spawnattr_setsigmask(&wish, &set);
    int error = posix_spawn(&pid, "/proc/self/exe", NULL, &wish, words, environ);
    say_end(pid);
    TELL(error);
}
CASE(inherit_system, 1, "ignored SIGINT and SIGQUIT around system()")
{
    make_legacy();
    burn();
    TELL(system("trap '' TERM; kill -TERM $$; kill -TRAP $$; echo still here"));
}
CASE(inherit_fork, 2, "a fork child has no pending signals, but mask and handlers")
{
    make_legacy();
    raise(SIGUSR2);
    burn();
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t now;
        sigpending(&now);
        say_signals("pending", &now);
        pthread_sigmask(SIG_BLOCK, NULL, &now);
        say_signals("blocked", &now);
        raise(SIGUSR1);
        say("seen %d", (int)seen);
        burn();
        _exit(0);
    }
    say_end(pid);
}

CASE(vfork_isolation, 1, "a vfork child changes dispositions; the parent's stay")
{
    signal(SIGTRAP, count);
    signal(SIGVTALRM, count);
    burn();
    pid_t pid = vfork();
    if (pid == 0) {
        signal(SIGTRAP, SIG_DFL);
        signal(SIGVTALRM, SIG_IGN);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    raise(SIGTRAP);
    raise(SIGVTALRM);
    say("seen %d", (int)seen);
    struct sigaction now;
    sigaction(SIGTRAP, NULL, &now);
    say("still mine %d", now.sa_handler == count);
}

CASE(old_interfaces, 1, "sigset, sighold, sigrelse, sigignore, siginterrupt, sigblock, sigsetmask, sysv_signal")
{
    static const int signals[] = {SIGTRAP, SIGVTALRM, SIGUSR1};
    burn();
    for (int i = 0; i < 3; i++) {
        int signo = signals[i];
        struct sigaction now;
        say("sigset %d", sigset(signo, count) == SIG_DFL);
        raise(signo);
        say("seen %d", (int)seen);
        TELL(sighold(signo));
        raise(signo);
        say("seen %d held", (int)seen);
        say("sigset %d", sigset(signo, SIG_HOLD) == SIG_HOLD);
        TELL(sigrelse(signo));
        say("seen %d released", (int)seen);
        TELL(siginterrupt(signo, 1));
        sigaction(signo, NULL, &now);
        say("flags %x", (unsigned)now.sa_flags & ~0x04000000u);
        TELL(siginterrupt(signo, 0));
        sigaction(signo, NULL, &now);
        say("flags %x", (unsigned)now.sa_flags & ~0x04000000u);
        TELL(sigignore(signo));
        raise(signo);
        say("sysv %d", sysv_signal(signo, count) == SIG_IGN);
        sigaction(signo, NULL, &now);
        say("flags %x", (unsigned)now.sa_flags & ~0x04000000u);
        raise(signo);
        say("seen %d", (int)seen);
        say("reset %d", signal(signo, SIG_IGN) == SIG_DFL);
        say("mask %x", (unsigned)sigblock(sigmask(signo)));
        say("mask %x", (unsigned)sigsetmask(0));
    }
}

CASE(no_handler, 1, "SIG_ERR is no handler that signal and sysv_signal take; sigset does")
{
    static const int signals[] = {SIGTRAP, SIGVTALRM, SIGUSR1};
    burn();
    for (int i = 0; i < 3; i++) {
        int signo = signals[i];
        TELL(signal(signo, SIG_ERR));
        TELL(sysv_signal(signo, SIG_ERR));
        TELL(sigset(signo, SIG_ERR));
        TELL(sigset(signo, SIG_IGN));
    }
}

static void on_stack(int signo)
{
    stack_t now;
    sigaltstack(NULL, &now);
    say("%d on the other stack %d", signo, (now.ss_flags & SS_ONSTACK) != 0);
    burn();
}
static void with_stack(size_t bytes, int flags)
{
    stack_t stack = {.ss_sp = malloc(bytes), .ss_size = bytes, .ss_flags = flags}, now;
    TELL(sigaltstack(&stack, NULL));
    set_handler(SIGUSR1, on_stack, SA_ONSTACK);
    set_handler(SIGTRAP, on_stack, SA_ONSTACK);
    raise(SIGUSR1);
    raise(SIGTRAP);
    sigaltstack(NULL, &now);
    say("flags %x same %d", (unsigned)now.ss_flags, now.ss_sp == stack.ss_sp);
}
CASE(alternate_stack, 2, "works in handlers on an alternate stack of 64 KiB") { with_stack(65536, 0); }
CASE(autodisarm, 2, "works in handlers on an alternate stack with SS_AUTODISARM") { with_stack(65536, 1U << 31); }

/* ---- handlers that ask for an alternate stack ---- */

static const char *volatile thread_mark;
static void tell_stack(int signo)
{
    char here;
    stack_t now;
    sigaltstack(NULL, &now);
    long distance = thread_mark - &here;
    say("%d: on the thread's own stack %d, set %d, on it %d, size %zu", signo, distance > 0 && distance < 65536, (now.ss_flags & SS_DISABLE) == 0, (now.ss_flags & SS_ONSTACK) != 0, now.ss_size);
    spin(3000000);
}
static void raise_all(void)
{
    int signals[] = {SIGUSR1, SIGTRAP, SIGVTALRM, SIGRTMIN};
    char here;
    thread_mark = &here;
    for (int i = 0; i < 4; i++) {
        struct sigaction action;
        sigaction(signals[i], NULL, &action);
        say("flags %x", (unsigned)action.sa_flags & ~0x04000000U);
        raise(signals[i]);
    }
}
static void *raises_all(void *unused) { raise_all(); return unused; }
NATURE(on_stack_without_one, stdout, "A thread that the program has given no alternate stack has one of ours, and handlers that ask for one run there.")
CASE(on_stack_without_one, 2, "handlers with SA_ONSTACK where no alternate stack is set, where one is, and in other threads; it is taken away again")
{
    pthread_t thread;
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536}, old, none = {.ss_flags = SS_DISABLE};
    int signals[] = {SIGUSR1, SIGTRAP, SIGVTALRM, SIGRTMIN};
    for (int i = 0; i < 4; i++)
        set_handler(signals[i], tell_stack, SA_ONSTACK | SA_RESTART);
    raise_all();
    pthread_create(&thread, NULL, raises_all, NULL);
    pthread_join(thread, NULL);
    TELL(sigaltstack(&none, &old));
    say("old: flags %x size %zu pointer %d", (unsigned)old.ss_flags, old.ss_size, old.ss_sp != NULL);
    TELL(sigaltstack(&stack, &old));
    say("old: flags %x size %zu pointer %d", (unsigned)old.ss_flags, old.ss_size, old.ss_sp != NULL);
    raise_all();
    TELL(sigaltstack(&none, &old));
    say("old: flags %x size %zu same %d", (unsigned)old.ss_flags, old.ss_size, old.ss_sp == stack.ss_sp);
    raise_all();
    pid_t pid = fork();
    if (pid == 0) {
        raise_all();
        burn();
        _exit(0);
    }
    say_end(pid);
    burn();
}

/* As varnish has it: one alternate stack for the faults of all threads, of which there is one at a time. */
static stack_t shared_stack;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_here;
static sigjmp_buf after_fault;
static void tell_shared(int signo)
{
    stack_t now;
    sigaltstack(NULL, &now);
    say("%d: set %d, on it %d, the shared one %d, size %zu", signo, (now.ss_flags & SS_DISABLE) == 0, (now.ss_flags & SS_ONSTACK) != 0, now.ss_sp == shared_stack.ss_sp, now.ss_size);
    TELL(sigaltstack(&shared_stack, NULL));
    siglongjmp(after_fault, 1);
}
/* At the same time, and what comes then one after the other. */
static void work_beside(void)
{
    pthread_barrier_wait(&all_here);
    burn();
    pthread_barrier_wait(&all_here);
    pthread_mutex_lock(&turn);
}
static void *shares(void *unused)
{
    stack_t none = {.ss_flags = SS_DISABLE}, old, tiny = {.ss_sp = shared_stack.ss_sp, .ss_size = 100};
    work_beside();
    TELL(sigaltstack(&shared_stack, &old));
    say("old: flags %x size %zu pointer %d", (unsigned)old.ss_flags, old.ss_size, old.ss_sp != NULL);
    TELL(sigaltstack(&tiny, NULL));
    pthread_mutex_unlock(&turn);
    work_beside();
    if (sigsetjmp(after_fault, 1) == 0)
        *(volatile int *)8 = 1;
    TELL(sigaltstack(NULL, &old));
    say("now: flags %x size %zu shared %d", (unsigned)old.ss_flags, old.ss_size, old.ss_sp == shared_stack.ss_sp);
    pthread_mutex_unlock(&turn);
    work_beside();
    TELL(sigaltstack(&none, &old));
    say("old: flags %x size %zu shared %d", (unsigned)old.ss_flags, old.ss_size, old.ss_sp == shared_stack.ss_sp);
    TELL(sigaltstack(&none, &old));
    say("old: flags %x size %zu pointer %d", (unsigned)old.ss_flags, old.ss_size, old.ss_sp != NULL);
    TELL(sigaltstack(&shared_stack, NULL));
    pthread_mutex_unlock(&turn);
    burn();
    return unused;
}
static void share_in_threads(void)
{
    pthread_t threads[4];
    pthread_barrier_init(&all_here, NULL, 4);
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, shares, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}
CASE(alternate_stack_shared, 34, "an alternate stack that the main thread and four others share; each faults in its turn, and so do the threads of a child")
{
    shared_stack = (stack_t){.ss_sp = malloc(65536), .ss_size = 65536};
    set_handler(SIGSEGV, tell_shared, SA_ONSTACK);
    TELL(sigaltstack(&shared_stack, NULL));
    share_in_threads();
    pid_t pid = fork();
    if (pid == 0) {
        share_in_threads();
        burn();
        _exit(0);
    }
    say_end(pid);
    burn();
}

/* One thread sets it and waits; another sets the same and works. A tick in the first thread's few moments may write there, but not in most of five. */
static void *sets_and_waits(void *unused)
{
    TELL(sigaltstack(&shared_stack, NULL));
    pthread_barrier_wait(&all_here);
    pthread_barrier_wait(&all_here);
    return unused;
}
CASE(alternate_stack_of_another, 5, "a thread works with the alternate stack that another one, which waits, has set before: its bytes stay")
{
    int untouched = 0;
    pthread_barrier_init(&all_here, NULL, 2);
    for (int round = 0; round < 5; round++) {
        pthread_t thread;
        size_t i = 0;
        char *room = malloc(65536);
        memset(room, 0x5a, 65536);
        shared_stack = (stack_t){.ss_sp = room, .ss_size = 65536};
        pthread_create(&thread, NULL, sets_and_waits, NULL);
        pthread_barrier_wait(&all_here);
        TELL(sigaltstack(&shared_stack, NULL));
        burn();
        while (i < 65536 && room[i] == 0x5a)
            i++;
        untouched += i == 65536;
        pthread_barrier_wait(&all_here);
        pthread_join(thread, NULL);
    }
    say("they stay in most of five: %d", untouched >= 3);
}

static char *small_stack;
static void stay_small(int signo) { (void)signo; spin(30000000); seen++; }
CASE(alternate_stack_small, 0, "works in handlers on an alternate stack of 8 KiB; the bytes below it stay")
{
    char *room = malloc(65536 + 8192);
    memset(room, 0x5a, 65536 + 8192);
    small_stack = room + 65536;
    stack_t stack = {.ss_sp = small_stack, .ss_size = 8192};
    TELL(sigaltstack(&stack, NULL));
    set_handler(SIGUSR1, stay_small, SA_ONSTACK);
    raise(SIGUSR1);
    int touched = 0;
    for (int i = 0; i < 65536; i++)
        touched += room[i] != 0x5a;
    say("seen %d, %d bytes below were written", (int)seen, touched);
}
CASE(alternate_stack_smallest, 0, "spins in a handler on an alternate stack of MINSIGSTKSZ; the bytes below it stay")
{
    char *room = malloc(65536 + 2048);
    memset(room, 0x5a, 65536 + 2048);
    small_stack = room + 65536;
    stack_t stack = {.ss_sp = small_stack, .ss_size = 2048};
    if (TELL(sigaltstack(&stack, NULL)) < 0)
        return;
    set_handler(SIGUSR1, stay_small, SA_ONSTACK);
    raise(SIGUSR1);
    int touched = 0;
    for (int i = 0; i < 65536; i++)
        touched += room[i] != 0x5a;
    say("seen %d, %d bytes below were written", (int)seen, touched);
}
static void lose_stack(int way)
{
    char *room = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = room, .ss_size = 65536}, now;
    TELL(sigaltstack(&stack, NULL));
    if (way == 0)
        TELL(munmap(room, 65536));
    else if (way == 1)
        TELL(mprotect(room + 4096, 61440, PROT_NONE));
    else
        say("moved %d", mremap(room, 65536, 131072, MREMAP_MAYMOVE) != MAP_FAILED);
    burn();
    TELL(sigaltstack(NULL, &now));
    say("the program's own %d, flags %x, size %zu", now.ss_sp == room, (unsigned)now.ss_flags, now.ss_size);
    room = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack.ss_sp = room;
    TELL(sigaltstack(&stack, NULL));
    raise(SIGUSR1);
    burn();
}
static void *lose_stacks(void *unused)
{
    for (int way = 0; way < 3; way++)
        lose_stack(way);
    return unused;
}
CASE(alternate_stack_unmapped, 6, "works while the alternate stack that is set has been unmapped, protected or moved, in the main thread and in another")
{
    pthread_t thread;
    set_handler(SIGUSR1, count, SA_ONSTACK);
    lose_stacks(NULL);
    pthread_create(&thread, NULL, lose_stacks, NULL);
    pthread_join(thread, NULL);
    say("seen %d", (int)seen);
}
static pthread_key_t stack_key;
static void free_stack(void *room)
{
    munmap(room, 65536);
    spin(50000000);
}
static void *ends_with_stack(void *unused)
{
    stack_t stack = {.ss_sp = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), .ss_size = 65536};
    TELL(sigaltstack(&stack, NULL));
    pthread_setspecific(stack_key, stack.ss_sp);
    return unused;
}
CASE(alternate_stack_freed_at_end, 1, "a thread's alternate stack is unmapped by the destructor of a key, which works on")
{
    pthread_t thread;
    pthread_key_create(&stack_key, free_stack);
    pthread_create(&thread, NULL, ends_with_stack, NULL);
    pthread_join(thread, NULL);
    burn();
}
static void *exit_stack;
static void free_exit_stack(void)
{
    free(exit_stack);
    burn();
}
static void set_exit_stack(void)
{
    exit_stack = malloc(8 << 20); /* so large that free unmaps it */
    stack_t stack = {.ss_sp = exit_stack, .ss_size = 8 << 20};
    TELL(sigaltstack(&stack, NULL));
}
CASE(alternate_stack_freed_at_exit, 1, "an exit handler frees the alternate stack that is set, as backward-cpp does, and works on")
{
    set_exit_stack();
    atexit(free_exit_stack);
}
CASE(alternate_stack_freed_at_exit_of_old, 1, "the same in a handler that was registered before the stack was set")
{
    atexit(free_exit_stack);
    set_exit_stack();
}
CASE(alternate_stack_default, 1, "no alternate stack is set when a thread begins, and what one sets is what one gets")
{
    stack_t now;
    sigaltstack(NULL, &now);
    say("flags %x pointer %d size %zu", (unsigned)now.ss_flags, now.ss_sp != NULL, now.ss_size);
    burn();
}

static void storm_handler(int signo) { (void)signo; seen++; }
static void *storms(void *other)
{
    for (int i = 0; i < 20000; i++)
        pthread_kill(*(pthread_t *)other, i % 2 ? SIGUSR1 : SIGUSR2);
    return NULL;
}
CASE(storm, 1, "20,000 signals from another thread while this one works and allocates")
{
    pthread_t self = pthread_self(), thread;
    set_handler(SIGUSR1, storm_handler, SA_RESTART);
    set_handler(SIGUSR2, storm_handler, SA_RESTART);
    pthread_create(&thread, NULL, storms, &self);
    for (int i = 0; i < 2000; i++)
        free(malloc((size_t)(i * 37 % 5000)));
    burn();
    pthread_join(thread, NULL);
    say("some were seen %d", seen > 0);
}

static void nothing(int signo) { (void)signo; }
CASE(dispositions, 1, "all 64 dispositions before and after they are set and unset")
{
    burn();
    for (int signo = 1; signo <= 64; signo++) {
        struct sigaction now = {0}, mine = {.sa_handler = nothing, .sa_flags = SA_RESTART | SA_NODEFER};
        int first = sigaction(signo, NULL, &now);
        say("%d: %d default %d flags %x", signo, first, now.sa_handler == SIG_DFL, (unsigned)now.sa_flags & ~0x04000000u);
        int second = sigaction(signo, &mine, NULL);
        sigaction(signo, NULL, &now);
        say("%d mine %d flags %x", second, now.sa_handler == nothing, (unsigned)now.sa_flags & ~0x04000000u);
        say("%d", signal(signo, SIG_DFL) == nothing);
    }
}

CASE(raw_sigaction, 1, "the raw system call rt_sigaction reads SIGTRAP and SIGVTALRM")
{
    struct { void *handler; unsigned long flags; void *restorer; unsigned long mask; } now;
    burn();
    for (int i = 0; i < 2; i++) {
        memset(&now, 0, sizeof now);
        TELL(syscall(SYS_rt_sigaction, i ? SIGVTALRM : SIGTRAP, NULL, &now, 8));
        say("default %d", now.handler == NULL);
    }
}
CASE(raw_defaults, 2, "a fork child that sets all signals to their defaults by the raw system call, works, and runs another program")
{
    struct { void *handler; unsigned long flags; void *restorer; unsigned long mask; } none = {0}, before;
    pid_t pid = fork();
    if (pid == 0) {
        int failed_count = 0;
        for (int i = 1; i < 65; i++)
            failed_count += syscall(SYS_rt_sigaction, i, NULL, &before, 8) != 0 || syscall(SYS_rt_sigaction, i, &none, NULL, 8) != 0;
        say("failed %d", failed_count); /* SIGKILL and SIGSTOP */
        burn();
        execl("/proc/self/exe", "handling", "inherited", NULL);
    }
    say_end(pid);
}
CASE(raw_sets, 2, "the raw system call rt_sigaction ignores SIGTRAP and SIGVTALRM, reads that back, and refuses what it cannot read or write")
{
    struct { void *handler; unsigned long flags; void *restorer; unsigned long mask; } action = {SIG_IGN, SA_RESTART, NULL, 1 << 9}, now;
    for (int i = 0; i < 2; i++) {
        int signo = i ? SIGVTALRM : SIGTRAP;
        TELL(syscall(SYS_rt_sigaction, signo, &action, NULL, 8));
        TELL(syscall(SYS_rt_sigaction, signo, NULL, &now, 8));
        say("handler %p flags %lx mask %lx", now.handler, now.flags & ~0x4000000ul, now.mask);
        TELL(raise(signo));
        TELL(syscall(SYS_rt_sigaction, signo, (void *)8, NULL, 8));
        TELL(syscall(SYS_rt_sigaction, signo, NULL, (void *)8, 8));
        TELL(syscall(SYS_rt_sigaction, signo, &action, NULL, 16));
        struct sigaction seen;
        sigaction(signo, NULL, &seen);
        say("sigaction says ignored %d flags %x usr1 %d", seen.sa_handler == SIG_IGN, seen.sa_flags & ~0x4000000, sigismember(&seen.sa_mask, SIGUSR1));
        burn();
    }
}

CASE(status_masks, 1, "/proc/self/status shows the masks of signals that are blocked, ignored and caught")
{
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");
    burn();
    while (fgets(line, sizeof line, file))
        if (!strncmp(line, "Sig", 3) || !strncmp(line, "Shd", 3))
            if (strncmp(line, "SigQ", 4)) {
                line[strcspn(line, "\n")] = 0;
                say("%s", line);
            }
}
NATURE(status_masks, stdout, "The kernel's own account shows the handler that takes samples; what a program asks through its C library does not.")

static void shows_frames(int signo) { void *frames[64]; say("%d: %d frames", signo, backtrace(frames, 64)); }
CASE(backtrace_in_handlers, 1, "backtrace in handlers, as crash handlers do: it shows no frame that is not the program's")
{
    static const int signals[] = {SIGTRAP, SIGVTALRM, SIGUSR1};
    void *frames[64];
    backtrace(frames, 64); /* loads what it needs */
    burn();
    for (int i = 0; i < 3; i++) {
        set_handler(signals[i], shows_frames, 0);
        raise(signals[i]);
    }
    __asm__ volatile("int3");
}

static volatile sig_atomic_t times[_NSIG];
static void note(int signo) { times[signo]++; }
CASE(all_handled, 2, "handlers for all 64 signals; all are blocked, sent, found pending, waited for, and let in")
{
    sigset_t all, found, trap;
    siginfo_t info;
    sigfillset(&all);
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    for (int signo = 1; signo < _NSIG; signo++)
        set_handler(signo, note, 0);
    burn();
    for (int round = 0; round < 3; round++) {
        sigprocmask(SIG_BLOCK, &all, NULL);
        for (int signo = 1; signo < _NSIG; signo++)
            if (signo != SIGKILL && signo != SIGSTOP && signo != 32 && signo != 33)
                kill(getpid(), signo);
        sigpending(&found);
        for (int signo = 1; signo < _NSIG; signo++)
            if (sigismember(&found, signo) == 1)
                say("%d waits", signo);
        if (round == 1)
            say("took %d, sent by itself %d", sigwaitinfo(&trap, &info), info.si_code == SI_USER && info.si_pid == getpid());
        pid_t pid = fork();
        if (pid == 0) {
            sigpending(&found);
            say("waits in the child: %d", sigismember(&found, SIGTRAP));
            _exit(0);
        }
        say_end(pid);
        say("before: %d %d", (int)times[SIGTRAP], (int)times[SIGVTALRM]);
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        say("after: %d %d", (int)times[SIGTRAP], (int)times[SIGVTALRM]);
    }
    burn();
}
