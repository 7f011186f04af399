/* safe_read.c -- reading memory that may not be there */
#include "base/safe_read.h"

#include <errno.h>
#include <sys/syscall.h>

#include "base/arch_abi.h"
#include "base/remote_memory.h"

enum {
    WORD = sizeof(uintptr_t),
    LOWEST_ADDRESS = 4096,
    /* Frames may jump over pages that hold only locals. Proving a short gap keeps the run of pages in one piece. */
    LONGEST_GAP_PAGES = 16,
};

static uintptr_t page_of(uintptr_t address)
{
    return address & ~(uintptr_t)(COL_PAGE_BYTES - 1);
}

bool col_safe_read_probe(uintptr_t address)
{
    if (address < LOWEST_ADDRESS)
        return false;
    /* The kernel reads the new mask before it looks at the bad first argument: EINVAL means readable, EFAULT not. */
    long answer = col_arch_syscall(SYS_rt_sigprocmask, -1, (long)(address & ~(uintptr_t)(WORD - 1)), 0, 8, 0, 0);
    return answer == -EINVAL;
}

bool col_safe_read_prove_slowly(struct col_proved_pages *proved, uintptr_t address, size_t bytes)
{
    if (bytes == 0 || address > UINTPTR_MAX - bytes)
        return bytes == 0;
    if (proved->memory != NULL)
        return col_remote_memory_view(proved->memory, address, bytes) != NULL;
    for (uintptr_t page = page_of(address), last = page_of(address + bytes - 1); page <= last; page += COL_PAGE_BYTES) {
        uintptr_t *end = &proved->ends[page / COL_PAGE_BYTES % COL_PROVED_PAGES];
        if (*end != (page | (COL_PAGE_BYTES - 1)) && !col_safe_read_probe(page))
            return false;
        *end = page | (COL_PAGE_BYTES - 1);
    }
    return true;
}

const uint8_t *col_safe_read_view_slowly(struct col_proved_pages *proved, uintptr_t address, size_t bytes)
{
    if (proved->memory != NULL)
        return col_remote_memory_view(proved->memory, address, bytes);
    return col_safe_read_prove_slowly(proved, address, bytes) ? (const uint8_t *)address : NULL;
}

COL_READS_FOREIGN bool col_safe_read_copy(struct col_proved_pages *proved, uintptr_t address, void *to, size_t size)
{
    const volatile uint8_t *from = col_safe_read_view(proved, address, size); /* volatile: not to be made a memcpy */
    for (size_t i = 0; from != NULL && i < size; i++)
        ((uint8_t *)to)[i] = from[i];
    return from != NULL;
}

COL_READS_FOREIGN bool col_safe_read_bytes(uintptr_t address, void *to, size_t size)
{
    if (size == 0 || size > COL_PAGE_BYTES || address > UINTPTR_MAX - size)
        return false;
    uintptr_t last = address + size - 1;
    if (!col_safe_read_probe(address) || (page_of(last) != page_of(address) && !col_safe_read_probe(last)))
        return false;
    const volatile uint8_t *from = (const volatile uint8_t *)address; /* volatile: not to be made a memcpy */
    for (size_t i = 0; i < size; i++)
        ((uint8_t *)to)[i] = from[i];
    return true;
}

bool col_safe_read_word(uintptr_t address, uintptr_t *value)
{
    return col_safe_read_bytes(address, value, sizeof *value);
}

void col_safe_read_begin(struct col_stack_reader *reader, struct col_stack_bounds *own, uintptr_t sp)
{
    if (own->low == 0 || own->low > own->high)
        own->low = own->high;
    reader->own = own;
    reader->to_copy = 0;
    reader->memory = NULL;
    col_safe_read_enter(reader, sp);
}

static void forget_piece(struct col_stack_reader *reader)
{
    reader->low = UINTPTR_MAX;
    reader->last = 0;
}

void col_safe_read_begin_remote(struct col_stack_reader *reader, struct col_stack_bounds *none,
                                struct col_remote_memory *memory)
{
    *reader = (struct col_stack_reader){.own = none, .memory = memory};
    forget_piece(reader);
}

void col_safe_read_enter(struct col_stack_reader *reader, uintptr_t sp)
{
    const struct col_stack_bounds *own = reader->own;
    if (reader->memory != NULL)
        return; /* what was copied is as good there */
    bool is_own = sp >= own->low && sp < own->high && own->high - sp >= WORD;
    /* Nothing below the red zone is read unasked, nor below sp's page: a program may protect the pages that its stack does
       not reach now, and its handlers may run on another stack. */
    uintptr_t lowest = own->low > page_of(sp) ? own->low : page_of(sp);
    uintptr_t reach = sp - lowest > COL_ARCH_RED_ZONE_BYTES ? sp - COL_ARCH_RED_ZONE_BYTES : lowest;
    reader->low = is_own ? reach : UINTPTR_MAX;
    reader->last = is_own ? own->high - WORD : 0;
}

/* Proves the pages from `from` up to and including `to`. */
static bool prove_pages(uintptr_t from, uintptr_t to)
{
    for (uintptr_t page = from; page <= to; page += COL_PAGE_BYTES)
        if (!col_safe_read_probe(page))
            return false;
    return true;
}

/* Once the proved run touches the thread's own stack, all of it is the thread's own, and stays so. */
static void join_own_stack(struct col_stack_reader *reader)
{
    struct col_stack_bounds *own = reader->own;
    uintptr_t end = reader->last + WORD;
    if (own->high == 0 || reader->low >= own->low || end < page_of(own->low))
        return;
    own->low = reader->low;
    reader->last = own->high - WORD;
}

/* Makes the run of proved pages reach `last_page`, from its end if that is near, else anew from `first_page`. */
static bool extend_run(struct col_stack_reader *reader, uintptr_t first_page, uintptr_t last_page)
{
    uintptr_t end = reader->last + WORD;
    bool is_near = reader->last != 0 && reader->low <= reader->last && first_page + COL_PAGE_BYTES >= end &&
                   first_page - page_of(end - 1) <= (uintptr_t)LONGEST_GAP_PAGES * COL_PAGE_BYTES;
    if (is_near && prove_pages(page_of(end + COL_PAGE_BYTES - 1), last_page)) {
        reader->last = last_page + COL_PAGE_BYTES - WORD;
        return true;
    }
    if (!prove_pages(first_page, last_page))
        return false;
    reader->low = first_page;
    reader->last = last_page + COL_PAGE_BYTES - WORD;
    return true;
}

static bool read_remote(struct col_stack_reader *reader, uintptr_t address, uintptr_t *value)
{
    struct col_remote_piece piece = col_remote_memory_stack(reader->memory, address);
    forget_piece(reader);
    if (piece.bytes < WORD)
        return false;
    reader->low = piece.low;
    reader->last = piece.low + piece.bytes - WORD;
    reader->to_copy = (uintptr_t)piece.copy - piece.low;
    if (address > reader->last)
        return false;
    *value = col_foreign_word(address + reader->to_copy);
    return true;
}

COL_READS_FOREIGN bool col_safe_read_stack_slowly(struct col_stack_reader *reader, uintptr_t address, uintptr_t *value)
{
    const struct col_stack_bounds *own = reader->own;
    if (reader->memory != NULL)
        return read_remote(reader, address, value);
    if (address < LOWEST_ADDRESS || address > UINTPTR_MAX - 2 * COL_PAGE_BYTES)
        return false;
    bool is_own = address >= own->low && address < own->high && own->high - address >= WORD;
    if (is_own) /* the walk stands elsewhere, or this lies below the stack pointer: maybe protected by now */
        return col_safe_read_word(address, value);
    if (!extend_run(reader, page_of(address), page_of(address + WORD - 1)))
        return false;
    join_own_stack(reader);
    *value = ((const struct col_foreign_word *)address)->word;
    return true;
}
