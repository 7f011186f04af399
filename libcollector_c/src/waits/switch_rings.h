/* switch_rings.h -- what the kernel tells of a process and its descendants: each switch, fork, exec and exit, by the clock */
#ifndef COL_WAITS_SWITCH_RINGS_H
#define COL_WAITS_SWITCH_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * One perf event for each processor, inherited by all that the process makes: the kernel writes into rings that only this process has mapped. Nothing of it
 * is in the program, and no privilege is needed for one's own processes. Ordinary code, one thread at a time.
 */
enum col_switch_kind {
    COL_SWITCH_BLOCKED,   /* a thread gave its processor away, to wait */
    COL_SWITCH_PREEMPTED, /* it lost it, and is ready to go on */
    COL_SWITCH_RUNNING,   /* it got one */
    COL_SWITCH_FORK,      /* a thread began; `pid` is its process, which may be new */
    COL_SWITCH_EXIT,
    COL_SWITCH_EXEC,
    COL_SWITCH_CODE_MAPPED,
    COL_SWITCH_LOST /* the kernel had no room in a ring: lost_count records are missing */
};

struct col_switch_record {
    uint64_t time_ns; /* CLOCK_MONOTONIC */
    enum col_switch_kind kind;
    uint32_t pid, tid;
    uint64_t lost_count;
};

struct col_switch_ring {
    int fd;
    uint8_t *start; /* the kernel's page of numbers, then the data */
    uint64_t read;  /* up to here, as the kernel counts */
    uint64_t end;   /* it had written up to here when we looked */
    bool is_over;   /* nobody is left to be told of */
    bool has_next;
    struct col_switch_record next;
};

struct col_switch_rings {
    struct col_switch_ring *rings;
    size_t count;
    size_t data_bytes; /* of each ring, a power of two */
};

/* Opens them for a process that is to begin with its next exec. 0, or -errno of perf_event_open(2) or mmap(2). */
int col_switch_rings_open(struct col_switch_rings *rings, pid_t pid);
void col_switch_rings_close(struct col_switch_rings *rings);

/* Looks at what has been written up to now; next then gives it record by record, the earliest first, until it answers false. */
void col_switch_rings_look(struct col_switch_rings *rings);
bool col_switch_rings_next(struct col_switch_rings *rings, struct col_switch_record *record);

/* Waits until `until_ns`, until `other` can be read or was closed at its far end (true), or until a ring is half full. */
bool col_switch_rings_wait(struct col_switch_rings *rings, int other, uint64_t until_ns);

#endif
