/* python_runtime.h -- the CPython in this process, if there is one */
#ifndef COL_TARGET_PYTHON_RUNTIME_H
#define COL_TARGET_PYTHON_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "target/python_layout.h"

/* Set once, when the interpreter is found. */
struct col_python_runtime {
    struct col_python_layout layout;
    uintptr_t runtime;                /* _PyRuntime */
    size_t runtime_bytes;             /* of it */
    uintptr_t code_type;              /* PyCode_Type */
    uintptr_t low, high;              /* the module that it is in */
    uintptr_t loop_low, loop_high;    /* _PyEval_EvalFrameDefault */
    void *(*thread_state)(void);      /* PyGILState_GetThisThreadState */
    bool is_program;                  /* the program is an interpreter, rather than one that embeds it */
    struct col_remote_memory *memory; /* where it is; NULL: in our own process */
    uint64_t owner;                   /* a number of that process; 0: our own */
    uintptr_t state;                  /* there, of the thread that is looked at */
};

/* A loaded object: where its code lies, and its dynamic section. */
struct col_python_object {
    const char *path;
    uintptr_t low, high, bias, dynamic;
    bool is_initial;        /* it was there when the program began */
    const char *executable; /* the program's file */
};

/* If the object holds an interpreter, the log is told; stacks have its functions from now on. From anywhere. */
void col_python_runtime_meet(const struct col_python_object *object);

/* NULL: there is none whose frames can be read. From anywhere, signal handlers included. */
const struct col_python_runtime *col_python_runtime(void);

/* True of a futex that is the interpreter's lock: no other lies in its own variables, as those that it gives to programs are allocated. The same. */
static inline bool col_python_runtime_is_gil(const struct col_python_runtime *python, uintptr_t address)
{
    return python != NULL && address - python->runtime < python->runtime_bytes;
}

/* The calling thread's state, 0: it has none, as when it never ran Python; and whether that holds the GIL. From a signal handler. */
uintptr_t col_python_runtime_thread_state(const struct col_python_runtime *python);
bool col_python_runtime_holds_gil(const struct col_python_runtime *python, uintptr_t state);

#endif
