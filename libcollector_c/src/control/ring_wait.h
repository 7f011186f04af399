/* ring_wait.h -- waits for completions of an io_uring, which a signal of ours cuts short whatever its handler asks for */
#ifndef COL_CONTROL_RING_WAIT_H
#define COL_CONTROL_RING_WAIT_H

#include <stdint.h>
#include <ucontext.h>

/*
 * A handler of ours is over. If it has interrupted such a wait, that goes on where the program would go on: unless a signal of the program's is there as well, or
 * it may have come to the end of its own time. Signal-safe. Nothing on aarch64, where what the call was given is gone.
 */
void col_ring_wait_go_on(ucontext_t *context);

/* syscall(2) is about to make such a call from a frame here, or has; its code does not tell which calls it makes. Returns the frame before. */
uintptr_t col_ring_wait_set_frame(uintptr_t frame);

#endif
