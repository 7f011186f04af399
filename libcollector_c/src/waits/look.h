/* look.h -- a look from outside at a thread of another process: whether it waits, and in which system call */
#ifndef COL_WAITS_LOOK_H
#define COL_WAITS_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/wait_cause.h"

/* Ordinary code. The thread is not touched: no signal, no stop. The kernel answers for one moment, or says that the thread ran meanwhile. */
enum col_look_result { COL_LOOK_WAITING, COL_LOOK_RUNNING, COL_LOOK_GONE, COL_LOOK_REFUSED };

#define COL_LOOK_NO_CALL (-1)

struct col_look {
    long call;             /* number of the system call; COL_LOOK_NO_CALL: it waits outside of any, as for a page */
    uint64_t arguments[6]; /* of the call */
    uint64_t sp, pc;
    uint64_t time_ns; /* not before this moment */
};

enum col_look_result col_look_at(uint32_t pid, uint32_t tid, struct col_look *look);

/* What the kernel's scheduler accounts to a thread: exact while it waits. False if it does not say. */
struct col_schedule {
    uint64_t cpu_ns;
    uint64_t delay_ns; /* it was ready, but had no processor */
    uint64_t turns;    /* how often it got one */
};
bool col_look_schedule(uint32_t pid, uint32_t tid, struct col_schedule *schedule);

/* When a thread began, by col_clock_now(), to half a tick of the kernel's (5 ms) either way; 0 if that is not known. */
uint64_t col_look_beginning(uint32_t pid, uint32_t tid);

/* What a thread waits for, as far as the call and its descriptor tell. */
enum col_wait_cause col_look_cause(uint32_t pid, const struct col_look *look);

#endif
