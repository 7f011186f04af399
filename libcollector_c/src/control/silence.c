/* silence.c -- whether a system call of ours could kill: which threads have to keep silent, and which filters are known to let us through */
#include "control/silence.h"

#include <stdint.h>
#include <stdlib.h>

#include "target/own_status.h"
#include "target/thread.h"

#define KNOWN_DIGITS 4

static __thread bool is_thread_silent __attribute__((tls_model("initial-exec")));

static struct {
    bool is_silent;         /* all threads are */
    bool has_child_entered; /* a vfork child has: the next exec is taken for its own */
    uint32_t known_count;   /* filters that were judged and let us through */
    char known[sizeof COL_SILENCE_VARIABLE "=" + KNOWN_DIGITS]; /* the same in the environment */
} self = {.known = COL_SILENCE_VARIABLE "="};

bool col_silence_is_on(void)
{
    return is_thread_silent || self.is_silent;
}

/* In place: the entry belongs to the program's environment. A child with an older copy of it stays unrecorded, no worse. */
static void write_known(uint32_t count)
{
    self.known_count = count;
    for (unsigned place = KNOWN_DIGITS; place > 0; place--, count /= 10)
        self.known[sizeof COL_SILENCE_VARIABLE "=" - 2 + place] = (char)('0' + count % 10);
}

bool col_silence_is_known(void)
{
    const char *known = getenv(COL_SILENCE_VARIABLE);
    uint32_t count = col_own_status_is_filtered() ? col_own_status_read().filter_count : 0;
    if (count != 0 && known != NULL && count > strtoul(known, NULL, 10))
        return false;
    write_known(count);
    return true;
}

char *col_silence_known(void)
{
    return self.known;
}

void col_silence_count_known(int difference)
{
    write_known(self.known_count + (uint32_t)difference);
}

bool col_silence_has_filters(void)
{
    return self.known_count != 0;
}

void col_silence_begin(bool is_for_all)
{
    if (is_for_all)
        self.is_silent = true;
    else
        is_thread_silent = true;
    col_thread_silence(is_for_all);
}

void col_silence_end(bool is_for_all)
{
    if (is_for_all)
        self.is_silent = false;
    col_thread_unsilence(is_for_all);
    if (!is_for_all)
        is_thread_silent = false;
}

void col_silence_note_child(void)
{
    self.has_child_entered = true;
}

void col_silence_inherit(bool is_silent)
{
    is_thread_silent = is_silent;
    if (is_silent)
        col_thread_silence(false);
    else if (col_thread_is_silenced()) /* as one was that had this storage before */
        col_thread_unsilence(false);
}

void col_silence_after_fork(void)
{
    self.has_child_entered = false;
}

bool col_silence_withholds(void)
{
    return col_silence_is_on() || __atomic_exchange_n(&self.has_child_entered, false, __ATOMIC_RELAXED);
}
