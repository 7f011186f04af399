/* python_runtime.c -- the CPython in this process, if there is one */
#include "target/python_runtime.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/safe_read.h"
#include "base/text_format.h"
#include "experiment/event.h"
#include "target/code_finder.h"
#include "target/eh_frame.h"
#include "target/exported_symbols.h"

#define VERSION_BYTES 32u

static struct {
    bool is_begun, is_known; /* atomic: somebody looks at an interpreter; what he found is complete */
    bool is_ready;           /* atomic: its frames can be read */
    struct col_python_runtime found;
    const char *obstacle; /* NULL: its functions are recorded */
    char version[VERSION_BYTES];
} self;

const struct col_python_runtime *col_python_runtime(void)
{
    return __atomic_load_n(&self.is_ready, __ATOMIC_ACQUIRE) ? &self.found : NULL;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* "3.11.7", and 0x030b of it: as the interpreter says from 3.11 on, else as its file is named. */
static unsigned read_version(const char *path, const unsigned long *told)
{
    const char *digits = strstr(name_of(path), "3.");
    unsigned long version = told != NULL ? *told : 0;
    if (version == 0 && digits != NULL) {
        version = 3ul << 24;
        for (digits += 2; *digits >= '0' && *digits <= '9'; digits++)
            version = 3ul << 24 | ((version >> 16 & 255) * 10 + (unsigned long)(*digits - '0')) << 16;
    }
    col_text_print_into(self.version, sizeof self.version, told != NULL ? "%lu.%lu.%lu" : "%lu.%lu", version >> 24,
                        version >> 16 & 255, version >> 8 & 255);
    return (unsigned)(version >> 16);
}

/* Up to 3.10 the evaluator is known by its code. */
static void find_loop(struct col_python_runtime *found, uintptr_t loop)
{
    struct col_code_module module;
    struct col_proved_pages proved = {.memory = NULL};
    struct col_eh_fde fde;
    if (loop != 0 && col_code_finder_find(loop, &module) && col_eh_frame_find(&module, loop, &proved, &fde)) {
        found->loop_low = fde.low;
        found->loop_high = fde.high;
    }
}

/* Why the functions of this interpreter are not recorded; NULL: they are. */
static const char *find(struct col_python_runtime *found, const struct col_python_object *object)
{
    uintptr_t bias = object->bias, dynamic = object->dynamic;
    found->low = object->low;
    found->high = object->high;
    found->is_program = strncmp(name_of(object->executable), "python", 6) == 0;
    found->code_type = col_exported_symbols_find(NULL, bias, dynamic, "PyCode_Type");
    found->thread_state =
        (void *(*)(void))col_exported_symbols_find(NULL, bias, dynamic, "PyGILState_GetThisThreadState");
    unsigned version =
        read_version(object->path, (const unsigned long *)col_exported_symbols_find(NULL, bias, dynamic, "Py_Version"));
    if (found->code_type == 0 || found->thread_state == NULL)
        return "it does not export what leads to them";
    find_loop(found, col_exported_symbols_find(NULL, bias, dynamic, "_PyEval_EvalFrameDefault"));
    if (col_python_layout_is_free_threaded(NULL, found->runtime))
        return "it is a build without a global interpreter lock";
    if (version >= 0x030f && !object->is_initial)
        return "this version was loaded by dlopen, where a signal handler cannot ask it"; /* its thread-local storage may be made on first use */
    return col_python_layout_find(NULL, version, found->runtime, &found->layout) ? NULL : "this version is not known";
}

/* Only once, and only by one: looking for its code meets the object again. */
static bool learn(const struct col_python_object *object, uintptr_t runtime, size_t runtime_bytes)
{
    if (__atomic_exchange_n(&self.is_begun, true, __ATOMIC_ACQUIRE))
        return false;
    self.found.runtime = runtime;
    self.found.runtime_bytes = runtime_bytes;
    self.obstacle = find(&self.found, object);
    __atomic_store_n(&self.is_known, true, __ATOMIC_RELEASE);
    return true;
}

void col_python_runtime_meet(const struct col_python_object *object)
{
    size_t runtime_bytes = 0;
    uintptr_t runtime = col_exported_symbols_measure(NULL, object->bias, object->dynamic, "_PyRuntime", &runtime_bytes);
    if (runtime == 0 ||
        (!__atomic_load_n(&self.is_known, __ATOMIC_ACQUIRE) && !learn(object, runtime, runtime_bytes)) ||
        self.found.runtime != runtime)
        return; /* of several interpreters the first */
    col_event_interpreter((struct col_event_head){col_clock_now(), 0},
                          &(struct col_event_interpreter){.name = "CPython",
                                                          .version = self.version,
                                                          .start = self.found.low,
                                                          .end = self.found.high,
                                                          .detail = self.obstacle});
    if (self.obstacle == NULL)
        __atomic_store_n(&self.is_ready, true, __ATOMIC_RELEASE);
}

/*
 * A thread that runs a sub-interpreter has another state there; up to 3.11 the function gives the first one that the thread had.
 * What it gives before the interpreter has made its key would be somebody else's.
 */
COL_READS_FOREIGN uintptr_t col_python_runtime_thread_state(const struct col_python_runtime *python)
{
    const struct col_python_layout *layout = &python->layout;
    if (python->memory != NULL)
        return python->state;
    if (layout->runtime.tss_is_made != 0 && (int)col_foreign_word(python->runtime + layout->runtime.tss_is_made) == 0)
        return 0;
    uintptr_t own = (uintptr_t)python->thread_state(), self_id = (uintptr_t)pthread_self(), id;
    uintptr_t finalizing = col_foreign_word(python->runtime + layout->runtime.finalizing);
    if (finalizing != 0 && finalizing != own)
        return 0; /* the one who ends the interpreter frees the states of all others */
    uintptr_t current =
        layout->runtime.current_state != 0 ? col_foreign_word(python->runtime + layout->runtime.current_state) : 0;
    if (own != 0 && current != 0 && current != own && col_safe_read_word(current + layout->state.thread_id, &id) &&
        id == self_id)
        return current;
    return own != 0 && col_foreign_word(own + layout->state.thread_id) == self_id ? own : 0;
}

COL_READS_FOREIGN bool col_python_runtime_holds_gil(const struct col_python_runtime *python, uintptr_t state)
{
    const struct col_python_layout *layout = &python->layout;
    if (layout->state.gil_mask == 0)
        return col_safe_read_known(python->memory, python->runtime + layout->runtime.current_state) == state;
    return (col_safe_read_known(python->memory, state + layout->state.gil) & layout->state.gil_mask) != 0;
}
