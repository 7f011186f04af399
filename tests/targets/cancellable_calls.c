/* cancellable_calls.c -- waits whose system calls are made as glibc makes them from 2.41 on: their number is an argument, which the code before `syscall` does not tell
 *
 * `function` waits 100 ms; in calls of many threads by an assembler function (by_arch), and of one by the function that was given the number (by_caller).
 */
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
#define NS 100000000L

long call_arch(const int *flags, long number, long a, long b, long c, long d, long e, long f);
__asm__(".text\n"
        "call_arch:\n"
        "	.cfi_startproc\n"
        "	mov (%rdi), %eax\n"
        "	testb $8, (%rdi)\n"
        "	mov %rdi, %r11\n"
        "	mov %rsi, %rax\n"
        "	mov %rdx, %rdi\n"
        "	mov %rcx, %rsi\n"
        "	mov %r8, %rdx\n"
        "	mov %r9, %r10\n"
        "	mov 8(%rsp), %r8\n"
        "	mov 16(%rsp), %r9\n"
        "	mov %r11, 8(%rsp)\n"
        "	syscall\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size call_arch, . - call_arch\n"
        ".type call_arch, @function\n");

static const int flags;
static volatile long kept;

APART static void by_arch(long a, long b, long c, long d, long e, long f, long number)
{
    kept = call_arch(&flags, number, a, b, c, d, e, f);
}

APART static void by_caller(long a, long b, long c, long d, long e, long f, long number)
{
    long answer;
    register long r10 __asm__("r10") = d;
    (void)e, (void)f;
    __asm__ volatile("mov %1, %%rax; syscall" : "=&a"(answer) : "m"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
    kept = answer;
}

APART static void sleeps_by_arch(void)
{
    struct timespec time = {0, NS};
    by_arch(CLOCK_MONOTONIC, 0, (long)&time, 0, 0, 0, SYS_clock_nanosleep);
    __asm__ volatile("");
}

APART static void polls_by_arch(void)
{
    by_arch(0, 0, NS / 1000000, 0, 0, 0, SYS_poll);
    __asm__ volatile("");
}

APART static void sleeps_by_caller(void)
{
    struct timespec time = {0, NS};
    by_caller((long)&time, 0, 0, 0, 0, 0, SYS_nanosleep);
    __asm__ volatile("");
}

APART static void polls_by_caller(void)
{
    by_caller(0, 0, NS / 1000000, 0, 0, 0, SYS_poll);
    __asm__ volatile("");
}

int main(void)
{
    sleeps_by_arch();
    polls_by_arch();
    sleeps_by_caller();
    polls_by_caller();
    return 0;
}
