/* log_writer.h -- the log of this process image: frames into shared pages, without a lock */
#ifndef COL_EXPERIMENT_LOG_WRITER_H
#define COL_EXPERIMENT_LOG_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * One log per process image. A frame takes its number and its place in the file in one step, after the disk has given room for it: a full disk
 * leaves no hole, and whoever is interrupted or killed between stands in nobody's way. Nothing here waits for another thread.
 */

/* From ordinary code. */

/* Makes `directory` if need be, and in it PID.N.log, N being the first number not there yet. The file and a possible new directory are
 * for their owner alone: a log tells what is in a program's memory. 0 or -errno; no descriptor stays open. If no log can be made an empty file PID.no-log.ERRNO says so, or a directory. */
int col_log_writer_open(const char *directory, pid_t pid, unsigned *image);

/* A log of another name, in a directory that is there: of a process that reads metrics without being recorded. 0 or -errno; -EEXIST. */
int col_log_writer_open_named(const char *directory, const char *name, pid_t pid);

/* From here on come the last records: for those, but no samples, some room is kept in a log that is full. */
void col_log_writer_begin_end(void);

/* Cuts the log to its length if all open frames were written to it and nobody is writing; else readers find what there is in the untruncated file. Later frames
 * are refused. The last record must have been appended. */
void col_log_writer_close(void);

/* In a fork child: lets go of the parent's log, whose windows are not mapped here. Without this call, too, nothing is written to it. */
void col_log_writer_forget(void);

/* Path of the log, absolute; empty when none was ever opened. */
const char *col_log_writer_path(void);

/* Lets its owner read and cut the log where the umask withholds that. Makes a system call that no filter was asked about. */
void col_log_writer_give_owner(void);

/* True if the log that was opened last is the first of its experiment: nobody else had made the directory. */
bool col_log_writer_has_made_directory(void);

/* From anywhere, signal handlers included. */

bool col_log_writer_is_open(void);

/* Appends one frame. 0; -EBADF: not open; -ENOSPC: the disk is full; -EFBIG: the log has reached its greatest length, or the payload is too big for a
 * frame; -ENOMEM: no memory for another window. */
int col_log_writer_append(const void *payload, size_t bytes);

/* The same in two steps, for those who write the payload where it will lie. After begin, finish or abandon must follow. */
struct col_log_frame {
    uint8_t *payload;
    uint32_t payload_bytes;
    uint32_t sequence;
    uint32_t window;
};
enum col_log_content { COL_LOG_RECORDS, COL_LOG_SAMPLES };
int col_log_writer_begin(struct col_log_frame *frame, size_t payload_bytes, enum col_log_content content);
void col_log_writer_finish(const struct col_log_frame *frame);
void col_log_writer_abandon(const struct col_log_frame *frame); /* its number will be missing in the log */

/* Frames and bytes so far, or at the close. */
void col_log_writer_counts(uint64_t *frame_count, uint64_t *byte_count);

#endif
