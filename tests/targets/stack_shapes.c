/* stack_shapes.c -- truth: each named function uses, with what it calls, the CPU time that is printed for it; every stack leads to main
 *
 * The ways of the stack that profilers lose: signal handlers, alternate stacks, coroutines, functions that never return,
 * jump tables, functions of the C library called from two places, code of the dynamic linker. stack_shapes MILLISECONDS
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "measured_work.h"

static long slice_us;

/* ---- handlers ---- */

NOINLINE static void handled(void) { work(slice_us); }
NOINLINE static void handled_aside(void) { work(slice_us); }

/* Keeps the call before it from being a jump, which would leave no frame. */
#define NO_TAIL_CALL __asm__ volatile("")

static void on_signal(int signo)
{
    (void)signo;
    handled();
    NO_TAIL_CALL;
}

static void on_aside(int signo)
{
    (void)signo;
    handled_aside();
    NO_TAIL_CALL;
}

NOINLINE static void interrupted(void)
{
    raise(SIGUSR1);
    NO_TAIL_CALL;
}

NOINLINE static void interrupted_aside(void)
{
    raise(SIGUSR2);
    NO_TAIL_CALL;
}

/* A handler that began between two instructions of this function, not in a call. */
NOINLINE static void stepped_on(void)
{
#if defined(__x86_64__)
    __asm__ volatile("ud2");
#else
    raise(SIGILL);
#endif
}

NOINLINE static void handled_fault(void) { work(slice_us); }

static void on_fault(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)info;
    handled_fault();
#if defined(__x86_64__)
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] += 2;
#else
    (void)context;
#endif
}

static void install_handlers(void)
{
    static char aside[1 << 16];
    stack_t stack = {.ss_sp = aside, .ss_size = sizeof aside};
    struct sigaction action;
    sigaltstack(&stack, NULL);
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_aside;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGILL, &action, NULL);
}

/* ---- coroutines ---- */

static ucontext_t outside, inside;

NOINLINE static void inner_work(void) { work(slice_us); }

static void coroutine_body(void)
{
    inner_work();
    swapcontext(&inside, &outside);
    inner_work();
    NO_TAIL_CALL;
}

NOINLINE static void coroutine(void)
{
    static char stack[1 << 16];
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine_body, 0);
    swapcontext(&outside, &inside);
    swapcontext(&outside, &inside);
}

/* ---- no return ---- */

static jmp_buf back;

__attribute__((noreturn)) NOINLINE static void never_returns(void)
{
    work(slice_us);
    longjmp(back, 1);
}

/* Its call is its last instruction: the return address belongs to the next function. */
NOINLINE static void ends_in_a_call(int number)
{
    churned = (uint64_t)number;
    never_returns();
}

NOINLINE static void not_the_caller(void) { churned++; }

NOINLINE static void leaps(void)
{
    not_the_caller();
    if (setjmp(back) == 0)
        ends_in_a_call(1);
}

static void clean_up(void *unused)
{
    (void)unused;
    work(slice_us);
}

NOINLINE static void exits_thread(void)
{
    pthread_cleanup_push(clean_up, NULL);
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
}

static int64_t thread_used_ns;

static void *thread_body(void *unused)
{
    exits_thread();
    return unused;
}

static void book_thread(void *unused)
{
    (void)unused;
    thread_used_ns += thread_ns();
}

static void *thread_shell(void *unused)
{
    pthread_cleanup_push(book_thread, NULL);
    thread_body(unused);
    pthread_cleanup_pop(1);
    return unused;
}

static int64_t run_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, thread_shell, NULL);
    pthread_join(thread, NULL);
    return thread_used_ns;
}

/* ---- jump table ---- */

NOINLINE static void jumps(long rounds)
{
    uint64_t x = churned | 1;
    for (long i = 0; i < rounds; i++) {
        switch (x >> 60) {
        case 0: x = x * 3 + 1; break;
        case 1: x ^= x >> 7; break;
        case 2: x = x * 5 + 7; break;
        case 3: x += 0x1234567; break;
        case 4: x = x * 9 + 3; break;
        case 5: x ^= x << 13; break;
        case 6: x = x * 11 + 5; break;
        case 7: x -= 99; break;
        case 8: x = ~x * 3; break;
        case 9: x ^= x >> 17; break;
        case 10: x = x * 13 + 1; break;
        case 11: x += x << 3; break;
        case 12: x = x * 17 + 9; break;
        case 13: x ^= 0xabcdef; break;
        case 14: x = x * 19 + 3; break;
        default: x = x * 21 + 11; break;
        }
        __asm__ volatile("" : "+r"(x));
    }
    churned = x;
}

/* ---- the C library ---- */

enum { BLOCK = 1 << 16 };
static char *from, *to;

NOINLINE static void copies(int count)
{
    for (int i = 0; i < count; i++) {
        memcpy(to, from, BLOCK);
        __asm__ volatile("" ::: "memory");
    }
}

NOINLINE static void copies_half(int count)
{
    for (int i = 0; i < count / 2; i++) {
        memcpy(to, from, BLOCK);
        __asm__ volatile("" ::: "memory");
    }
}

NOINLINE static void clears(int count)
{
    for (int i = 0; i < count; i++) {
        memset(to, i, BLOCK);
        __asm__ volatile("" ::: "memory");
    }
}

static int descending(const void *a, const void *b)
{
    return *(const int *)a < *(const int *)b ? 1 : -1;
}

NOINLINE static void sorts(void)
{
    static int numbers[4096];
    for (int i = 0; i < 4096; i++)
        numbers[i] = (int)((unsigned)i * 2654435761u);
    qsort(numbers, 4096, sizeof *numbers, descending);
    NO_TAIL_CALL;
}

/* ---- the dynamic linker ---- */

NOINLINE static void looks_up(int count)
{
    for (int i = 0; i < count; i++)
        if (dlsym(RTLD_DEFAULT, "no such symbol") != NULL)
            abort();
}

/* What a machine copies or sorts in a slice is not what the next one does: the count that would have taken one, and at most twice as many as now. */
static long steered(long count, int64_t took_ns)
{
    long fitting = (long)((double)count * (double)slice_us * 1000 / (double)(took_ns + 1));
    return fitting < 1 ? 1 : fitting < 2 * count ? fitting : 2 * count;
}

#define STEER(account, count, statement)                                                                               \
    do {                                                                                                               \
        int64_t before_ns = (account).ns;                                                                              \
        BOOK(account, statement);                                                                                      \
        count = steered(count, (account).ns - before_ns);                                                              \
    } while (0)

int main(int argc, char **argv)
{
    enum { HANDLER, ASIDE, FAULT, COROUTINE, LEAPS, EXITS, JUMPS, COPIES, HALF, CLEARS, SORTS, LOOKS, COUNT };
    struct account accounts[COUNT] = {
        {"interrupted", 0}, {"interrupted_aside", 0}, {"stepped_on", 0}, {"coroutine_body", 0}, {"leaps", 0}, {"exits_thread", 0},
        {"jumps", 0}, {"copies", 0}, {"copies_half", 0}, {"clears", 0}, {"sorts", 0}, {"looks_up", 0}};
    int64_t limit_ns = (argc > 1 ? atol(argv[1]) : 1000) * 1000000;
    from = calloc(1, BLOCK), to = calloc(1, BLOCK);
    install_handlers();
    long jump_count = 1200000, copy_count = 1200, half_count = 1200, clear_count = 1400, sort_count = 5, look_count = 7000;
    for (int64_t end = process_ns() + limit_ns; process_ns() < end;) {
        slice_us = 700 + (long)(churned >> 33) % 800; /* not in step with any clock */
        BOOK(accounts[HANDLER], interrupted());
        BOOK(accounts[ASIDE], interrupted_aside());
        BOOK(accounts[FAULT], stepped_on());
        BOOK(accounts[COROUTINE], coroutine());
        BOOK(accounts[LEAPS], leaps());
        STEER(accounts[JUMPS], jump_count, jumps(jump_count));
        STEER(accounts[COPIES], copy_count, copies((int)copy_count));
        STEER(accounts[HALF], half_count, copies_half((int)half_count));
        STEER(accounts[CLEARS], clear_count, clears((int)clear_count));
        STEER(accounts[SORTS], sort_count, for (int i = 0; i < sort_count; i++) sorts());
        STEER(accounts[LOOKS], look_count, looks_up((int)look_count));
    }
    /* Once, and long: main must not sleep in step with the others. */
    slice_us = limit_ns / 10000;
    accounts[EXITS].ns = run_thread();
    for (int i = 0; i < COUNT; i++)
        print_account(&accounts[i]);
    printf("process %lld\n", (long long)process_ns());
    return 0;
}
