/* thread_frames.h -- the open frames of a thread beside its clock's: of sources that not every recording has */
#ifndef COL_SAMPLE_THREAD_FRAMES_H
#define COL_SAMPLE_THREAD_FRAMES_H

#include <stdint.h>

#include "target/thread.h"

/* From anywhere, signal handlers included, between enter and leave of the calling thread. */

/* Adds a sample of the source whose frame has this number, below COL_THREAD_FRAMES, with the thread's stack. 0, or as col_open_frame_add. */
int col_thread_frames_add(struct col_thread *thread, unsigned frame, uint32_t source, uint64_t time_ns,
                          const uint64_t *values, uint32_t value_count, const struct col_thread_stack *stack);

/* The thread ends: what it has goes into the log. */
void col_thread_frames_release(struct col_thread *thread);

#endif
