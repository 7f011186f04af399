/* symbols_odd_names.S -- one address under several names, of which some are odd, and a function that the loader picks */
    .text
    .globl twin, __twin, picked, "a name of words", call_all, whole, other_whole
    .type twin, @function
    .type __twin, @function
    .type picked, @gnu_indirect_function
    .type "a name of words", @function
    .type whole, @function
    .type other_whole, @function
    .type other_whole.cold, @function
twin:
__twin:
twin_here:
    .cfi_startproc
    nop
    ret
    .cfi_endproc
    .size twin, 1
    .size __twin, . - __twin
picked:
    lea twin_here(%rip), %rax
    ret
"a name of words":
    call twin@PLT
    ret
label:
$data:
    ret
whole:
other_whole:
    ret
    .size whole, . - whole
other_whole.cold:
    ret
    .size other_whole.cold, . - other_whole.cold
call_all:
    jmp *picked@GOTPCREL(%rip)
    .section .note.GNU-stack, "", @progbits
