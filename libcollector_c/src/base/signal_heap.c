/* signal_heap.c -- memory that signal handlers may ask for and give back */
#include "base/signal_heap.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/os.h"

#define SMALLEST_BITS 5u /* 32 bytes, with the header */
#define CLASS_COUNT 12u  /* up to 64 KiB */
#define CHUNK_BYTES ((size_t)256 << 10)

/* Before each piece. A free piece's first word behind it is the next free one. */
struct header {
    size_t bytes; /* of the whole piece */
    size_t class; /* CLASS_COUNT: a mapping of its own */
};

_Static_assert(sizeof(struct header) == 16, "what follows a header is aligned as it is");

static struct {
    int is_locked;
    struct header *free[CLASS_COUNT];
    char *chunk, *chunk_end; /* never cut yet */
} self;

static struct col_os_signals lock(void)
{
    struct col_os_signals before = {.was_stepping = col_arch_stop_stepping()};
    uint64_t all = UINT64_MAX;
    col_arch_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&before.blocked, sizeof all, 0, 0);
    while (__atomic_exchange_n(&self.is_locked, 1, __ATOMIC_ACQUIRE) != 0)
        col_os_yield();
    return before;
}

static void unlock(struct col_os_signals before)
{
    __atomic_store_n(&self.is_locked, 0, __ATOMIC_RELEASE);
    col_arch_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before.blocked, 0, sizeof before.blocked, 0, 0);
    col_arch_step_again(before.was_stepping);
}

void col_signal_heap_unlock(void)
{
    self.is_locked = 0;
}

static struct header **next_of(struct header *piece)
{
    return (struct header **)(void *)(piece + 1);
}

/* A piece off the list of its class, else off the chunk. What is left of an old chunk is forgotten: less than a piece of it. */
static struct header *take(size_t class)
{
    size_t bytes = (size_t)1 << (SMALLEST_BITS + class);
    struct header *piece = self.free[class];
    if (piece != NULL) {
        self.free[class] = *next_of(piece);
        return piece;
    }
    if ((size_t)(self.chunk_end - self.chunk) < bytes) {
        char *chunk = col_os_map_memory(CHUNK_BYTES);
        if (chunk == NULL)
            return NULL;
        self.chunk = chunk;
        self.chunk_end = chunk + CHUNK_BYTES;
    }
    piece = (struct header *)(void *)self.chunk;
    self.chunk += bytes;
    *piece = (struct header){bytes, class};
    return piece;
}

static struct header *map_alone(size_t bytes)
{
    size_t page_bytes = col_os_page_bytes();
    bytes = (bytes + page_bytes - 1) & ~(page_bytes - 1);
    struct header *piece = col_os_map_memory(bytes);
    if (piece != NULL)
        *piece = (struct header){bytes, CLASS_COUNT};
    return piece;
}

void *col_signal_heap_allocate(size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes += sizeof(struct header);
    size_t class = 0;
    while (class < CLASS_COUNT && (size_t)1 << (SMALLEST_BITS + class) < bytes)
        class ++;
    struct header *piece;
    if (class == CLASS_COUNT)
        piece = map_alone(bytes);
    else {
        struct col_os_signals before = lock();
        piece = take(class);
        unlock(before);
    }
    return piece != NULL ? piece + 1 : NULL;
}

void col_signal_heap_free(void *memory)
{
    if (memory == NULL)
        return;
    struct header *piece = (struct header *)memory - 1;
    if (piece->class == CLASS_COUNT) {
        col_os_unmap(piece, piece->bytes);
        return;
    }
    struct col_os_signals before = lock();
    *next_of(piece) = self.free[piece->class];
    self.free[piece->class] = piece;
    unlock(before);
}

size_t col_signal_heap_size(const void *memory)
{
    return ((const struct header *)memory - 1)->bytes - sizeof(struct header);
}
