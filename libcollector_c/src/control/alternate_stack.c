/* alternate_stack.c -- the stack that signals of ours are handled on */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/alternate_stack.h"

#include <errno.h>
#include <stddef.h>

#include "base/os.h"
#include "base/real.h"
#include "control/silence.h"
#include "target/thread.h"

/* A tick takes up to 20 KB, with the kernel's frame; the rest is for metric plugins, and for handlers of the program's that ask for an alternate stack. */
#define STACK_BYTES 262144u
#define KEPT_COUNT 16 /* stacks of threads that have ended */

/* Addresses of the program's are kept inverted: a leak checker that meets them in our memory would believe the program still has them. */
static struct {
    void *kept[KEPT_COUNT];
    uintptr_t not_lowest, not_highest; /* all that the program has set so far lie between, inverted */
} self = {.not_highest = UINTPTR_MAX};

/* Of the calling thread. */
static __thread struct {
    void *own;
    uint32_t tid;  /* whose it is: a thread made by a bare clone may share this storage */
    stack_t shown; /* what the program has set where the kernel has ours in its place, inverted; of 0 bytes: nothing */
} local __attribute__((tls_model("initial-exec")));

static stack_t invert(stack_t stack)
{
    stack.ss_sp = (void *)~(uintptr_t)stack.ss_sp;
    return stack;
}

static void *take(void)
{
    for (unsigned i = 0; i < KEPT_COUNT; i++) {
        void *stack = __atomic_load_n(&self.kept[i], __ATOMIC_RELAXED);
        if (stack != NULL &&
            __atomic_compare_exchange_n(&self.kept[i], &stack, NULL, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return stack;
    }
    return col_os_map_memory(STACK_BYTES);
}

static void give_back(void *stack)
{
    for (unsigned i = 0; i < KEPT_COUNT; i++) {
        void *none = NULL;
        if (__atomic_compare_exchange_n(&self.kept[i], &none, stack, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    }
    col_os_unmap(stack, STACK_BYTES);
}

static void begin_own(void *stack)
{
    local.own = stack;
    local.tid = col_os_thread_id();
    local.shown.ss_size = 0;
}

static bool has_own(void)
{
    return local.own != NULL && local.tid == col_os_thread_id();
}

void col_alternate_stack_begin(void)
{
    stack_t now;
    if (local.own != NULL || COL_REAL(sigaltstack)(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0)
        return;
    void *stack = take();
    now = (stack_t){.ss_sp = stack, .ss_size = STACK_BYTES};
    if (stack != NULL && COL_REAL(sigaltstack)(&now, NULL) == 0)
        begin_own(stack);
    else if (stack != NULL)
        give_back(stack);
}

void col_alternate_stack_end(void)
{
    stack_t now, none = {.ss_flags = SS_DISABLE};
    void *stack = local.own;
    if (stack == NULL || col_silence_is_on() || COL_REAL(sigaltstack)(NULL, &now) != 0)
        return;
    bool is_gone = (now.ss_flags & SS_DISABLE) != 0 || COL_REAL(sigaltstack)(&none, NULL) == 0;
    if (now.ss_sp == stack && !is_gone)
        return;
    local.own = NULL;
    give_back(stack);
}

/* So that hardly any memory that is unmapped has to be looked at closely. */
static void widen(uintptr_t start, uintptr_t end)
{
    uintptr_t not_lowest = __atomic_load_n(&self.not_lowest, __ATOMIC_RELAXED);
    uintptr_t not_highest = __atomic_load_n(&self.not_highest, __ATOMIC_RELAXED);
    while (start < ~not_lowest && !__atomic_compare_exchange_n(&self.not_lowest, &not_lowest, ~start, true,
                                                               __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    while (end > ~not_highest && !__atomic_compare_exchange_n(&self.not_highest, &not_highest, ~end, true,
                                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

/* Whoever sets one tells first and looks then: of two threads that set the same at a time one at least sees the other. */
static void tell(struct col_thread *thread, uintptr_t start, uintptr_t end)
{
    if (start != 0)
        widen(start, end);
    __atomic_store_n(&thread->alternate_start, 0, __ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->alternate_end, end, __ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->alternate_start, start, __ATOMIC_SEQ_CST);
}

static bool is_of_another(const struct col_thread *thread, uintptr_t start, uintptr_t end)
{
    uint32_t next = 0;
    for (struct col_thread *other = col_thread_each(&next); other != NULL; other = col_thread_each(&next)) {
        uintptr_t first = __atomic_load_n(&other->alternate_start, __ATOMIC_SEQ_CST);
        if (other != thread && first != 0 && first < end &&
            start < __atomic_load_n(&other->alternate_end, __ATOMIC_SEQ_CST))
            return true;
    }
    return false;
}

void col_alternate_stack_adopt(void)
{
    stack_t now;
    local.tid = col_os_thread_id();
    if (COL_REAL(sigaltstack)(NULL, &now) != 0 || (now.ss_flags & SS_DISABLE) != 0 || now.ss_sp == local.own)
        return;
    struct col_thread *thread = col_thread_current();
    if (thread != NULL)
        tell(thread, (uintptr_t)now.ss_sp, (uintptr_t)now.ss_sp + now.ss_size);
}

/* Did the program set the one that the kernel has, or is it ours, for want of one or in the place of one? */
static void show(stack_t *stack, const stack_t *shown)
{
    int is_on = stack->ss_flags & SS_ONSTACK;
    if (local.own == NULL || stack->ss_sp != local.own)
        return;
    *stack = (stack_t){.ss_flags = SS_DISABLE};
    if (shown->ss_size == 0)
        return;
    *stack = invert(*shown);
    stack->ss_flags = (shown->ss_flags & ~SS_ONSTACK) | is_on;
}

int col_alternate_stack_get(stack_t *old)
{
    int result = COL_REAL(sigaltstack)(NULL, old);
    if (result == 0 && old != NULL)
        show(old, &local.shown);
    return result;
}

/* NULL: no system call but the program's may be made here, or nothing is known of the thread. */
static struct col_thread *caller(void)
{
    return col_silence_is_on() || !col_thread_has_own_storage() ? NULL : col_thread_current();
}

/* Gives the kernel ours if another thread has that one. */
static int give(const stack_t *stack, stack_t *old, bool *is_shared)
{
    uintptr_t start = (uintptr_t)stack->ss_sp, end = start + stack->ss_size;
    struct col_thread *thread = caller();
    if (thread == NULL)
        return COL_REAL(sigaltstack)(stack, old);
    uintptr_t start_before = thread->alternate_start, end_before = thread->alternate_end;
    tell(thread, start, end);
    stack_t ours = {.ss_sp = local.own, .ss_flags = stack->ss_flags};
    ours.ss_size = stack->ss_size < STACK_BYTES ? stack->ss_size : STACK_BYTES;
    *is_shared = has_own() && is_of_another(thread, start, end);
    int result = COL_REAL(sigaltstack)(*is_shared ? &ours : stack, old);
    if (result != 0)
        tell(thread, start_before, end_before);
    else if (*is_shared)
        tell(thread, 0, 0);
    return result;
}

/* The thread has none any more, in the program's eyes. */
static int take_away(const stack_t *stack, stack_t *old)
{
    struct col_thread *thread = caller();
    stack_t now, ours = {.ss_sp = local.own, .ss_size = STACK_BYTES};
    bool is_none = local.own != NULL && local.shown.ss_size == 0 && COL_REAL(sigaltstack)(NULL, &now) == 0 &&
                   now.ss_sp == local.own;
    int result = COL_REAL(sigaltstack)(is_none ? NULL : thread != NULL && has_own() ? &ours : stack, old);
    if (result == 0 && thread != NULL)
        tell(thread, 0, 0);
    return result;
}

int col_alternate_stack_set(const stack_t *stack, stack_t *old)
{
    bool is_shared = false;
    stack_t before = local.shown;
    int result = (stack->ss_flags & SS_DISABLE) != 0 ? take_away(stack, old) : give(stack, old, &is_shared);
    if (result != 0)
        return result;
    local.shown = is_shared ? invert(*stack) : (stack_t){0};
    if (old != NULL)
        show(old, &before);
    return 0;
}

/* Ours takes the place of the one that the kernel has, which the program goes on to see. */
static void replace(struct col_thread *thread, const stack_t *now)
{
    void *stack = has_own() ? local.own : take();
    stack_t ours = {.ss_sp = stack, .ss_flags = now->ss_flags};
    ours.ss_size = now->ss_size < STACK_BYTES ? now->ss_size : STACK_BYTES;
    if (stack == NULL)
        return;
    if (COL_REAL(sigaltstack)(&ours, NULL) == 0) {
        begin_own(stack);
        local.shown = invert(*now);
        tell(thread, 0, 0);
    } else if (!has_own())
        give_back(stack);
}

void col_alternate_stack_lose(const void *memory, size_t bytes)
{
    uintptr_t start = (uintptr_t)memory, end = start + bytes;
    stack_t now;
    if (end <= ~__atomic_load_n(&self.not_lowest, __ATOMIC_RELAXED) ||
        start >= ~__atomic_load_n(&self.not_highest, __ATOMIC_RELAXED))
        return;
    bool is_known = !col_silence_is_on() && col_thread_has_own_storage() && local.tid == col_os_thread_id();
    struct col_thread *thread = is_known ? col_thread_current() : NULL; /* a child of vfork is not known */
    if (thread == NULL || thread->alternate_start >= end || thread->alternate_end <= start)
        return;
    int saved_errno = errno;
    if (COL_REAL(sigaltstack)(NULL, &now) == 0 && (now.ss_flags & (SS_DISABLE | SS_ONSTACK)) == 0 &&
        now.ss_sp != local.own)
        replace(thread, &now);
    errno = saved_errno;
}

void col_alternate_stack_lose_all(void)
{
    col_alternate_stack_lose(NULL, SIZE_MAX);
}
