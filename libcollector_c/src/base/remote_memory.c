/* remote_memory.c -- memory of another process, copied piece by piece */
#include "base/remote_memory.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "base/arch_abi.h"

enum {
    PAGE_BYTES = 4096,
    MOST_ADDRESS_BITS = 56,
    HALF_BYTES = 1 << 19,
    MOST_COPIES = 128,
    LARGEST_COPY = 1 << 18,
    FIRST_STACK_BYTES = 1 << 13,
    STACK_BYTES = 1 << 16,
    BELOW_BYTES = 256, /* a frame is read from its upper end down */
    MOST_PAGES = LARGEST_COPY / PAGE_BYTES + 1,
};

struct copy {
    uintptr_t address;
    size_t bytes, at;
};

/* One of two that are filled by turns. */
struct half {
    struct copy copies[MOST_COPIES];
    unsigned count;
    size_t used;
    uint8_t bytes[HALF_BYTES];
};

struct buffer {
    unsigned current;
    struct col_remote_piece piece;
    size_t stack_bytes; /* of the next piece */
    struct half halves[2];
    uint8_t stack[STACK_BYTES];
};

static struct {
    struct buffer *buffer; /* of all processes */
} self;

bool col_remote_memory_prepare(void)
{
    if (self.buffer != NULL)
        return true;
    long answer =
        col_arch_syscall(SYS_mmap, 0, sizeof *self.buffer, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    self.buffer = answer < 0 ? NULL : (struct buffer *)answer; /* no address of ours is as high as the errors */
    return self.buffer != NULL;
}

bool col_remote_memory_has_call(pid_t pid)
{
    return col_arch_syscall(SYS_process_vm_readv, pid, 0, 0, 0, 0, 0) == 0; /* no bytes: nobody asks whose they are */
}

static uintptr_t page_end(uintptr_t address)
{
    return (address | (PAGE_BYTES - 1)) + 1;
}

/* A part for each page: what lies before a page that is not there is read. */
static long read_by_call(pid_t pid, uintptr_t address, void *to, size_t bytes)
{
    struct iovec parts[MOST_PAGES], whole = {to, bytes};
    unsigned count = 0;
    for (uintptr_t at = address, end = address + bytes; at < end && count < MOST_PAGES; at = page_end(at), count++)
        parts[count] = (struct iovec){(void *)at, (page_end(at) < end ? page_end(at) : end) - at};
    return col_arch_syscall(SYS_process_vm_readv, pid, (long)&whole, 1, (long)parts, count, 0);
}

size_t col_remote_memory_read(struct col_remote_memory *memory, uintptr_t address, void *to, size_t bytes)
{
    if (address >> MOST_ADDRESS_BITS != 0 || bytes > LARGEST_COPY)
        return 0;
    long count = memory->file < 0
                     ? read_by_call(memory->pid, address, to, bytes)
                     : col_arch_syscall(SYS_pread64, memory->file, (long)to, (long)bytes, (long)address, 0, 0);
    return count > 0 ? (size_t)count : 0;
}

static void empty(struct half *half)
{
    half->count = 0;
    half->used = 0;
}

void col_remote_memory_begin(void)
{
    empty(&self.buffer->halves[0]);
    empty(&self.buffer->halves[1]);
    self.buffer->piece.bytes = 0;
    self.buffer->stack_bytes = FIRST_STACK_BYTES;
}

static const uint8_t *find_copy(const struct half *half, uintptr_t address, size_t bytes)
{
    for (unsigned i = half->count; i-- > 0;) {
        const struct copy *copy = &half->copies[i];
        if (address >= copy->address && bytes <= copy->bytes && address - copy->address <= copy->bytes - bytes)
            return half->bytes + copy->at + (address - copy->address);
    }
    return NULL;
}

/* Whole pages, as far as they are there. */
static const uint8_t *make_copy(struct col_remote_memory *memory, uintptr_t address, size_t bytes)
{
    uintptr_t low = address & ~(uintptr_t)(PAGE_BYTES - 1);
    size_t wanted = page_end(address + bytes - 1) - low;
    struct half *half = &self.buffer->halves[self.buffer->current];
    if (half->count == MOST_COPIES || half->used + wanted > HALF_BYTES) {
        self.buffer->current ^= 1;
        half = &self.buffer->halves[self.buffer->current];
        empty(half);
    }
    uint8_t *to = half->bytes + half->used;
    size_t got = col_remote_memory_read(memory, low, to, wanted);
    if (got < address - low + bytes)
        return NULL;
    half->copies[half->count++] = (struct copy){low, got, half->used};
    half->used += wanted;
    return to + (address - low);
}

const uint8_t *col_remote_memory_view(struct col_remote_memory *memory, uintptr_t address, size_t bytes)
{
    if (bytes == 0 || bytes > LARGEST_COPY - 2 * PAGE_BYTES || address > UINTPTR_MAX - LARGEST_COPY)
        return NULL;
    const struct half *halves = self.buffer->halves;
    const uint8_t *found = find_copy(&halves[self.buffer->current], address, bytes);
    if (found == NULL)
        found = find_copy(&halves[!self.buffer->current], address, bytes);
    return found != NULL ? found : make_copy(memory, address, bytes);
}

uintptr_t col_remote_memory_word(struct col_remote_memory *memory, uintptr_t address)
{
    uintptr_t word = 0;
    const uint8_t *view = col_remote_memory_view(memory, address, sizeof word);
    if (view != NULL)
        memcpy(&word, view, sizeof word);
    return word;
}

struct col_remote_piece col_remote_memory_stack(struct col_remote_memory *memory, uintptr_t address)
{
    struct buffer *buffer = self.buffer;
    struct col_remote_piece *piece = &buffer->piece;
    if (address >= piece->low && piece->bytes >= sizeof address &&
        address - piece->low <= piece->bytes - sizeof address)
        return *piece;
    uintptr_t page = address & ~(uintptr_t)(PAGE_BYTES - 1), word = address & ~(uintptr_t)(sizeof address - 1);
    uintptr_t low = word - page > BELOW_BYTES ? word - BELOW_BYTES : page; /* the page below may not be there */
    size_t got = col_remote_memory_read(memory, low, buffer->stack, buffer->stack_bytes);
    buffer->stack_bytes = buffer->stack_bytes < STACK_BYTES ? buffer->stack_bytes * 2 : STACK_BYTES;
    return *piece = (struct col_remote_piece){low, got, buffer->stack};
}
