/* thread.h -- what we know of each thread of the watched process, and whose turn it is to touch it */
#ifndef COL_TARGET_THREAD_H
#define COL_TARGET_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "experiment/format.h"
#include "experiment/open_frame.h"
#include "base/safe_read.h"

#define COL_THREAD_DEPTH 4096 /* frames of the deepest stack we take */

/* A stack as the unwinder gives it, leaf first. No frames: there was none yet. */
struct col_thread_stack {
    size_t count;
    unsigned end; /* StackEnd */
    uintptr_t *pcs;
};

/* Where a walk puts what becomes one stack (sample/python_stack.h). */
struct col_thread_walk {
    uintptr_t pcs[COL_THREAD_DEPTH], sps[COL_THREAD_DEPTH], python[COL_THREAD_DEPTH];
};

enum { COL_USAGE_COUNTERS = 4, COL_GROUP_EVENTS = 6, COL_THREAD_COUNTERS = COL_USAGE_COUNTERS + COL_GROUP_EVENTS };

/* Of sample/thread_counters.c: the kernel's counts when they were last looked at, and what of them, and of the group, no sample has. */
struct col_counted {
    uint64_t known[COL_USAGE_COUNTERS], pending[COL_THREAD_COUNTERS];
};

/* Of sample/counter_group.c, as the kernel writes it behind the number of events: how long they were to count, and did, and what. */
struct col_group_reading {
    uint64_t enabled_ns, running_ns, values[COL_GROUP_EVENTS];
};
struct col_group {
    int leader; /* handle of the first; -1: none is open */
    int members[COL_GROUP_EVENTS];
    unsigned opening_count;
    struct col_group_reading known, entered;
};

enum {
    COL_OVERFLOW_EVENTS = 4,
    COL_THREAD_FRAMES = COL_OVERFLOW_EVENTS + 1
}; /* of sample/overflow.c and sample/thread_frames.c */

/* Of sample/exact_waits.c: what was known when the thread last came back to its processor. */
struct col_thread_waits {
    int event; /* handle of the event of its switches; -1: none */
    uint64_t time_ns, cpu_ns;
    uint64_t voluntary, involuntary; /* switches, as the kernel counts them */
    uint64_t rest_ns;                /* of waits, less than a microsecond */
    uint32_t period;                 /* of the event; 1: it comes with each switch */
    uint32_t burst;                  /* how many more are to be seen before the next gap; 0: no gap is due */
    int64_t credit_us;               /* signals that it may still have, in microseconds of such at the highest rate, */
    uint64_t credit_ns;              /* at this time */
    uint64_t burst_ns;               /* waited in this burst */
    double gap_ns, usual_ns;         /* waited in a gap, and in a burst, usually */
    double share;                    /* of what is left of gaps, for each ns of a wait */
    uint64_t left_ns;                /* waited in gaps, and given to no wait so far; */
    uint64_t left_count;             /* the number of these waits */
};

struct col_thread {
    uint32_t tid;      /* kernel thread id; 0: the block is free */
    int busy;          /* atomic: somebody is at work on this thread's data (enter/leave, enter_fork/leave_fork) */
    pid_t forking_pid; /* the process that it is making a child of; 0: none */
    bool is_announced; /* THR_CREATE was written */
    bool is_unloading; /* it is inside dlclose */
    bool has_frame;    /* an open frame was acquired */
    unsigned acquired_frames;                 /* the same for those of sample/thread_frames.c, as bits */
    uintptr_t alternate_start, alternate_end; /* of its alternate signal stack, if the program set one; atomic */
    int stop_count;                           /* how often the clock's event had been stopped when it was armed */
    int clock;                                /* the rung it was armed for */
    int event;                                /* handle of a perf event of this thread alone, or -1 */
    int faults;               /* handle of the event that counts its page faults; -1: none yet, -2: refused */
    int backup;               /* of that which ticks beside the timer while the clock's event is closed; the same */
    int timer;                /* POSIX timer of this thread, or -1 */
    uint64_t cpu_ns, time_ns; /* the thread's CPU clock and the time at its last sample */
    uint64_t lost_cpu_ns, lost_time_ns;                     /* the same at its last tick that could not be taken */
    uint64_t held_user_ns, held_system_ns, held_missing_ns; /* of ticks not walked, for the next one that is; */
    uint64_t rest_ns;        /* for so much CPU time none is, because the last ones took as long as ticks are apart */
    bool is_long;            /* the last tick took as long as ticks are apart */
    uint64_t cpu_us_rest_ns; /* user ns not yet written, less than a microsecond */
    uint64_t system_rest_ns; /* system ns not yet written, less than a microsecond */
    uint64_t waiting_ns;     /* CPU time of missing ticks, not yet attributed */
    uint64_t open_ns;        /* the same, when it is not known any more where it passed: left to readers */
    uint64_t system_ns;      /* system time attributed so far */
    uint64_t stime_ns;       /* the kernel's account at the last slow tick */
    uint64_t slow_cpu_ns;    /* CPU clock at the last slow tick */
    uint64_t switches, switches_cpu_ns; /* context switches, and the CPU clock, when they were last read */
    uint64_t switch_ns;        /* CPU time from one switch to the next at its latest slow tick, if they were often */
    bool is_without_event;     /* the clock's event was closed when last it ticked */
    unsigned timely_count;     /* ticks of the timer in a row, without the clock's event, that came in time */
    uint64_t unseen_system_ns; /* system time that neither slow nor fault ticks saw */
    uint64_t fault_cpu_ns;     /* CPU clock at the last fault tick */
    uint64_t fault_median_ns;  /* CPU time between fault ticks, usually */
    uint64_t kernel_history;   /* the last slow ticks, a bit each, the latest lowest: was the thread in the kernel? */
    unsigned history_count;    /* so many there were, 32 at most */
    bool is_slow_timer_fast;   /* it fires at every kernel tick */
    unsigned quiet_count;      /* slow ticks in a row that found no system time */
    uint64_t tick_count;       /* of the perf event */
    uint64_t slow_tick_count;  /* tick_count at the last slow tick */
    uint64_t silent_ns;        /* of its own code without a tick: has the event died? */
    struct col_thread_stack last; /* the stack of its last tick */
    uintptr_t start_address;      /* function it was started with, 0 if unknown */
    uint64_t drops[COL_DROP_CAUSES], drops_written[COL_DROP_CAUSES];
    int64_t off_cpu_ns;        /* wall time less CPU time at its last tick (sample/tracer_watch.c) */
    uint32_t suspension_count; /* of the clocks, when it last ticked */
    struct col_counted counted;
    struct col_group group;
    struct col_thread_waits waits;
    struct col_stack_bounds bounds;
    struct col_deep_stack deep;
    struct col_open_frame frame;
    char *spare_stack;                /* of the block, whoever has it; NULL: none yet */
    struct col_thread_walk *walk;     /* the same */
    struct col_thread_frames *frames; /* the same, of sample/thread_frames.c */
    uintptr_t pcs[COL_THREAD_DEPTH];  /* of last */
    uintptr_t sps[COL_THREAD_DEPTH];  /* where a walk puts the stack pointers of its frames */
};

/*
 * The calling thread's block; claimed on first use, also for threads nobody told us of. NULL: no memory.
 * A block just claimed is not busy: use enter where a tick must not come between. Signal-safe.
 */
struct col_thread *col_thread_current(void);

/*
 * enter: makes the calling thread ours until leave; NULL when it is already (a tick came while the library was at work, counted as BUSY),
 * when it has ended for us, or when there is no memory. Signal-safe.
 */
struct col_thread *col_thread_enter(void);
void col_thread_leave(struct col_thread *thread);

/*
 * The same around a fork. Ticks of this process may come between, for nearly all that passes there is the kernel's time for this call; those of the child must not,
 * as long as it has the parent's memory.
 */
struct col_thread *col_thread_enter_fork(void);
void col_thread_leave_fork(struct col_thread *thread);

/* The upper end of a stack that the calling thread may use where its own has no room; 0: no memory. Signal-safe. */
uintptr_t col_thread_spare_stack(void);

/* The thread ends: its block is given back, and later ticks on it are ignored. Between enter and leave. */
void col_thread_retire(struct col_thread *thread);

/* A thread that was retired lives on: its new block, entered. NULL as from enter. */
struct col_thread *col_thread_return(void);

/* Every block in turn, while its thread may be at work on it: for what can be done by a number alone. `next` is 0 at first; NULL behind the last. Signal-safe. */
struct col_thread *col_thread_each(uint32_t *next);

/* For the one who closes the session, and must not block: every block in turn, taken from its thread for good. */
struct col_thread *col_thread_each_closing(uint32_t *next);

/* In a fork child: only the calling thread is left, and it starts afresh. */
void col_thread_forget_others(void);

/*
 * False where the thread pointer is not one that the C library made: the program runs this thread on thread-local storage of its own, and what we would take
 * for ours there is the program's. To be asked before anything thread-local is touched. Signal-safe. learn: what storage of the C library looks like, from
 * the main thread's, once, before all else.
 */
void col_thread_learn_storage(void);
bool col_thread_has_own_storage(void);

/*
 * From here on the calling thread's handlers (or those of all threads) make no system call, not even to find out whose storage they are on: seccomp may kill for it.
 * unsilence takes back the calling thread's, and that of all. Signal-safe.
 */
void col_thread_silence(bool is_for_all);
void col_thread_unsilence(bool is_for_all);
bool col_thread_is_silenced(void);

/*
 * A tick that could not be taken, for that reason or because the stack is too small; `is_of_clock`: that would have stood for the thread's CPU time so far. Signal-safe,
 * on any storage.
 */
void col_thread_lose_tick(bool is_of_clock);
uint64_t col_thread_unsafe_count(void);

/* Ticks that found no block at all. */
uint64_t col_thread_lost_count(void);

#endif
