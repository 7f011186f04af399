/* remote_memory.h -- memory of another process, copied piece by piece */
#ifndef COL_BASE_REMOTE_MEMORY_H
#define COL_BASE_REMOTE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* From one thread at a time: all processes share one buffer for the copies. Nothing here stops the process or changes it. */

struct col_remote_modules;

struct col_remote_memory {
    pid_t pid;
    int file; /* /proc/PID/mem, for where process_vm_readv(2) is refused; -1: not open. Whose memory it is opens and closes it */
    struct col_remote_modules *modules; /* of target/remote_modules.c; NULL: not read yet */
};

/* Makes the buffer. False: there is no memory. */
bool col_remote_memory_prepare(void);

/* False where the call is not to be had at all, as under some seccomp filters. */
bool col_remote_memory_has_call(pid_t pid);

/* Reads from `address` on, and returns how many bytes could be read: 0 if not even the first. */
size_t col_remote_memory_read(struct col_remote_memory *memory, uintptr_t address, void *to, size_t bytes);

/* A walk begins: the copies so far are forgotten. */
void col_remote_memory_begin(void);

/*
 * A copy of these bytes, NULL if they cannot be read. It stays until half a megabyte of others were made, or 128: nothing that looks up one address
 * in unwind tables needs so many between a copy and its use.
 */
const uint8_t *col_remote_memory_view(struct col_remote_memory *memory, uintptr_t address, size_t bytes);

/* The word there, 0 if it cannot be read. */
uintptr_t col_remote_memory_word(struct col_remote_memory *memory, uintptr_t address);

/* A piece of a stack, copied. There is one at a time, which stays until another is asked for. */
struct col_remote_piece {
    uintptr_t low;
    size_t bytes;
    const uint8_t *copy;
};

/* The piece with the word at `address`, from a little below it; larger each time in one walk. No bytes: it cannot be read. */
struct col_remote_piece col_remote_memory_stack(struct col_remote_memory *memory, uintptr_t address);

#endif
