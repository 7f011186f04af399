/* own_io.c -- bytes that we and metric plugins move */
#include "base/own_io.h"

static struct {
    uint64_t read_bytes, written_bytes;
} self;

ssize_t col_own_io_count_read(ssize_t bytes)
{
    if (bytes > 0)
        __atomic_fetch_add(&self.read_bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
    return bytes;
}

ssize_t col_own_io_count_write(ssize_t bytes)
{
    if (bytes > 0)
        __atomic_fetch_add(&self.written_bytes, (uint64_t)bytes, __ATOMIC_RELAXED);
    return bytes;
}

uint64_t col_own_io_read_bytes(void)
{
    return __atomic_load_n(&self.read_bytes, __ATOMIC_RELAXED);
}

uint64_t col_own_io_written_bytes(void)
{
    return __atomic_load_n(&self.written_bytes, __ATOMIC_RELAXED);
}

void col_own_io_forget(void)
{
    self.read_bytes = self.written_bytes = 0;
}
