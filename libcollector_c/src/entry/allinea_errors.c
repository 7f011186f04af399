/* allinea_errors.c -- what metric plugins call to say what went wrong */
#include "entry/interpose.h"

#include <stdarg.h>

#include "allinea_metric_plugin_errors.h"
#include "base/text_format.h"
#include "sample/metric_table.h"

#define TEXT_BYTES 480

COL_EXPORT void allinea_set_plugin_error_message(plugin_id_t plugin_id, int error_code, const char *error_message)
{
    col_metric_table_fail_plugin(plugin_id, error_code, error_message);
}

COL_EXPORT void allinea_set_metric_error_message(metric_id_t metric_id, int error_code, const char *error_message)
{
    col_metric_table_fail_metric(metric_id, error_code, error_message);
}

COL_EXPORT void allinea_set_plugin_error_messagef(plugin_id_t plugin_id, int error_code, const char *error_message, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, error_message);
    col_text_format_into(text, sizeof text, error_message != NULL ? error_message : "", arguments);
    va_end(arguments);
    col_metric_table_fail_plugin(plugin_id, error_code, text);
}

COL_EXPORT void allinea_set_metric_error_messagef(metric_id_t metric_id, int error_code, const char *error_message, ...)
{
    char text[TEXT_BYTES];
    va_list arguments;
    va_start(arguments, error_message);
    col_text_format_into(text, sizeof text, error_message != NULL ? error_message : "", arguments);
    va_end(arguments);
    col_metric_table_fail_metric(metric_id, error_code, text);
}
