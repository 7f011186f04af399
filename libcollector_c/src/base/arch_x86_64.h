/* arch_x86_64.h -- x86-64: its registers, its signal frame, its system call */
#ifndef COL_BASE_ARCH_X86_64_H
#define COL_BASE_ARCH_X86_64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "base/safe_read.h"

enum {
    COL_DWARF_REGS = 17,
    COL_DWARF_FP = 6,  /* rbp */
    COL_DWARF_SP = 7,  /* rsp */
    COL_DWARF_PC = 16, /* rip */
    COL_ARCH_RETURN_COLUMN = 16,
    COL_ARCH_RETURN_OFFSET = -8,
    COL_ARCH_SAVED_COUNT = 8,
    COL_ARCH_CONTEXT_AT = 0,
    COL_ARCH_RED_ZONE_BYTES = 128,
    COL_ARCH_ADDRESS_BITS = 48,
};

/* One frame's registers. `dwarf` holds all of them by their DWARF numbers; pc, sp and fp stand apart for speed. */
struct col_regs {
    uintptr_t pc, sp, fp;
    uintptr_t dwarf[COL_DWARF_REGS];
};

/* rbx, rbp, rsp, r12 to r15, and the return address */
static const uint8_t col_arch_saved[COL_ARCH_SAVED_COUNT] = {3, 6, 7, 12, 13, 14, 15, 16};

/* Place of a DWARF register in col_arch_saved, or -1. */
static inline int col_arch_saved_slot(uint64_t dwarf_register)
{
    static const int8_t slot[COL_DWARF_REGS] = {-1, -1, -1, 0, -1, -1, 1, 2, -1, -1, -1, -1, 3, 4, 5, 6, 7};
    return dwarf_register < COL_DWARF_REGS ? slot[dwarf_register] : -1;
}

/* Offset of a DWARF register inside ucontext_t. The kernel's order is r8-r15 rdi rsi rbp rbx rdx rax rcx rsp rip. */
static inline size_t col_arch_context_offset(unsigned dwarf_register)
{
    static const uint8_t place[COL_DWARF_REGS] = {13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7, 16};
    return offsetof(ucontext_t, uc_mcontext.gregs) + sizeof(greg_t) * place[dwarf_register];
}

static inline void col_regs_from_context(struct col_regs *regs, const ucontext_t *context)
{
    for (unsigned i = 0; i < COL_DWARF_REGS; i++)
        memcpy(&regs->dwarf[i], (const char *)context + col_arch_context_offset(i), sizeof regs->dwarf[i]);
    regs->pc = regs->dwarf[COL_DWARF_PC];
    regs->sp = regs->dwarf[COL_DWARF_SP];
    regs->fp = regs->dwarf[COL_DWARF_FP];
}

/* An address as it was before it was signed; nothing is signed here. */
static inline uintptr_t col_arch_strip_return(uintptr_t address)
{
    return address;
}

/* A system call without errno: the answer, or -errno. */
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

/* True when the instruction before the interrupted one is `syscall`. */
static inline bool col_arch_follows_syscall(const ucontext_t *context)
{
    uintptr_t pc;
    uint8_t code[2];
    memcpy(&pc, (const char *)context + col_arch_context_offset(COL_DWARF_PC), sizeof pc);
    return col_safe_read_bytes(pc - sizeof code, code, sizeof code) && code[0] == 0x0f && code[1] == 0x05;
}

/* True when `pc` is where handlers return to: mov $15, %rax (or %eax); syscall. */
static inline bool col_arch_is_signal_return(uintptr_t pc)
{
    static const uint8_t wide[9] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t narrow[7] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
    uint8_t code[sizeof wide];
    if (!col_safe_read_bytes(pc, code, sizeof code))
        return false;
    return memcmp(code, wide, sizeof wide) == 0 || memcmp(code, narrow, sizeof narrow) == 0;
}

/* True when a call instruction ends at `return_address`. Decides by its bytes, so it can be fooled, rarely. */
static inline bool col_arch_follows_call(uintptr_t return_address)
{
    uint8_t code[7]; /* code[7 - n] is n bytes before the return address */
    if (!col_safe_read_bytes(return_address - sizeof code, code, sizeof code))
        return false;
    /* Indirect calls are ff /2: two bytes for a register, and the operand's displacement on top of that. */
    return code[2] == 0xe8 || (code[5] == 0xff && (code[6] & 0x38) == 0x10)
           || (code[4] == 0xff && (code[5] & 0x38) == 0x10) || (code[3] == 0xff && (code[4] & 0x38) == 0x10)
           || (code[1] == 0xff && (code[2] & 0x38) == 0x10) || (code[0] == 0xff && (code[1] & 0x38) == 0x10);
}

/* Where a direct call that ends at `return_address` leads to, or 0. */
static inline uintptr_t col_arch_called_address(uintptr_t return_address)
{
    uint8_t code[5];
    int32_t distance;
    if (!col_safe_read_bytes(return_address - sizeof code, code, sizeof code) || code[0] != 0xe8)
        return 0;
    memcpy(&distance, code + 1, sizeof distance);
    return return_address + (uintptr_t)(intptr_t)distance;
}

/* How far a function without unwind table has come with its frame record {caller's fp, return address}. */
enum col_arch_frame_record {
    COL_ARCH_RECORD_UNKNOWN,
    COL_ARCH_RECORD_ABSENT, /* at its first or last instruction: only the return address is there */
    COL_ARCH_RECORD_AT_SP,  /* pushed, but the frame pointer is still the caller's */
};

/* Judges by the instruction that would come next. */
static inline enum col_arch_frame_record col_arch_frame_record_at(uintptr_t pc)
{
    uint8_t code[4];
    if (!col_safe_read_bytes(pc, code, sizeof code))
        return COL_ARCH_RECORD_UNKNOWN;
    if (code[0] == 0xc3 || code[0] == 0xc2 || (code[0] == 0xf3 && code[1] == 0xc3)) /* ret */
        return COL_ARCH_RECORD_ABSENT;
    if (code[0] == 0x55 || (code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa)) /* push, endbr */
        return COL_ARCH_RECORD_ABSENT;
    if (code[0] == 0x48 && ((code[1] == 0x89 && code[2] == 0xe5) || (code[1] == 0x8b && code[2] == 0xec))) /* mov */
        return COL_ARCH_RECORD_AT_SP;
    return COL_ARCH_RECORD_UNKNOWN;
}

/* The return address of a function that has built no frame yet, and the caller's stack pointer. */
static inline bool col_arch_leaf_return(const struct col_regs *regs, struct col_stack_reader *reader,
                                        uintptr_t *return_address, uintptr_t *caller_sp)
{
    *caller_sp = regs->sp + sizeof(uintptr_t);
    return col_safe_read_stack(reader, regs->sp, return_address);
}

#endif
