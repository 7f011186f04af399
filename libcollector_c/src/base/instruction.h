/* instruction.h -- what an instruction does to the stack pointer: enough to follow a function to where it returns */
#ifndef COL_BASE_INSTRUCTION_H
#define COL_BASE_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* CALLABLE FROM ANYWHERE, signal handlers included. Reads nothing but the bytes it is given. */

enum { COL_INSTRUCTION_BYTES = 15 }; /* the longest one */

/* An address, as a distance from what sp, or fp, held at first. */
struct col_stack_place {
    int32_t offset;
    bool from_fp;
};

enum col_fp_origin {
    COL_FP_KEPT = 0, /* the frame pointer is what it was at first */
    COL_FP_LOADED,   /* it was loaded from the place */
    COL_FP_POINTS,   /* it is the place's address */
};

/* The stack and frame pointers before an instruction, by what they were at first. All zero at first. */
struct col_stack_state {
    struct col_stack_place sp, fp;
    struct col_stack_place pushed,
        fp_pushed;                    /* where a frame pointer was pushed last, and which: fp and its origin then */
    uint8_t fp_origin, origin_pushed; /* enum col_fp_origin */
    bool has_pushed;
};

enum col_instruction_flow {
    COL_FLOW_UNKNOWN, /* not understood, or nobody can say where it leads */
    COL_FLOW_NEXT,
    COL_FLOW_CALL,
    COL_FLOW_BRANCH, /* to the next one, or to the target */
    COL_FLOW_JUMP,
    COL_FLOW_ELSEWHERE, /* jumps to where a register or a word of memory says */
    COL_FLOW_RETURN,    /* returns; or jumps through a fixed pointer, as PLT entries do, to a function that will */
};

struct col_instruction {
    unsigned bytes;
    enum col_instruction_flow flow;
    int32_t target;    /* of a branch or jump, from the instruction's end */
    unsigned released; /* bytes that a return takes off the stack beyond its address */
};

/* Decodes the instruction that `code` begins with, and moves the state past it. Always COL_FLOW_UNKNOWN for processors whose
   functions keep frame records by convention. */
void col_instruction_follow(const uint8_t *code, size_t size, struct col_stack_state *state,
                            struct col_instruction *instruction);

#endif
