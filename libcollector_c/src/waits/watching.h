/* watching.h -- what the two ways to watch have in common: threads that are looked at, and settled now and then */
#ifndef COL_WAITS_WATCHING_H
#define COL_WAITS_WATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "waits/look.h"
#include "waits/wait_threads.h"

/* Ordinary code, one thread at a time. */
struct col_watching {
    struct col_wait_threads threads;
    uint64_t asked_looks_ns; /* between looks, if they do not cost too much */
    uint64_t next_look_ns;
    uint64_t round_ns, round_cpu_ns; /* when the present round of looks began */
    uint64_t random;
    uint64_t look_count, running_count, refused_count, unread_count; /* the last three: of no use, and why */
    uint64_t lost_count;                                             /* of the kernel's records */
};

void col_watching_begin(struct col_watching *watching, uint64_t looks_ns);
void col_watching_end(struct col_watching *watching);

/* Finds out until when the process was recorded, and when not, if that is not known up to a moment. */
void col_watching_ask(struct col_waiting_process *process, uint64_t time_ns);

/* It runs another program, which has not said anything so far. */
void col_watching_forget_turns(struct col_waiting_process *process);

/* Looks at a thread, which has a look to be proved then if it waits. */
enum col_look_result col_watching_look(struct col_watching *watching, struct col_waiting_thread *thread);

/* Around a round of looks: the next one is the later the more CPU time this one has cost. */
void col_watching_begin_round(struct col_watching *watching);
void col_watching_end_round(struct col_watching *watching);

/* Writes what there is to know of a thread up to a moment; `is_last` of it, or of its program. */
void col_watching_settle(struct col_watching *watching, struct col_waiting_thread *thread, uint64_t time_ns,
                         bool is_last);
void col_watching_settle_due(struct col_watching *watching);
void col_watching_settle_all(struct col_watching *watching); /* for the last time */

/* The thread has ended. */
void col_watching_remove(struct col_watching *watching, struct col_waiting_thread *thread, uint64_t time_ns);

#endif
