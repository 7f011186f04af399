/* plugin_call.c -- whose turn it is to call a plugin */
#include "sample/plugin_call.h"

#include "base/os.h"
#include "base/text_format.h"
#include "experiment/call_note.h"

#define TURNS 2000u

static struct {
    uint32_t caller; /* atomic: thread whose turn it is; 0: nobody's */
    const char *text;
} self;

/* In thread-local storage, which processes that are made in the call have as well. */
static __thread struct {
    bool is_in_call;
    bool is_plugins; /* it was made by a thread that was in one */
} own __attribute__((tls_model("initial-exec")));

bool col_plugin_call_take_turn(void)
{
    uint32_t nobody = 0;
    return __atomic_load_n(&self.caller, __ATOMIC_RELAXED) == 0 &&
           __atomic_compare_exchange_n(&self.caller, &nobody, col_os_thread_id(), false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

bool col_plugin_call_await_turn(void)
{
    uint32_t thread = col_os_thread_id();
    for (unsigned turn = 0; turn < TURNS; turn++) {
        if (col_plugin_call_take_turn())
            return true;
        if (__atomic_load_n(&self.caller, __ATOMIC_RELAXED) == thread)
            return false;
        col_os_yield();
    }
    return false;
}

void col_plugin_call_give_turn(void)
{
    __atomic_store_n(&self.caller, 0, __ATOMIC_RELEASE);
}

void col_plugin_call_forget(void)
{
    self.text = NULL;
    self.caller = 0;
    own.is_plugins = col_plugin_call_is_within(); /* whatever is called in this process ends */
}

void col_plugin_call_begin(const char *text)
{
    self.text = text;
    col_call_note_begin(text, self.caller);
}

void col_plugin_call_begin_ordinary(const char *text)
{
    own.is_in_call = true;
    col_plugin_call_begin(text);
}

void col_plugin_call_end(void)
{
    own.is_in_call = false;
    col_call_note_end();
    self.text = NULL;
}

bool col_plugin_call_is_within(void)
{
    return own.is_in_call || own.is_plugins;
}

void col_plugin_call_inherit(bool is_plugins)
{
    own.is_plugins = is_plugins;
}

const char *col_plugin_call_current(void)
{
    return self.text;
}

bool col_plugin_call_function(struct col_plugin *plugin, int (*function)(uintptr_t plugin_id), const char *name)
{
    char text[400];
    uint32_t error_count = plugin->error_count;
    col_text_print_into(text, sizeof text, "%s of %s", name, plugin->path);
    col_plugin_call_begin_ordinary(text);
    int result = function(col_metric_table_plugin_id(plugin));
    col_plugin_call_end();
    if (result == -1 && plugin->error_count == error_count) {
        col_text_print_into(text, sizeof text, "%s gave -1 without saying why", name);
        col_metric_table_fail_plugin(col_metric_table_plugin_id(plugin), 0, text);
    }
    return result != -1 && (result == 0 || plugin->error_count == error_count);
}
