/* signal_states.c -- truth: each case prints the same recorded or not, whatever state a tick finds the thread in
 *
 * signal_states CASE [TIMES]: what is left to chance is done so many times as often. Programs may switch the alignment check on, give a thread storage of their own, set a tiny signal stack, cancel at any instruction,
 * leave handlers by a jump.
 */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "measured_work.h"

/* Works without a call into the C library, about so long. */
static NOINLINE void churn_alone(long rounds)
{
    uint64_t x = churned;
    for (long i = 0; i < rounds; i++)
        x = churn(x, 100000);
    churned = x;
}

static int times = 1;

static long rounds_of(long us)
{
    int64_t start = thread_ns();
    churn_alone(20);
    return us * 20000 / (thread_ns() - start + 1) + 1;
}

static void alignment_check(void)
{
#if defined(__x86_64__)
    long rounds = rounds_of(80000);
    __asm__ volatile("pushfq\n\torq $0x40000, (%%rsp)\n\tpopfq" : : : "cc", "memory");
    churn_alone(rounds);
    uint64_t flags;
    __asm__ volatile("pushfq\n\tpopq %0\n\tpushfq\n\tandq $~0x40000, (%%rsp)\n\tpopfq" : "=r"(flags) : : "cc", "memory");
    printf("still on %d\n", (int)(flags >> 18 & 1));
#endif
}

#if defined(__x86_64__)
static long bare_call(long number, long a, long b, long c)
{
    long answer;
    __asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return answer;
}

static struct account lost_ns = {.name = "lost_ns"}; /* where no sample can be taken */

static unsigned char storage[3][8192] __attribute__((aligned(64)));

/* On thread-local storage that is none: zeros, a head that looks like the C library's, and a copy of the whole. */
__attribute__((optimize("no-stack-protector"))) static void own_storage(void)
{
    long own = 0, rounds = rounds_of(50000), changed = 0;
    static unsigned char before[sizeof storage];
    bare_call(SYS_arch_prctl, ARCH_GET_FS, (long)&own, 0);
    for (int i = 0; i < 3; i++) {
        unsigned char *middle = storage[i] + sizeof storage[i] / 2;
        if (i == 2)
            memcpy(middle, (void *)own, 2048);
        if (i > 0)
            memcpy(middle, &middle, sizeof middle), memcpy(middle + 16, &middle, sizeof middle);
        if (i == 2)
            memset(middle + 640, 0, 512); /* where the thread's id is */
    }
    memcpy(before, storage, sizeof storage);
    for (int i = 0; i < 3; i++) {
        int64_t start = thread_ns();
        bare_call(SYS_arch_prctl, ARCH_SET_FS, (long)(storage[i] + sizeof storage[i] / 2), 0);
        churn_alone(rounds);
        bare_call(SYS_arch_prctl, ARCH_SET_FS, own, 0);
        lost_ns.ns += thread_ns() - start;
    }
    for (size_t i = 0; i < sizeof storage; i++)
        changed += before[i] != ((unsigned char *)storage)[i];
    printf("bytes changed %ld\n", changed);
    print_account(&lost_ns);
    churn_alone(rounds);
}

/* No storage at all: the next access to it would be a fault. Gives the rounds that it took. */
__attribute__((optimize("no-stack-protector"))) static long churn_without_storage(void)
{
    long own = 0, rounds = rounds_of(150000);
    bare_call(SYS_arch_prctl, ARCH_GET_FS, (long)&own, 0);
    bare_call(SYS_arch_prctl, ARCH_SET_FS, 0, 0);
    churn_alone(rounds);
    bare_call(SYS_arch_prctl, ARCH_SET_FS, own, 0);
    return rounds;
}

static void no_storage(void)
{
    long rounds;
    BOOK(lost_ns, rounds = churn_without_storage());
    print_account(&lost_ns);
    puts("alive");
    churn_alone(rounds);
}

/* The same, and the program ends before another tick. */
static void no_storage_at_end(void)
{
    churn_without_storage();
    exit(0);
}
#else
static void own_storage(void) { puts("bytes changed 0"); }
static void no_storage(void) { puts("alive"); }
static void no_storage_at_end(void) {}
#endif

/* ---- signal stacks ---- */

static volatile sig_atomic_t seen_count;

static void count(int signo)
{
    (void)signo;
    seen_count++;
}

static void tiny_stack(void)
{
    static unsigned char memory[3 * 8192];
    stack_t tiny = {.ss_sp = memory + 8192, .ss_size = 2048}, now;
    struct sigaction action;
    long changed = 0;
    memset(memory, 0x5a, sizeof memory);
    printf("set %d\n", sigaltstack(&tiny, NULL));
    work(80000);
    sigaltstack(NULL, &now);
    for (size_t i = 0; i < sizeof memory; i++)
        changed += memory[i] != 0x5a;
    printf("size %zu changed %ld\n", now.ss_size, changed);
    memset(&action, 0, sizeof action);
    action.sa_handler = count;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    printf("seen %d\n", (int)seen_count);
}

/* ---- jumps ---- */

static sigjmp_buf back;

static long handler_rounds;

static void leave(int signo)
{
    seen_count++;
    churn_alone(handler_rounds);
    siglongjmp(back, signo);
}

static void jump_out(int signo, int timer, int flags, size_t stack_bytes)
{
    struct sigaction action;
    struct itimerval often = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
    static char stack[1 << 16];
    stack_t mine = {.ss_sp = stack, .ss_size = stack_bytes};
    memset(&action, 0, sizeof action);
    action.sa_handler = leave;
    action.sa_flags = flags;
    sigaltstack(&mine, NULL);
    sigaction(signo, &action, NULL);
    int64_t end_ns = thread_ns() + 100000000 * times;
    if (sigsetjmp(back, 1) == 0) /* before the first signal, which may come at once */
        setitimer(timer, &often, NULL);
    while (thread_ns() < end_ns || seen_count <= 3) /* a machine that stood still has had its time, but no signals */
        churn_alone(1);
    setitimer(timer, &never, NULL);
    printf("jumped %d\n", seen_count > 3);
}

static void alarm_jump(void) { jump_out(SIGALRM, ITIMER_REAL, 0, 1 << 16); }
static void alarm_jump_nested(void) { jump_out(SIGALRM, ITIMER_REAL, SA_NODEFER | SA_ONSTACK, 1 << 16); }
static void prof_jump(void) { jump_out(SIGPROF, ITIMER_PROF, SA_ONSTACK, 1 << 16); }

/* There is room for the handler and for what it calls, and for nothing on top. */
static void small_stack(int saves)
{
    static unsigned char memory[1 << 16];
    size_t below = sizeof memory / 2;
    long changed = 0;
    stack_t small = {.ss_sp = memory + below, .ss_size = getauxval(AT_MINSIGSTKSZ) + 1024};
    struct sigaction action;
    sigset_t none;
    sigemptyset(&none);
    memset(&action, 0, sizeof action);
    action.sa_handler = leave;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR1, &action, NULL);
    sigaltstack(&small, NULL);
    sigaction(SIGUSR2, &action, NULL);
    handler_rounds = rounds_of(1500);
    for (volatile int i = 0; i < 100; i++)
        if (sigsetjmp(back, saves) == 0)
            raise(i % 2 ? SIGUSR1 : SIGUSR2);
        else if (!saves)
            sigprocmask(SIG_SETMASK, &none, NULL);
    for (size_t i = 0; i < below; i++)
        changed += memory[i] != 0;
    printf("jumped %d changed %ld\n", (int)seen_count, changed);
    work(20000);
}

static void small_stack_jump(void) { small_stack(1); }
static void small_stack_unmasked(void) { small_stack(0); }

static NOINLINE int overflow(volatile char *above)
{
    char here[4096];
    here[0] = *above;
    churned += (uint64_t)here[0];
    return overflow(here) + here[1];
}

static void overflow_jump(void)
{
    struct sigaction action;
    static char stack[8192];
    stack_t mine = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&mine, NULL);
    memset(&action, 0, sizeof action);
    action.sa_handler = leave;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, NULL);
    char top = 1;
    int64_t end_ns = thread_ns() + 100000000 * times;
    sigsetjmp(back, 1);
    if (thread_ns() < end_ns)
        overflow(&top);
    printf("jumped %d\n", seen_count > 3);
}

/* ---- cancellation ---- */

static volatile int is_ready;

static void *run_until_cancelled(void *unused)
{
    int old;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    is_ready = 1;
    for (;;)
        churn_alone(1);
    return unused;
}

static void cancelled_anywhere(void)
{
    int cancelled_count = 0;
    int count = 100 * times;
    for (int i = 0; i < count; i++) {
        pthread_t thread;
        void *result;
        is_ready = 0;
        pthread_create(&thread, NULL, run_until_cancelled, NULL);
        while (!is_ready)
            sched_yield();
        work(300 + i * 300 / count);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled_count += result == PTHREAD_CANCELED;
    }
    printf("cancelled %d\n", cancelled_count);
}

/* ---- keys ---- */

static volatile int destroyed_count;

static void destroy(void *value)
{
    (void)value;
    destroyed_count++;
}

static void *use_keys(void *keys)
{
    for (int i = 0; i < 3; i++)
        pthread_setspecific(((pthread_key_t *)keys)[i], keys);
    work(40000);
    return NULL;
}

static void all_keys(void)
{
    static pthread_key_t keys[PTHREAD_KEYS_MAX + 1];
    int key_count = 0;
    pthread_t thread;
    pthread_create(&thread, NULL, use_keys, keys); /* the recorder has threads to watch */
    pthread_join(thread, NULL);
    while (key_count <= PTHREAD_KEYS_MAX && pthread_key_create(&keys[key_count], destroy) == 0)
        key_count++;
    printf("keys %d\n", key_count);
    destroyed_count = 0;
    pthread_create(&thread, NULL, use_keys, keys + key_count - 3);
    pthread_join(thread, NULL);
    printf("destroyed %d\n", destroyed_count);
}

/* ---- the time stamp counter ---- */

static void counter_forbidden(void)
{
#if defined(__x86_64__)
    long rounds = rounds_of(100000);
    printf("forbidden %d\n", prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
    churn_alone(rounds);
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
#endif
    puts("alive");
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"alignment_check", alignment_check}, {"own_storage", own_storage}, {"no_storage", no_storage}, {"no_storage_at_end", no_storage_at_end}, {"tiny_stack", tiny_stack}, {"alarm_jump", alarm_jump},
    {"alarm_jump_nested", alarm_jump_nested}, {"prof_jump", prof_jump}, {"small_stack_jump", small_stack_jump}, {"small_stack_unmasked", small_stack_unmasked}, {"overflow_jump", overflow_jump}, {"cancelled_anywhere", cancelled_anywhere},
    {"all_keys", all_keys}, {"counter_forbidden", counter_forbidden},
};

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    times = argc > 2 ? atoi(argv[2]) : 1;
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            work(30000);
            cases[i].run();
            work(30000);
        }
    return 0;
}
