/*
 * unwind_noreturn.c -- the caller's last instruction is a call that never comes back
 *
 * Truth: main > caller > forever > case_spin. The return address of `forever` already belongs to `neighbour`, which
 * nobody calls.
 */
#include <stdlib.h>

#include "unwind_case.h"

__attribute__((noreturn)) CASE_FRAME void forever(void)
{
    while (!case_is_over())
        case_spin();
    case_print();
    exit(0);
}

/* Side by side in a section of their own, without padding between them. */
__asm__(".pushsection .text.side_by_side,\"ax\",@progbits\n"
        ".globl caller, neighbour\n"
        ".type caller, @function\n"
        "caller: .cfi_startproc\n"
        "sub $8, %rsp\n"
        ".cfi_def_cfa_offset 16\n"
        "call forever\n"
        ".cfi_endproc\n"
        ".size caller, . - caller\n"
        ".type neighbour, @function\n"
        "neighbour: .cfi_startproc\n"
        "sub $72, %rsp\n"
        ".cfi_def_cfa_offset 80\n"
        "add $72, %rsp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size neighbour, . - neighbour\n"
        ".popsection\n");
void caller(void);

int main(void)
{
    case_begin();
    caller();
    return 1;
}
