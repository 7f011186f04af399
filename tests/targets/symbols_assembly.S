/* symbols_assembly.S -- hand-written code; its truth:
 * sized_function has type and size (8 nops, ret); described_function has an unwind entry but no
 * size; bare_function has type FUNC, no size and no unwind entry, and reaches to plain_label,
 * a NOTYPE label which reaches to the described tail; inner_label lies inside described_function
 * and is no function; nameless (its symbol is local and stripped by the tests) has an unwind
 * entry only; empty_part has size 0 and lies where __full_part begins; seen_name and
 * hidden_name are one function, and hidden_name.cold is a piece of it; behind the last nop of
 * gap_end there is nothing that belongs to anybody. */
        .text
        .globl  sized_function
        .type   sized_function, @function
sized_function:
        .cfi_startproc
        .rept 8
        nop
        .endr
        ret
        .cfi_endproc
        .size   sized_function, . - sized_function

        .p2align 5
        .globl  described_function
        .type   described_function, @function
described_function:
        .cfi_startproc
        nop
        nop
        .globl  inner_label
inner_label:
        nop
        ret
        .cfi_endproc

        .p2align 5
        .globl  bare_function
        .type   bare_function, @function
bare_function:
        nop
        ret
        .globl  plain_label
plain_label:
        nop
        nop
        ret

        .p2align 5
        .type   nameless, @function
nameless:
        .cfi_startproc
        nop
        nop
        nop
        ret
        .cfi_endproc
        .size   nameless, . - nameless

        .p2align 5
        .globl  sized_without_frame
        .type   sized_without_frame, @function
sized_without_frame:
        nop
        ret
        .size   sized_without_frame, . - sized_without_frame

        .type   empty_part, @function
empty_part:
        .size   empty_part, . - empty_part
        .type   __full_part, @function
__full_part:
        nop
        ret
        .size   __full_part, . - __full_part
        .globl  seen_name
        .type   seen_name, @function
        .type   hidden_name, @function
seen_name:
hidden_name:
        nop
        ret
        .size   seen_name, . - seen_name
        .size   hidden_name, . - hidden_name
        .type   hidden_name.cold, @function
hidden_name.cold:
        nop
        ret
        .size   hidden_name.cold, . - hidden_name.cold
        .globl  gap_end
        .set    gap_end, .
        .skip   16, 0x90
        .section .note.GNU-stack,"",@progbits
