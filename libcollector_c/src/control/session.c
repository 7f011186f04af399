/* session.c -- what we are doing now: the only order of start and stop */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/real.h"
#include "control/alternate_stack.h"
#include "control/child_environment.h"
#include "control/child_program.h"
#include "control/introduction.h"
#include "control/options.h"
#include "control/plugins.h"
#include "control/program_actions.h"
#include "control/rank.h"
#include "control/silence.h"
#include "control/stranger.h"
#include "control/surrogate.h"
#include "experiment/event.h"
#include "experiment/log_writer.h"
#include "experiment/messages.h"
#include "sample/clock_source.h"
#include "sample/exact_waits.h"
#include "sample/metrics.h"
#include "sample/process_reading.h"
#include "sample/recording.h"
#include "sample/overflow.h"
#include "sample/sampler.h"
#include "sample/counter_group.h"
#include "sample/thread_counters.h"
#include "sample/tracer_watch.h"
#include "target/api_arguments.h"
#include "target/code_finder.h"
#include "target/descriptors.h"
#include "target/dynamic_code.h"
#include "target/java_method.h"
#include "target/jit_debug.h"
#include "target/jit_files.h"
#include "target/launcher.h"
#include "target/modules.h"
#include "target/parallel_region.h"
#include "target/python_code.h"

#define CPU_SOURCE 1u /* the id of the clock in every log */

static struct {
    enum col_recording left_in; /* before an exec: one that comes back goes on so */
    int is_adopting;            /* somebody begins the session of a process that a bare system call made */
    int is_sampling_point;      /* somebody is writing a sample point */
    bool is_terminated;
    pid_t pid;
    struct col_options options;
    struct col_thread *forking;
} self;

bool col_session_is_open(void)
{
    return col_recording_is_open() && !col_silence_is_on();
}

bool col_session_is_terminated(void)
{
    return __atomic_load_n(&self.is_terminated, __ATOMIC_RELAXED);
}

pid_t col_session_pid(void)
{
    return self.pid;
}

/* Its maker's log is not mapped in such a process, and the page that says how long that is was wiped. */
bool col_session_is_stranger(void)
{
    return col_session_is_open() && !col_log_writer_is_open();
}

static struct col_event_head head_now(uint32_t thread)
{
    return (struct col_event_head){col_clock_now(), thread};
}

static uint32_t current_thread(void)
{
    return col_os_thread_id();
}

/* ---- pause, resume, sample ---- */

void col_session_pause(unsigned cause)
{
    if (!col_session_is_open() || !col_recording_change(COL_RECORDING_ON, COL_RECORDING_PAUSED))
        return;
    col_metrics_break();
    col_event_pause(head_now(current_thread()), &(struct col_event_pause){.cause = cause});
}

void col_session_resume(unsigned cause)
{
    if (col_session_is_open() && col_recording_change(COL_RECORDING_PAUSED, COL_RECORDING_ON))
        col_event_resume(head_now(current_thread()), &(struct col_event_resume){.cause = cause});
}

bool col_session_toggle(unsigned cause)
{
    if (!col_session_is_open())
        return false;
    if (col_recording_now() == COL_RECORDING_PAUSED)
        col_session_resume(cause);
    else
        col_session_pause(cause);
    return true;
}

static void take_sample(const char *label, unsigned cause, void (*read)(struct col_event_sample *))
{
    if (!col_session_is_open() || __atomic_exchange_n(&self.is_sampling_point, 1, __ATOMIC_ACQUIRE) != 0)
        return;
    struct col_event_sample sample = {.label = label, .cause = cause, .pid = (uint32_t)self.pid};
    read(&sample);
    col_event_sample(head_now(current_thread()), &sample);
    __atomic_store_n(&self.is_sampling_point, 0, __ATOMIC_RELEASE);
}

void col_session_sample(const char *label, unsigned cause)
{
    take_sample(label, cause, col_process_reading_take);
}

void col_session_note_unrecorded(pid_t pid, const char *path, const char *reason)
{
    if (!col_session_is_open())
        return;
    col_event_sysexit(head_now(0), &(struct col_event_sysexit){.pid = (uint32_t)pid, .path = path, .reason = reason});
    col_messages_say(COL_MESSAGE_NOTE, path, "the recorder was not preloaded into it");
}

/* ---- open ---- */

/* The main thread's stack begins where the dynamic linker says. */
extern void *__libc_stack_end __attribute__((weak));

/* What the process used up to here belongs to nothing that is recorded. */
static void start_clock(struct col_thread *thread)
{
    col_clock_source_start(self.options.clock, CPU_SOURCE, self.options.period_ns, thread);
    uint64_t user_ns, system_ns;
    col_clock_process_times(&user_ns, &system_ns);
    col_counter_group_allow(); /* the event of a whole process takes the place of all before */
    col_sampler_thread_baseline(thread);
    col_tracer_watch_start();
    col_event_pmcattach(head_now(0), &(struct col_event_pmcattach){.source = CPU_SOURCE,
                                                                   .pid = (uint32_t)self.pid,
                                                                   .value = (user_ns + system_ns) / 1000});
}

static void begin_within_limits(enum col_recording state, pid_t parent_pid)
{
    unsigned image;
    self.pid = col_os_process_id();
    int error = col_log_writer_open(self.options.experiment, self.pid, &image);
    if (error != 0) {
        col_launcher_note_no_log(error);
        return;
    }
    if (!col_silence_has_filters())
        col_log_writer_give_owner();
    struct col_thread *thread = col_thread_enter();
    if (thread == NULL)
        return;
    if (&__libc_stack_end != NULL && parent_pid == 0)
        thread->bounds = (struct col_stack_bounds){(uintptr_t)__libc_stack_end, (uintptr_t)__libc_stack_end};
    col_modules_prepare();
    col_introduction_write(&self.options, self.pid, image);
    if (parent_pid != 0)
        col_event_procfork(head_now(0), &(struct col_event_procfork){.parent_pid = (uint32_t)parent_pid,
                                                                     .child_pid = (uint32_t)self.pid});
    else
        col_event_procexec(head_now(0), &(struct col_event_procexec){.pid = (uint32_t)self.pid,
                                                                     .entry = getauxval(AT_ENTRY),
                                                                     .path = program_invocation_name});
    col_recording_set(state);
    col_plugins_load_own();
    if (parent_pid == 0) /* what a fork child inherits is right, and the list might be locked for ever */
        col_code_finder_refresh();
    col_thread_counters_start(self.options.counters, self.options.counted);
    col_exact_waits_start();
    col_sampler_start(CPU_SOURCE, self.options.period_ns);
    col_jit_files_begin();
    col_modules_begin(parent_pid != 0);
    col_sampler_thread_begin(thread, 0);
    if (state == COL_RECORDING_PAUSED)
        col_event_pause(head_now(thread->tid), &(struct col_event_pause){.cause = COL_PAUSE_OPTION});
    start_clock(thread);
    col_overflow_start(self.options.events, (uint32_t)self.pid, col_clock_source_kind() == COL_CLOCK_SIGTRAP);
    if (self.options.has_exact_waits && col_clock_source_kind() != COL_CLOCK_OFF)
        col_exact_waits_allow(thread, (uint32_t)self.pid);
    col_thread_leave(thread);
    col_plugins_begin(parent_pid != 0, col_recording_is_on_at(col_clock_now()));
    take_sample("", COL_SAMPLE_START,
                parent_pid != 0 ? col_process_reading_take_newborn : col_process_reading_take_new_image);
}

/*
 * From nothing to recording, in a process that has just begun: a new image, or a fork child. Its only thread is here, so that nobody sees that it may have
 * more descriptors for a moment: one that begins with all it may have could make no log else.
 */
static void begin(enum col_recording state, pid_t parent_pid)
{
    uint64_t limit = col_os_raise_descriptor_limit();
    begin_within_limits(state, parent_pid);
    col_os_restore_descriptor_limit(limit);
}

const struct col_options *col_session_prepare(void)
{
    if (col_arch_is_in_valgrind())
        return NULL; /* it reports our memory and system calls as the program's, and knows no signal of a perf event */
    col_rank_read();
    col_options_read(&self.options);
    if (self.options.experiment == NULL || !col_silence_is_known())
        return NULL;
    col_child_environment_remember(self.options.is_followed);
    self.options.experiment = col_child_environment_experiment();
    col_child_program_learn();
    if (!self.options.is_followed || self.options.experiment == NULL)
        return NULL;
    col_real_resolve();
    col_launcher_remember(getenv(COL_LAUNCHER_VARIABLE), self.options.experiment);
    col_child_environment_add(col_silence_known());
    return &self.options;
}

void col_session_open(int argc, char **argv)
{
    col_introduction_remember(argc, argv);
    col_recording_limit(self.options.start_ns, self.options.end_ns);
    begin(self.options.is_paused ? COL_RECORDING_PAUSED : COL_RECORDING_ON, 0);
}

/* ---- close ---- */

static void write_totals(unsigned reason)
{
    uint64_t user_ns, system_ns, frame_count, byte_count;
    col_clock_process_times(&user_ns, &system_ns);
    col_event_pmcdetach(head_now(0), &(struct col_event_pmcdetach){.source = CPU_SOURCE, .pid = (uint32_t)self.pid});
    struct col_event_procexit end = {.pid = (uint32_t)self.pid,
                                     .source = CPU_SOURCE,
                                     .value = (user_ns + system_ns) / 1000,
                                     .user_ns = user_ns,
                                     .system_ns = system_ns};
    if (reason == COL_CLOSE_EXIT)
        col_event_procexit(head_now(0), &end);
    col_log_writer_counts(&frame_count, &byte_count);
    struct col_event_closelog totals = {.reason = reason,
                                        .sample_count = col_open_frame_sample_count(),
                                        .frame_count = frame_count,
                                        .drop_count = col_sampler_drop_count() + col_api_arguments_drop_count(),
                                        .user_ns = user_ns,
                                        .system_ns = system_ns};
    col_event_closelog(head_now(0), &totals);
}

static void close_log(unsigned reason, const char *next_path)
{
    enum col_recording state = col_recording_now();
    if (col_session_is_stranger()) {
        pid_t maker = self.pid;
        self.pid = col_os_process_id();
        col_stranger_close(&self.options, maker, self.pid, reason, next_path);
        return;
    }
    if (!col_session_is_open() || col_os_process_id() != self.pid)
        return;
    col_log_writer_begin_end();
    col_session_sample("", COL_SAMPLE_END);
    bool is_recording = col_recording_is_on_at(col_clock_now());
    col_metrics_close(is_recording);
    if (!col_recording_change(state, COL_RECORDING_CLOSED))
        return;
    __atomic_store_n(&self.is_terminated, reason == COL_CLOSE_TERMINATED, __ATOMIC_RELAXED);
    if (reason == COL_CLOSE_EXIT || reason == COL_CLOSE_EXEC)
        col_clock_source_end();
    else
        col_clock_source_stop();
    col_sampler_close(is_recording);
    if (next_path != NULL)
        col_event_procexec(head_now(0), &(struct col_event_procexec){.pid = (uint32_t)self.pid, .path = next_path});
    col_jit_debug_look(col_clock_now(), true);
    col_jit_files_keep();
    col_api_arguments_close();
    col_messages_write_counts();
    write_totals(reason);
    col_log_writer_close();
}

void col_session_close(unsigned reason)
{
    close_log(reason, NULL);
}

/* ---- threads ---- */

void col_session_thread_begin(uintptr_t start_address)
{
    struct col_thread *thread = col_session_is_open() ? col_thread_enter() : NULL;
    if (thread == NULL)
        return;
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    thread->bounds = (struct col_stack_bounds){here, here};
    col_sampler_thread_begin(thread, start_address);
    col_clock_source_thread_begin(thread);
    col_thread_leave(thread);
}

void col_session_thread_end(void)
{
    struct col_thread *thread = col_log_writer_is_open() && col_session_is_open() ? col_thread_enter() : NULL;
    if (thread == NULL)
        return;
    col_clock_source_thread_end(thread);
    col_sampler_thread_end(thread);
    col_thread_retire(thread);
}

void col_session_thread_return(void)
{
    struct col_thread *thread = col_session_is_open() ? col_thread_return() : NULL;
    if (thread == NULL)
        return;
    col_sampler_thread_begin(thread, 0);
    col_clock_source_thread_begin(thread);
    col_thread_leave(thread);
}

/* ---- fork and exec ---- */

void col_session_fork_prepare(void)
{
    if (col_silence_is_on())
        return;
    col_session_adopt();
    col_metrics_fork_prepare();
    self.forking = col_session_is_open() ? col_thread_enter_fork() : NULL;
}

void col_session_fork_parent(void)
{
    if (col_silence_is_on())
        return;
    if (self.forking != NULL)
        col_thread_leave_fork(self.forking);
    self.forking = NULL;
    col_metrics_fork_parent();
}

void col_session_fork_child(void)
{
    enum col_recording state = col_recording_now();
    pid_t parent_pid = self.pid;
    if (col_silence_is_on())
        return;
    bool was_open = col_session_is_open();
    self.forking = NULL;
    col_surrogate_begin_child();
    col_program_actions_adopt();
    col_recording_set(COL_RECORDING_IDLE);
    self.is_sampling_point = 0;
    col_clock_source_forget();
    col_log_writer_forget();
    col_thread_forget_others();
    col_parallel_region_forget();
    col_modules_forget();
    col_code_finder_after_fork();
    col_dynamic_code_forget();
    col_jit_debug_forget();
    col_python_code_forget();
    col_java_method_forget();
    col_plugins_forget();
    col_silence_after_fork();
    if (parent_pid != 0)
        self.pid = col_os_process_id();
    if (was_open && col_options_follow(NULL)) {
        col_alternate_stack_adopt();
        begin(state, parent_pid);
    }
}

void col_session_adopt(void)
{
    if (col_session_is_stranger() && __atomic_exchange_n(&self.is_adopting, 1, __ATOMIC_ACQUIRE) == 0) {
        col_session_fork_child();
        __atomic_store_n(&self.is_adopting, 0, __ATOMIC_RELEASE);
    }
}

void col_session_exec_leave(const char *path)
{
    self.left_in = col_recording_now();
    close_log(COL_CLOSE_EXEC, path);
}

void col_session_exec_revive(void)
{
    if (col_recording_now() != COL_RECORDING_CLOSED || col_os_process_id() != self.pid)
        return;
    col_clock_source_forget();
    col_thread_forget_others();
    col_modules_forget();
    col_python_code_forget();
    col_java_method_forget();
    col_messages_forget();
    begin(self.left_in, 0);
}
