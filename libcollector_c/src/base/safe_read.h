/* safe_read.h -- reading memory that may not be there */
#ifndef COL_BASE_SAFE_READ_H
#define COL_BASE_SAFE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/remote_memory.h"

/*
 * CALLABLE FROM ANYWHERE, signal handlers included: nothing here locks, allocates or sets errno.
 *
 * A page is proved readable by handing its address to a system call that reads eight bytes there and then refuses
 * them. What was proved a moment ago can be unmapped by another thread; what stays mapped in practice is what a
 * walk reads: the stack that the asking thread is standing on.
 */

/* For what reads words that belong to others: a sanitizer that the program is built with must not take offence. For the
   same reason nothing here calls memcpy, which sanitizers replace, for such words. */
#define COL_READS_FOREIGN __attribute__((no_sanitize("address")))

enum { COL_PAGE_BYTES = 4096 }; /* the smallest page of any kernel we run on: a larger page only costs more probes */

/* True when eight bytes can be read at `address` rounded down to a word. One system call, about 50 ns. */
bool col_safe_read_probe(uintptr_t address);

/* Reads one word; false, and *value untouched, when it cannot be read. Probes on every call. */
bool col_safe_read_word(uintptr_t address, uintptr_t *value);

/* Reads up to one page of bytes likewise. */
bool col_safe_read_bytes(uintptr_t address, void *to, size_t size);

/*
 * The pages that one walk has proved readable, for what it reads often: unwind tables. They are forgotten with the walk,
 * because a program may unmap or protect any page between two of them. All zero: none yet.
 */
enum { COL_PROVED_PAGES = 8 };
struct col_proved_pages {
    uintptr_t ends[COL_PROVED_PAGES]; /* the last byte of each page, at the page's number modulo their count */
    struct col_remote_memory *memory; /* where they are; NULL: in our own process */
};

bool col_safe_read_prove_slowly(struct col_proved_pages *proved, uintptr_t address, size_t bytes);

/* True when all of these bytes can be read, which may be another process's. One system call for each page that is new to the walk. */
static inline bool col_safe_read_prove(struct col_proved_pages *proved, uintptr_t address, size_t bytes)
{
    uintptr_t end = address | (COL_PAGE_BYTES - 1);
    bool is_known = bytes - 1 <= end - address && proved->ends[address / COL_PAGE_BYTES % COL_PROVED_PAGES] == end;
    return __builtin_expect(is_known, 1) || col_safe_read_prove_slowly(proved, address, bytes);
}

const uint8_t *col_safe_read_view_slowly(struct col_proved_pages *proved, uintptr_t address, size_t bytes);

/* Where these bytes can be read: at their address, or in a copy if they are another process's. NULL: nowhere. */
static inline const uint8_t *col_safe_read_view(struct col_proved_pages *proved, uintptr_t address, size_t bytes)
{
    uintptr_t end = address | (COL_PAGE_BYTES - 1);
    bool is_known = bytes - 1 <= end - address && proved->ends[address / COL_PAGE_BYTES % COL_PROVED_PAGES] == end;
    return __builtin_expect(is_known, 1) ? (const uint8_t *)address : col_safe_read_view_slowly(proved, address, bytes);
}

/* Copies up to one page of bytes, which may be another process's. */
bool col_safe_read_copy(struct col_proved_pages *proved, uintptr_t address, void *to, size_t size);

/*
 * The part of a thread's own stack that is known to be mapped. `high` is fixed when the thread starts, 0 means that
 * it is not known; `low` sinks as deeper pages are proved. Touched by its own thread only.
 */
struct col_stack_bounds {
    uintptr_t low, high;
};

/* A frame to take a walk up from. */
struct col_stack_mark {
    uintptr_t pc, sp, fp;
};

/* What a thread's walks over deep stacks leave for the next one (sample/unwind_frames.c). All zero at first. */
struct col_deep_stack {
    struct col_stack_mark mark; /* near the root; pc 0: none */
    uint32_t debt;              /* frames of earlier walks that time has not made up for */
    bool is_costly;             /* the last walk came by many frames, or followed much code */
};

/* The reads of one walk over one stack. Words from `low` to `last` can be read without asking. */
struct col_stack_reader {
    uintptr_t low, last;
    uintptr_t to_copy; /* from an address to its copy; 0 in our own process */
    struct col_stack_bounds *own;
    struct col_remote_memory *memory; /* where the stack is; NULL: in our own process */
};

/* Begins a walk at stack pointer `sp`. `own` outlives the reader; its `low` may sink. */
void col_safe_read_begin(struct col_stack_reader *reader, struct col_stack_bounds *own, uintptr_t sp);

/* The same for a stack of another process. `none` is all zero. */
void col_safe_read_begin_remote(struct col_stack_reader *reader, struct col_stack_bounds *none,
                                struct col_remote_memory *memory);

/* The walk goes on at `sp`, perhaps on another stack: forgets the pages proved so far that are not the thread's own. */
void col_safe_read_enter(struct col_stack_reader *reader, uintptr_t sp);

/* A word at any address, aligned or not. */
struct __attribute__((packed, may_alias)) col_foreign_word {
    uintptr_t word;
};

/* One that is known to be readable. */
COL_READS_FOREIGN static inline uintptr_t col_foreign_word(uintptr_t address)
{
    return ((const struct col_foreign_word *)address)->word;
}

/* The same in another process if `memory` says so: there 0 stands for what cannot be read. */
COL_READS_FOREIGN static inline uintptr_t col_safe_read_known(struct col_remote_memory *memory, uintptr_t address)
{
    return __builtin_expect(memory == NULL, 1) ? col_foreign_word(address) : col_remote_memory_word(memory, address);
}

bool col_safe_read_stack_slowly(struct col_stack_reader *reader, uintptr_t address, uintptr_t *value);

/* Reads one word of the stack. Free within the pages proved so far; any other page is probed once. */
COL_READS_FOREIGN static inline bool col_safe_read_stack(struct col_stack_reader *reader, uintptr_t address,
                                                         uintptr_t *value)
{
    if (__builtin_expect(address < reader->low || address > reader->last, 0))
        return col_safe_read_stack_slowly(reader, address, value);
    *value = ((const struct col_foreign_word *)(address + reader->to_copy))->word;
    return true;
}

#endif
