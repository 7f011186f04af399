/* stack_room.c -- how much stack is left to a signal handler */
#include "target/stack_room.h"

/* Inverted: a leak checker that meets the address of the program's alternate stack here would believe the program still has it. */
static __thread uintptr_t not_lowest __attribute__((tls_model("initial-exec"))) = UINTPTR_MAX;

void col_stack_room_note(uintptr_t low)
{
    not_lowest = ~low;
}

/* A caller on another stack than the one noted is far above it, or below, where the difference wraps. */
bool col_stack_room_has(size_t bytes)
{
    return (uintptr_t)__builtin_frame_address(0) - ~not_lowest >= bytes;
}
