/* remote_process.c -- stacks of another process's threads, from outside
 *
 * A function that waits in the kernel has seldom saved the frame pointer, and the kernel does not show it. Where a caller's table asks for it, it is
 * searched for on the stack: it points to a word that is the caller's own frame pointer, below a return address. What is taken leads to
 * the start of the thread.
 */
#include "sample/remote_process.h"

#include <fcntl.h>
#include <string.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/remote_memory.h"
#include "base/safe_read.h"
#include "base/text_format.h"
#include "sample/python_stack.h"
#include "sample/unwind.h"
#include "sample/unwind_cache.h"
#include "sample/unwind_code.h"
#include "target/code_finder.h"
#include "target/eh_frame.h"
#include "target/exported_symbols.h"
#include "target/remote_interpreter.h"
#include "target/remote_java.h"
#include "target/remote_modules.h"
#include "target/thread.h"

enum {
    KNOWN_FRAMES = 64,
    KNOWN_STATES = 4096,
    SEARCHED_WORDS = 4096,
    MOST_ATTEMPTS = 32, /* walks */
    LONGEST_CHAIN_BYTES = 1 << 20,
};

/* No address, and none near it: what is read by it cannot be read. */
#define FP_NOT_KNOWN ((uintptr_t)1 << 62)

/* How far the frame pointer was from the stack pointer in a frame that returns to `pc`. */
struct known_frame {
    uint64_t tag;
    uintptr_t pc, distance;
};

struct known_state {
    pid_t thread;
    uintptr_t state;
};

struct col_remote_process {
    uint64_t number;
    struct col_remote_memory memory;
    uint64_t generation, version; /* of its rules, and of the modules that they are for */
    struct known_frame known[KNOWN_FRAMES];
    bool has_python;
    uint64_t python_version; /* of the modules in which it was looked for */
    struct col_python_runtime python;
    bool has_java;
    uint64_t java_version; /* the same */
    struct col_java_runtime java;
    uintptr_t turns;
    uint64_t turns_version; /* the same */
    struct known_state states[KNOWN_STATES];
};

static struct {
    struct col_thread_walk *room; /* where walks put what becomes one stack: of all processes */
    uint64_t process_count;       /* so many were there; each has a number */
} self;

static void open_memory(struct col_remote_memory *memory, pid_t pid)
{
    char path[32];
    memory->pid = pid;
    memory->file = -1;
    if (col_remote_memory_has_call(pid))
        return;
    col_text_print_into(path, sizeof path, "/proc/%d/mem", (int)pid);
    memory->file = col_os_open(path, O_RDONLY, 0);
}

static void close_memory(struct col_remote_memory *memory)
{
    if (memory->file >= 0)
        col_os_close(memory->file);
}

struct col_remote_process *col_remote_open(pid_t pid)
{
    struct col_remote_process *process = col_remote_memory_prepare() ? col_os_map_memory(sizeof *process) : NULL;
    if (process != NULL)
        open_memory(&process->memory, pid);
    if (process != NULL)
        process->number = ++self.process_count;
    return process;
}

void col_remote_close(struct col_remote_process *process)
{
    col_remote_modules_close(&process->memory);
    close_memory(&process->memory);
    col_os_unmap(process, sizeof *process);
}

void col_remote_changed(struct col_remote_process *process)
{
    close_memory(&process->memory); /* it shows the memory that the process had when it was opened */
    open_memory(&process->memory, process->memory.pid);
    col_remote_modules_expect(&process->memory);
    process->generation = 0;
    process->python_version = process->java_version = process->turns_version = 0;
    process->turns = 0;
    process->number = ++self.process_count;
}

static bool find_rules(struct col_remote_process *process, struct col_unwind_rules *rules)
{
    uint64_t version = col_remote_modules_version(&process->memory);
    if (version != process->version)
        process->generation = 0;
    process->version = version;
    return col_unwind_cache_of(&process->generation, rules);
}

static bool is_rooted(enum col_stack_end end)
{
    return end == COL_END_COMPLETE || end == COL_END_GUESSED;
}

/* ---- the search for the frame pointer ---- */

/* The first frame whose caller cannot be found without it. */
struct search {
    struct col_unwind_remote *remote;
    struct col_proved_pages proved;
    struct col_stack_reader reader;
    struct col_stack_bounds none;
    struct col_stack_mark frame;
    uintptr_t function, function_end; /* its code, 0: no table says */
    uintptr_t *pcs, *sps;
    size_t most, count;
    enum col_stack_end end;
    uintptr_t fp; /* of the last attempt */
    unsigned attempts;
};

/* How sure it is that the frame's caller returns to the word above the place. */
enum evidence { EVIDENCE_NONE, EVIDENCE_OTHER_CALL, EVIDENCE_SOME_CALL, EVIDENCE_THIS_CALL };

static enum evidence judge(struct search *search, uintptr_t place)
{
    uintptr_t address;
    if (!col_safe_read_stack(&search->reader, place + sizeof place, &address))
        return EVIDENCE_NONE;
    if (!col_unwind_code_is_return_address(address, &search->proved)) /* a handler returns to what nobody calls */
        return col_code_finder_is_known_code_in(search->proved.memory, address) &&
                       col_arch_is_signal_return(&search->proved, address)
                   ? EVIDENCE_THIS_CALL
                   : EVIDENCE_NONE;
    uintptr_t called = col_arch_called_address(&search->proved, address);
    if (called != 0 && called != search->function && address >= search->function && address < search->function_end)
        return EVIDENCE_NONE; /* left behind by what the function itself has called */
    return called == 0 ? EVIDENCE_SOME_CALL : called == search->function ? EVIDENCE_THIS_CALL : EVIDENCE_OTHER_CALL;
}

/* True if the word at the place may be the caller's frame pointer: that lies above, or is none. The caller may also use its register for other things. */
static bool is_chain(struct search *search, uintptr_t place)
{
    uintptr_t word;
    return col_safe_read_stack(&search->reader, place, &word) &&
           (word == 0 || (word > place && word - place <= LONGEST_CHAIN_BYTES));
}

/* Walks with this frame pointer. True if that leads to the start of the thread. */
static bool attempt(struct search *search, uintptr_t fp)
{
    struct col_unwind_remote remote = *search->remote;
    enum col_stack_end end;
    remote.leaf.fp = search->fp = fp;
    search->attempts++;
    search->count = col_unwind_walk_remote(&remote, search->pcs, search->sps, search->most, &end);
    search->end = end;
    col_safe_read_begin_remote(&search->reader, &search->none, remote.memory); /* its copy is gone */
    return end == COL_END_COMPLETE;
}

static void find_function(struct search *search)
{
    struct col_code_module module;
    struct col_eh_fde fde;
    if (col_code_finder_find_in(search->proved.memory, search->frame.pc - 1, &module) &&
        col_eh_frame_find(&module, search->frame.pc - 1, &search->proved, &fde))
        search->function = fde.low, search->function_end = fde.high;
}

static struct known_frame *place_of(struct col_remote_process *process, uintptr_t pc)
{
    return &process->known[(uint64_t)pc * UINT64_C(0x9e3779b97f4a7c15) >> 32 & (KNOWN_FRAMES - 1)];
}

/* Where it was the last time, if something there is returned to that is known. */
static bool attempt_as_before(struct search *search, const struct known_frame *known)
{
    uintptr_t fp = search->frame.sp + known->distance, address;
    struct col_unwind_rules rules = search->remote->rules;
    return known->pc == search->frame.pc && known->tag == rules.tag &&
           col_safe_read_stack(&search->reader, fp + sizeof fp, &address) &&
           col_unwind_cache_find(rules, col_unwind_place(address, false)) != COL_RULE_UNKNOWN && attempt(search, fp);
}

/* Where the function's first instructions have put its frame pointer. */
static bool attempt_by_entry(struct search *search)
{
    uintptr_t fp;
    return search->function != 0 &&
           col_unwind_code_fp_of(search->function, search->frame.pc, search->frame.sp, &search->proved, &fp) &&
           judge(search, fp) >= EVIDENCE_OTHER_CALL && attempt(search, fp);
}

static bool attempt_by_evidence(struct search *search, enum evidence wanted)
{
    for (size_t i = 0; i < SEARCHED_WORDS && search->attempts < MOST_ATTEMPTS; i++) {
        uintptr_t place = search->frame.sp + i * sizeof place, word;
        if (!col_safe_read_stack(&search->reader, place, &word))
            break;
        if (judge(search, place) == wanted && (wanted == EVIDENCE_THIS_CALL || is_chain(search, place)) &&
            attempt(search, place))
            return true;
    }
    return false;
}

static bool find_fp(struct search *search, struct known_frame *known)
{
    col_safe_read_begin_remote(&search->reader, &search->none, search->remote->memory);
    if (attempt_as_before(search, known))
        return true;
    find_function(search);
    if (!attempt_by_entry(search) && !attempt_by_evidence(search, EVIDENCE_THIS_CALL) &&
        !attempt_by_evidence(search, EVIDENCE_SOME_CALL) && !attempt_by_evidence(search, EVIDENCE_OTHER_CALL))
        return false;
    *known = (struct known_frame){search->remote->rules.tag, search->frame.pc, search->fp - search->frame.sp};
    return true;
}

/* ---- walks ---- */

/* NULL: there is no HotSpot whose frames can be read. */
static const struct col_java_runtime *find_java(struct col_remote_process *process)
{
    if (process->java_version != process->version) {
        process->has_java = col_remote_java_find(&process->memory, process->number, &process->java);
        process->java_version = process->version;
    }
    return process->has_java ? &process->java : NULL;
}

static size_t walk(struct col_remote_process *process, const struct col_remote_registers *registers, uintptr_t *pcs,
                   uintptr_t *sps, size_t most, unsigned *end)
{
    struct col_unwind_remote remote = {.memory = &process->memory,
                                       .leaf = {registers->pc, registers->sp, FP_NOT_KNOWN}};
    enum col_stack_end first_end;
    *end = COL_END_UNREADABLE;
    col_remote_memory_begin();
    col_remote_modules_begin(&process->memory);
    if (!col_remote_modules_are_code(&process->memory, registers->pc, true) || !find_rules(process, &remote.rules))
        return 0;
    remote.java = find_java(process);
    if (registers->has_fp)
        remote.leaf.fp = registers->fp;
    size_t count = col_unwind_walk_remote(&remote, pcs, sps, most, &first_end);
    *end = first_end;
    if (is_rooted(first_end) || remote.last.fp != FP_NOT_KNOWN)
        return count;
    struct search search = {.remote = &remote,
                            .proved = {.memory = &process->memory},
                            .frame = remote.last,
                            .pcs = pcs,
                            .sps = sps,
                            .most = most};
    if (!find_fp(&search, place_of(process, remote.last.pc)))
        return count; /* all attempts have begun with the same frames */
    *end = search.end;
    return search.count;
}

/* ---- Python ---- */

/* NULL: there is no interpreter whose frames can be read. */
static struct col_python_runtime *find_python(struct col_remote_process *process)
{
    if (process->python_version != process->version) {
        process->has_python = col_remote_interpreter_find(&process->memory, process->number, &process->python);
        process->python_version = process->version;
    }
    return process->has_python ? &process->python : NULL;
}

static void find_state(struct col_remote_process *process, pid_t thread)
{
    struct known_state *known = &process->states[(unsigned)thread % KNOWN_STATES];
    uintptr_t hint = known->thread == thread ? known->state : 0;
    uintptr_t state = col_remote_interpreter_state(&process->python, thread, hint);
    process->python.state = state;
    *known = (struct known_state){thread, state};
}

static void find_turns(struct col_remote_process *process)
{
    struct col_remote_object object;
    uint64_t version = col_remote_modules_version(&process->memory);
    if (version == process->turns_version)
        return;
    process->turns_version = version;
    process->turns = 0;
    for (size_t index = 0; process->turns == 0 && col_remote_modules_next_object(&process->memory, &index, &object);) {
        uintptr_t pointer =
            col_exported_symbols_find(&process->memory, object.bias, object.dynamic, "collector_recording_turns");
        process->turns = pointer != 0 ? col_remote_memory_word(&process->memory, pointer) : 0;
    }
}

bool col_remote_turns(struct col_remote_process *process, struct col_recording_turns *turns)
{
    return process->turns != 0 &&
           col_remote_memory_read(&process->memory, process->turns, turns, sizeof *turns) == sizeof *turns &&
           turns->magic == COL_RECORDING_MAGIC && turns->start_ns <= turns->end_ns;
}

size_t col_remote_python(struct col_remote_process *process, pid_t thread, const struct col_remote_registers *registers,
                         uintptr_t *pcs, size_t most, unsigned *end)
{
    struct col_stack_bounds none = {0, 0};
    if (self.room == NULL)
        self.room = col_os_map_memory(sizeof *self.room);
    if (self.room == NULL || most > COL_THREAD_DEPTH)
        return walk(process, registers, pcs, NULL, most, end);
    struct col_native_stack native = {self.room->pcs, self.room->sps, 0, &none};
    native.count = walk(process, registers, self.room->pcs, self.room->sps, most, end);
    find_turns(process);
    const struct col_python_runtime *python = native.count != 0 ? find_python(process) : NULL;
    if (python == NULL) {
        memcpy(pcs, native.pcs, native.count * sizeof *pcs);
        return native.count;
    }
    find_state(process, thread);
    bool was_rooted = is_rooted(*end), is_whole = was_rooted;
    size_t count = col_python_stack_merge(python, &native, self.room->python, pcs, most, &is_whole);
    if (is_whole != was_rooted)
        *end = is_whole ? COL_END_COMPLETE : COL_END_DEPTH_LIMIT;
    return count;
}

bool col_remote_is_gil(const struct col_remote_process *process, uintptr_t address)
{
    return process->has_python && col_python_runtime_is_gil(&process->python, address);
}
