/* interpose_exit.c -- what the program registers for its exit may free the alternate stack that it still has set */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/real.h"
#include "control/alternate_stack.h"
#include "control/session.h"

static struct {
    bool is_needed; /* an alternate stack was set */
} self;

static void begin_exit(void *unused)
{
    (void)unused;
    col_alternate_stack_lose_all();
}

/* What is registered last is called first, and ours has to be. */
static void come_first(void)
{
    if (__atomic_load_n(&self.is_needed, __ATOMIC_RELAXED) && col_session_is_open())
        COL_REAL(__cxa_atexit)(begin_exit, NULL, NULL);
}

void col_entry_note_alternate_stack(void)
{
    if (col_session_is_open() && !__atomic_exchange_n(&self.is_needed, true, __ATOMIC_RELAXED))
        come_first();
}

/* atexit, and each static object of C++ that has a destructor. */
COL_EXPORT int __cxa_atexit(void (*handler)(void *argument), void *argument, void *library)
{
    int result = COL_REAL(__cxa_atexit)(handler, argument, library);
    come_first();
    return result;
}

COL_EXPORT int on_exit(void (*handler)(int status, void *argument), void *argument)
{
    int result = COL_REAL(on_exit)(handler, argument);
    come_first();
    return result;
}
