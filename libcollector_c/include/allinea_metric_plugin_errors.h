/* allinea_metric_plugin_errors.h -- how a metric plugin says what went wrong */
#ifndef ALLINEA_METRIC_PLUGIN_ERRORS_H
#define ALLINEA_METRIC_PLUGIN_ERRORS_H

#include "allinea_metric_plugin_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * CALLABLE FROM ANYWHERE, signal handlers included. The text is copied; each distinct text is kept once, with a count. A plugin's error ends the use of
 * the plugin, a metric's error that of the metric; the recorded program runs on. `error_code` is any number that helps, 0 for none.
 * The formatted ones know %d %i %u %x %X %o %c %s %p %f %e %g %% with flags, width, precision and the lengths hh h l ll z j t; from another one on
 * the text stays as it is.
 */
void allinea_set_plugin_error_message(plugin_id_t plugin_id, int error_code, const char *error_message);
void allinea_set_plugin_error_messagef(plugin_id_t plugin_id, int error_code, const char *error_message, ...);

void allinea_set_metric_error_message(metric_id_t metric_id, int error_code, const char *error_message);
void allinea_set_metric_error_messagef(metric_id_t metric_id, int error_code, const char *error_message, ...);

#ifdef __cplusplus
}
#endif

#endif
