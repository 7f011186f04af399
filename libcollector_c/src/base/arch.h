/* arch.h -- the one place that asks which CPU this is */
#ifndef COL_BASE_ARCH_H
#define COL_BASE_ARCH_H

/*
 * Each arch_CPU.h gives the same names:
 *
 *   COL_DWARF_REGS, COL_DWARF_{FP,SP,PC}    size of the register file, and numbers in it
 *   COL_ARCH_RETURN_COLUMN                  the column in which unwind tables keep the return address
 *   COL_ARCH_RETURN_OFFSET                  where a call leaves it, from the CFA; 0 = no fixed place
 *   COL_ARCH_SAVED_COUNT, col_arch_saved[]  registers that survive a call, and the stack pointer
 *   COL_ARCH_CONTEXT_AT                     from the stack pointer of a signal trampoline to its ucontext
 *   COL_ARCH_RED_ZONE_BYTES                 bytes below the stack pointer that a function may use
 *   COL_ARCH_ADDRESS_BITS                   an address of a program is smaller than 2 to this power
 *   COL_ARCH_OLD_CALLS(CALL)                system calls that newer processors do not have
 *   COL_ARCH_AUDIT                          the kernel's number of this processor
 *   COL_ARCH_LINKER, COL_ARCH_MACHINE       name of the dynamic linker, and the machine in the header of an ELF file
 *   struct col_regs                         one frame's registers
 *   col_arch_*                              functions, see arch_x86_64.h
 */
#if defined(__x86_64__)
#include "base/arch_x86_64.h"
#include "base/arch_x86_64_calls.h"
#elif defined(__aarch64__)
#include "base/arch_aarch64.h"
#else
#error "libcollector knows x86-64 and aarch64 only"
#endif

#endif
