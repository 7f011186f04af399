/* arch_x86_64_calls.h -- x86-64: a system call that has just come back, and how it is made again */
#ifndef COL_BASE_ARCH_X86_64_CALLS_H
#define COL_BASE_ARCH_X86_64_CALLS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/arch_x86_64.h"
#include "base/safe_read.h"

/*
 * A system call that was interrupted and is about to be made again, because our handler asks for that, ends with EINTR instead, as for a handler of the
 * program's that does not. The kernel has then left its return address in rcx, as calls do, and gone back by one instruction.
 */
static inline void col_arch_break_restart(ucontext_t *context)
{
    greg_t *regs = context->uc_mcontext.gregs;
    uint8_t code[2];
    if (regs[REG_RCX] == regs[REG_RIP] + (greg_t)sizeof code &&
        col_safe_read_bytes((uintptr_t)regs[REG_RIP], code, sizeof code) && code[0] == 0x0f && code[1] == 0x05) {
        regs[REG_RIP] += (greg_t)sizeof code;
        regs[REG_RAX] = -EINTR;
    }
}

/* True when the instruction before the interrupted one is `syscall`. */
static inline bool col_arch_follows_syscall(const ucontext_t *context)
{
    uintptr_t pc;
    uint8_t code[2];
    memcpy(&pc, (const char *)context + col_arch_context_offset(COL_DWARF_PC), sizeof pc);
    return col_safe_read_bytes(pc - sizeof code, code, sizeof code) && code[0] == 0x0f && code[1] == 0x05;
}

enum { COL_ARCH_HIGHEST_CALL = 1023 };

/* The register whose value `mov %reg, %eax` (or %rax) at `at` loads, if it is one that functions keep: what is loaded is in it still. NULL: it is not. */
static inline const greg_t *col_arch_loaded_register(const greg_t *regs, const uint8_t *code, size_t at)
{
    uint8_t prefix = at > 0 && (code[at - 1] & 0xf0) == 0x40 ? code[at - 1] : 0x40;
    if (code[at] != 0x89 || (code[at + 1] & 0xc7) != 0xc0 || (prefix & 1) != 0)
        return NULL;
    uint8_t number = (uint8_t)(code[at + 1] >> 3 & 7);
    if ((prefix & 4) != 0)
        return number >= 4 ? &regs[REG_R8 + number] : NULL;
    return number == 3 ? &regs[REG_RBX] : number == 5 ? &regs[REG_RBP] : NULL;
}

/* The same of mov 32(%rsp), %rax or mov 16(%rbp), %rax as the last instruction before the call: a function that was given the number on the stack. */
static inline uint32_t col_arch_number_on_stack(const greg_t *regs, const uint8_t *code, size_t at, size_t size)
{
    bool is_other = at > 0 && (code[at - 1] & 0xf0) == 0x40 && (code[at - 1] & 7) != 0; /* into r8, as it may be */
    bool is_from_sp = at + 4 == size && code[at] == 0x8b && code[at + 1] == 0x44 && code[at + 2] == 0x24;
    bool is_from_fp = at + 3 == size && code[at] == 0x8b && code[at + 1] == 0x45;
    uintptr_t base = (uintptr_t)(is_from_sp ? regs[REG_RSP] : regs[REG_RBP]), value;
    if (!is_other && (is_from_sp || is_from_fp) &&
        col_safe_read_word(base + (uintptr_t)(int8_t)code[size - 1], &value) && value <= COL_ARCH_HIGHEST_CALL)
        return (uint32_t)value;
    return COL_ARCH_HIGHEST_CALL + 1;
}

/* The number of a system call that the instruction at `at` loads; above the highest: none. */
static inline uint32_t col_arch_loaded_number(const greg_t *regs, const uint8_t *code, size_t at, size_t size)
{
    uint32_t value = COL_ARCH_HIGHEST_CALL + 1;
    const greg_t *loaded = col_arch_loaded_register(regs, code, at);
    if (loaded != NULL)
        value = (uint32_t)*loaded;
    else if ((code[at] == 0x31 || code[at] == 0x33) && code[at + 1] == 0xc0)
        value = 0;
    else if (code[at] == 0xb8 && at + 5 <= size && (at == 0 || (code[at - 1] & 0xf0) != 0x40))
        memcpy(&value, code + at + 1, sizeof value);
    else if (code[at] == 0xc7 && code[at + 1] == 0xc0 && at + 6 <= size && at > 0 && code[at - 1] == 0x48)
        memcpy(&value, code + at + 2, sizeof value);
    else
        value = col_arch_number_on_stack(regs, code, at, size);
    return value;
}

/*
 * True when it was made by __syscall_cancel_arch, as by glibc from 2.41 on all calls are in which a thread may be cancelled. The number came into it in rsi, which
 * holds another argument by then: mov %rsi, %rax; mov %rdx, %rdi; mov %rcx, %rsi; 21 bytes; syscall.
 */
static inline bool col_arch_is_cancellable_call(const ucontext_t *context)
{
    static const uint8_t start[9] = {0x48, 0x89, 0xf0, 0x48, 0x89, 0xd7, 0x48, 0x89, 0xce};
    uint8_t code[sizeof start];
    uintptr_t end = (uintptr_t)context->uc_mcontext.gregs[REG_RIP] - 2;
    return col_safe_read_bytes(end - 21 - sizeof start, code, sizeof code) && memcmp(code, start, sizeof start) == 0;
}

/*
 * The system call that has just come back, and its first three arguments, which it leaves as they were; false where the code before it does not tell its number:
 * mov $number, %eax (or %rax), xor %eax, %eax, or, as compilers have it of a call in a loop, mov of a register that functions keep, some instructions before `syscall`.
 */
static inline bool col_arch_finished_call(const ucontext_t *context, long *number, uint64_t *arguments)
{
    enum { WINDOW = 40 };
    const greg_t *regs = context->uc_mcontext.gregs;
    uintptr_t end = (uintptr_t)regs[REG_RIP] - 2;
    size_t size = (end & 4095) < WINDOW ? end & 4095 : WINDOW; /* of the same page, which can be read */
    uint8_t code[WINDOW];
    arguments[0] = (uint64_t)regs[REG_RDI];
    arguments[1] = (uint64_t)regs[REG_RSI];
    arguments[2] = (uint64_t)regs[REG_RDX];
    *number = -1;
    if (size == 0 || !col_safe_read_bytes(end - size, code, size))
        return false;
    for (size_t at = size - 1; at-- > 0 && *number < 0;) {
        uint32_t value = col_arch_loaded_number(regs, code, at, size);
        if (value <= COL_ARCH_HIGHEST_CALL)
            *number = (long)value;
    }
    return *number >= 0;
}

/*
 * A wait for completions of an io_uring that has just come back: its arguments, which are as they were, and its answer. False when it is another call. `at` is the
 * instruction after the call in code that does not tell its number, or 0.
 */
static inline bool col_arch_finished_ring_wait(const ucontext_t *context, uintptr_t at, uint64_t arguments[5],
                                               long *answer)
{
    const greg_t *regs = context->uc_mcontext.gregs;
    long number = COL_CALL_RING_ENTER;
    if (regs[REG_RCX] != regs[REG_RIP] || !col_arch_follows_syscall(context)) /* the kernel leaves it in rcx */
        return false;
    if ((uintptr_t)regs[REG_RIP] != at && !col_arch_finished_call(context, &number, arguments))
        return false;
    const greg_t all[5] = {regs[REG_RDI], regs[REG_RSI], regs[REG_RDX], regs[REG_R10], regs[REG_R8]};
    memcpy(arguments, all, sizeof all);
    *answer = (long)regs[REG_RAX];
    return number == COL_CALL_RING_ENTER;
}

/* It is made once more when the handler is over. */
static inline void col_arch_wait_again(ucontext_t *context)
{
    context->uc_mcontext.gregs[REG_RIP] -= 2;
    context->uc_mcontext.gregs[REG_RAX] = COL_CALL_RING_ENTER;
}

extern const char col_ring_wait_rest[];

/* The same by that code, below what the program has on its stack. */
static inline void col_arch_wait_on(ucontext_t *context)
{
    greg_t *regs = context->uc_mcontext.gregs;
    const greg_t kept[2] = {regs[REG_RIP], regs[REG_RAX]};
    regs[REG_RSP] -= COL_ARCH_RED_ZONE_BYTES + (greg_t)sizeof kept;
    memcpy((void *)regs[REG_RSP], kept, sizeof kept);
    regs[REG_RIP] = (greg_t)(uintptr_t)col_ring_wait_rest;
    regs[REG_RSI] = 0;
}

#endif
