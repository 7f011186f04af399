/* thread_frames.c -- the open frames of a thread beside its clock's: of sources that not every recording has */
#include "sample/thread_frames.h"

#include <errno.h>

#include "base/os.h"

/* Of a thread's block, whoever has it. */
struct col_thread_frames {
    struct col_open_frame frames[COL_THREAD_FRAMES];
    uint8_t private[];
};

static struct col_thread_frames *frames_of(struct col_thread *thread)
{
    size_t private_bytes = col_open_frame_private_bytes();
    if (thread->frames == NULL)
        thread->frames = col_os_map_memory(sizeof(struct col_thread_frames) + COL_THREAD_FRAMES * private_bytes);
    return thread->frames;
}

int col_thread_frames_add(struct col_thread *thread, unsigned frame, uint32_t source, uint64_t time_ns,
                          const uint64_t *values, uint32_t value_count, const struct col_thread_stack *stack)
{
    struct col_thread_frames *frames = frames_of(thread);
    if (frames == NULL)
        return -ENOMEM;
    struct col_open_frame *own = &frames->frames[frame];
    int error = 0;
    if ((thread->acquired_frames & 1u << frame) == 0) {
        col_open_frame_prepare(own, frames->private + frame * col_open_frame_private_bytes());
        error = col_open_frame_acquire(own, thread->tid, source, value_count, time_ns);
        if (error == 0)
            thread->acquired_frames |= 1u << frame;
    }
    if (error == 0)
        error = col_open_frame_add(own, time_ns, values, stack->pcs, stack->count, stack->end);
    if (error == -EBADF)
        thread->acquired_frames &= ~(1u << frame); /* the log was closed and opened again */
    return error;
}

void col_thread_frames_release(struct col_thread *thread)
{
    for (unsigned frame = 0; frame < COL_THREAD_FRAMES; frame++)
        if (thread->acquired_frames & 1u << frame)
            col_open_frame_release(&thread->frames->frames[frame]);
    thread->acquired_frames = 0;
}
