/* sampler.h -- what happens at a tick */
#ifndef COL_SAMPLE_SAMPLER_H
#define COL_SAMPLE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "sample/weight.h"
#include "target/thread.h"

/* Begins sampling: `source` is the id the clock was given in the log. Before the first thread begins. */
void col_sampler_start(uint32_t source, uint64_t period_ns);

/* One sample of the calling thread. Only from the handler of a clock's signal. */
void col_sampler_tick(const ucontext_t *context, enum col_tick kind);

/* A thread begins: from here its CPU time counts. Writes THR_CREATE. In the thread itself, between enter and leave. */
void col_sampler_thread_begin(struct col_thread *thread, uintptr_t start_address);

/* What the thread has used up to here is not recorded: the clock has just been started. In the thread itself, between enter and leave. */
void col_sampler_thread_baseline(struct col_thread *thread);

/* A thread ends: what it has not written is written, with THR_EXIT. In the thread itself, between enter and leave. */
void col_sampler_thread_end(struct col_thread *thread);

/* An object is about to be unloaded, and has been: between the two no stack is walked but the caller's. Ordinary code. */
void col_sampler_unload_begin(void);
void col_sampler_unload_end(void);

/* All drops so far, of all threads and causes. */
uint64_t col_sampler_drop_count(void);

/* The log is to be closed: writes what is left of every thread. Blocks stay taken: no tick comes after this. */
void col_sampler_close(bool is_recording);

#endif
