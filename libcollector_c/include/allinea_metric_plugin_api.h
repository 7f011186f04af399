/* allinea_metric_plugin_api.h -- what a metric plugin includes: all that the recorder does for it */
#ifndef ALLINEA_METRIC_PLUGIN_API_H
#define ALLINEA_METRIC_PLUGIN_API_H

#if defined(__cplusplus) && __cplusplus >= 201103L
#include <cstdint>
#endif
#ifdef __cplusplus
#include <cstdio>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <time.h>

#include "allinea_metric_plugin_errors.h"
#include "allinea_metric_plugin_types.h"
#include "allinea_safe_malloc.h"
#include "allinea_safe_syscalls.h"

/*
 * A plugin is a shared library that defines the functions of allinea_metric_plugin_template.h and the getters that its definition file names. All
 * functions declared here are found when it is loaded into a recorded program; it links with nothing. docs/metric-plugins.md has the whole story.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* ======== FROM ANYWHERE, SIGNAL HANDLERS INCLUDED ======== */

/* Processors that are online, hardware threads counted each. -1: unknown. */
int allinea_get_logical_core_count(void);

/* Cores, whatever number of hardware threads they have. -1: unknown. */
int allinea_get_physical_core_count(void);

/* The customData of a metric's definition; "" if it has none. Valid as long as the process lives. */
const char *allinea_get_custom_data(metric_id_t metricId);

/* ======== FROM ORDINARY CODE, such as allinea_plugin_initialize ======== */

/*
 * Looks a variable up in the configuration file of a metric's plugin: lines `variable = value`, # begins a comment. The file is the one that the
 * environment variable ALLINEA_<NAME>_CONFIG names, NAME being the word before the last of the metric's id, in capitals (com.example.papi.flops:
 * ALLINEA_PAPI_CONFIG). At most `length` bytes are stored, the NUL included.
 * 0; -1: the file's name is too long; -2: there is no such file, or none is named; -3: the variable is not in it, or its value does not fit.
 */
int allinea_read_config_file(const char *variable, const char *metricId, char *value, int length);

#ifdef __cplusplus
}
#endif

#endif
