/* metric_rules.c -- a plugin that complains, as a metric error, when its host breaks a rule of metric plugins */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "allinea_metric_plugin_api.h"

static pthread_t main_thread;
static struct timespec seen_first;
static atomic_int inside;

int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    main_thread = pthread_self();
    allinea_safe_printf("initialize\n");
    if (data != NULL || syscall(SYS_gettid) != getpid())
        allinea_set_plugin_error_message(plugin_id, 0, "not on the main thread, or with data");
    return 0;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    allinea_safe_printf("cleanup\n");
    return 12345; /* junk */
}

int begin(plugin_id_t plugin_id)
{
    if (!pthread_equal(main_thread, pthread_self()))
        allinea_set_plugin_error_message(plugin_id, 0, "start is not called on the main thread");
    allinea_safe_printf("start\n");
    return 0;
}

int end(plugin_id_t plugin_id)
{
    (void)plugin_id;
    allinea_safe_printf("stop\n");
    return 0;
}

/* Rule 1: the time lies in the frame of the caller, just above ours. */
__attribute__((noinline)) int time_on_stack(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    char local;
    uintptr_t here = (uintptr_t)&local, there = (uintptr_t)time;
    if (there <= here || there - here > 4096)
        allinea_set_metric_error_message(metric_id, 0, "the time is not on the caller's stack");
    *value = 1;
    return 0;
}

/* Rule 2: the first getter of a sample overwrites its time; the second must not see that. */
int time_first(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    (void)metric_id;
    seen_first = *time;
    *time = allinea_get_current_time();
    *value = 1;
    return 0;
}

int time_second(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    if (memcmp(time, &seen_first, sizeof seen_first) != 0)
        allinea_set_metric_error_message(metric_id, 0, "two getters of a sample have different times");
    *value = 1;
    return 0;
}

/* Rule 3: the value is 0 before each call. */
int zero_whole(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    (void)time;
    if (*value != 0)
        allinea_set_metric_error_message(metric_id, 0, "the value was not zeroed");
    *value = 0x5555555555555555;
    return 0;
}

int zero_real(metric_id_t metric_id, struct timespec *time, double *value)
{
    (void)time;
    if (*value != 0)
        allinea_set_metric_error_message(metric_id, 0, "the value was not zeroed");
    *value = 1e300;
    return 0;
}

/* Rule 7: never two at once; so slow that two would meet. */
int alone(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    (void)time;
    if (atomic_fetch_add(&inside, 1) != 0)
        allinea_set_metric_error_message(metric_id, 0, "two calls at once");
    for (volatile int i = 0; i < 100000; i++)
        continue;
    atomic_fetch_sub(&inside, 1);
    *value = 1;
    return 0;
}

/* Rule 8: values that are none, or not finite. */
int odd_real(metric_id_t metric_id, struct timespec *time, double *value)
{
    static int turn;
    (void)metric_id, (void)time;
    *value = turn % 4 == 0 ? __builtin_nan("") : turn % 4 == 1 ? __builtin_inf() : turn % 4 == 2 ? -__builtin_inf() : 2.5;
    turn++;
    return 0;
}

int odd_whole(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    static int turn;
    (void)metric_id, (void)time;
    *value = turn++ % 2 == 0 ? ~(uint64_t)0 : 7;
    return 0;
}

/* Rule 9: a million bytes each time, which are not the program's. */
int greedy(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    static char text[100000];
    (void)metric_id, (void)time;
    int fd = allinea_safe_open("/dev/zero", 0);
    for (int i = 0; i < 10; i++)
        *value += (uint64_t)allinea_safe_read(fd, text, sizeof text);
    allinea_safe_close(fd);
    return 0;
}

/* Memory in a handler. */
int memory(metric_id_t metric_id, struct timespec *time, uint64_t *value)
{
    static void *kept[64];
    static unsigned turn;
    (void)time;
    unsigned place = turn++ % 64;
    allinea_safe_free(kept[place]);
    size_t bytes = (turn * 7919u) % 100000;
    char *fresh = allinea_safe_calloc(1, bytes + 1);
    for (size_t i = 0; i < bytes; i += 512)
        if (fresh[i] != 0)
            allinea_set_metric_error_message(metric_id, 0, "calloc gave memory that is not zero");
    memset(fresh, 0xaa, bytes + 1);
    kept[place] = allinea_safe_realloc(fresh, bytes * 2 + 1);
    if (((unsigned char *)kept[place])[bytes] != 0xaa)
        allinea_set_metric_error_message(metric_id, 0, "realloc lost what was there");
    *value = bytes;
    return 0;
}
