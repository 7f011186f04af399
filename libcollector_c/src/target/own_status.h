/* own_status.h -- what the kernel tells a thread of itself: who traces it, how many seccomp filters it is under, when its process began */
#ifndef COL_TARGET_OWN_STATUS_H
#define COL_TARGET_OWN_STATUS_H

#include <stdbool.h>
#include <stdint.h>

struct col_own_status {
    uint32_t tracer;       /* its pid, 0: none */
    uint32_t filter_count; /* seccomp filters; 1 for any number on kernels before 5.9 */
};

/* Of the calling thread, all 0 where /proc is not there. Some 20 to 80 us. Signal-safe. */
struct col_own_status col_own_status_read(void);

/* What tells this process from all others of its number, before it and in other PID namespaces; it stays over exec. */
struct col_own_birth {
    uint64_t start_ticks;   /* field 22 of /proc/self/stat, or COL_EVENT_UNKNOWN */
    uint64_t pid_namespace; /* inode, or COL_EVENT_UNKNOWN */
};

/* Signal-safe. */
struct col_own_birth col_own_status_birth(void);

/* By how much clocks of this process's time namespace are ahead of the machine's (time_namespaces(7)). */
struct col_own_clocks {
    int64_t monotonic_ns;
    int64_t boottime_ns; /* /proc tells by this one when a process began */
};

/* False, and `clocks` is left alone, where that is not known: after unshare(2), /proc tells of the namespace that children will be in. Signal-safe. */
bool col_own_status_clocks(struct col_own_clocks *clocks);

/*
 * False if nobody has shown to trace the calling thread: a tracer stops whom it attaches to, or takes over from a tracer, before it does anything else, and this one
 * has never yet been switched out but by preemption. Less than a microsecond. Signal-safe.
 */
bool col_own_status_may_be_traced(void);

/* True if the thread is under a seccomp filter. Less than a microsecond. Signal-safe. */
bool col_own_status_is_filtered(void);

#endif
