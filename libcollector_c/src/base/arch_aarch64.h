/* arch_aarch64.h -- aarch64: its registers, its signal frame, its system call */
#ifndef COL_BASE_ARCH_AARCH64_H
#define COL_BASE_ARCH_AARCH64_H

#include <signal.h>
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#include "base/arch_abi.h"
#include "base/safe_read.h"

/* The GNU C library's dynamic linker, by the name it gives itself, and the machine of the programs it loads. */
#define COL_ARCH_LINKER "ld-linux-aarch64.so.1"
#define COL_ARCH_MACHINE EM_AARCH64

enum {
    COL_DWARF_REGS = 33,
    COL_DWARF_FP = 29,
    COL_DWARF_LR = 30,
    COL_DWARF_SP = 31,
    COL_DWARF_PC = 32,
    COL_ARCH_RETURN_COLUMN = 30, /* unwind tables describe the link register */
    COL_ARCH_RETURN_OFFSET = 0,
    COL_ARCH_SAVED_COUNT = 13,
    COL_ARCH_CONTEXT_AT = 128, /* a siginfo_t comes first */
    COL_ARCH_ADDRESS_BITS = 52,
};

static inline bool col_arch_loads_sp_from_thread(const uint8_t *code)
{
    (void)code;
    return false;
}

/* Frames of HotSpot's interpreter are not known here. */
enum {
    COL_ARCH_HAS_JAVA_FRAMES = 0,
    COL_ARCH_JAVA_SENDER_SP = 0,
    COL_ARCH_JAVA_METHOD = 0,
    COL_ARCH_JAVA_BYTECODE = 0,
    COL_ARCH_JAVA_METHOD_REG = 0,
    COL_ARCH_JAVA_BYTECODE_REG = 0,
    COL_ARCH_JAVA_RETURN_REG = 0,
};

#define COL_ARCH_AUDIT 0xc00000b7u /* AUDIT_ARCH_...: how a seccomp filter knows this processor */
#define COL_ARCH_OLD_CALLS(CALL)   /* what C libraries still use beside the *at calls */

/* One frame's registers. `dwarf` holds all of them by their DWARF numbers; pc, sp and fp stand apart for speed. */
struct col_regs {
    uintptr_t pc, sp, fp;
    uintptr_t dwarf[COL_DWARF_REGS];
};

/* x19 to x28, fp, lr, sp */
static const uint8_t col_arch_saved[COL_ARCH_SAVED_COUNT] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

/* Place of a DWARF register in col_arch_saved, or -1. */
static inline int col_arch_saved_slot(uint64_t dwarf_register)
{
    return dwarf_register >= 19 && dwarf_register <= COL_DWARF_SP ? (int)dwarf_register - 19 : -1;
}

/* Offset of a DWARF register inside ucontext_t. */
static inline size_t col_arch_context_offset(unsigned dwarf_register)
{
    if (dwarf_register == COL_DWARF_SP)
        return offsetof(ucontext_t, uc_mcontext.sp);
    if (dwarf_register == COL_DWARF_PC)
        return offsetof(ucontext_t, uc_mcontext.pc);
    return offsetof(ucontext_t, uc_mcontext.regs) + 8u * dwarf_register;
}

static inline void col_regs_from_context(struct col_regs *regs, const ucontext_t *context)
{
    for (unsigned i = 0; i < COL_DWARF_REGS; i++)
        memcpy(&regs->dwarf[i], (const char *)context + col_arch_context_offset(i), sizeof regs->dwarf[i]);
    regs->pc = regs->dwarf[COL_DWARF_PC];
    regs->sp = regs->dwarf[COL_DWARF_SP];
    regs->fp = regs->dwarf[COL_DWARF_FP];
}

/* A return address without its authentication code: xpaclri, which older CPUs take for a nop. */
static inline uintptr_t col_arch_strip_return(uintptr_t address)
{
    register uintptr_t x30 __asm__("x30") = address;
    __asm__("hint #7" : "+r"(x30));
    return x30;
}

static inline bool col_arch_has_thread_pointer(void)
{
    return true;
}

static inline uintptr_t col_arch_thread_pointer(bool has_instruction)
{
    (void)has_instruction;
    return (uintptr_t)__builtin_thread_pointer();
}

/* Not looked at here: where the C library's descriptor lies from the thread pointer differs between its versions. */
static inline unsigned col_arch_find_tid(uintptr_t pointer, uint32_t tid)
{
    (void)pointer, (void)tid;
    return 0;
}

static inline bool col_arch_is_thread_pointer(uintptr_t pointer, unsigned tid_at, uint32_t tid)
{
    (void)tid_at, (void)tid;
    return pointer != 0;
}

/* Programs cannot have alignment checked; and a call that is made again cannot be told from one that is made. */
static inline void col_arch_allow_unaligned(const ucontext_t *context)
{
    (void)context;
}

/* No program steps through itself here. */
static inline bool col_arch_stop_stepping(void)
{
    return false;
}

static inline void col_arch_step_again(bool was_stepping)
{
    (void)was_stepping;
}

static inline void col_arch_break_restart(ucontext_t *context)
{
    (void)context;
}

static inline uint32_t col_arch_instruction(struct col_proved_pages *proved, uintptr_t pc)
{
    uint32_t code = 0; /* reads as udf #0, which matches nothing */
    return col_safe_read_copy(proved, pc, &code, sizeof code) ? code : 0;
}

/* True when the instruction before the interrupted one is svc #0. */
static inline bool col_arch_follows_syscall(const ucontext_t *context)
{
    uintptr_t pc;
    struct col_proved_pages proved = {.memory = NULL};
    memcpy(&pc, (const char *)context + col_arch_context_offset(COL_DWARF_PC), sizeof pc);
    return col_arch_instruction(&proved, pc - 4) == 0xd4000001;
}

/* The system call that has just come back, and its first three arguments; where the first was, its answer is now. */
static inline bool col_arch_finished_call(const ucontext_t *context, long *number, uint64_t *arguments)
{
    *number = (long)context->uc_mcontext.regs[8];
    arguments[0] = UINT64_MAX;
    arguments[1] = context->uc_mcontext.regs[1];
    arguments[2] = context->uc_mcontext.regs[2];
    return true;
}

/* What tells the number is in its register in any case. */
static inline bool col_arch_is_cancellable_call(const ucontext_t *context)
{
    (void)context;
    return false;
}

/* Such a wait cannot be made again, since its answer lies where its first argument was. */
#define COL_ARCH_RING_WAIT_REST ""

static inline bool col_arch_finished_ring_wait(const ucontext_t *context, uintptr_t at, uint64_t arguments[5],
                                               long *answer)
{
    (void)context, (void)at, (void)arguments, (void)answer;
    return false;
}

static inline void col_arch_wait_again(ucontext_t *context)
{
    (void)context;
}

static inline void col_arch_wait_on(ucontext_t *context)
{
    (void)context;
}

/* True when `pc` is where handlers return to: mov x8, #139; svc #0. The vdso gives no unwind table for it. */
static inline bool col_arch_is_signal_return(struct col_proved_pages *proved, uintptr_t pc)
{
    return col_arch_instruction(proved, pc) == 0xd2801168 && col_arch_instruction(proved, pc + 4) == 0xd4000001;
}

/* True at each of its two instructions: the stack pointer is the same at both. */
static inline bool col_arch_is_in_signal_return(struct col_proved_pages *proved, uintptr_t pc)
{
    return col_arch_is_signal_return(proved, pc) || col_arch_is_signal_return(proved, pc - 4);
}

enum { COL_ARCH_CALL_BYTES = 8 }; /* one word more than is looked at: words of 8 bytes are read */

/* True when the word before `end` is a call instruction (bl, blr and its authenticating forms). */
COL_READS_FOREIGN static inline bool col_arch_ends_in_call(const uint8_t *end)
{
    uint32_t code = (uint32_t)(((const struct col_foreign_word *)(end - sizeof(uintptr_t)))->word >> 32);
    return (code & 0xfc000000) == 0x94000000 || (code & 0xfefff000) == 0xd63f0000;
}

/* Where `bl` leads that ends at `return_address`; 0 when it is another call. */
static inline uintptr_t col_arch_called_address(struct col_proved_pages *proved, uintptr_t return_address)
{
    uint32_t code = col_arch_instruction(proved, return_address - 4);
    if ((code & 0xfc000000) != 0x94000000)
        return 0;
    int64_t words = (int32_t)(code << 6) >> 6;
    return return_address - 4 + (uintptr_t)(words * 4);
}

/* A guess about a frame's caller. */
struct col_arch_caller {
    uintptr_t pc, sp, fp;
};

enum { COL_ARCH_RETURN_PLACES = 1 };

/* The caller of a function that has no frame record: its return address is in the link register. */
static inline bool col_arch_caller_by_place(const struct col_regs *regs, struct col_stack_reader *reader,
                                            unsigned place, struct col_arch_caller *caller)
{
    (void)reader;
    *caller = (struct col_arch_caller){col_arch_strip_return(regs->dwarf[COL_DWARF_LR]), regs->sp, regs->fp};
    return place == 0;
}

/* Guesses the caller of a function without unwind table from the instruction that comes next. */
static inline bool col_arch_caller_by_code(const struct col_regs *regs, struct col_stack_reader *reader,
                                           struct col_proved_pages *proved, struct col_arch_caller *caller)
{
    uint32_t code = col_arch_instruction(proved, regs->pc);
    bool is_return = code == 0xd65f03c0 || code == 0xd65f0bff || code == 0xd65f0fff; /* ret, retaa, retab */
    bool is_entry = code == 0xd503245f || code == 0xd503233f || code == 0xd503237f   /* bti c, paciasp, pacibsp */
                    || (code & 0xffc07fff) == 0xa9807bfd;                            /* stp fp, lr, [sp, #n]! */
    return (is_return || is_entry) && col_arch_caller_by_place(regs, reader, 0, caller);
}

/* True when Valgrind translates our code, see arch_x86_64.h. */
static inline bool col_arch_is_in_valgrind(void)
{
    const uintptr_t request[6] = {0x1001}; /* RUNNING_ON_VALGRIND */
    register uintptr_t answer __asm__("x3") = 0;
    register const uintptr_t *arguments __asm__("x4") = request;
    __asm__ volatile("ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61; orr x10, x10, x10"
                     : "+r"(answer)
                     : "r"(arguments)
                     : "memory");
    return answer != 0;
}

/* Calls a function that does not come back, on another stack, `top` its upper end. */
static inline __attribute__((noreturn)) void col_arch_call_on(uintptr_t top, void (*function)(void *, int), void *place,
                                                              int value)
{
    register void *first __asm__("x0") = place;
    register long second __asm__("x1") = value;
    __asm__ volatile("mov sp, %0\n\tblr %1"
                     :
                     : "r"(top & ~(uintptr_t)15), "r"(function), "r"(first), "r"(second)
                     : "memory");
    __builtin_unreachable();
}

/* See arch_x86_64.h: above the frame record. */
enum { COL_ARCH_REGION_AT = 16 };
#define COL_ARCH_CALL_IN_REGION                                                                                        \
    ".pushsection .text\n"                                                                                             \
    ".p2align 2\n"                                                                                                     \
    ".globl col_parallel_region_call, col_parallel_region_return\n"                                                    \
    ".hidden col_parallel_region_call, col_parallel_region_return\n"                                                   \
    ".type col_parallel_region_call, %function\n"                                                                      \
    "col_parallel_region_call:\n"                                                                                      \
    "	.cfi_startproc\n"                                                                                                \
    "	stp x29, x30, [sp, #-32]!\n"                                                                                     \
    "	.cfi_def_cfa_offset 32\n"                                                                                        \
    "	.cfi_offset x29, -32\n"                                                                                          \
    "	.cfi_offset x30, -24\n"                                                                                          \
    "	mov x29, sp\n"                                                                                                   \
    "	.cfi_def_cfa_register x29\n"                                                                                     \
    "	stp x3, x4, [x29, #16]\n"                                                                                        \
    "	mov x9, x0\n"                                                                                                    \
    "	mov x10, x1\n"                                                                                                   \
    "	subs x11, x2, #8\n"                                                                                              \
    "	b.ls 2f\n"                                                                                                       \
    "	add x12, x11, #1\n"                                                                                              \
    "	and x12, x12, #~1\n"                                                                                             \
    "	sub sp, sp, x12, lsl #3\n"                                                                                       \
    "	add x13, x10, #64\n"                                                                                             \
    "1:	sub x11, x11, #1\n"                                                                                            \
    "	ldr x14, [x13, x11, lsl #3]\n"                                                                                   \
    "	str x14, [sp, x11, lsl #3]\n"                                                                                    \
    "	cbnz x11, 1b\n"                                                                                                  \
    "2:	ldp x0, x1, [x10]\n"                                                                                           \
    "	ldp x2, x3, [x10, #16]\n"                                                                                        \
    "	ldp x4, x5, [x10, #32]\n"                                                                                        \
    "	ldp x6, x7, [x10, #48]\n"                                                                                        \
    "	blr x9\n"                                                                                                        \
    "col_parallel_region_return:\n"                                                                                    \
    "	mov sp, x29\n"                                                                                                   \
    "	.cfi_def_cfa_register sp\n"                                                                                      \
    "	ldp x29, x30, [sp], #32\n"                                                                                       \
    "	.cfi_def_cfa_offset 0\n"                                                                                         \
    "	ret\n"                                                                                                           \
    "	.cfi_endproc\n"                                                                                                  \
    ".size col_parallel_region_call, . - col_parallel_region_call\n"                                                   \
    ".popsection"

/* Does a relocation of this type put a symbol's address into a word? */
static inline bool col_arch_is_symbol_word(uint64_t type)
{
    return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64;
}

#endif
