/* log_writer.c -- frames into the log, without a lock */
#include "experiment/log_writer.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/os.h"
#include "experiment/crc32.h"
#include "experiment/directory.h"
#include "experiment/format.h"
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
#define WINDOW_COUNT (((uint64_t)1 << OFFSET_BITS) / WINDOW_BYTES)
#define LOG_BYTES (((uint64_t)1 << OFFSET_BITS) - WINDOW_BYTES)

/* A part of the file in memory. Those who write in it are counted; when the tail has left it, the last of them unmaps it. */
struct window {
    uint8_t *start;     /* NULL: not mapped yet; odd: the tail has left it; 1: unmapped */
    uint32_t populated; /* bytes from the start that may be stored to */
    uint32_t user_count;
};

static struct {
    uint64_t *tail; /* in a page of its own that a fork child finds empty, even one that no hook of ours has seen */
    uint64_t final_tail;
    uint64_t bytes; /* length the file may reach */
    bool is_careful;
    pid_t owner;
    uint32_t window_count; /* that were ever mapped */
    struct window windows[WINDOW_COUNT];
    struct col_directory_paths paths;
} self;

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
    return self.paths.log;
}

void col_log_writer_counts(uint64_t *frame_count, uint64_t *byte_count)
{
    uint64_t tail = load_tail();
    if (tail == 0)
        tail = self.final_tail;
    *frame_count = tail >> OFFSET_BITS > 0 ? (tail >> OFFSET_BITS) - 1 : 0;
    *byte_count = tail & OFFSET_MASK;
}

/* --- windows --- */

static bool is_left(const uint8_t *start)
{
    return ((uintptr_t)start & 1) != 0;
}

/* Who enters after the tail has left sees so and stays out: if it has left and then nobody is inside, nobody ever will be. */
static void unmap_if_left(struct window *window)
{
    if (!is_left(__atomic_load_n(&window->start, __ATOMIC_SEQ_CST)) || __atomic_load_n(&window->user_count, __ATOMIC_SEQ_CST) != 0)
        return;
    uint8_t *start = __atomic_exchange_n(&window->start, (uint8_t *)1, __ATOMIC_SEQ_CST);
    if (start != (uint8_t *)1)
        col_sparse_file_drop(start - 1);
}

/* Counts us in and returns where the window is, or that it is not; leave must follow in any case. */
static uint8_t *enter(uint32_t index)
{
    __atomic_fetch_add(&self.windows[index].user_count, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&self.windows[index].start, __ATOMIC_SEQ_CST);
}

static void leave(uint32_t index)
{
    if (__atomic_sub_fetch(&self.windows[index].user_count, 1, __ATOMIC_SEQ_CST) == 0)
        unmap_if_left(&self.windows[index]);
}

static void note_window(uint32_t index)
{
    uint32_t count = __atomic_load_n(&self.window_count, __ATOMIC_RELAXED);
    while (count <= index && !__atomic_compare_exchange_n(&self.window_count, &count, index + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

/* Maps a window from the one before it. Whoever comes first wins; nobody waits. */
static uint8_t *map_window(uint32_t index)
{
    uint8_t *before = enter(index - 1), *mapped = NULL;
    if (before != NULL && !is_left(before))
        mapped = col_sparse_file_next(before);
    leave(index - 1);
    if (mapped == NULL)
        return __atomic_load_n(&self.windows[index].start, __ATOMIC_SEQ_CST);
    note_window(index);
    uint8_t *start = NULL;
    if (__atomic_compare_exchange_n(&self.windows[index].start, &start, mapped, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return mapped;
    col_sparse_file_drop(mapped);
    return start;
}

/* The tail has left this window. */
static void drop_window(uint32_t index)
{
    struct window *window = &self.windows[index];
    uint8_t *start = __atomic_load_n(&window->start, __ATOMIC_SEQ_CST);
    while (start != NULL && !is_left(start) && !__atomic_compare_exchange_n(&window->start, &start, start + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    unmap_if_left(window);
}

/* Small at first, so that a process that is hardly sampled takes 4 KiB of the disk; then in steps that make the call rare. */
static uint32_t step_bytes(uint64_t offset)
{
    if (offset < (16u << 10))
        return 4u << 10;
    if (offset < (256u << 10))
        return 16u << 10;
    return offset < (1u << 20) ? 64u << 10 : 256u << 10;
}

static int populate_to(struct window *window, uint8_t *start, uint32_t from, uint32_t to)
{
    int error = col_os_populate(start + from, to - from);
    if (error != 0)
        return error;
    while (from < to && !__atomic_compare_exchange_n(&window->populated, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return 0;
}

/* Makes bytes `from` to `to` of a window safe to store to. */
static int make_room(uint32_t index, uint8_t *start, uint32_t from, uint32_t to)
{
    struct window *window = &self.windows[index];
    uint32_t populated = __atomic_load_n(&window->populated, __ATOMIC_SEQ_CST);
    if (populated >= to)
        return self.is_careful ? col_os_populate(start + from, to - from) : 0;
    uint32_t page_bytes = (uint32_t)col_os_page_bytes();
    uint32_t least = (to + page_bytes - 1) & ~(page_bytes - 1);
    uint32_t step = (populated + step_bytes(index * WINDOW_BYTES + from)) & ~(page_bytes - 1);
    if (step > WINDOW_BYTES)
        step = WINDOW_BYTES;
    if (step > least && populate_to(window, start, populated, step) == 0)
        return 0;
    return populate_to(window, start, populated, least); /* the disk may have room for this much */
}

/* --- frames --- */

/* Where a frame of that size would begin: it never lies across two windows. */
static uint64_t place(uint64_t offset, uint32_t frame_bytes)
{
    return offset % WINDOW_BYTES + frame_bytes <= WINDOW_BYTES ? offset : (offset / WINDOW_BYTES + 1) * WINDOW_BYTES;
}

/* 1: taken; 0: the tail has moved, try again; or -errno. Counts us into the frame's window if 1. */
static int try_take(struct col_log_frame *frame, uint64_t tail, uint32_t frame_bytes)
{
    uint64_t offset = place(tail & OFFSET_MASK, frame_bytes), sequence = (tail >> OFFSET_BITS) - 1;
    if (offset + frame_bytes > self.bytes || sequence + 2 > SEQUENCE_END)
        return -EFBIG;
    uint32_t index = (uint32_t)(offset / WINDOW_BYTES), at = (uint32_t)(offset % WINDOW_BYTES);
    uint8_t *start = enter(index);
    if (start == NULL)
        start = map_window(index);
    int answer = start == NULL ? -ENOMEM : is_left(start) ? 0 : make_room(index, start, at, at + frame_bytes);
    if (is_left(start) || answer != 0) {
        leave(index);
        return load_tail() == tail ? answer : 0;
    }
    uint64_t next = (sequence + 2) << OFFSET_BITS | (offset + frame_bytes);
    if (!__atomic_compare_exchange_n(self.tail, &tail, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        leave(index);
        return 0;
    }
    if (at == 0 && index > 0)
        drop_window(index - 1);
    *frame = (struct col_log_frame){start + at + COL_FRAME_HEADER_BYTES, frame_bytes - COL_FRAME_HEADER_BYTES, (uint32_t)sequence, index};
    return 1;
}

int col_log_writer_begin(struct col_log_frame *frame, size_t payload_bytes)
{
    if (payload_bytes > COL_FRAME_MAX_BYTES - COL_FRAME_HEADER_BYTES)
        return -EFBIG;
    int answer = 0;
    while (answer == 0) {
        uint64_t tail = load_tail();
        answer = tail == 0 ? -EBADF : try_take(frame, tail, COL_FRAME_HEADER_BYTES + (uint32_t)payload_bytes);
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
    leave(frame->window);
}

void col_log_writer_abandon(const struct col_log_frame *frame)
{
    memset(frame->payload, 0, frame->payload_bytes);
    leave(frame->window);
}

int col_log_writer_append(const void *payload, size_t bytes)
{
    struct col_log_frame frame;
    int error = col_log_writer_begin(&frame, bytes);
    if (error != 0)
        return error;
    memcpy(frame.payload, payload, bytes);
    col_log_writer_finish(&frame);
    return 0;
}

/* --- opening and closing --- */

static int create_files(pid_t pid, unsigned *image, struct col_sparse_file *log)
{
    for (unsigned number = 0;; number++) {
        int error = col_directory_name_image(&self.paths, pid, number);
        if (error == 0)
            error = col_sparse_file_create(log, self.paths.log, LOG_BYTES);
        if (error == -EEXIST)
            continue;
        if (error != 0)
            return error;
        *image = number;
        error = col_open_slots_open(self.paths.open);
        if (error == 0)
            return 0;
        col_sparse_file_drop(log->first);
        col_os_unlink(self.paths.log);
        if (error != -EEXIST)
            return error;
    }
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

/* Frames that others began before the end get some time to be finished; a thread that was stopped inside one is not waited for. */
static bool wait_for_writers(void)
{
    unsigned turn = 0;
    for (uint32_t index = 0; index < self.window_count; index++)
        while (__atomic_load_n(&self.windows[index].user_count, __ATOMIC_SEQ_CST) != 0) {
            if (turn++ == 100)
                return false;
            col_os_yield();
        }
    return true;
}

/* Lets go of a log that was closed before. -EBUSY: a thread is still inside. */
static int drop_windows(void)
{
    if (!wait_for_writers())
        return -EBUSY;
    for (uint32_t index = 0; index < self.window_count; index++) {
        drop_window(index);
        self.windows[index] = (struct window){0};
    }
    return 0;
}

int col_log_writer_open(const char *directory, pid_t pid, unsigned *image)
{
    if (self.owner != pid)
        col_log_writer_forget();
    else if (col_log_writer_is_open())
        return -EBUSY;
    struct col_sparse_file log;
    int error = drop_windows();
    if (error == 0)
        error = make_tail();
    if (error == 0)
        error = col_directory_enter(&self.paths, directory);
    if (error == 0)
        error = create_files(pid, image, &log);
    if (error != 0)
        return error;
    self.windows[0].start = log.first;
    note_window(0);
    self.bytes = log.bytes;
    self.is_careful = log.is_careful;
    self.owner = pid;
    __atomic_store_n(self.tail, (uint64_t)1 << OFFSET_BITS, __ATOMIC_SEQ_CST);
    return 0;
}

void col_log_writer_close(void)
{
    uint64_t tail = self.tail != NULL ? __atomic_exchange_n(self.tail, 0, __ATOMIC_SEQ_CST) : 0;
    if (tail == 0)
        return;
    self.final_tail = tail;
    wait_for_writers();
    col_os_truncate(self.paths.log, tail & OFFSET_MASK);
    if (col_open_slots_close())
        col_os_unlink(self.paths.open);
}

void col_log_writer_forget(void)
{
    memset(self.windows, 0, self.window_count * sizeof self.windows[0]);
    self.window_count = 0;
    if (self.tail != NULL)
        __atomic_store_n(self.tail, 0, __ATOMIC_SEQ_CST);
    self.final_tail = 0;
    self.owner = 0;
    col_open_slots_forget();
}
