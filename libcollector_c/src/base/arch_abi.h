/* arch_abi.h -- what of the processor needs nothing else of ours: its red zone, and the instruction that enters the kernel */
#ifndef COL_BASE_ARCH_ABI_H
#define COL_BASE_ARCH_ABI_H

/*
 * col_arch_syscall: a system call without errno: the answer, or -errno.
 * COL_ARCH_RED_ZONE_BYTES: see base/arch.h.
 */
#if defined(__x86_64__)
enum { COL_ARCH_RED_ZONE_BYTES = 128 };

static inline long col_arch_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
    long answer;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return answer;
}
#elif defined(__aarch64__)
enum { COL_ARCH_RED_ZONE_BYTES = 0 };

static inline long col_arch_syscall(long nr, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = nr;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
#else
#error "libcollector knows x86-64 and aarch64 only"
#endif

/* Calls of io_uring, which older headers do not name; the same numbers on all processors. */
enum { COL_CALL_RING_SETUP = 425, COL_CALL_RING_ENTER = 426 };

#endif
