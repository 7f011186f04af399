/* log_writer.c -- frames into the log, without a lock */
#include "experiment/log_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"
#include "base/sparse.h"
#include "base/text_format.h"
#include "experiment/crc32.h"
#include "experiment/directory.h"
#include "experiment/format.h"
#include "experiment/log_windows.h"
#include "experiment/open_slots.h"
#include "experiment/sparse_file.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

/*
 * The tail of the log in one word, so that a frame's number and place are taken together:
 *
 *   63                        36 35                                  0
 *   | frames written, plus one  | bytes written                       |      0: not open
 */
#define OFFSET_BITS 36u
#define OFFSET_MASK (((uint64_t)1 << OFFSET_BITS) - 1)
#define SEQUENCE_END (((uint64_t)1 << (64 - OFFSET_BITS)) - 1)

#define WINDOW_BYTES COL_SPARSE_WINDOW_BYTES
#define LAST_BYTES                                                                                                     \
    8192u /* kept for the last records: what was lost, and why, is told even by a log that has reached its greatest length */
#define FILE_BYTES ((uint64_t)1 << OFFSET_BITS) /* open frames included */

_Static_assert(FILE_BYTES / WINDOW_BYTES <= COL_LOG_WINDOWS_COUNT, "the log has no more windows than that");

static struct {
    uint64_t *tail; /* in a page of its own that a fork child finds empty, even one that no hook of ours has seen */
    uint64_t final_tail;
    uint64_t bytes; /* length the log may reach */
    bool is_ending; /* atomic: the last records may use the bytes kept for them */
    pid_t owner;
    bool has_made_directory;
} self;

static struct col_directory_paths paths COL_SPARSE;

static uint64_t load_tail(void)
{
    return self.tail != NULL ? __atomic_load_n(self.tail, __ATOMIC_ACQUIRE) : 0;
}

bool col_log_writer_is_open(void)
{
    return load_tail() != 0;
}

const char *col_log_writer_path(void)
{
    return paths.log;
}

void col_log_writer_give_owner(void)
{
    if (col_os_access(AT_FDCWD, paths.log, R_OK | W_OK) != 0)
        col_os_chmod(paths.log, 0600);
}

bool col_log_writer_has_made_directory(void)
{
    return self.has_made_directory;
}

void col_log_writer_counts(uint64_t *frame_count, uint64_t *byte_count)
{
    uint64_t tail = load_tail();
    if (tail == 0)
        tail = self.final_tail;
    *frame_count = tail >> OFFSET_BITS > 0 ? (tail >> OFFSET_BITS) - 1 : 0;
    *byte_count = tail & OFFSET_MASK;
}

/* Where a frame of that size would begin: it never lies across two windows. */
static uint64_t place(uint64_t offset, uint32_t frame_bytes)
{
    return offset % WINDOW_BYTES + frame_bytes <= WINDOW_BYTES ? offset : (offset / WINDOW_BYTES + 1) * WINDOW_BYTES;
}

static uint64_t room(enum col_log_content content)
{
    return content == COL_LOG_RECORDS && __atomic_load_n(&self.is_ending, __ATOMIC_RELAXED) ? self.bytes
                                                                                            : self.bytes - LAST_BYTES;
}

/* 1: taken; 0: the tail has moved, try again; or -errno. Counts us into the frame's window if 1. */
static int try_take(struct col_log_frame *frame, uint64_t tail, uint32_t frame_bytes, enum col_log_content content)
{
    uint64_t offset = place(tail & OFFSET_MASK, frame_bytes), sequence = (tail >> OFFSET_BITS) - 1;
    if (offset + frame_bytes > room(content) || sequence + 2 > SEQUENCE_END)
        return -EFBIG;
    uint32_t index = (uint32_t)(offset / WINDOW_BYTES), at = (uint32_t)(offset % WINDOW_BYTES);
    uint8_t *start = col_log_windows_enter(index);
    bool is_late = col_log_windows_is_left(start);
    int answer = start == NULL ? -ENOMEM : is_late ? 0 : col_log_windows_make_room(index, start, at, at + frame_bytes);
    if (is_late || answer != 0) {
        col_log_windows_leave(index);
        return load_tail() == tail ? answer : 0;
    }
    uint64_t next = (sequence + 2) << OFFSET_BITS | (offset + frame_bytes);
    if (!__atomic_compare_exchange_n(self.tail, &tail, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        col_log_windows_leave(index);
        return 0;
    }
    if (at == 0 && index > 0)
        col_log_windows_drop(index - 1);
    *frame = (struct col_log_frame){start + at + COL_FRAME_HEADER_BYTES, frame_bytes - COL_FRAME_HEADER_BYTES,
                                    (uint32_t)sequence, index};
    return 1;
}

int col_log_writer_begin(struct col_log_frame *frame, size_t payload_bytes, enum col_log_content content)
{
    if (payload_bytes > COL_FRAME_MAX_BYTES - COL_FRAME_HEADER_BYTES)
        return -EFBIG;
    int answer = 0;
    while (answer == 0) {
        uint64_t tail = load_tail();
        answer = tail == 0 ? -EBADF : try_take(frame, tail, COL_FRAME_HEADER_BYTES + (uint32_t)payload_bytes, content);
    }
    return answer < 0 ? answer : 0;
}

static void put_big_endian(uint8_t *at, uint32_t number)
{
    at[0] = (uint8_t)(number >> 24);
    at[1] = (uint8_t)(number >> 16);
    at[2] = (uint8_t)(number >> 8);
    at[3] = (uint8_t)number;
}

void col_log_writer_finish(const struct col_log_frame *frame)
{
    uint8_t header[COL_FRAME_HEADER_BYTES] = {COL_FRAME_EXT_CODE};
    put_big_endian(header + 1, frame->payload_bytes + 16);
    header[5] = COL_FRAME_EXT_TYPE;
    memcpy(header + 6, COL_FRAME_SYNC, 4);
    put_big_endian(header + 10, frame->sequence);
    put_big_endian(header + 14, col_crc32_update(0, header, 14));
    put_big_endian(header + 18, col_crc32_update(0, frame->payload, frame->payload_bytes));
    uint8_t *at = frame->payload - COL_FRAME_HEADER_BYTES;
    memcpy(at + 1, header + 1, sizeof header - 1);
    __atomic_store_n(at, header[0], __ATOMIC_RELEASE); /* last: what begins with a zero byte is not there yet */
    col_log_windows_leave(frame->window);
}

void col_log_writer_abandon(const struct col_log_frame *frame)
{
    memset(frame->payload, 0, frame->payload_bytes);
    col_log_windows_leave(frame->window);
}

int col_log_writer_append(const void *payload, size_t bytes)
{
    struct col_log_frame frame;
    int error = col_log_writer_begin(&frame, bytes, COL_LOG_RECORDS);
    if (error != 0)
        return error;
    memcpy(frame.payload, payload, bytes);
    col_log_writer_finish(&frame);
    return 0;
}

/* Creates the first log of this process that is not there yet. */
static int create_file(pid_t pid, unsigned *image, struct col_sparse_file *log)
{
    int error = -EEXIST;
    for (*image = 0; error == -EEXIST; *image += error == -EEXIST) {
        error = col_directory_name_image(&paths, pid, *image);
        if (error == 0)
            error = col_sparse_file_create(log, paths.log, FILE_BYTES);
    }
    return error;
}

static int create_file_and_directory(pid_t pid, unsigned *image, struct col_sparse_file *log)
{
    int error = create_file(pid, image, log);
    self.has_made_directory = error == -ENOENT && (error = col_directory_make(&paths)) == 0;
    return self.has_made_directory ? create_file(pid, image, log) : error;
}

static int make_tail(void)
{
    if (self.tail != NULL)
        return 0;
    uint64_t *page = col_os_map_memory(col_os_page_bytes());
    if (page == NULL)
        return -ENOMEM;
    col_os_advise(page, col_os_page_bytes(), MADV_WIPEONFORK);
    self.tail = page;
    return 0;
}

/* Lets go of what was open before, and finds the directory. */
static int prepare(const char *directory, pid_t pid)
{
    if (self.owner != pid)
        col_log_writer_forget();
    else if (col_log_writer_is_open())
        return -EBUSY;
    int error = col_log_windows_close();
    if (error == 0)
        error = make_tail();
    return error != 0 ? error : col_directory_enter(&paths, directory);
}

static void begin(const struct col_sparse_file *log, pid_t pid)
{
    col_log_windows_open(log);
    col_open_slots_open(log);
    self.bytes = log->bytes;
    self.is_ending = false;
    self.owner = pid;
    __atomic_store_n(self.tail, (uint64_t)1 << OFFSET_BITS, __ATOMIC_SEQ_CST);
}

/* Where no log can be made there is still a name to be had, which takes no room: an empty file that says why. A directory does too, and takes no descriptor. */
static void leave_word(pid_t pid, int error)
{
    char name[48]; /* a number, ".no-log.", a number */
    col_text_print_into(name, sizeof name, "%d.no-log.%d", (int)pid, -error);
    if (col_directory_name_log(&paths, name) != 0)
        return;
    int fd = col_os_open(paths.log, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
    if (fd >= 0)
        col_os_close(fd);
    else if (fd == -EMFILE || fd == -ENFILE)
        col_os_mkdir(paths.log, 0700);
}

int col_log_writer_open(const char *directory, pid_t pid, unsigned *image)
{
    struct col_sparse_file log;
    int error = prepare(directory, pid);
    if (error != 0)
        return error;
    error = create_file_and_directory(pid, image, &log);
    if (error == 0)
        begin(&log, pid);
    else
        leave_word(pid, error);
    return error;
}

int col_log_writer_open_named(const char *directory, const char *name, pid_t pid)
{
    struct col_sparse_file log;
    int error = prepare(directory, pid);
    if (error == 0)
        error = col_directory_name_log(&paths, name);
    if (error == 0)
        error = col_sparse_file_create(&log, paths.log, FILE_BYTES);
    if (error == 0)
        begin(&log, pid);
    return error;
}

void col_log_writer_begin_end(void)
{
    __atomic_store_n(&self.is_ending, true, __ATOMIC_RELAXED);
}

void col_log_writer_close(void)
{
    uint64_t tail = self.tail != NULL ? __atomic_exchange_n(self.tail, 0, __ATOMIC_SEQ_CST) : 0;
    if (tail == 0)
        return;
    self.final_tail = tail;
    if (col_log_windows_wait() && col_open_slots_close())
        col_sparse_file_cut(paths.log, tail & OFFSET_MASK);
}

void col_log_writer_forget(void)
{
    col_log_windows_forget();
    if (self.tail != NULL)
        __atomic_store_n(self.tail, 0, __ATOMIC_SEQ_CST);
    self.final_tail = 0;
    self.owner = 0;
    col_open_slots_forget();
}
