/* state.c -- states of the processor that a signal handler must neither need nor leave behind
 *
 * build: -lm
 */
#include "matrix.h"
#include <asm/prctl.h>
#include <cpuid.h>
#include <fenv.h>
#include <math.h>

CASE(alignment_check, 0, "EFLAGS.AC: every misaligned access would be a SIGBUS")
{
    __asm__ volatile("pushfq\n orq $0x40000, (%%rsp)\n popfq" ::: "memory", "cc");
    uint64_t x = 1;
    for (long i = 0; i < 100000000; i++) __asm__ volatile("imul $3, %0, %0" : "+r"(x));
    __asm__ volatile("pushfq\n andq $~0x40000, (%%rsp)\n popfq" ::: "memory", "cc");
    say("done");
}
CASE(direction, 0, "the direction flag is set while it computes")
{
    uint64_t x = 1, flags;
    __asm__ volatile("std");
    for (long i = 0; i < 100000000; i++) __asm__ volatile("imul $3, %0, %0" : "+r"(x));
    __asm__ volatile("pushfq\n popq %0\n cld" : "=r"(flags));
    say("still set %d", (flags & 0x400) != 0);
}
CASE(rounding, 0, "SSE rounds up and flushes to zero while it computes")
{
    unsigned int before = 0xdfc0 & ~0x6000u, after = 0, control = 0x5f80 | 0x8040;
    __asm__ volatile("ldmxcsr %0" ::"m"(control));
    double x = 1;
    for (long i = 0; i < 60000000; i++) __asm__ volatile("mulsd %1, %0" : "+x"(x) : "x"(1.0000000001));
    __asm__ volatile("stmxcsr %0" : "=m"(after));
    (void)before;
    say("control %x x %a", after & ~0x3fu, x);
}
CASE(x87, 0, "x87 with single precision and values on its stack")
{
    unsigned short control = 0x007f, after;
    long double sum = 0;
    __asm__ volatile("fldcw %0\n fldpi\n fldl2e" ::"m"(control));
    spin(60000000);
    __asm__ volatile("faddp\n fstpt %0\n fnstcw %1" : "=m"(sum), "=m"(after));
    say("control %x sum %La", after, sum);
}
CASE(mmx, 0, "values in MMX registers") { uint64_t in = 0x123456789abcdef, out; __asm__ volatile("movq %0, %%mm3" ::"m"(in)); spin(60000000); __asm__ volatile("movq %%mm3, %0\n emms" : "=m"(out)); say("%d", in == out); }
CASE(registers, 0, "every general register and every AVX register keeps its value while samples are taken")
{
    if (!__builtin_cpu_supports("avx2")) { say("this system has no AVX2"); exit(77); }
    unsigned char in[32 * 16], out[32 * 16];
    for (size_t i = 0; i < sizeof in; i++) in[i] = (unsigned char)(i * 37);
    __asm__ volatile(
        ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vmovdqu \\n*32(%0), %%ymm\\n\n .endr\n"
        "mov $100000000, %%ecx\n 1: dec %%ecx\n jnz 1b\n"
        ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n vmovdqu %%ymm\\n, \\n*32(%1)\n .endr\n vzeroupper"
        ::"r"(in), "r"(out) : "rcx", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    say("same %d", !memcmp(in, out, sizeof in));
}
CASE(avx512, 0, "AVX-512 registers and masks keep their values")
{
    if (!__builtin_cpu_supports("avx512f")) { say("this system has no AVX-512"); exit(77); }
    unsigned char in[64] = {1, 2, 3}, out[64];
    __asm__ volatile("vmovdqu64 (%0), %%zmm20\n mov $0x5a5a, %%eax\n kmovw %%eax, %%k3\n mov $100000000, %%ecx\n 1: dec %%ecx\n jnz 1b\n vmovdqu64 %%zmm20, (%1)"
                     ::"r"(in), "r"(out) : "rax", "rcx", "memory", "cc");
    say("same %d", !memcmp(in, out, sizeof in));
}
CASE(red_zone, 0, "what lies in the red zone below the stack pointer stays")
{
    long wrong = 0;
    __asm__ volatile("mov $100000000, %%ecx\n movq $0x77, -128(%%rsp)\n movq $0x78, -8(%%rsp)\n 1: dec %%ecx\n jnz 1b\n xor %0, %0\n cmpq $0x77, -128(%%rsp)\n je 2f\n inc %0\n 2: cmpq $0x78, -8(%%rsp)\n je 3f\n inc %0\n 3:"
                     : "=&r"(wrong)::"rcx", "memory", "cc");
    say("wrong %ld", wrong);
}
CASE(own_fs, 0, "an FS base of its own for a while, as emulators have")
{
    static char block[65536] __attribute__((aligned(64)));
    static char before[65536];
    unsigned long old;
    memset(block, 0x21, sizeof block);
    memcpy(before, block, sizeof block);
    syscall(SYS_arch_prctl, ARCH_GET_FS, &old);
    long result, x = 1;
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(block + 32768) : "rcx", "r11", "memory");
    for (long i = 0; i < 200000000; i++) __asm__ volatile("" : "+r"(x));
    __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_arch_prctl), "D"(ARCH_SET_FS), "S"(old) : "rcx", "r11", "memory");
    say("changed %d", memcmp(before, block, sizeof block) != 0);
}
CASE(own_gs, 1, "a GS base of its own") { static char block[4096]; block[8] = 17; TELL(syscall(SYS_arch_prctl, ARCH_SET_GS, block)); burn(); char got; __asm__ volatile("movb %%gs:8, %0" : "=r"(got)); say("%d", got); }
static volatile sig_atomic_t faults;
static void skips(int signo) { (void)signo; faults++; prctl(PR_SET_TSC, PR_TSC_ENABLE); }
CASE(no_tsc, 0, "PR_SET_TSC: rdtsc is forbidden, the clock of the vdso as well")
{
    signal(SIGSEGV, skips);
    TELL(prctl(PR_SET_TSC, PR_TSC_SIGSEGV));
    spin(100000000);
    int before = (int)faults;
    __asm__ volatile("rdtsc" ::: "rax", "rdx");
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    say("faults %d then %d", before, (int)faults);
}
CASE(no_cpuid, 1, "CPUID faulting, where the processor has it") { burn(); long result = syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0); syscall(SYS_arch_prctl, ARCH_SET_CPUID, 1); say("off or not there %d", result == 0 || errno == ENODEV); }
static void float_trap(int signo, siginfo_t *info, void *context) { (void)context; say("signal %d code %d", signo, info->si_code); _exit(3); }
CASE(float_exceptions, 1, "unmasked floating-point exceptions") { struct sigaction action = {.sa_sigaction = float_trap, .sa_flags = SA_SIGINFO}; sigaction(SIGFPE, &action, NULL); feenableexcept(FE_DIVBYZERO | FE_INVALID); burn(); volatile double zero = 0; say("%f", 1 / zero); }
CASE(errno_stays, 0, "errno keeps its value while it computes") { int wrong = 0; for (int i = 0; i < 2000; i++) { errno = 12345; spin(50000); wrong += errno != 12345; } say("wrong %d", wrong); }
CASE(atomics, 0, "a compare-and-swap counter of two threads")
{
    static long counter;
    void *adds(void *unused) { for (int i = 0; i < 2000000; i++) __atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST); return unused; }
    pthread_t thread;
    pthread_create(&thread, NULL, adds, NULL);
    adds(NULL);
    pthread_join(thread, NULL);
    say("%ld", counter);
}
CASE(restartable, 0, "restartable sequences: those of the C library go on working")
{
    unsigned cpu, node;
    int wrong = 0;
    for (int i = 0; i < 100000; i++) { syscall(SYS_getcpu, &cpu, &node, NULL); wrong += cpu > 4096; }
    say("wrong %d", wrong);
}
CASE(speculation, 1, "PR_SET_SPECULATION_CTRL and core scheduling") { prctl(PR_SET_SPECULATION_CTRL, 0, 4, 0, 0); burn(); say("done"); }
CASE(timer_slack, 1, "PR_SET_TIMERSLACK stays what it was set to") { TELL(prctl(PR_SET_TIMERSLACK, 12345)); burn(); TELL(prctl(PR_GET_TIMERSLACK)); }
