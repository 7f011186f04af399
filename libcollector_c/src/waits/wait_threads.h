/* wait_threads.h -- the threads that are watched: what each is doing by the kernel's records, and since when */
#ifndef COL_WAITS_WAIT_THREADS_H
#define COL_WAITS_WAIT_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/recording_turns.h"
#include "sample/remote_process.h"
#include "waits/wait_account.h"

/* Ordinary code, one thread at a time. */

/* What the scheduler said of so many waits (wait_account.h). */
struct col_wait_usual {
    double late_ns, over_ns, count;
};

struct col_waiting_process {
    uint32_t pid;
    uint32_t thread_count;
    bool has_new_code;                   /* it has mapped code, or run another program; for whoever unwinds it */
    struct col_remote_process *unwinder; /* the same */
    uint32_t sources[COL_WAIT_CAUSES];   /* of the log; 0: not defined so far */
    struct col_wait_pool pool;           /* of its threads that were never settled before their end */
    struct col_wait_usual usual;         /* of all its threads */
    struct col_recording_turns *turns; /* when it was recorded, as it said last; NULL: all the time, or nobody knows */
    uint64_t turns_ns;                 /* when it was asked */
    uint64_t links, checked_ns,
        alive_ns; /* where there are no records: its threads, when they were last counted, and when last found unchanged */
    bool has_changed;
    uint32_t failure_count;       /* looks in succession that came to nothing */
    uint64_t left_alone_until_ns; /* by looks */
};

enum col_thread_state { COL_THREAD_RUNNING, COL_THREAD_READY, COL_THREAD_BLOCKED };

/* Of a thread of which there are no records: how far the scheduler's clocks were at the last look, and how many looks it is left out of. */
struct col_wait_pace {
    uint64_t cpu_ns, delay_ns, turns;
    uint32_t pause, left;
};

struct col_waiting_thread {
    uint32_t tid;
    uint32_t index; /* among all */
    struct col_waiting_process *process;
    enum col_thread_state state;
    uint64_t since_ns;     /* of the state */
    uint64_t accounted_ns; /* of a wait: up to here */
    struct {
        uint64_t begin_ns,
            end_ns; /* it was seen to wait from one to the other, if it did not run between; 0: it was not */
        struct col_wait_stack *stack;
    } look;
    struct col_wait_stack *seen; /* a look that the records have proved: the stack of the present wait */
    uint64_t seen_after_ns;      /* how long that had gone on then */
    struct col_wait_account account;
    struct col_wait_usual usual;
    struct {
        uint64_t time_ns, cpu_ns, delay_ns; /* and how far the scheduler's clocks were then */
        int64_t late_ns;                    /* what the account has left of it */
        uint64_t kept_ns;                   /* and of waits, to be shared later */
        uint64_t off_ns, off_ready_ns;      /* waited and ready, or ready alone, since then while recording was off */
        uint64_t last_ns;                   /* when that was, whether the scheduler was asked or not */
        bool has_run, has_lost;             /* since then: it has been on a processor, records are missing */
        bool is_known;                      /* it has been settled at all */
        bool has_cpu;                       /* cpu_ns is that of time_ns */
    } settled;
    struct col_wait_pace pace;
};

struct col_wait_threads {
    struct col_waiting_thread **threads;
    size_t count, room;
    struct col_waiting_thread **places; /* by tid */
    size_t place_count;                 /* a power of two */
    uint64_t looks_ns;                  /* between looks, at present */
    uint64_t kept_count, torn_count;    /* looks that the records proved, or disproved */
};

/* NULL: it is not known, or there is no memory. A thread of a process that is not known brings it along. */
struct col_waiting_thread *col_wait_threads_find(const struct col_wait_threads *all, uint32_t tid);
struct col_waiting_thread *col_wait_threads_add(struct col_wait_threads *all, uint32_t pid, uint32_t tid,
                                                enum col_thread_state state, uint64_t time_ns);

/* Its process goes with the last one: the caller has freed its unwinder then. */
void col_wait_threads_remove(struct col_wait_threads *all, struct col_waiting_thread *thread);
void col_wait_threads_free(struct col_wait_threads *all);

/* What a record says. */
void col_wait_threads_turn(struct col_wait_threads *all, struct col_waiting_thread *thread, enum col_thread_state state,
                           uint64_t time_ns);

/* The thread was seen to wait at `stack`, which is the thread's from here on: from one moment to another, if it did not run between. */
void col_wait_threads_note(struct col_waiting_thread *thread, struct col_wait_stack *stack, uint64_t begin_ns,
                           uint64_t end_ns);

/* All records up to the end of the last look are in: a look at a thread that has not run since is proved. */
void col_wait_threads_prove(struct col_wait_threads *all, struct col_waiting_thread *thread);

/* Accounts the present wait up to a moment, if that is over, or was seen and is so long that each look would have seen it. */
void col_wait_threads_account(struct col_wait_threads *all, struct col_waiting_thread *thread, uint64_t time_ns,
                              bool is_over);

/* Of the time since `from_ns` so much was recorded. */
uint64_t col_wait_threads_recorded(const struct col_waiting_process *process, uint64_t from_ns, uint64_t to_ns);

#endif
