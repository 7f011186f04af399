/* interpose_signal.c -- the program's view of signals: dispositions and masks, in which ours are not taken */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose_signal.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/os_signal.h"
#include "base/real.h"
#include "base/safe_read.h"
#include "control/alternate_stack.h"
#include "control/dispositions.h"
#include "control/signals.h"
#include "control/surrogate.h"
#include "entry/interpose.h"
#include "entry/program_memory.h"
#include "sample/clock_source.h"
#include "target/parallel_region.h"
#include "target/thread.h"

COL_EXPORT int sigaction(int signo, const struct sigaction *restrict action, struct sigaction *restrict old)
{
    return col_dispositions_change(signo, action, old);
}

COL_SECOND_NAME(__sigaction, sigaction);

/* As the kernel has it. */
struct kernel_action {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

bool col_entry_is_signal_call(long number, long signo, long set_bytes)
{
    return number == SYS_rt_sigaction && set_bytes == sizeof(uint64_t) && signo > 0 && signo < _NSIG &&
           (col_dispositions_has_taken((int)signo) || col_surrogate_owner((int)signo) != 0);
}

long col_entry_signal_call(long signo, long action, long old)
{
    struct kernel_action asked, *shown = (struct kernel_action *)old;
    struct sigaction ours = {0}, before;
    if (action != 0 && !col_safe_read_bytes((uintptr_t)action, &asked, sizeof asked)) {
        errno = EFAULT;
        return -1;
    }
    /* The kernel writes first: it can say that there is no room. */
    if (old != 0 && COL_REAL(syscall)(SYS_rt_sigaction, signo, NULL, old, sizeof asked.mask) != 0)
        return -1;
    if (action != 0) {
        ours.sa_handler = asked.handler;
        ours.sa_flags = (int)asked.flags;
        ours.sa_restorer = asked.restorer;
        col_surrogate_set_word(&ours.sa_mask, asked.mask);
    }
    if (col_dispositions_change((int)signo, action != 0 ? &ours : NULL, &before) != 0)
        return -1;
    if (old != 0)
        *shown = (struct kernel_action){before.sa_handler, (unsigned int)before.sa_flags, before.sa_restorer,
                                        col_surrogate_word(&before.sa_mask)};
    return 0;
}

static int change_mask(int how, const sigset_t *set, sigset_t *old, int (*real)(int, const sigset_t *, sigset_t *))
{
    if (!col_dispositions_has_taken(COL_CLOCK_EVENT_SIGNAL) ||
        (set != NULL && how != SIG_BLOCK && how != SIG_UNBLOCK && how != SIG_SETMASK))
        return real(how, set, old);
    uint64_t believed = col_surrogate_believed();
    sigset_t ours;
    if (set != NULL) {
        ours = *set;
        col_dispositions_mask_to_kernel(how, &ours, col_signals_is_on_small_stack());
    }
    int result = real(how, set != NULL ? &ours : NULL, old);
    if (old != NULL)
        col_dispositions_set_to_program(old, believed);
    siginfo_t info;
    for (int signo; (signo = col_surrogate_take_kept(~col_surrogate_believed(), &info)) != 0;)
        col_os_queue_to_thread(signo, &info);
    return result;
}

COL_EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    return change_mask(how, set, old, COL_REAL(sigprocmask));
}

COL_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict old)
{
    return change_mask(how, set, old, COL_REAL(pthread_sigmask));
}

COL_EXPORT int sigpending(sigset_t *set)
{
    int result = COL_REAL(sigpending)(set);
    if (result == 0 && col_dispositions_has_taken(COL_CLOCK_EVENT_SIGNAL))
        col_dispositions_set_to_program(set, col_surrogate_kept());
    return result;
}

/* The mask a thread is to begin with, which no call of the thread's own sets. */
COL_EXPORT int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *set)
{
    sigset_t ours;
    if (set == NULL || !col_dispositions_has_taken(COL_CLOCK_EVENT_SIGNAL))
        return COL_REAL(pthread_attr_setsigmask_np)(attributes, set);
    ours = *set;
    col_dispositions_set_to_kernel(&ours);
    return COL_REAL(pthread_attr_setsigmask_np)(attributes, &ours);
}

COL_EXPORT int pthread_attr_getsigmask_np(const pthread_attr_t *attributes, sigset_t *set)
{
    int result = COL_REAL(pthread_attr_getsigmask_np)(attributes, set);
    if (result == 0 && col_dispositions_has_taken(COL_CLOCK_EVENT_SIGNAL))
        col_dispositions_set_to_program(set, 0);
    return result;
}

/*
 * Out of a handler: the C library opens the mask before it leaves the handler's stack. Where that has no room for a tick, those that waited for the handler's end are
 * dropped, and the jump is made from another stack.
 */
static void leave_small_stack(void *place, int value)
{
    if (!col_signals_is_on_small_stack())
        return;
    col_signals_drop_waiting();
    uintptr_t top = col_thread_spare_stack();
    if (top != 0)
        col_arch_call_on(top, (void (*)(void *, int))(void *)COL_REAL(siglongjmp), place, value);
}

/* They all do the same, whatever setjmp has saved. */
#define JUMP(name, type)                                                                                               \
    COL_EXPORT void name(type place, int value)                                                                        \
    {                                                                                                                  \
        col_parallel_region_jump();                                                                                    \
        leave_small_stack(place, value);                                                                               \
        COL_REAL(name)(place, value);                                                                                  \
        __builtin_unreachable();                                                                                       \
    }

JUMP(siglongjmp, sigjmp_buf)
JUMP(longjmp, jmp_buf)
JUMP(_longjmp, jmp_buf)
JUMP(__longjmp_chk, jmp_buf)

COL_EXPORT int sigaltstack(const stack_t *restrict stack, stack_t *restrict old)
{
    stack_t copy;
    if (!col_dispositions_has_taken(COL_CLOCK_EVENT_SIGNAL))
        return COL_REAL(sigaltstack)(stack, old);
    if (stack == NULL)
        return col_alternate_stack_get(old);
    if (!col_entry_read_program(stack, &copy, sizeof copy))
        return COL_REAL(sigaltstack)(stack, old);
    if ((copy.ss_flags & SS_DISABLE) == 0) {
        col_signals_note_alternate_stack(copy.ss_size);
        col_entry_note_alternate_stack();
    }
    return col_alternate_stack_set(&copy, old);
}
