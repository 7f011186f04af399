/*
 * instruction_lengths.c -- decodes instructions, given as lines of hexadecimal digits followed by what a disassembler says, and prints those
 * whose length is another one; at the end how many there were, and how many are not understood
 */
#include <stdio.h>
#include <string.h>

#include "base/instruction.h"

int main(void)
{
    char line[512];
    long count = 0, unknown = 0;
    while (fgets(line, sizeof line, stdin)) {
        unsigned char code[2 * COL_INSTRUCTION_BYTES];
        unsigned size = 0, byte;
        memset(code, 0x90, sizeof code);
        for (const char *at = line; size < COL_INSTRUCTION_BYTES && sscanf(at, "%2x", &byte) == 1; at += 2)
            code[size++] = (unsigned char)byte;
        struct col_stack_state state = {.has_pushed = false};
        struct col_instruction instruction;
        col_instruction_follow(code, sizeof code, &state, &instruction);
        count++;
        if (instruction.bytes == 0)
            unknown++;
        else if (instruction.bytes != size)
            printf("%u, not %u: %s", instruction.bytes, size, line);
        for (unsigned cut = 0; cut < size; cut++) { /* never reads behind the end */
            state = (struct col_stack_state){.has_pushed = false};
            col_instruction_follow(code, cut, &state, &instruction);
            if (instruction.flow != COL_FLOW_UNKNOWN && instruction.bytes > cut)
                printf("%u of %u bytes read as %u: %s", cut, size, instruction.bytes, line);
        }
    }
    printf("%ld %ld\n", count, unknown);
    return 0;
}
