/* arch_x86_64_code.h -- x86-64: functions of ours that no compiler makes, because of what they do to the stack */
#ifndef COL_BASE_ARCH_X86_64_CODE_H
#define COL_BASE_ARCH_X86_64_CODE_H

/*
 * col_parallel_region_call(function, words, count, region, id) of target/parallel_region.h. Below its frame pointer lie the id and, above it, the region: the two words
 * from COL_ARCH_REGION_AT on.
 */
enum { COL_ARCH_REGION_AT = -16 };
#define COL_ARCH_CALL_IN_REGION                                                                                        \
    ".pushsection .text\n"                                                                                             \
    ".globl col_parallel_region_call, col_parallel_region_return\n"                                                    \
    ".hidden col_parallel_region_call, col_parallel_region_return\n"                                                   \
    ".type col_parallel_region_call, @function\n"                                                                      \
    "col_parallel_region_call:\n"                                                                                      \
    "	.cfi_startproc\n"                                                                                                \
    "	push %rbp\n"                                                                                                     \
    "	.cfi_def_cfa_offset 16\n"                                                                                        \
    "	.cfi_offset %rbp, -16\n"                                                                                         \
    "	mov %rsp, %rbp\n"                                                                                                \
    "	.cfi_def_cfa_register %rbp\n"                                                                                    \
    "	push %r8\n"                                                                                                      \
    "	push %rcx\n"                                                                                                     \
    "	mov %rdi, %r11\n"                                                                                                \
    "	mov %rsi, %r10\n"                                                                                                \
    "	cmp $6, %rdx\n"                                                                                                  \
    "	jbe 2f\n"                                                                                                        \
    "	test $1, %dl\n"                                                                                                  \
    "	jz 1f\n"                                                                                                         \
    "	push $0\n"                                                                                                       \
    "1:	pushq -8(%r10,%rdx,8)\n"                                                                                       \
    "	dec %rdx\n"                                                                                                      \
    "	cmp $6, %rdx\n"                                                                                                  \
    "	ja 1b\n"                                                                                                         \
    "2:	mov (%r10), %rdi\n"                                                                                            \
    "	mov 8(%r10), %rsi\n"                                                                                             \
    "	mov 16(%r10), %rdx\n"                                                                                            \
    "	mov 24(%r10), %rcx\n"                                                                                            \
    "	mov 32(%r10), %r8\n"                                                                                             \
    "	mov 40(%r10), %r9\n"                                                                                             \
    "	xor %eax, %eax\n"                                                                                                \
    "	call *%r11\n"                                                                                                    \
    "col_parallel_region_return:\n"                                                                                    \
    "	leave\n"                                                                                                         \
    "	.cfi_def_cfa %rsp, 8\n"                                                                                          \
    "	ret\n"                                                                                                           \
    "	.cfi_endproc\n"                                                                                                  \
    ".size col_parallel_region_call, . - col_parallel_region_call\n"                                                   \
    ".popsection"

/* Makes the call once more without anything to submit, and answers what lies behind the address to go on from: as many as were submitted. */
#define COL_ARCH_RING_WAIT_REST                                                                                        \
    ".pushsection .text\n"                                                                                             \
    ".globl col_ring_wait_rest\n"                                                                                      \
    ".hidden col_ring_wait_rest\n"                                                                                     \
    ".type col_ring_wait_rest, @function\n"                                                                            \
    "col_ring_wait_rest:\n"                                                                                            \
    "	.cfi_startproc\n"                                                                                                \
    "	.cfi_signal_frame\n"                                                                                             \
    "	.cfi_def_cfa_offset 144\n"                                                                                       \
    "	.cfi_offset %rip, -144\n"                                                                                        \
    "	mov $426, %eax\n"                                                                                                \
    "	syscall\n"                                                                                                       \
    "	mov 8(%rsp), %rsi\n"                                                                                             \
    "	mov %rsi, %rax\n"                                                                                                \
    "	mov (%rsp), %rcx\n"                                                                                              \
    "	.cfi_register %rip, %rcx\n"                                                                                      \
    "	lea 144(%rsp), %rsp\n"                                                                                           \
    "	.cfi_def_cfa_offset 0\n"                                                                                         \
    "	jmp *%rcx\n"                                                                                                     \
    "	.cfi_endproc\n"                                                                                                  \
    ".size col_ring_wait_rest, . - col_ring_wait_rest\n"                                                               \
    ".popsection"

#endif
