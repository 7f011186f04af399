/* plugin_call.h -- whose turn it is to call a plugin: one thread's, and never inside another call */
#ifndef COL_SAMPLE_PLUGIN_CALL_H
#define COL_SAMPLE_PLUGIN_CALL_H

#include <stdbool.h>

#include "sample/metric_table.h"

/* From anywhere, signal handlers included. */

/* take: false if somebody has the turn, be it this very thread. await: gives him some time; false: he does not come back. */
bool col_plugin_call_take_turn(void);
bool col_plugin_call_await_turn(void);
void col_plugin_call_give_turn(void);

/* In a fork child, and to go on after a thread that did not come back. */
void col_plugin_call_forget(void);

/* Around each call, with the turn. `text` says what is called; it must outlive the call. */
void col_plugin_call_begin(const char *text);
void col_plugin_call_end(void);

/*
 * As begin, for all but getters: what is called may run programs, which are not the program's. is_within: the calling thread is inside such a call, or was made by one,
 * or its process was.
 */
void col_plugin_call_begin_ordinary(const char *text);
bool col_plugin_call_is_within(void);

/* A thread begins, made by one that was within a call. */
void col_plugin_call_inherit(bool is_plugins);

/* What is being called now; NULL: nothing. */
const char *col_plugin_call_current(void);

/* Calls an optional function of a plugin, such as start: true unless it says, as plugins do, that it failed. */
bool col_plugin_call_function(struct col_plugin *plugin, int (*function)(uintptr_t plugin_id), const char *name);

#endif
