/*
 * unwind_stepper.c -- checks the unwinder after every single instruction of a program
 *
 * Preloaded into the program. It sets the CPU's trap flag, so that each instruction ends in a SIGTRAP, and keeps a
 * shadow stack: an instruction that lowers the stack pointer by a word and leaves there the address behind itself is
 * a call; entries below the stack pointer are gone. At each instruction the unwinder's stack must equal the shadow
 * stack in every frame, and end as COMPLETE.
 *
 * Writes "INSTRUCTIONS EXACT" and the first wrong stacks to the file UNWIND_STEPPER_REPORT, after
 * UNWIND_STEPPER_LIMIT instructions or when the program exits.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "base/arch.h"
#include "sample/unwind.h"

enum {
    SHADOW_DEPTH = 4096,
    REPORTED_FAULTS = 20,
    TRAP_FLAG = 0x100,
    LONGEST_CALL_BYTES = 9,
    /* After a system call the trap comes one instruction late. */
    LONGEST_CALL_AFTER_SYSCALL_BYTES = 13,
};

struct return_slot {
    uintptr_t at, address;
};

static struct {
    struct return_slot shadow[SHADOW_DEPTH];
    size_t depth;
    uintptr_t last_pc, last_sp;
    unsigned long instructions, exact, limit;
    int faults, report_fd;
    bool is_over;
    char report[1 << 16]; /* in memory until the end: dprintf(3) allocates, and the program may be doing so just now */
    size_t reported;
    struct col_stack_bounds bounds;
    uintptr_t pcs[SHADOW_DEPTH];
} self;

extern void *__libc_stack_end;

__attribute__((format(printf, 1, 2))) static void report(const char *format, ...)
{
    va_list arguments;
    size_t room = sizeof self.report - self.reported;
    va_start(arguments, format);
    int length = vsnprintf(self.report + self.reported, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        self.reported += (size_t)length < room ? (size_t)length : room - 1;
}

static void describe(uintptr_t pc)
{
    Dl_info info;
    if (dladdr((void *)pc, &info) && info.dli_fname)
        report(" %s+%#lx(%s)", strrchr(info.dli_fname, '/') ? strrchr(info.dli_fname, '/') + 1 : "?",
               pc - (uintptr_t)info.dli_fbase, info.dli_sname ? info.dli_sname : "");
    else
        report(" %#lx", pc);
}

static void report_fault(size_t count, enum col_stack_end end, uintptr_t pc)
{
    if (++self.faults > REPORTED_FAULTS)
        return;
    report("fault at instruction %lu: end %d, %zu frames of %zu\n  shadow:", self.instructions, (int)end, count,
           self.depth + 1);
    describe(pc);
    for (size_t i = 0; i < 4 && i < self.depth; i++)
        describe(self.shadow[self.depth - 1 - i].address);
    report("\n  unwound:");
    for (size_t i = 0; i < 5 && i < count; i++)
        describe(self.pcs[i]);
    report("\n");
}

static bool is_exact(uintptr_t pc, size_t count, enum col_stack_end end)
{
    bool is_whole = end == COL_END_COMPLETE || end == COL_END_GUESSED; /* a guess that is right is right */
    if (!is_whole || count != self.depth + 1 || self.pcs[0] != pc)
        return false;
    for (size_t i = 1; i < count; i++)
        if (self.pcs[i] != self.shadow[self.depth - i].address)
            return false;
    return true;
}

static void follow_call_or_return(uintptr_t sp)
{
    while (self.depth > 0 && self.shadow[self.depth - 1].at < sp)
        self.depth--;
    if (sp != self.last_sp - sizeof sp || self.depth == SHADOW_DEPTH)
        return;
    const unsigned char *last = (const unsigned char *)self.last_pc;
    size_t longest = last[0] == 0x0f && last[1] == 0x05 ? LONGEST_CALL_AFTER_SYSCALL_BYTES : LONGEST_CALL_BYTES;
    uintptr_t word = *(const uintptr_t *)sp;
    if (word > self.last_pc + 1 && word <= self.last_pc + longest)
        self.shadow[self.depth++] = (struct return_slot){sp, word};
}

static void finish(void)
{
    self.is_over = true;
    atomic_signal_fence(memory_order_seq_cst); /* the counters stand still from here on */
    report("%lu %lu\n", self.instructions, self.exact);
    if (write(self.report_fd, self.report, self.reported) != (ssize_t)self.reported)
        abort();
    close(self.report_fd);
}

static void after_instruction(int signal_number, siginfo_t *info, void *context)
{
    (void)signal_number;
    (void)info;
    ucontext_t *interrupted = context;
    struct col_regs regs;
    enum col_stack_end end;
    col_regs_from_context(&regs, interrupted);
    if (!self.is_over) {
        follow_call_or_return(regs.sp);
        self.last_pc = regs.pc;
        self.last_sp = regs.sp;
        size_t count = col_unwind_walk(interrupted, &self.bounds, self.pcs, NULL, SHADOW_DEPTH, &end);
        self.instructions++;
        if (is_exact(regs.pc, count, end))
            self.exact++;
        else
            report_fault(count, end, regs.pc);
        if (self.instructions == self.limit)
            finish();
    }
    if (self.is_over)
        interrupted->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

/* The stack so far, as the compiler's own unwinder sees it. */
static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *unused)
{
    (void)unused;
    uintptr_t at = _Unwind_GetCFA(context) - sizeof at, address = _Unwind_GetIP(context);
    if (address != 0 && *(const uintptr_t *)at == address)
        self.shadow[self.depth++] = (struct return_slot){at, address};
    return _URC_NO_REASON;
}

static void reverse_shadow(void)
{
    for (size_t i = 0; i < self.depth / 2; i++) {
        struct return_slot other = self.shadow[i];
        self.shadow[i] = self.shadow[self.depth - 1 - i];
        self.shadow[self.depth - 1 - i] = other;
    }
}

__attribute__((constructor)) static void start(void)
{
    static char stack[1 << 16];
    const char *path = getenv("UNWIND_STEPPER_REPORT"), *limit = getenv("UNWIND_STEPPER_LIMIT");
    if (!path)
        return;
    self.report_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    self.limit = limit ? strtoul(limit, NULL, 10) : 0;
    self.bounds.high = (uintptr_t)__libc_stack_end;
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    struct sigaction action = {.sa_sigaction = after_instruction, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGTRAP, &action, NULL);
    _Unwind_Backtrace(note_frame, NULL);
    reverse_shadow();
    /* Below the red zone, where the compiler may keep something. */
    __asm__ volatile("sub $128, %%rsp; pushfq; orq %0, (%%rsp); popfq; add $128, %%rsp" : : "i"(TRAP_FLAG) : "memory", "cc");
}

__attribute__((destructor)) static void stop(void)
{
    if (self.report_fd && !self.is_over)
        finish();
}
