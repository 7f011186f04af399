/* arch_x86_64.h -- x86-64: its registers, its signal frame, its system call */
#ifndef COL_BASE_ARCH_X86_64_H
#define COL_BASE_ARCH_X86_64_H

#include <asm/prctl.h>
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "base/arch_abi.h"
#include "base/arch_x86_64_code.h"
#include "base/safe_read.h"

/* The GNU C library's dynamic linker, by the name it gives itself, and the machine of the programs it loads. */
#define COL_ARCH_LINKER "ld-linux-x86-64.so.2"
#define COL_ARCH_MACHINE EM_X86_64

enum {
    COL_DWARF_REGS = 17,
    COL_DWARF_FP = 6,  /* rbp */
    COL_DWARF_SP = 7,  /* rsp */
    COL_DWARF_PC = 16, /* rip */
    COL_ARCH_RETURN_COLUMN = 16,
    COL_ARCH_RETURN_OFFSET = -8,
    COL_ARCH_SAVED_COUNT = 8,
    COL_ARCH_CONTEXT_AT = 0,
    COL_ARCH_ADDRESS_BITS = 48,
    COL_ARCH_HAS_FSGSBASE = 2, /* of AT_HWCAP2 */
    COL_ARCH_TRAP = 0x100,     /* of EFLAGS, as this: */
    COL_ARCH_ALIGNMENT_CHECK = 0x40000,
};

/* Frames of HotSpot's interpreter (src/hotspot/cpu/x86/frame_x86.hpp), in words from its frame pointer, and what its registers hold, by their DWARF numbers. */
enum {
    COL_ARCH_HAS_JAVA_FRAMES = 1,
    COL_ARCH_JAVA_SENDER_SP = -1,
    COL_ARCH_JAVA_METHOD = -3,
    COL_ARCH_JAVA_BYTECODE = -8,
    COL_ARCH_JAVA_METHOD_REG = 3,    /* rbx: while it is called */
    COL_ARCH_JAVA_BYTECODE_REG = 13, /* r13: while it runs; the caller's stack pointer while it is called */
    COL_ARCH_JAVA_RETURN_REG = 0,    /* rax: the return address while the frame is made */
};

#define COL_ARCH_AUDIT 0xc000003eu /* AUDIT_ARCH_...: how a seccomp filter knows this processor */
#define COL_ARCH_OLD_CALLS(CALL)                                                                                       \
    CALL(readlink, 0)                                                                                                  \
    CALL(open, 0) CALL(access, 0) CALL(stat, 0) CALL(rename, 0) /* what C libraries still use beside the *at calls */

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

/* Can the program read its thread pointer by an instruction? Since Linux 5.9, on CPUs of the last ten years. */
static inline bool col_arch_has_thread_pointer(void)
{
    return (getauxval(AT_HWCAP2) & COL_ARCH_HAS_FSGSBASE) != 0;
}

/* Where the thread's local storage begins, past the C library. */
static inline uintptr_t col_arch_thread_pointer(bool has_instruction)
{
    uintptr_t pointer = 0;
    if (has_instruction)
        __asm__ volatile("rdfsbase %0" : "=r"(pointer));
    else
        col_arch_syscall(SYS_arch_prctl, ARCH_GET_FS, (long)&pointer, 0, 0, 0, 0);
    return pointer;
}

/* glibc's descriptor of a thread begins there, with two pointers to itself and somewhere its id. Where: 0 if it is not found. */
static inline unsigned col_arch_find_tid(uintptr_t pointer, uint32_t tid)
{
    enum { FROM = 640, COUNT = 352 };
    uint32_t words[COUNT];
    if (!col_safe_read_bytes(pointer + FROM, words, sizeof words))
        return 0;
    for (unsigned i = 0; i < COUNT; i += 2) /* the upper half of a pointer before it may be the same number */
        if (words[i] == tid)
            return FROM + i * (unsigned)sizeof *words;
    return 0;
}

/* Is it a descriptor of glibc's for this thread? */
static inline bool col_arch_is_thread_pointer(uintptr_t pointer, unsigned tid_at, uint32_t tid)
{
    uintptr_t head[3];
    uint32_t word;
    return pointer % sizeof pointer == 0 && col_safe_read_bytes(pointer, head, sizeof head) && head[0] == pointer &&
           head[2] == pointer &&
           (tid_at == 0 || (col_safe_read_bytes(pointer + tid_at, &word, sizeof word) && word == tid));
}

/* The kernel leaves the alignment check on in handlers, if the program has set it. */
static inline void col_arch_allow_unaligned(const ucontext_t *context)
{
    if (__builtin_expect((context->uc_mcontext.gregs[REG_EFL] & COL_ARCH_ALIGNMENT_CHECK) != 0, 0))
        __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)COL_ARCH_ALIGNMENT_CHECK);
}

/* A program that steps through itself by the trap flag: not where SIGTRAP is blocked, for that would kill it. Gives whether it did. */
static inline bool col_arch_stop_stepping(void)
{
    uint64_t flags = __builtin_ia32_readeflags_u64();
    bool is_stepping = (flags & COL_ARCH_TRAP) != 0;
    if (__builtin_expect(is_stepping, 0))
        __builtin_ia32_writeeflags_u64(flags & ~(uint64_t)COL_ARCH_TRAP);
    return is_stepping;
}

static inline void col_arch_step_again(bool was_stepping)
{
    if (__builtin_expect(was_stepping, 0))
        __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | COL_ARCH_TRAP);
}

/* True when `pc` is where handlers return to: mov $15, %rax (or %eax); syscall. */
static inline bool col_arch_is_signal_return(struct col_proved_pages *proved, uintptr_t pc)
{
    static const uint8_t wide[9] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    static const uint8_t narrow[7] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
    uint8_t code[sizeof wide];
    if (!col_safe_read_copy(proved, pc, code, sizeof code))
        return false;
    return memcmp(code, wide, sizeof wide) == 0 || memcmp(code, narrow, sizeof narrow) == 0;
}

/* True at each of its two instructions: the stack pointer is the same at both. */
static inline bool col_arch_is_in_signal_return(struct col_proved_pages *proved, uintptr_t pc)
{
    return col_arch_is_signal_return(proved, pc) || col_arch_is_signal_return(proved, pc - 7) ||
           col_arch_is_signal_return(proved, pc - 5);
}

enum { COL_ARCH_CALL_BYTES = 7 };

/* True when the COL_ARCH_CALL_BYTES before `end` end in a call instruction. Decides by them alone, so it can be fooled, rarely. */
COL_READS_FOREIGN static inline bool col_arch_ends_in_call(const uint8_t *end)
{
    const uint8_t *code = end - COL_ARCH_CALL_BYTES; /* code[7 - n] is n bytes before the end */
    /* Indirect calls are ff /2: two bytes for a register, and the operand's displacement on top of that. */
    return code[2] == 0xe8 || (code[5] == 0xff && (code[6] & 0x38) == 0x10) ||
           (code[4] == 0xff && (code[5] & 0x38) == 0x10) || (code[3] == 0xff && (code[4] & 0x38) == 0x10) ||
           (code[1] == 0xff && (code[2] & 0x38) == 0x10) || (code[0] == 0xff && (code[1] & 0x38) == 0x10);
}

/* True for code that begins with mov distance(%r15), %rsp: r15 is where HotSpot keeps its thread. */
COL_READS_FOREIGN static inline bool col_arch_loads_sp_from_thread(const uint8_t *code)
{
    return code[0] == 0x49 && code[1] == 0x8b && code[2] == 0xa7;
}

/* The word at a distance that an instruction gives, counted from its end. */
static inline uintptr_t col_arch_relative_word(struct col_proved_pages *proved, uintptr_t instruction_end,
                                               const uint8_t *distance_bytes)
{
    int32_t distance;
    uintptr_t word = 0;
    memcpy(&distance, distance_bytes, sizeof distance);
    return col_safe_read_copy(proved, instruction_end + (uintptr_t)(intptr_t)distance, &word, sizeof word) ? word : 0;
}

/* Where `call` leads that ends at `return_address`, through a PLT entry too; 0 when the bytes do not tell. */
static inline uintptr_t col_arch_called_address(struct col_proved_pages *proved, uintptr_t return_address)
{
    uint8_t call[6], code[11];
    int32_t distance;
    if (!col_safe_read_copy(proved, return_address - sizeof call, call, sizeof call))
        return 0;
    if (call[0] == 0xff && call[1] == 0x15) /* call *distance(%rip) */
        return col_arch_relative_word(proved, return_address, call + 2);
    if (call[1] != 0xe8)
        return 0;
    memcpy(&distance, call + 2, sizeof distance);
    uintptr_t target = return_address + (uintptr_t)(intptr_t)distance;
    if (!col_safe_read_copy(proved, target, code, sizeof code))
        return 0;
    size_t at = code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e ? 4 : 0; /* endbr64 */
    at += code[at] == 0xf2;                                                    /* bnd */
    if (code[at] == 0xff && code[at + 1] == 0x25)                              /* jmp *distance(%rip) */
        return at + 6 <= sizeof code ? col_arch_relative_word(proved, target + at + 6, code + at + 2) : 0;
    return target;
}

/* A guess about a frame's caller. */
struct col_arch_caller {
    uintptr_t pc, sp, fp;
};

/* Guesses the caller of a function without unwind table from the instruction that comes next: its first ones. */
static inline bool col_arch_caller_by_code(const struct col_regs *regs, struct col_stack_reader *reader,
                                           struct col_proved_pages *proved, struct col_arch_caller *caller)
{
    uint8_t code[4];
    unsigned bytes = 0;
    bool is_pushed = false;
    if (!col_safe_read_copy(proved, regs->pc, code, sizeof code))
        return false;
    if (code[0] == 0x48 && ((code[1] == 0x89 && code[2] == 0xe5) || (code[1] == 0x8b && code[2] == 0xec))) {
        bytes = 8; /* mov %rsp, %rbp: the caller's was just pushed */
        is_pushed = true;
    } else if (code[0] != 0x55 && !(code[0] == 0xf3 && code[1] == 0x0f && code[2] == 0x1e && code[3] == 0xfa) &&
               !(code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xec)) { /* push %rbp, endbr64, sub $n, %rsp */
        return false;
    }
    caller->sp = regs->sp + bytes + sizeof(uintptr_t);
    caller->fp = regs->fp;
    return col_safe_read_stack(reader, regs->sp + bytes, &caller->pc) &&
           (!is_pushed || col_safe_read_stack(reader, regs->sp, &caller->fp));
}

enum { COL_ARCH_RETURN_PLACES = 8 };

/* The caller of a function that has no frame record, if its return address is at the place of this number. The
   function may have pushed that many registers. */
static inline bool col_arch_caller_by_place(const struct col_regs *regs, struct col_stack_reader *reader,
                                            unsigned place, struct col_arch_caller *caller)
{
    uintptr_t at = regs->sp + place * sizeof at;
    caller->sp = at + sizeof at;
    caller->fp = regs->fp;
    return col_safe_read_stack(reader, at, &caller->pc);
}

/*
 * True when Valgrind translates our code. Its client request: four rotations that together change nothing, then a move of a register to itself; a processor passes
 * over them and `answer` stays as it was. It is the one form that all of Valgrind's tools, and its kin, recognise.
 */
static inline bool col_arch_is_in_valgrind(void)
{
    const uintptr_t request[6] = {0x1001}; /* RUNNING_ON_VALGRIND */
    uintptr_t answer = 0;
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                     : "+d"(answer)
                     : "a"(request)
                     : "cc", "memory");
    return answer != 0;
}

/* Calls a function that does not come back, on another stack, `top` its upper end. */
static inline __attribute__((noreturn)) void col_arch_call_on(uintptr_t top, void (*function)(void *, int), void *place,
                                                              int value)
{
    __asm__ volatile("mov %0, %%rsp\n\tcall *%1"
                     :
                     : "r"(top & ~(uintptr_t)15), "r"(function), "D"(place), "S"(value)
                     : "memory");
    __builtin_unreachable();
}

/* Does a relocation of this type put a symbol's address into a word? */
static inline bool col_arch_is_symbol_word(uint64_t type)
{
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
}

#endif
