/* thread.c -- what we know of each thread of the watched process, and whose turn it is to touch it */
#include "target/thread.h"

#include "base/arch.h"
#include "base/clock.h"
#include "base/os.h"
#include "base/sparse.h"

#define BLOCK_COUNT 65536u
#define POINTER_COUNT 4096u
#define SILENCED_COUNT 64u
#define SPARE_STACK_BYTES 65536u
#define BEING_PREPARED UINT32_MAX /* the id of a block that is taken and nobody's yet */

/* Initial-exec and small: a handler may not wait for the dynamic linker to make thread-local storage. */
static __thread struct {
    struct col_thread *thread;
    uint32_t ended_tid; /* this thread was retired: its late ticks find no block */
} local __attribute__((tls_model("initial-exec")));

static struct {
    uint32_t block_count;
    uint32_t first_free_hint;
    uint64_t lost_count, unsafe_count;
    uintptr_t silenced[SILENCED_COUNT]; /* thread pointers */
    uint32_t silenced_end;              /* atomic */
    bool are_all_silenced;
    bool has_pointer_instruction;
    unsigned tid_at; /* where the C library notes a thread's id, from there */
} self;

static struct col_thread *blocks[BLOCK_COUNT] COL_SPARSE;
static uintptr_t
    pointers[POINTER_COUNT] COL_SPARSE; /* thread pointers that were found to be the C library's, by hash */

static uintptr_t *place_of(uintptr_t pointer)
{
    return &pointers[(pointer >> 6 ^ pointer >> 18) % POINTER_COUNT];
}

void col_thread_learn_storage(void)
{
    self.has_pointer_instruction = col_arch_has_thread_pointer();
    uintptr_t pointer = col_arch_thread_pointer(self.has_pointer_instruction);
    self.tid_at = col_arch_find_tid(pointer, col_os_thread_id());
    __atomic_store_n(place_of(pointer), 0,
                     __ATOMIC_RELAXED); /* a store before the first load: then the page is faulted in once */
}

bool col_thread_has_own_storage(void)
{
    uintptr_t pointer = col_arch_thread_pointer(self.has_pointer_instruction);
    if (pointer != 0 && __atomic_load_n(place_of(pointer), __ATOMIC_RELAXED) == pointer)
        return true;
    if (!col_arch_is_thread_pointer(pointer, self.tid_at, col_os_thread_id()))
        return false;
    __atomic_store_n(place_of(pointer), pointer, __ATOMIC_RELAXED);
    return true;
}

void col_thread_silence(bool is_for_all)
{
    uint32_t place = is_for_all ? SILENCED_COUNT : __atomic_fetch_add(&self.silenced_end, 1, __ATOMIC_RELAXED);
    if (place < SILENCED_COUNT && self.has_pointer_instruction)
        __atomic_store_n(&self.silenced[place], col_arch_thread_pointer(true), __ATOMIC_RELEASE);
    else
        __atomic_store_n(&self.are_all_silenced, true, __ATOMIC_RELEASE);
}

void col_thread_unsilence(bool is_for_all)
{
    uintptr_t pointer = col_arch_thread_pointer(self.has_pointer_instruction);
    if (is_for_all)
        __atomic_store_n(&self.are_all_silenced, false, __ATOMIC_RELEASE);
    for (uint32_t i = 0; i < SILENCED_COUNT; i++)
        if (self.silenced[i] == pointer)
            __atomic_store_n(&self.silenced[i], 0, __ATOMIC_RELEASE);
}

bool col_thread_is_silenced(void)
{
    uint32_t end = __atomic_load_n(&self.silenced_end, __ATOMIC_RELAXED);
    if (__builtin_expect(__atomic_load_n(&self.are_all_silenced, __ATOMIC_ACQUIRE), 0))
        return true;
    for (uint32_t i = 0; i < end && i < SILENCED_COUNT; i++)
        if (__atomic_load_n(&self.silenced[i], __ATOMIC_ACQUIRE) == col_arch_thread_pointer(true))
            return true;
    return false;
}

static size_t block_bytes(void)
{
    return sizeof(struct col_thread) + col_open_frame_private_bytes();
}

static bool claim(struct col_thread *thread)
{
    uint32_t nobody = 0;
    return __atomic_load_n(&thread->tid, __ATOMIC_RELAXED) == 0 &&
           __atomic_compare_exchange_n(&thread->tid, &nobody, BEING_PREPARED, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static struct col_thread *claim_used_block(void)
{
    uint32_t count = __atomic_load_n(&self.block_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = __atomic_load_n(&self.first_free_hint, __ATOMIC_RELAXED); i < count; i++) {
        struct col_thread *thread = __atomic_load_n(&blocks[i], __ATOMIC_ACQUIRE);
        if (thread != NULL && claim(thread)) {
            __atomic_store_n(&self.first_free_hint, i + 1, __ATOMIC_RELAXED);
            return thread;
        }
    }
    return NULL;
}

static struct col_thread *claim_new_block(void)
{
    uint32_t slot = __atomic_fetch_add(&self.block_count, 1, __ATOMIC_ACQ_REL);
    if (slot >= BLOCK_COUNT) {
        __atomic_fetch_sub(&self.block_count, 1, __ATOMIC_ACQ_REL);
        return NULL;
    }
    struct col_thread *thread = col_os_map_memory(block_bytes());
    if (thread == NULL)
        return NULL; /* the slot stays empty: those who walk the table step over it */
    thread->tid = BEING_PREPARED;
    __atomic_store_n(&blocks[slot], thread, __ATOMIC_RELEASE);
    return thread;
}

/* A block that served another thread keeps its memory and forgets the rest. */
static void begin_block(struct col_thread *thread)
{
    thread->is_announced = thread->has_frame = thread->is_unloading = false;
    thread->acquired_frames = 0;
    thread->alternate_start = thread->alternate_end = 0;
    thread->event = thread->faults = thread->backup = thread->timer = -1;
    thread->cpu_ns = thread->time_ns = thread->cpu_us_rest_ns = thread->system_rest_ns = 0;
    thread->is_long = thread->is_without_event = false;
    thread->held_user_ns = thread->held_system_ns = thread->held_missing_ns = thread->rest_ns = 0;
    thread->lost_cpu_ns = thread->lost_time_ns = thread->open_ns = 0;
    thread->waiting_ns = thread->system_ns = thread->stime_ns = thread->slow_cpu_ns = 0;
    thread->switches = thread->switches_cpu_ns = thread->switch_ns = thread->timely_count = 0;
    thread->tick_count = thread->slow_tick_count = thread->silent_ns = 0;
    thread->unseen_system_ns = thread->fault_cpu_ns = thread->fault_median_ns = 0;
    thread->kernel_history = 0;
    thread->history_count = 0;
    thread->is_slow_timer_fast = true;
    thread->quiet_count = 0;
    thread->last = (struct col_thread_stack){.pcs = thread->pcs};
    thread->start_address = 0;
    thread->off_cpu_ns = 0;
    thread->suspension_count = 0;
    thread->group = (struct col_group){.leader = -1};
    thread->waits = (struct col_thread_waits){.event = -1};
    thread->bounds = (struct col_stack_bounds){0, 0};
    thread->deep = (struct col_deep_stack){.debt = 0};
    for (unsigned cause = 0; cause < COL_DROP_CAUSES; cause++)
        thread->drops[cause] = thread->drops_written[cause] = 0;
    col_open_frame_prepare(&thread->frame, (unsigned char *)thread + sizeof *thread);
}

/* Threads made by a bare clone may share our thread-local storage with their maker: look for the block by its id. */
static struct col_thread *find(uint32_t tid)
{
    uint32_t count = __atomic_load_n(&self.block_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < BLOCK_COUNT; i++) {
        struct col_thread *thread = __atomic_load_n(&blocks[i], __ATOMIC_ACQUIRE);
        if (thread != NULL && __atomic_load_n(&thread->tid, __ATOMIC_RELAXED) == tid)
            return thread;
    }
    return NULL;
}

void col_thread_lose_tick(bool is_of_clock)
{
    __atomic_fetch_add(&self.unsafe_count, 1, __ATOMIC_RELAXED);
    struct col_thread *thread = is_of_clock ? find(col_os_thread_id()) : NULL;
    if (thread == NULL)
        return;
    thread->lost_cpu_ns = col_clock_thread_cpu();
    thread->lost_time_ns = col_clock_now();
}

/* A tick may come between any two of these steps, and be served: then its block stands. */
static struct col_thread *take_block(uint32_t tid)
{
    struct col_thread *before = local.thread, *thread = claim_used_block();
    if (thread == NULL)
        thread = claim_new_block();
    if (thread == NULL)
        return NULL;
    begin_block(thread);
    __atomic_store_n(&thread->tid, tid, __ATOMIC_RELEASE);
    if (__atomic_compare_exchange_n(&local.thread, &before, thread, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
        before->tid != tid)
        return thread;
    __atomic_store_n(&thread->tid, 0, __ATOMIC_RELEASE);
    return before;
}

struct col_thread *col_thread_current(void)
{
    uint32_t tid = col_os_thread_id();
    struct col_thread *thread = local.thread;
    if (thread != NULL && thread->tid == tid)
        return thread;
    if (local.ended_tid == tid)
        return NULL;
    if (thread != NULL && (thread = find(tid)) != NULL)
        return thread;
    return take_block(tid);
}

enum { FREE, BUSY, FORKING }; /* thread->busy */

static bool take(struct col_thread *thread, int as)
{
    return __atomic_compare_exchange_n(&thread->busy, &as, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

struct col_thread *col_thread_enter(void)
{
    struct col_thread *thread = col_thread_current();
    if (thread == NULL) {
        if (local.ended_tid != col_os_thread_id())
            __atomic_fetch_add(&self.lost_count, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    /* No loss, if it is a tick that finds the thread inside the library: the next sample stands for its time as well. */
    return take(thread, FREE) ||
                   (thread->forking_pid != 0 && thread->forking_pid == col_os_process_id() && take(thread, FORKING))
               ? thread
               : NULL;
}

void col_thread_leave(struct col_thread *thread)
{
    __atomic_store_n(&thread->busy, thread->forking_pid != 0 ? FORKING : FREE, __ATOMIC_RELEASE);
}

struct col_thread *col_thread_enter_fork(void)
{
    struct col_thread *thread = col_thread_enter();
    if (thread != NULL) {
        thread->forking_pid = col_os_process_id();
        col_thread_leave(thread);
    }
    return thread;
}

void col_thread_leave_fork(struct col_thread *thread)
{
    thread->forking_pid = 0;
    col_thread_leave(thread);
}

uintptr_t col_thread_spare_stack(void)
{
    struct col_thread *thread = col_thread_current();
    if (thread != NULL && thread->spare_stack == NULL)
        thread->spare_stack = col_os_map_memory(SPARE_STACK_BYTES);
    return thread != NULL && thread->spare_stack != NULL ? (uintptr_t)thread->spare_stack + SPARE_STACK_BYTES : 0;
}

void col_thread_retire(struct col_thread *thread)
{
    uintptr_t pointer = col_arch_thread_pointer(self.has_pointer_instruction);
    __atomic_compare_exchange_n(place_of(pointer), &pointer, 0, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED); /* its memory may be given to others */
    local.ended_tid = thread->tid;
    local.thread = NULL;
    __atomic_store_n(&thread->busy, FREE, __ATOMIC_RELEASE);
    __atomic_store_n(&thread->tid, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&self.first_free_hint, 0, __ATOMIC_RELAXED);
}

struct col_thread *col_thread_return(void)
{
    local.ended_tid = 0;
    return col_thread_enter();
}

/* A thread inside the library leaves within microseconds, unless the kernel has put it aside: give it some turns. */
static bool take_from_its_thread(struct col_thread *thread)
{
    for (unsigned turn = 0; turn < 1000; turn++) {
        if (take(thread, FREE))
            return true;
        col_os_yield();
    }
    return false;
}

struct col_thread *col_thread_each(uint32_t *next)
{
    uint32_t count = __atomic_load_n(&self.block_count, __ATOMIC_ACQUIRE);
    while (*next < count && *next < BLOCK_COUNT) {
        struct col_thread *thread = __atomic_load_n(&blocks[(*next)++], __ATOMIC_ACQUIRE);
        uint32_t tid = thread != NULL ? __atomic_load_n(&thread->tid, __ATOMIC_RELAXED) : 0;
        if (tid != 0 && tid != BEING_PREPARED)
            return thread;
    }
    return NULL;
}

struct col_thread *col_thread_each_closing(uint32_t *next)
{
    struct col_thread *thread = col_thread_each(next);
    while (thread != NULL && !take_from_its_thread(thread))
        thread = col_thread_each(next);
    return thread;
}

void col_thread_forget_others(void)
{
    uint32_t count = self.block_count < BLOCK_COUNT ? self.block_count : BLOCK_COUNT;
    for (uint32_t i = 0; i < count; i++)
        if (blocks[i] != NULL) {
            blocks[i]->tid = 0;
            blocks[i]->busy = FREE;
            blocks[i]->forking_pid = 0;
        }
    self.first_free_hint = 0;
    self.lost_count = self.unsafe_count = 0;
    local.thread = NULL;
    local.ended_tid = 0;
}

uint64_t col_thread_lost_count(void)
{
    return __atomic_load_n(&self.lost_count, __ATOMIC_RELAXED);
}

uint64_t col_thread_unsafe_count(void)
{
    return __atomic_load_n(&self.unsafe_count, __ATOMIC_RELAXED);
}
