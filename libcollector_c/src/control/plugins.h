/* plugins.h -- metric plugins in this process: loaded, begun, and brought to their end */
#ifndef COL_CONTROL_PLUGINS_H
#define COL_CONTROL_PLUGINS_H

#include <stdbool.h>

/* All of it from ordinary code, in this order: no plugin is ever loaded by a signal handler. Without a table of metrics it does nothing. */

/* Reads from `path` which metrics there are (sample/metric_table.h), loads and initialises the plugins of those in `scopes`. Once; whatever goes wrong is a message. */
void col_plugins_load(const char *path, unsigned scopes);

/* The same with the table, and for the metrics, that the environment of a recorded process asks for; before the clock starts. */
void col_plugins_load_own(void);

/* The log is open, the clock is running: calls start functions, and from here on getters. In a fork child the plugins go on with the memory they had. */
void col_plugins_begin(bool is_fork_child, bool is_recording);

/* In a fork child, once its descriptors were closed and before it begins, if it does. */
void col_plugins_forget(void);

/* The end of recording (col_metrics_close), and cleanup. By itself when a recorded program ends in order. */
void col_plugins_finish(void);

#endif
