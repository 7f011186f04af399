/* interpose_openmp.c -- parallel regions of OpenMP: the runtime gets a function of ours to run, which tells the unwinder who opened the region
 *
 * A caller's runtime is not always the program's: packages of Python bring one each, which only they see.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose_openmp.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/sparse.h"
#include "entry/caller_scope.h"
#include "entry/interpose.h"
#include "sample/recording.h"
#include "target/parallel_region.h"

/* libgomp's, with the number of their arguments, of which the first two are always the region's function and its argument. */
#define LOOP 8
#define GNU_FUNCTIONS(X)                                                                                               \
    X(GOMP_parallel, 4)                                                                                                \
    X(GOMP_parallel_reductions, 4)                                                                                     \
    X(GOMP_parallel_sections, 5)                                                                                       \
    X(GOMP_parallel_loop_runtime, 7)                                                                                   \
    X(GOMP_parallel_loop_nonmonotonic_runtime, 7)                                                                      \
    X(GOMP_parallel_loop_maybe_nonmonotonic_runtime, 7)                                                                \
    X(GOMP_parallel_loop_static, LOOP)                                                                                 \
    X(GOMP_parallel_loop_dynamic, LOOP)                                                                                \
    X(GOMP_parallel_loop_guided, LOOP)                                                                                 \
    X(GOMP_parallel_loop_nonmonotonic_dynamic, LOOP)                                                                   \
    X(GOMP_parallel_loop_nonmonotonic_guided, LOOP)

enum hook {
#define HOOK(name, count) HOOK_##name,
    GNU_FUNCTIONS(HOOK)
#undef HOOK
        HOOK_KMPC,
    HOOK_COUNT
};

static const char *const names[HOOK_COUNT] = {
#define NAME(name, count) #name,
    GNU_FUNCTIONS(NAME)
#undef NAME
        "__kmpc_fork_call",
};

enum { FOUND_COUNT = 64, LEAST_WORDS = 8 };

/* The real function by who calls ours. A key holds what was found as well: of two threads that write an entry at once neither makes it a wrong one. */
static struct {
    struct {
        uintptr_t key, function;
    } found[FOUND_COUNT];
    uintptr_t generation;
} self COL_SPARSE;

void col_entry_forget_openmp(void)
{
    __atomic_fetch_add(&self.generation, 1, __ATOMIC_SEQ_CST);
}

static void *find_real(enum hook hook, uintptr_t caller, const void *ours)
{
    uintptr_t generation = __atomic_load_n(&self.generation, __ATOMIC_SEQ_CST);
    uintptr_t key = (caller * HOOK_COUNT + hook) ^ generation << 48;
    uintptr_t *entry = &self.found[(caller ^ caller >> 6) % FOUND_COUNT].key;
    uintptr_t function = __atomic_load_n(entry + 1, __ATOMIC_RELAXED);
    if (__builtin_expect((__atomic_load_n(entry, __ATOMIC_RELAXED) ^ function << 1) == key && function != 0, 1))
        return (void *)function;
    function = (uintptr_t)col_caller_scope_find(names[hook], (const void *)(caller - 1), ours);
    __atomic_store_n(entry + 1, function, __ATOMIC_RELAXED);
    __atomic_store_n(entry, key ^ function << 1, __ATOMIC_RELAXED);
    return (void *)function;
}

/* Where a hook returns to, as a region begins. */
#define CALLER()                                                                                                       \
    ((struct col_parallel_region){.pc = col_arch_strip_return((uintptr_t)__builtin_return_address(0)),                 \
                                  .sp = (uintptr_t)__builtin_dwarf_cfa(),                                              \
                                  .fp = *(const uintptr_t *)__builtin_frame_address(0)})

/* ---- libgomp ---- */

struct gnu_work {
    uintptr_t reductions; /* of GOMP_parallel_reductions, which expects it first */
    struct col_parallel_region region;
    void *function;
    uintptr_t data;
};

static void run_gnu(const struct gnu_work *work)
{
    uintptr_t words[LEAST_WORDS] = {work->data};
    col_parallel_region_enter(&work->region);
    col_parallel_region_call(work->function, words, 1, &work->region, work->region.id);
}

static uintptr_t open_gnu(enum hook hook, const struct col_parallel_region *caller, const void *ours, uintptr_t *words,
                          size_t count)
{
    void *real = find_real(hook, caller->pc, ours);
    if (real == NULL) { /* a team of one is always allowed */
        col_parallel_region_call((void *)words[0], (uintptr_t[LEAST_WORDS]){words[1]}, 1, NULL, 0);
        return 1;
    }
    if (!col_recording_is_open())
        return col_parallel_region_call(real, words, count, NULL, 0);
    struct gnu_work work = {.region = *caller, .function = (void *)words[0], .data = words[1]};
    if (hook == HOOK_GOMP_parallel_reductions)
        work.reductions = *(const uintptr_t *)words[1];
    words[0] = (uintptr_t)run_gnu;
    words[1] = (uintptr_t)&work;
    col_parallel_region_begin(&work.region);
    uintptr_t answer = col_parallel_region_call(real, words, count, &work.region, work.region.id);
    col_parallel_region_end(&work.region);
    return answer;
}

/* Arguments of the type int are words with whatever in their upper half, as they were. */
#define DEFINE(name, count)                                                                                            \
    uintptr_t name(ARGUMENTS_##count);                                                                                 \
    COL_EXPORT uintptr_t name(ARGUMENTS_##count)                                                                       \
    {                                                                                                                  \
        uintptr_t words[LEAST_WORDS] = {WORDS_##count};                                                                \
        struct col_parallel_region caller = CALLER();                                                                  \
        return open_gnu(HOOK_##name, &caller, (const void *)name, words, count);                                       \
    }
#define ARGUMENTS_4 uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d
#define ARGUMENTS_5 ARGUMENTS_4, uintptr_t e
#define ARGUMENTS_7 ARGUMENTS_5, uintptr_t f, uintptr_t g
#define ARGUMENTS_LOOP ARGUMENTS_7, uintptr_t h
#define WORDS_4 a, b, c, d
#define WORDS_5 WORDS_4, e
#define WORDS_7 WORDS_5, f, g
#define WORDS_LOOP WORDS_7, h
GNU_FUNCTIONS(DEFINE)

/* ---- LLVM's and Intel's ---- */

struct kmpc_work {
    struct col_parallel_region region;
    void *function;
    size_t count;
    const uintptr_t *arguments;
};

static uintptr_t run_with_ids(void *function, const int32_t *global_id, const int32_t *bound_id,
                              const struct kmpc_work *work)
{
    uintptr_t words[work->count + LEAST_WORDS];
    words[0] = (uintptr_t)global_id;
    words[1] = (uintptr_t)bound_id;
    for (size_t i = 0; i < work->count; i++)
        words[2 + i] = work->arguments[i];
    return col_parallel_region_call(function, words, 2 + work->count, &work->region, work->region.id);
}

static void run_kmpc(const int32_t *global_id, const int32_t *bound_id, const struct kmpc_work *work)
{
    col_parallel_region_enter(&work->region);
    run_with_ids(work->function, global_id, bound_id, work);
}

void __kmpc_fork_call(const void *place, int32_t count, void *function, ...);
COL_EXPORT void __kmpc_fork_call(const void *place, int32_t count, void *function, ...)
{
    size_t given = count > 0 ? (size_t)count : 0;
    uintptr_t words[given + LEAST_WORDS];
    struct kmpc_work work = {.region = CALLER(), .function = function, .count = given, .arguments = words + 3};
    va_list list;
    va_start(list, function);
    for (size_t i = 0; i < given; i++)
        words[3 + i] = va_arg(list, uintptr_t);
    va_end(list);
    words[0] = (uintptr_t)place;
    words[1] = given;
    words[2] = (uintptr_t)function;
    void *real = find_real(HOOK_KMPC, work.region.pc, (const void *)__kmpc_fork_call);
    if (real == NULL) {
        run_with_ids(function, &(int32_t){0}, &(int32_t){0}, &work);
        return;
    }
    if (!col_recording_is_open()) {
        col_parallel_region_call(real, words, 3 + given, NULL, 0);
        return;
    }
    uintptr_t ours[LEAST_WORDS] = {(uintptr_t)place, 1, (uintptr_t)run_kmpc, (uintptr_t)&work};
    col_parallel_region_begin(&work.region);
    col_parallel_region_call(real, ours, 4, &work.region, work.region.id);
    col_parallel_region_end(&work.region);
}
