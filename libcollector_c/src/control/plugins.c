/* plugins.c -- metric plugins in this process */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/plugins.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/own_io.h"
#include "base/real.h"
#include "base/signal_heap.h"
#include "base/text_format.h"
#include "experiment/call_note.h"
#include "experiment/messages.h"
#include "sample/recording.h"
#include "sample/unwind.h"
#include "sample/metrics.h"
#include "sample/plugin_call.h"
#include "target/node_leader.h"

#define ROOT_FRAMES 4 /* frames of the C library, or of ours, below main or the first function of a thread */

static struct {
    int state; /* what has been done in this process, or in the one it was forked from */
    pid_t pid;
    uintptr_t program_low, program_high; /* the program's own file in memory */
    bool is_program_allocator;           /* which may hold locks of malloc */
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

static void *optional_function(void *library, const struct col_plugin *plugin, const char *name)
{
    void *function = name[0] != '\0' ? dlsym(library, name) : NULL;
    if (function == NULL && name[0] != '\0')
        complain(plugin->id, "%s has no function %s", file_name(plugin->path), name);
    return function;
}

static void find_functions(void *library, struct col_plugin *plugin)
{
    *(void **)&plugin->start = optional_function(library, plugin, plugin->start_name);
    *(void **)&plugin->stop = optional_function(library, plugin, plugin->stop_name);
    *(void **)&plugin->cleanup = dlsym(library, "allinea_plugin_cleanup");
    const struct col_metric_table *table = col_metric_table();
    for (size_t i = 0; i < table->metric_count; i++) {
        struct col_metric *metric = &table->metrics[i];
        if (metric->plugin != plugin)
            continue;
        metric->getter.address = dlsym(library, metric->function);
        if (metric->getter.address == NULL)
            complain(metric->id, "%s has no function %s", file_name(plugin->path), metric->function);
    }
}

/* It failed if it says -1, or anything but 0 together with a reason. */
static bool initialise(struct col_plugin *plugin, int (*initialize)(uintptr_t id, void *data))
{
    char text[400];
    uint32_t error_count = plugin->error_count;
    col_text_print_into(text, sizeof text, "allinea_plugin_initialize of %s", plugin->path);
    plugin->is_starting_up = true;
    col_plugin_call_begin(text);
    int result = initialize(col_metric_table_plugin_id(plugin), NULL);
    col_plugin_call_end();
    plugin->is_starting_up = false;
    bool has_said_why = plugin->error_count != error_count;
    if (result == -1 && !has_said_why)
        complain(plugin->id, "allinea_plugin_initialize of %s gave -1 without saying why%s", file_name(plugin->path),
                 "");
    return result != -1 && (result == 0 || !has_said_why);
}

/* With the turn. */
static bool load_plugin(struct col_plugin *plugin)
{
    char text[400];
    col_text_print_into(text, sizeof text, "the loading of %s", plugin->path);
    col_plugin_call_begin(text);
    void *library = COL_REAL(dlopen)(plugin->path, RTLD_NOW | RTLD_LOCAL);
    col_plugin_call_end();
    plugin->is_disabled = true;
    if (library == NULL) {
        const char *why = dlerror();
        complain(plugin->id, "its library cannot be loaded: %s%s", why != NULL ? why : plugin->path, "");
        return false;
    }
    int (*initialize)(uintptr_t id, void *data);
    *(void **)&initialize = dlsym(library, "allinea_plugin_initialize");
    if (initialize == NULL)
        *(void **)&initialize = dlsym(library, "allinea_plugin_initialise");
    if (initialize == NULL) {
        complain(plugin->id, "%s has no function %s", file_name(plugin->path), "allinea_plugin_initialize");
        return false;
    }
    find_functions(library, plugin);
    if (!initialise(plugin, initialize))
        return false;
    plugin->is_disabled = false;
    return plugin->is_loaded = true;
}

static void start_plugin(struct col_plugin *plugin)
{
    plugin->is_started = true;
    if (plugin->start != NULL && !col_plugin_call_function(plugin, plugin->start, plugin->start_name))
        plugin->is_disabled = true;
}

/* ---- a plugin that only the node's leader loads, when this process has become that ---- */

static int remember_program(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size, (void)data;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD)
            continue;
        uintptr_t low = info->dlpi_addr + part->p_vaddr;
        self.program_low = self.program_low == 0 || low < self.program_low ? low : self.program_low;
        self.program_high = low + part->p_memsz > self.program_high ? low + part->p_memsz : self.program_high;
    }
    return 1; /* the program is the first object, the only one wanted */
}

static bool is_in_program(uintptr_t address)
{
    return address >= self.program_low && address < self.program_high;
}

/*
 * Is the sampled thread in the program's own code, called by nothing but the program's own code? Then it is inside no function of a library that we might enter
 * a second time, and a signal handler may do what ordinary code may. Its own stack must be under us, not a small one set aside for signals.
 */
static bool is_at_ordinary_point(const ucontext_t *context, const struct col_thread *thread)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = (uintptr_t)context->uc_stack.ss_sp;
    bool is_alternate = (context->uc_stack.ss_flags & SS_DISABLE) == 0 && here - low < context->uc_stack.ss_size;
    if (is_alternate || self.is_program_allocator || thread->last.end != COL_END_COMPLETE || thread->last.count == 0 || !is_in_program(thread->last.pcs[0]))
        return false;
    size_t own = thread->last.count > ROOT_FRAMES ? thread->last.count - ROOT_FRAMES : 1;
    for (size_t i = 0; i < own; i++)
        if (!is_in_program(thread->last.pcs[i]))
            return false;
    return true;
}

static bool take_over(struct col_plugin *plugin, const ucontext_t *context, const struct col_thread *thread)
{
    if (!is_at_ordinary_point(context, thread) || !load_plugin(plugin))
        return false;
    start_plugin(plugin);
    return true;
}

/* ---- all of them ---- */

/* Registered after plugins were loaded, so that it runs before what they want done at the program's end. */
static void finish(void)
{
    if (getpid() != self.pid)
        return;
    col_metrics_close(col_recording_is_on_at(col_clock_now()));
    const struct col_metric_table *table = col_metric_table();
    for (size_t i = 0; i < table->plugin_count; i++) {
        struct col_plugin *plugin = &table->plugins[i];
        if (!plugin->is_loaded || plugin->cleanup == NULL || !col_plugin_call_await_turn())
            continue;
        plugin->is_loaded = false;
        col_plugin_call_begin("allinea_plugin_cleanup");
        plugin->cleanup(col_metric_table_plugin_id(plugin), NULL);
        col_plugin_call_end();
        col_plugin_call_give_turn();
    }
}

static void load_all(const struct col_metric_table *table)
{
    bool is_leader = false, has_asked = false;
    if (!col_plugin_call_take_turn())
        return;
    for (size_t i = 0; i < table->plugin_count; i++) {
        struct col_plugin *plugin = &table->plugins[i];
        if (plugin->is_per_node && !has_asked) {
            is_leader = col_node_leader_ask(col_clock_now(), 10 * table->interval_ns) != COL_NODE_FOLLOWS;
            has_asked = true;
        }
        if (is_leader || !plugin->is_per_node)
            load_plugin(plugin);
    }
    col_plugin_call_give_turn();
}

void col_plugins_load(void)
{
    const char *path = getenv("COLLECTOR_METRICS");
    if (path == NULL || path[0] == '\0' || self.state != NOT_LOADED)
        return;
    self.state = LOADING;
    self.pid = getpid();
    int error = col_metric_table_read(path);
    if (error != 0)
        complain(NULL, "no metrics were recorded: %s cannot be read (%s)", path, strerror(-error));
    const struct col_metric_table *table = col_metric_table();
    if (table->metric_count != 0) {
        void *allocator = dlsym(RTLD_DEFAULT, "malloc");
        dl_iterate_phdr(remember_program, NULL);
        self.is_program_allocator = is_in_program((uintptr_t)allocator);
        col_call_note_open();
        col_node_leader_open(table->node_lock);
        load_all(table);
        atexit(finish);
    }
    if (getpid() == self.pid) /* a plugin may fork */
        self.state = LOADED;
}

void col_plugins_begin(bool is_fork_child, bool is_recording)
{
    const struct col_metric_table *table = col_metric_table();
    if (self.state != LOADED || table->metric_count == 0)
        return;
    self.pid = getpid();
    col_call_note_open();
    for (size_t i = 0; i < table->plugin_count && col_plugin_call_take_turn(); i++) {
        struct col_plugin *plugin = &table->plugins[i];
        if (plugin->is_loaded && !plugin->is_started && !plugin->is_disabled)
            start_plugin(plugin);
        col_plugin_call_give_turn();
    }
    col_metrics_open(is_fork_child ? 0 : col_clock_now(), is_recording, take_over);
}

void col_plugins_forget(void)
{
    col_metrics_fork_child();
    col_messages_forget();
    col_signal_heap_unlock();
    col_own_io_forget();
}
