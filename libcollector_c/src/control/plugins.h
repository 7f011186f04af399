/* plugins.h -- metric plugins in this process: loaded, begun, and brought to their end */
#ifndef COL_CONTROL_PLUGINS_H
#define COL_CONTROL_PLUGINS_H

#include <stdbool.h>

/* From ordinary code, in this order. Without COLLECTOR_METRICS in the environment all of it does nothing. */

/* Reads which metrics there are, loads and initialises their plugins. Once, before the clock starts; whatever goes wrong is a message. */
void col_plugins_load(void);

/* The log is open, the clock is running: calls start functions, and from here on getters. In a fork child the plugins go on with the memory they had. */
void col_plugins_begin(bool is_fork_child, bool is_recording);

/* In a fork child, once its descriptors were closed and before it begins, if it does. */
void col_plugins_forget(void);

/* col_metrics_close (sample/metrics.h) is the end of recording. cleanup is called by itself when the program ends in order. */

#endif
