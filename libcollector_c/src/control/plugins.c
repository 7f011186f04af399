/* plugins.c -- metric plugins in this process */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/plugins.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own_io.h"
#include "base/real.h"
#include "base/signal_heap.h"
#include "base/text_format.h"
#include "control/child_environment.h"
#include "control/options.h"
#include "control/silence.h"
#include "experiment/call_note.h"
#include "experiment/messages.h"
#include "sample/metrics.h"
#include "sample/plugin_call.h"
#include "sample/recording.h"

extern void __tsan_init(void) __attribute__((weak)); /* dlsym(3) leaves a text in malloc's memory where there is none */

static struct {
    int state; /* what has been done in this process, or in the one it was forked from */
    pid_t pid;
    char reader[sizeof COL_OPTIONS_NODE_READER + 16]; /* a variable of the environment, "NAME=value" */
} self;

enum { NOT_LOADED, LOADING, LOADED };

/* ---- one plugin ---- */

static void complain(const char *subject, const char *format, const char *first, const char *second)
{
    char sentence[500];
    col_text_print_into(sentence, sizeof sentence, format, first, second);
    col_messages_say(COL_MESSAGE_WARNING, subject, sentence);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/*
 * The built-in metrics are in this library as well: the dynamic linker takes memory of the program's malloc for each library, and time. Declared as what
 * they are not: only their addresses are asked for.
 */
#define BUILT_IN(X)                                                                                                    \
    X(process_cpu_user)                                                                                                \
    X(process_cpu_system)                                                                                              \
    X(process_cpu_switches)                                                                                            \
    X(process_io_read)                                                                                                 \
    X(process_io_written)                                                                                              \
    X(process_memory_resident) X(node_load) X(node_memory) X(allinea_plugin_initialize) X(allinea_plugin_cleanup)
#define X(name) extern int name(void);
BUILT_IN(X)
#undef X

static void *function_of(void *library, const struct col_plugin *plugin, const char *name)
{
    if (!plugin->is_built_in)
        return dlsym(library, name);
#define X(known)                                                                                                       \
    if (strcmp(name, #known) == 0)                                                                                     \
        return (void *)(uintptr_t)known;
    BUILT_IN(X)
#undef X
    return NULL;
}

static void *optional_function(void *library, const struct col_plugin *plugin, const char *name)
{
    void *function = name[0] != '\0' ? function_of(library, plugin, name) : NULL;
    if (function == NULL && name[0] != '\0')
        complain(plugin->id, "%s has no function %s", file_name(plugin->path), name);
    return function;
}

static void find_functions(void *library, struct col_plugin *plugin)
{
    *(void **)&plugin->start = optional_function(library, plugin, plugin->start_name);
    *(void **)&plugin->stop = optional_function(library, plugin, plugin->stop_name);
    *(void **)&plugin->cleanup = function_of(library, plugin, "allinea_plugin_cleanup");
    const struct col_metric_table *table = col_metric_table();
    for (size_t i = 0; i < table->metric_count; i++) {
        struct col_metric *metric = &table->metrics[i];
        if (metric->plugin != plugin || !metric->is_wanted)
            continue;
        metric->getter.address = function_of(library, plugin, metric->function);
        if (metric->getter.address == NULL)
            complain(metric->id, "%s has no function %s", file_name(plugin->path), metric->function);
        col_metric_table_describe(
            metric); /* its memory now, and not at a tick, which may come where the program is about to map its own again */
    }
}

/* It failed if it says -1, or anything but 0 together with a reason. */
static bool initialise(struct col_plugin *plugin, int (*initialize)(uintptr_t id, void *data))
{
    char text[400];
    uint32_t error_count = plugin->error_count;
    col_text_print_into(text, sizeof text, "allinea_plugin_initialize of %s", plugin->path);
    plugin->is_starting_up = true;
    col_plugin_call_begin_ordinary(text);
    int result = initialize(col_metric_table_plugin_id(plugin), NULL);
    col_plugin_call_end();
    plugin->is_starting_up = false;
    bool has_said_why = plugin->error_count != error_count;
    if (result == -1 && !has_said_why)
        complain(plugin->id, "allinea_plugin_initialize of %s gave -1 without saying why%s", file_name(plugin->path),
                 "");
    return result != -1 && (result == 0 || !has_said_why);
}

/* The plugin for which the same library was loaded before; NULL: none. */
static const struct col_plugin *loaded_before(const struct col_plugin *plugin)
{
    for (const struct col_plugin *earlier = col_metric_table()->plugins; earlier < plugin; earlier++)
        if (earlier->library != NULL && earlier->library == plugin->library)
            return earlier;
    return NULL;
}

/* A library is initialised when it is loaded, and cleaned up, once: by the first of its plugins. */
static void share_library(struct col_plugin *plugin, const struct col_plugin *earlier)
{
    find_functions(plugin->library, plugin);
    plugin->cleanup = NULL;
    plugin->since_ns = col_clock_now();
    plugin->is_loaded = earlier->is_loaded;
    plugin->is_disabled = !plugin->is_loaded;
    if (plugin->is_disabled)
        complain(plugin->id, "%s could not be used for %s either", file_name(plugin->path), earlier->id);
}

static void *load_library(const struct col_plugin *plugin)
{
    char text[400];
    col_text_print_into(text, sizeof text, "the loading of %s", plugin->path);
    col_plugin_call_begin_ordinary(text);
    void *library = COL_REAL(dlopen)(plugin->path, RTLD_NOW | RTLD_LOCAL);
    col_plugin_call_end();
    return library;
}

/* With the turn. */
static void load_plugin(struct col_plugin *plugin)
{
    void *library = plugin->is_built_in ? NULL : load_library(plugin);
    plugin->library = library;
    plugin->is_disabled = true;
    if (library == NULL && !plugin->is_built_in) {
        const char *why = dlerror();
        complain(plugin->id, "its library cannot be loaded: %s%s", why != NULL ? why : plugin->path, "");
        return;
    }
    const struct col_plugin *earlier = loaded_before(plugin);
    if (earlier != NULL) {
        share_library(plugin, earlier);
        return;
    }
    int (*initialize)(uintptr_t id, void *data);
    *(void **)&initialize = function_of(library, plugin, "allinea_plugin_initialize");
    if (initialize == NULL)
        *(void **)&initialize = function_of(library, plugin, "allinea_plugin_initialise");
    if (initialize == NULL) {
        complain(plugin->id, "%s has no function %s", file_name(plugin->path), "allinea_plugin_initialize");
        return;
    }
    find_functions(library, plugin);
    plugin->since_ns = col_clock_now();
    plugin->is_loaded = initialise(plugin, initialize);
    plugin->is_disabled = !plugin->is_loaded;
}

/* With the turn. The program finds no error that is not its own. */
static void load_quietly(struct col_plugin *plugin)
{
    int error = errno;
    load_plugin(plugin);
    if (!plugin->is_built_in)
        dlerror();
    errno = error;
}

static void start_plugin(struct col_plugin *plugin)
{
    plugin->is_started = true;
    if (plugin->start == NULL)
        return;
    plugin->since_ns = col_clock_now();
    if (!col_plugin_call_function(plugin, plugin->start, plugin->start_name))
        plugin->is_disabled = true;
    if (!plugin->is_built_in)
        dlerror();
}

/* ---- all of them ---- */

void col_plugins_finish(void)
{
    if (col_silence_is_on() || getpid() != self.pid)
        return;
    int error = errno;
    col_metrics_close(col_recording_is_on_at(col_clock_now()));
    const struct col_metric_table *table = col_metric_table();
    for (size_t i = 0; i < table->plugin_count; i++) {
        struct col_plugin *plugin = &table->plugins[i];
        if (!plugin->is_loaded || plugin->cleanup == NULL || !col_plugin_call_await_turn())
            continue;
        plugin->is_loaded = false;
        col_plugin_call_begin_ordinary("allinea_plugin_cleanup");
        plugin->cleanup(col_metric_table_plugin_id(plugin), NULL);
        col_plugin_call_end();
        col_plugin_call_give_turn();
    }
    errno = error;
}

/* Without a launcher beside it the first process of a tree reads the metrics of the machine, in all its images; nobody takes over from it. */
static bool is_node_reader(void)
{
    const char *reader = getenv(COL_OPTIONS_NODE_READER);
    char own[16];
    col_text_print_into(own, sizeof own, "%d", (int)getpid());
    if (reader != NULL)
        return strcmp(reader, own) == 0;
    col_text_print_into(self.reader, sizeof self.reader, "%s=%s", COL_OPTIONS_NODE_READER, own);
    col_child_environment_add(self.reader);
    return true;
}

/* Nobody has to be told that a built-in function did not come back. */
static void open_call_note(const struct col_metric_table *table)
{
    for (size_t i = 0; i < table->plugin_count; i++)
        if (table->plugins[i].is_wanted && !table->plugins[i].is_built_in) {
            col_call_note_open();
            return;
        }
}

static void load_all(const struct col_metric_table *table)
{
    open_call_note(table);
    for (size_t i = 0; i < table->plugin_count && col_plugin_call_take_turn(); i++) {
        if (table->plugins[i].is_wanted)
            load_quietly(&table->plugins[i]);
        col_plugin_call_give_turn();
    }
}

void col_plugins_load(const char *path, unsigned scopes)
{
    if (self.state != NOT_LOADED)
        return;
    self.state = LOADING;
    self.pid = getpid();
    int error = col_metric_table_read(path, scopes);
    if (error != 0)
        complain(NULL, "no metrics were recorded: %s cannot be read (%s)", path, strerror(-error));
    load_all(col_metric_table());
    if (getpid() == self.pid) /* a plugin may fork */
        self.state = LOADED;
}

void col_plugins_load_own(void)
{
    const char *path = getenv("COLLECTOR_METRICS");
    if (path == NULL || path[0] == '\0' || self.state != NOT_LOADED)
        return;
    col_plugins_load(path, COL_METRICS_OF_PROCESS | (is_node_reader() ? COL_METRICS_OF_NODE : 0));
    /* ThreadSanitizer's wrappers of what getters call run the program's waiting handlers, whatever lock of the sanitizer's a tick has interrupted. */
    if (__tsan_init != NULL)
        col_metrics_keep_off_ticks();
    if (col_metric_table()->metric_count != 0)
        atexit(
            col_plugins_finish); /* after plugins were loaded, so that it runs before what they want done at the program's end */
}

void col_plugins_begin(bool is_fork_child, bool is_recording)
{
    const struct col_metric_table *table = col_metric_table();
    if (self.state != LOADED || table->metric_count == 0)
        return;
    int error = errno;
    self.pid = getpid();
    open_call_note(table);
    for (size_t i = 0; i < table->plugin_count && col_plugin_call_take_turn(); i++) {
        struct col_plugin *plugin = &table->plugins[i];
        if (plugin->is_loaded && !plugin->is_started && !plugin->is_disabled)
            start_plugin(plugin);
        col_plugin_call_give_turn();
    }
    col_metrics_open(is_fork_child ? 0 : col_clock_now(), is_recording);
    errno = error;
}

void col_plugins_forget(void)
{
    col_metric_table_leave_node();
    col_metrics_fork_child();
    col_messages_forget();
    col_signal_heap_unlock();
    col_own_io_forget();
}
