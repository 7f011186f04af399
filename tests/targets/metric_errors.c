/* metric_errors.c -- a plugin that fails as it is told when it is compiled: INIT_RESULT and INIT_MESSAGE, START_RESULT, and getters that fail, crash or never return */
#include <stddef.h>

#include "allinea_metric_plugin_api.h"

#ifndef INIT_RESULT
#define INIT_RESULT 0
#endif
#ifndef START_RESULT
#define START_RESULT 0
#endif

static plugin_id_t own_id;

int allinea_plugin_initialise(plugin_id_t plugin_id, void *data) /* the other spelling */
{
    (void)data;
    own_id = plugin_id;
#ifdef INIT_MESSAGE
    allinea_set_plugin_error_messagef(plugin_id, 42, "no %s on machine %d", "counter", 7);
#endif
    return INIT_RESULT;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    return -1;
}

int begin(plugin_id_t plugin_id)
{
    if (START_RESULT != 0)
        allinea_set_plugin_error_message(plugin_id, 0, "it does not start");
    return START_RESULT;
}

int good(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    (void)metric_id, (void)time;
    *value = 5;
    return 0;
}

/* Says twice that it failed, and then that it did not: from the third call on. */
int told(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    static int turn;
    (void)time;
    *value = 9;
    if (++turn < 3)
        return 0;
    allinea_set_metric_error_message(metric_id, 0, "the counter is gone");
    allinea_set_metric_error_message(metric_id, 0, "the counter is gone");
    return 0;
}

/* Every second call fails without a word. */
int mute(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    static int turn;
    (void)metric_id, (void)time;
    *value = 9;
    return ++turn % 2 == 0 ? 1 : 0;
}

/* Its third call fails for the whole plugin. */
int fatal(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    static int turn;
    (void)metric_id, (void)time;
    *value = 9;
    if (++turn == 3)
        allinea_set_plugin_error_message(own_id, 0, "the device is gone");
    return 0;
}

int crash(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    static int turn;
    (void)metric_id, (void)time;
    if (++turn == 3)
        *(volatile int *)(uintptr_t)8 = 1;
    *value = 1;
    return 0;
}

int hang(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    static int turn;
    (void)metric_id, (void)time;
    *value = 1;
    if (++turn == 3) {
        allinea_safe_printf("hanging\n");
        for (;;)
            continue;
    }
    return 0;
}
