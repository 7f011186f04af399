/* ring_wait.c -- waits for completions of an io_uring go on after our signals */
#include "control/ring_wait.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/os_signal.h"
#include "base/real.h"
#include "base/safe_read.h"
#include "sample/clock_source.h"

#define FLAG_WAIT 1u                 /* IORING_ENTER_GETEVENTS */
#define FLAG_LONG_ARGUMENT 8u        /* IORING_ENTER_EXT_ARG */
#define FLAG_REGISTERED_ARGUMENT 64u /* IORING_ENTER_EXT_ARG_REG */
#define TIMEOUT_AT 16                /* in the long argument */

enum { SUBMIT_COUNT = 1, FLAGS = 3, ARGUMENT = 4, FRAME_BYTES = 256, CODE_BYTES = 64 };

static __thread uintptr_t calling_frame __attribute__((tls_model("initial-exec")));

__asm__(COL_ARCH_RING_WAIT_REST);

uintptr_t col_ring_wait_set_frame(uintptr_t frame)
{
    uintptr_t before = calling_frame;
    __atomic_store_n(&calling_frame, frame, __ATOMIC_RELAXED);
    return before;
}

/* Where syscall(2) has come back, if this is the one that was told of. */
static uintptr_t told_place(const ucontext_t *context)
{
    uintptr_t pc, sp, code = (uintptr_t)COL_REAL(syscall);
    memcpy(&pc, (const char *)context + col_arch_context_offset(COL_DWARF_PC), sizeof pc);
    memcpy(&sp, (const char *)context + col_arch_context_offset(COL_DWARF_SP), sizeof sp);
    return calling_frame - sp < FRAME_BYTES && pc - code < CODE_BYTES ? pc : 0;
}

/* A timeout that may have passed: whether the wait has come to its end, nothing tells. */
static bool has_timeout(const uint64_t *arguments)
{
    uint64_t timeout = 0;
    if (arguments[FLAGS] & FLAG_REGISTERED_ARGUMENT)
        return true;
    return (arguments[FLAGS] & FLAG_LONG_ARGUMENT) && arguments[ARGUMENT] != 0 &&
           (!col_safe_read_bytes(arguments[ARGUMENT] + TIMEOUT_AT, &timeout, sizeof timeout) || timeout != 0);
}

/* The program is to see that it was interrupted, if a signal of its own comes next. */
static bool has_signal_of_program(const ucontext_t *context)
{
    uint64_t blocked;
    memcpy(&blocked, &context->uc_sigmask, sizeof blocked);
    return (col_os_signals_at_hand() & ~blocked & ~col_os_signal_bit(COL_CLOCK_SIGNAL) &
            ~col_os_signal_bit(COL_CLOCK_EVENT_SIGNAL)) != 0;
}

void col_ring_wait_go_on(ucontext_t *context)
{
    uint64_t arguments[5];
    long answer;
    if (!col_arch_finished_ring_wait(context, told_place(context), arguments, &answer) ||
        !(arguments[FLAGS] & FLAG_WAIT) || has_signal_of_program(context))
        return;
    uint32_t submit_count = (uint32_t)arguments[SUBMIT_COUNT]; /* the kernel looks at no more of the register */
    if (answer == -EINTR || (answer == 0 && submit_count == 0 && !has_timeout(arguments)))
        col_arch_wait_again(context);
    else if (answer > 0 && (uint64_t)answer == submit_count && !has_timeout(arguments))
        col_arch_wait_on(context);
}
