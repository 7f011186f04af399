/* clock_event.h -- perf events that signal threads as they use CPU time */
#ifndef COL_SAMPLE_CLOCK_EVENT_H
#define COL_SAMPLE_CLOCK_EVENT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#define COL_CLOCK_EVENT_SIGNAL SIGTRAP
#define COL_CLOCK_SIGNAL                                                                                               \
    SIGVTALRM /* debuggers let it pass unseen, and no C library uses it; the program may, see entry/interpose_signal.c */

#define COL_CLOCK_EVENT_MAGIC 0x636f6c6c6563746fULL /* in signals of ours: "collecto" */
#define COL_CLOCK_FAULT_MAGIC (COL_CLOCK_EVENT_MAGIC + 1)
#define COL_CLOCK_SWITCH_MAGIC (COL_CLOCK_EVENT_MAGIC - 1)
#define COL_CLOCK_BACKUP_MAGIC (COL_CLOCK_EVENT_MAGIC - 2)
#define COL_CLOCK_OVERFLOW_MAGIC (COL_CLOCK_EVENT_MAGIC + 2) /* and more, by the number of the event */

/* A perf event that a user asked for; `period` is 0 where it is only to be counted. */
#define COL_CLOCK_EVENT_NAME_BYTES 64
struct col_clock_event_asked {
    uint32_t type;
    uint64_t config, period;
    char name[COL_CLOCK_EVENT_NAME_BYTES];
};

/* The first event of `text`, written type.config.period.name and joined to the next one by a plus sign; where that begins, NULL at a comma or the end. Ordinary code. */
const char *col_clock_event_parse(const char *text, struct col_clock_event_asked *event);

/* All of this is signal-safe. Events tick from the moment they are opened; the opens give a handle of target/descriptors.h, or -errno. */

/* In a process that begins: there are no events yet. */
void col_clock_event_start(uint64_t period_ns);

/* Signals the calling thread, and all that it makes from now on; COL_CLOCK_EVENT_SIGNAL. `thread`: 0 for the event of the process, else the calling one, whose event has died. */
long col_clock_event_open_inherited(uint32_t thread);

/* Signals the calling thread, `tid`; COL_CLOCK_SIGNAL. */
long col_clock_event_open_thread(uint32_t tid);

/* Whether such a signal, whose siginfo names this descriptor, may come from one of these events: the program's own files have lower numbers. */
bool col_clock_event_has_signalled_as(int fd);

/* Signals the calling thread, `tid`, whenever it has been away from its processor; COL_CLOCK_EVENT_SIGNAL with COL_CLOCK_SWITCH_MAGIC. It must be switched off before the
   thread becomes another program: a signal that is due by then would kill that. */
long col_clock_event_open_switches(uint32_t tid);

/* From its next signal on, the event comes once in so many times. */
void col_clock_event_set_period(int event, uint64_t period);

/* Signals the calling thread, `tid`, after so many page faults; COL_CLOCK_EVENT_SIGNAL with COL_CLOCK_FAULT_MAGIC. */
long col_clock_event_open_faults(uint32_t tid);

/* Signals the calling thread, `tid`, once in COL_CLOCK_BACKUP_NS of its CPU time, if that finds it in its own code; COL_CLOCK_EVENT_SIGNAL with COL_CLOCK_BACKUP_MAGIC. */
#define COL_CLOCK_BACKUP_NS 8000000u
long col_clock_event_open_backup(uint32_t tid);
void col_clock_event_close_backup(int event, uint32_t tid);

/* Signals the thread that counted, of all that the calling one makes from now on, whenever as many events as its period have happened; COL_CLOCK_EVENT_SIGNAL with `data`. */
long col_clock_event_open_overflow(uint32_t thread, unsigned use, const struct col_clock_event_asked *event,
                                   uint64_t data);

/* Counts an event of the calling thread alone, and signals nobody. A descriptor of the caller's, or -errno: the first of a group (`leader` -1), which is read with all
   that are opened with its descriptor as `leader`. */
long col_clock_event_open_counter(const struct col_clock_event_asked *event, int leader);

/* Has the launcher switch off and close what it holds for this process, and waits for it, `patience_ms` at most; false if it may still tick. */
bool col_clock_event_release(int patience_ms);

/* Those that the launcher holds are switched off as long as the process is traced; the same for how long to wait. Those of this process: switched by handle. */
void col_clock_event_suspend(int patience_ms);
void col_clock_event_switch(int event, bool is_on);

/* Has the launcher close what it holds of the clock for this process. */
void col_clock_event_stop_clock(void);

#endif
