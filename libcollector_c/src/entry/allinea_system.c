/* allinea_system.c -- what metric plugins ask about the machine and their own definitions */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "allinea_metric_plugin_api.h"
#include "base/own_io.h"
#include "sample/metric_table.h"
#include "target/cores.h"

enum { CONFIG_OK = 0, CONFIG_NAME_TOO_LONG = -1, CONFIG_NO_FILE = -2, CONFIG_NO_VARIABLE = -3 };

COL_EXPORT int allinea_get_logical_core_count(void)
{
    return col_cores_logical();
}

COL_EXPORT int allinea_get_physical_core_count(void)
{
    return col_cores_physical();
}

COL_EXPORT const char *allinea_get_custom_data(metric_id_t metricId)
{
    const struct col_metric *metric = col_metric_table_metric(metricId);
    return metric != NULL ? metric->custom_data : "";
}

/* com.example.papi.flops gives ALLINEA_PAPI_CONFIG. False: the id has no word before its last, or a very long one. */
static bool name_of_variable(const char *metric_id, char *name, size_t size)
{
    const char *last = strrchr(metric_id, '.');
    const char *word = last != NULL ? memrchr(metric_id, '.', (size_t)(last - metric_id)) : NULL;
    word = word != NULL ? word + 1 : metric_id;
    size_t length = last != NULL ? (size_t)(last - word) : 0;
    if (length == 0 || length + sizeof "ALLINEA__CONFIG" > size)
        return false;
    char *to = stpcpy(name, "ALLINEA_");
    for (size_t i = 0; i < length; i++)
        *to++ = isalnum((unsigned char)word[i]) ? (char)toupper((unsigned char)word[i]) : '_';
    strcpy(to, "_CONFIG");
    return true;
}

static char *without_blanks(char *text)
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

/* The value of a line `variable = value`, in its place; NULL if it is another line. */
static char *value_in(char *line, const char *variable)
{
    line[strcspn(line, "#")] = '\0';
    char *equals = strchr(line, '=');
    if (equals == NULL)
        return NULL;
    *equals = '\0';
    return strcmp(without_blanks(line), variable) == 0 ? without_blanks(equals + 1) : NULL;
}

static int find_variable(int fd, const char *variable, char *value, int length)
{
    char line[1024];
    while (allinea_safe_read_line(fd, line, sizeof line) > 0) {
        const char *found = value_in(line, variable);
        if (found == NULL)
            continue;
        if (found[0] == '\0' || length <= 0 || strlen(found) >= (size_t)length)
            return CONFIG_NO_VARIABLE;
        strcpy(value, found);
        return CONFIG_OK;
    }
    return CONFIG_NO_VARIABLE;
}

COL_EXPORT int allinea_read_config_file(const char *variable, const char *metricId, char *value, int length)
{
    char name[128];
    if (variable == NULL || metricId == NULL || value == NULL || !name_of_variable(metricId, name, sizeof name))
        return CONFIG_NO_FILE;
    const char *path = getenv(name);
    if (path == NULL)
        return CONFIG_NO_FILE;
    if (strlen(path) >= PATH_MAX)
        return CONFIG_NAME_TOO_LONG;
    int fd = allinea_safe_open(path, O_RDONLY);
    if (fd < 0)
        return CONFIG_NO_FILE;
    int result = find_variable(fd, variable, value, length);
    allinea_safe_close(fd);
    return result;
}

/* What the kernel's account of this process holds that is not the program's own doing. Not part of the interface: for the built-in I/O metrics. */
COL_EXPORT void collector_own_io(uint64_t *read_bytes, uint64_t *written_bytes);

COL_EXPORT void collector_own_io(uint64_t *read_bytes, uint64_t *written_bytes)
{
    *read_bytes = col_own_io_read_bytes();
    *written_bytes = col_own_io_written_bytes();
}
