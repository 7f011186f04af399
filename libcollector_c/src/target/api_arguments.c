/* api_arguments.c -- what a program gives when it calls the API: what of it can be read, and how much was of no use */
#include "target/api_arguments.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/safe_read.h"
#include "experiment/event.h"

#define TEXT_LIMIT 65536u

static struct {
    uint64_t drops[COL_DROP_CAUSES], drops_written[COL_DROP_CAUSES]; /* atomic */
} self;

/* ---- losses ---- */

static void write_drop(unsigned cause)
{
    uint64_t count = __atomic_load_n(&self.drops[cause], __ATOMIC_RELAXED);
    if (count == __atomic_load_n(&self.drops_written[cause], __ATOMIC_RELAXED))
        return;
    struct col_event_dropnotify event = {.cause = cause, .count = count};
    if (col_event_dropnotify((struct col_event_head){col_clock_now(), 0}, &event) == 0)
        __atomic_store_n(&self.drops_written[cause], count, __ATOMIC_RELAXED);
}

static void drop(unsigned cause)
{
    if (__atomic_fetch_add(&self.drops[cause], 1, __ATOMIC_RELAXED) == 0)
        write_drop(cause);
}

void col_api_arguments_drop(void)
{
    drop(COL_DROP_BAD_ARGUMENT);
}

void col_api_arguments_count(int error)
{
    if (error != 0 && error != -EBADF) /* -EBADF: the log was closed meanwhile */
        drop(error == -EFBIG    ? COL_DROP_LOG_FULL
             : error == -ENOMEM ? COL_DROP_NO_MEMORY
             : error == -EAGAIN ? COL_DROP_BUSY
                                : COL_DROP_NO_SPACE);
}

uint64_t col_api_arguments_drop_count(void)
{
    uint64_t count = 0;
    for (unsigned cause = 1; cause < COL_DROP_CAUSES; cause++)
        count += __atomic_load_n(&self.drops[cause], __ATOMIC_RELAXED);
    return count;
}

void col_api_arguments_close(void)
{
    for (unsigned cause = 1; cause < COL_DROP_CAUSES; cause++)
        write_drop(cause);
}

void col_api_arguments_forget(void)
{
    memset(&self, 0, sizeof self);
}

/* ---- what can be read of what the program gives ---- */

static size_t rest_of_page(uintptr_t address)
{
    return COL_PAGE_BYTES - address % COL_PAGE_BYTES;
}

size_t col_api_arguments_readable(uintptr_t address, size_t most)
{
    size_t bytes = 0;
    while (bytes < most && col_safe_read_probe(address + bytes))
        bytes += rest_of_page(address + bytes);
    return bytes < most ? bytes : most;
}

bool col_api_arguments_is_text(const char *text)
{
    uintptr_t start = (uintptr_t)text;
    for (size_t bytes = 0; bytes < TEXT_LIMIT && col_safe_read_probe(start + bytes);
         bytes += rest_of_page(start + bytes))
        if (memchr(text + bytes, '\0', rest_of_page(start + bytes)) != NULL)
            return true;
    return false;
}
