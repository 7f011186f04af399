/* remote_interpreter.c -- the CPython in another process, if there is one */
#include "target/remote_interpreter.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "base/safe_read.h"
#include "base/text_format.h"
#include "target/exported_symbols.h"
#include "target/remote_modules.h"

enum {
    FIRST_VERSION = 0x030b,
    MOST_INTERPRETERS = 64,
    MOST_STATES = 4096, /* of an interpreter: what is read while it changes may lead in a circle */
    LINK_BYTES = 32,
};

static bool is_named_python(pid_t pid)
{
    char link[LINK_BYTES], path[PATH_MAX];
    col_text_print_into(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t bytes = readlink(link, path, sizeof path - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    const char *slash = strrchr(path, '/');
    return slash != NULL && strncmp(slash + 1, "python", 6) == 0;
}

/* What the interpreter in this object tells of itself. False: nothing that helps. */
static bool describe(struct col_remote_memory *memory, const struct col_remote_object *object,
                     struct col_python_runtime *found)
{
    uintptr_t bias = object->bias, dynamic = object->dynamic;
    uintptr_t version_at = col_exported_symbols_find(memory, bias, dynamic, "Py_Version");
    unsigned version = version_at != 0 ? (unsigned)(col_remote_memory_word(memory, version_at) >> 16) : 0;
    found->code_type = col_exported_symbols_find(memory, bias, dynamic, "PyCode_Type");
    return version >= FIRST_VERSION && found->code_type != 0 &&
           !col_python_layout_is_free_threaded(memory, found->runtime) &&
           col_python_layout_find(memory, version, found->runtime, &found->layout) &&
           found->layout.runtime.interpreters != 0;
}

bool col_remote_interpreter_find(struct col_remote_memory *memory, uint64_t owner, struct col_python_runtime *found)
{
    struct col_remote_object object;
    for (size_t index = 0; col_remote_modules_next_object(memory, &index, &object);) {
        size_t bytes = 0;
        uintptr_t runtime = col_exported_symbols_measure(memory, object.bias, object.dynamic, "_PyRuntime", &bytes);
        *found = (struct col_python_runtime){.runtime = runtime,
                                             .runtime_bytes = bytes,
                                             .low = object.low,
                                             .high = object.high,
                                             .memory = memory,
                                             .owner = owner};
        if (runtime == 0 || !describe(memory, &object, found))
            continue;
        found->is_program = is_named_python(memory->pid);
        return true;
    }
    return false;
}

static bool is_of(const struct col_python_runtime *python, uintptr_t state, pid_t thread)
{
    uint32_t id = (uint32_t)col_remote_memory_word(python->memory, state + python->layout.state.native_id);
    return state != 0 && state % sizeof state == 0 && id == (uint32_t)thread;
}

/* True while it stands in the list of its interpreter's: the word behind the state before it leads there. */
static bool is_listed(const struct col_python_runtime *python, uintptr_t state)
{
    uint16_t next = python->layout.state.next;
    uintptr_t before = col_remote_memory_word(python->memory, state + next - sizeof before);
    return before != 0 && col_remote_memory_word(python->memory, before + next) == state;
}

uintptr_t col_remote_interpreter_state(const struct col_python_runtime *python, pid_t thread, uintptr_t hint)
{
    const struct col_python_layout *layout = &python->layout;
    struct col_remote_memory *memory = python->memory;
    if (col_remote_memory_word(memory, python->runtime + layout->runtime.finalizing) != 0)
        return 0; /* the one who ends the interpreter frees the states of all others */
    if (is_of(python, hint, thread) && is_listed(python, hint))
        return hint;
    uintptr_t interpreter = col_remote_memory_word(memory, python->runtime + layout->runtime.interpreters);
    for (unsigned i = 0; i < MOST_INTERPRETERS && interpreter != 0; i++) {
        uintptr_t state = col_remote_memory_word(memory, interpreter + layout->interpreter.threads);
        for (unsigned k = 0; k < MOST_STATES && state != 0; k++) {
            if (is_of(python, state, thread))
                return state;
            state = col_remote_memory_word(memory, state + layout->state.next);
        }
        interpreter = col_remote_memory_word(memory, interpreter + layout->interpreter.next);
    }
    return 0;
}
