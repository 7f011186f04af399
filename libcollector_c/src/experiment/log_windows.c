/* log_windows.c -- the parts of the log that are in memory now */
#include "experiment/log_windows.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/os.h"
#include "base/sparse.h"
#include "experiment/sparse_file.h"

/* Those who write in a window are counted; when the tail has left it, the last of them unmaps it. */
struct window {
    uint8_t *start;     /* NULL: not mapped yet; odd: the tail has left it; 1: unmapped */
    uint32_t populated; /* bytes from the start that may be stored to */
    uint32_t user_count;
};

static struct {
    uint32_t window_count; /* that were ever mapped */
} self;

static struct window windows[COL_LOG_WINDOWS_COUNT] COL_SPARSE;

bool col_log_windows_is_left(const uint8_t *start)
{
    return ((uintptr_t)start & 1) != 0;
}

/* Who enters after the tail has left sees so and stays out: if it has left and then nobody is inside, nobody ever will be. */
static void unmap_if_left(struct window *window)
{
    if (!col_log_windows_is_left(__atomic_load_n(&window->start, __ATOMIC_SEQ_CST)) ||
        __atomic_load_n(&window->user_count, __ATOMIC_SEQ_CST) != 0)
        return;
    uint8_t *start = __atomic_exchange_n(&window->start, (uint8_t *)1, __ATOMIC_SEQ_CST);
    if (start != (uint8_t *)1)
        col_sparse_file_drop(start - 1);
}

static uint8_t *count_in(uint32_t index)
{
    __atomic_fetch_add(&windows[index].user_count, 1, __ATOMIC_SEQ_CST);
    return __atomic_load_n(&windows[index].start, __ATOMIC_SEQ_CST);
}

void col_log_windows_leave(uint32_t index)
{
    if (__atomic_sub_fetch(&windows[index].user_count, 1, __ATOMIC_SEQ_CST) == 0)
        unmap_if_left(&windows[index]);
}

static void note_window(uint32_t index)
{
    uint32_t count = __atomic_load_n(&self.window_count, __ATOMIC_RELAXED);
    while (count <= index && !__atomic_compare_exchange_n(&self.window_count, &count, index + 1, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
}

/* Maps a window from the one before it. Whoever comes first wins; nobody waits. */
static uint8_t *map_window(uint32_t index)
{
    uint8_t *before = count_in(index - 1), *mapped = NULL;
    if (before != NULL && !col_log_windows_is_left(before))
        mapped = col_sparse_file_next(before);
    col_log_windows_leave(index - 1);
    if (mapped == NULL)
        return __atomic_load_n(&windows[index].start, __ATOMIC_SEQ_CST);
    note_window(index);
    uint8_t *start = NULL;
    if (__atomic_compare_exchange_n(&windows[index].start, &start, mapped, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return mapped;
    col_sparse_file_drop(mapped);
    return start;
}

void col_log_windows_drop(uint32_t index)
{
    struct window *window = &windows[index];
    uint8_t *start = __atomic_load_n(&window->start, __ATOMIC_SEQ_CST);
    while (start != NULL && !col_log_windows_is_left(start) &&
           !__atomic_compare_exchange_n(&window->start, &start, start + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    unmap_if_left(window);
}

uint8_t *col_log_windows_enter(uint32_t index)
{
    uint8_t *start = count_in(index);
    return start != NULL ? start : map_window(index);
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
    while (from < to &&
           !__atomic_compare_exchange_n(&window->populated, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    return 0;
}

int col_log_windows_make_room(uint32_t index, uint8_t *start, uint32_t from, uint32_t to)
{
    struct window *window = &windows[index];
    uint32_t populated = __atomic_load_n(&window->populated, __ATOMIC_SEQ_CST);
    if (populated >= to)
        return col_sparse_file_renew(start + from, to - from);
    uint32_t page_bytes = (uint32_t)col_os_page_bytes();
    uint32_t least = (to + page_bytes - 1) & ~(page_bytes - 1);
    uint32_t step = (populated + step_bytes(index * COL_SPARSE_WINDOW_BYTES + from)) & ~(page_bytes - 1);
    if (step > COL_SPARSE_WINDOW_BYTES)
        step = COL_SPARSE_WINDOW_BYTES;
    uint32_t begin = from < populated ? from : populated;
    if (step > least && populate_to(window, start, begin, step) == 0)
        return 0;
    return populate_to(window, start, begin, least); /* the disk may have room for this much */
}

void col_log_windows_open(const struct col_sparse_file *file)
{
    windows[0].start = file->first;
    note_window(0);
}

bool col_log_windows_wait(void)
{
    unsigned turn = 0;
    for (uint32_t index = 0; index < self.window_count; index++)
        while (__atomic_load_n(&windows[index].user_count, __ATOMIC_SEQ_CST) != 0) {
            if (turn++ == 100)
                return false;
            col_os_yield();
        }
    return true;
}

int col_log_windows_close(void)
{
    if (!col_log_windows_wait())
        return -EBUSY;
    for (uint32_t index = 0; index < self.window_count; index++) {
        col_log_windows_drop(index);
        windows[index] = (struct window){0};
    }
    return 0;
}

void col_log_windows_forget(void)
{
    memset(windows, 0, self.window_count * sizeof windows[0]);
    self.window_count = 0;
}
