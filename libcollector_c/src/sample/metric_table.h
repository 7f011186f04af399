/* metric_table.h -- which metrics are to be measured, and the plugins they come from */
#ifndef COL_SAMPLE_METRIC_TABLE_H
#define COL_SAMPLE_METRIC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "experiment/event.h"

/* A library of getters: one <source> of a definition file. Strings live as long as the process. */
struct col_plugin {
    const char *id, *path;
    const char *start_name, *stop_name; /* "" if it has none */
    bool is_built_in;                   /* this library has its functions, too */
    bool is_wanted;                     /* a metric of it is: it is to be loaded */
    bool is_loaded;                     /* and initialised, here */
    void *library;                      /* of dlopen; several <source>s may name one library */
    bool is_started;
    bool is_starting_up; /* inside its initialize, whose answer decides */
    bool is_disabled;
    uint64_t since_ns;    /* when it was initialised or, later, started: its getters count from then on */
    uint32_t error_count; /* atomic */
    int (*start)(uintptr_t plugin_id);
    int (*stop)(uintptr_t plugin_id);
    int (*cleanup)(uintptr_t plugin_id, void *data);
};

/* One <metric>. */
struct col_metric {
    const char *id, *function, *units, *custom_data;
    const char *
        call_text; /* what is said of a call that does not come back; NULL until the first (col_metric_table_describe) */
    const char *const *attributes; /* for the log, `name=value` */
    size_t attribute_count;
    struct col_plugin *plugin;
    bool is_real, is_divided, is_per_node, is_backfilled;
    bool is_wanted; /* this process reads it */
    bool is_disabled;
    bool has_baseline;    /* its increment is known from last_ns on */
    uint64_t last_ns;     /* when it was last read */
    bool is_defined;      /* the log knows it */
    uint64_t interval_ns; /* of its value among `values`, which was read at last_ns */
    uint32_t error_count; /* atomic */
    union {
        int (*whole)(uintptr_t metric_id, struct timespec *time, uint64_t *value);
        int (*real)(uintptr_t metric_id, struct timespec *time, double *value);
        void *address; /* NULL: its plugin is not loaded */
    } getter;
};

struct col_metric_table {
    struct col_plugin *plugins;
    struct col_metric *metrics;
    size_t plugin_count, metric_count;
    struct col_event_value *values; /* of one sample time: what each metric gave, on the way to the log */
    struct col_event_value *before; /* what was last in the log */
    uint64_t interval_ns;
};

/* Whose metrics a process reads: its own, and the machine's if it is the one that does (docs/metric-plugins.md). */
enum { COL_METRICS_OF_PROCESS = 1, COL_METRICS_OF_NODE = 2 };

/*
 * Reads what `collector record` wrote (collector/capture/metric_table.py): lines of words with tabs between them, \t \n \\ inside words escaped. `scopes`,
 * or'ed, say which metrics are wanted here. From ordinary code, once. 0, or -errno: then the table is empty.
 */
int col_metric_table_read(const char *path, unsigned scopes);

/* In a fork child, which reads no metrics of the machine. */
void col_metric_table_leave_node(void);

/* From anywhere, signal handlers included. */

struct col_metric_table *col_metric_table(void);

/* Says what a call of the metric's getter is: its call_text. */
const char *col_metric_table_describe(struct col_metric *metric);

/* The handles that plugins know. NULL: there is none like that. */
uintptr_t col_metric_table_plugin_id(const struct col_plugin *plugin);
uintptr_t col_metric_table_metric_id(const struct col_metric *metric);
struct col_plugin *col_metric_table_plugin(uintptr_t id);
struct col_metric *col_metric_table_metric(uintptr_t id);

/* What a plugin says of itself: it, or the metric, is not used again. An `error` of 0 is none. */
void col_metric_table_fail_plugin(uintptr_t id, int error, const char *text);
void col_metric_table_fail_metric(uintptr_t id, int error, const char *text);

#endif
