/* symbols_nameless_first.S -- an object file whose first code has no symbol and no unwind entry, as GHC writes
 * them; its truth: 64 bytes that belong to nobody lie between the compiler's start code and main. */
        .text
        .p2align 4
        .skip   64, 0x90
        .globl  main
        .type   main, @function
main:
        ret
        .size   main, . - main
        .section .note.GNU-stack,"",@progbits
