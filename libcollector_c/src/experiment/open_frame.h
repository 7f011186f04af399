/* open_frame.h -- the samples of one thread between two frames of the log, safe from SIGKILL */
#ifndef COL_EXPERIMENT_OPEN_FRAME_H
#define COL_EXPERIMENT_OPEN_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiment/open_slots.h"
#include "experiment/stack_table.h"

/*
 * Samples are rows in a slot of the log's end, whole as soon as add returns, whatever becomes of the process. A frame that is full, or a second old,
 * moves into the log as one PCSAMPLE record; one that is old while the disk is full goes on until it is full. One at a time may be at work on a frame (target/thread.h sees to that); it may be a signal handler,
 * and all functions here may be called from one.
 * In a fork child, and after the log was closed, adding answers -EBADF until the frame is acquired again.
 */
struct col_open_frame {
    struct col_open_slot *slot; /* NULL: none acquired */
    struct col_open_frame_private *private;
    uint32_t slot_index;
    uint32_t generation; /* of the file the slot is in */
    uint32_t thread;
    uint32_t source;
    uint32_t value_count; /* of each sample */
    uint32_t row_count;
    uint32_t row_bytes;
    uint32_t room_bytes; /* of rows that the populated pages hold */
    uint32_t crc;        /* of the header and the rows so far */
    uint32_t next_commit;
    uint64_t time_ns; /* of the frame; of the last one when it is empty */
    uint64_t last_us; /* of the newest sample, since time_ns */
};

/* Memory each frame needs beside it: zero when it is first used, and little of it touched where stacks are shallow. */
size_t col_open_frame_private_bytes(void);

/* Makes the frame ready for acquire. The memory may have served another frame before. */
void col_open_frame_prepare(struct col_open_frame *frame, void *private_memory);

/* Takes a slot. 0, -EBADF: no log is open; -ENOSPC: the disk is full; -EFBIG: all are taken that the log's limited length has; -ENOMEM: no memory, or 65,536 threads have one. */
int col_open_frame_acquire(struct col_open_frame *frame, uint32_t thread, uint32_t source, uint32_t value_count,
                           uint64_t time_ns);

/*
 * Adds a sample: value_count values that it stands for, in the order in which its source declares them, times in microseconds; its stack with the leaf
 * first, and why the stack ends there (StackEnd). A value that does not fit 32 bits makes several samples.
 * Frames beyond the 4096 nearest to the leaf are left out and the end becomes DEPTH_LIMIT.
 * 0; -EBADF; or the log's -ENOSPC, -EFBIG, -ENOMEM: this sample is lost, those before are kept and tried again.
 */
int col_open_frame_add(struct col_open_frame *frame, uint64_t time_ns, const uint64_t *values, const uintptr_t *pcs,
                       size_t count, unsigned end);

/* So much CPU time of the thread before its last sample no sample stands for: known to readers if it is killed. */
void col_open_frame_note_pending(struct col_open_frame *frame, uint64_t pending_ns);

/* Moves the rows into the log. If that fails they stay where they are. */
int col_open_frame_flush(struct col_open_frame *frame);

/* Flushes and gives the slot back. What cannot be flushed stays in the file, where `collector record` and readers find it. */
void col_open_frame_release(struct col_open_frame *frame);

/* Samples that frames of this process have moved into the log that is or was open. */
uint64_t col_open_frame_sample_count(void);

#endif
