/* unwind_java.c -- leaving a frame of the code that HotSpot makes
 *
 * Compiled code and most stubs have frames of a size that is known, with the return address and the caller's frame pointer at its upper end
 * (src/hotspot/share/runtime/frame.cpp); the interpreter keeps a frame pointer. Where a method begins or ends its frame is made or gone by half: there the
 * instructions tell.
 */
#include "sample/unwind_java.h"

#include "base/instruction.h"
#include "target/java_code.h"
#include "target/java_method.h"

enum {
    WORD = sizeof(uintptr_t),
    MOST_INLINED = 64,
    MOST_ENTRY = 16,      /* words of what is kept of a virtual thread */
    MOST_PUSHED = 4,      /* words */
    MOST_ENDING = 12,     /* instructions from where a frame begins to be taken down to the return */
    MOST_BEGINNING = 100, /* from a method's entry to where the frame is made */
    LARGEST_FRAME = 1 << 20,
};

/* What stands in the stack for a frame; nothing: its own address. */
struct frame {
    size_t count;
    uintptr_t addresses[MOST_INLINED];
};

struct leaving {
    const struct col_java_runtime *java;
    struct col_regs *regs;
    struct col_stack_reader *reader;
    struct col_proved_pages *proved;
    struct frame *frame;
};

/* The caller, to be. */
struct caller {
    uintptr_t pc, sp, fp;
};

static bool read_stack(const struct leaving *leaving, uintptr_t at, uintptr_t *word)
{
    return at % WORD == 0 && col_safe_read_stack(leaving->reader, at, word);
}

static bool leave_to(const struct leaving *leaving, const struct caller *caller)
{
    struct col_regs *regs = leaving->regs;
    if (caller->sp <= regs->sp || caller->sp - regs->sp > LARGEST_FRAME || caller->sp % WORD != 0)
        return false;
    regs->pc = caller->pc;
    regs->sp = caller->sp;
    regs->fp = caller->fp;
    return true;
}

/* Of HotSpot's code, which in our own process can be read. */
COL_READS_FOREIGN static bool read_code(const struct leaving *leaving, uintptr_t at, uint8_t *to, size_t bytes)
{
    if (leaving->java->layout.memory != NULL)
        return col_safe_read_copy(leaving->proved, at, to, bytes);
    for (size_t i = 0; i < bytes; i++)
        to[i] = ((const volatile uint8_t *)at)[i];
    return true;
}

/*
 * The frames of a virtual thread that it will not need soon lie in the heap. Where those on the stack end they return to a stub that fetches others, and that begins by loading
 * the stack pointer from the thread.
 */
static bool is_barrier(const struct leaving *leaving, const struct col_java_blob *blob, uintptr_t pc)
{
    uint8_t code[8];
    return blob->kind == COL_JAVA_CODE_BARE && blob->end - pc > sizeof code &&
           read_code(leaving, pc, code, sizeof code) && col_arch_loads_sp_from_thread(code);
}

/* True for what code of HotSpot's returns to: the interpreter keeps such addresses in a table, all else calls. */
static bool is_return_address(const struct leaving *leaving, uintptr_t pc)
{
    struct col_java_blob blob;
    uint8_t before[8];
    return col_java_runtime_has_code(leaving->java, pc - 1) && col_java_code_find(leaving->java, pc - 1, &blob) &&
           (blob.kind == COL_JAVA_CODE_INTERPRETER || col_java_code_is_deoptimizer(leaving->java, &blob, pc) ||
            is_barrier(leaving, &blob, pc) ||
            (pc - COL_ARCH_CALL_BYTES >= blob.code && read_code(leaving, pc - sizeof before, before, sizeof before) &&
             col_arch_ends_in_call(before + sizeof before)));
}

/* ---- frames of a fixed size ---- */

/* Some code pushes a few words on top of its frame: arguments of stubs, and registers where it has too few. */
static bool leave_whole_frame(const struct leaving *leaving, const struct col_java_blob *blob)
{
    struct caller caller = {.sp = leaving->regs->sp + blob->frame_bytes};
    for (unsigned pushed = 0; blob->frame_bytes >= 2 * WORD && pushed <= MOST_PUSHED; pushed++, caller.sp += WORD)
        if (read_stack(leaving, caller.sp - WORD, &caller.pc) && is_return_address(leaving, caller.pc))
            return read_stack(leaving, caller.sp - 2 * WORD, &caller.fp) && leave_to(leaving, &caller);
    return false;
}

/* The instruction at `pc`, of the code that was interrupted. */
static void follow(uintptr_t *pc, uintptr_t end, struct col_stack_state *state, struct col_instruction *instruction)
{
    size_t size = end - *pc < COL_INSTRUCTION_BYTES ? (size_t)(end - *pc) : COL_INSTRUCTION_BYTES;
    col_instruction_follow((const uint8_t *)*pc, size, state, instruction);
    *pc += instruction->bytes;
}

static uintptr_t resolve(const struct col_regs *regs, struct col_stack_place place)
{
    return (place.from_fp ? regs->fp : regs->sp) + (uintptr_t)(intptr_t)place.offset;
}

/* True where the method's next instructions take down its frame and return. */
static bool find_ending(const struct leaving *leaving, const struct col_java_blob *blob, struct caller *caller)
{
    struct col_stack_state state = {.sp = {0, false}};
    struct col_instruction instruction;
    uintptr_t pc = leaving->regs->pc;
    for (unsigned i = 0; i < MOST_ENDING && pc < blob->end; i++) {
        follow(&pc, blob->end, &state, &instruction);
        if (instruction.flow == COL_FLOW_RETURN) {
            uintptr_t at = resolve(leaving->regs, state.sp);
            caller->fp = leaving->regs->fp;
            caller->sp = at + WORD;
            return at - leaving->regs->sp < LARGEST_FRAME && read_stack(leaving, at, &caller->pc) &&
                   (state.fp_origin != COL_FP_LOADED ||
                    read_stack(leaving, resolve(leaving->regs, state.fp), &caller->fp));
        }
        if (instruction.flow != COL_FLOW_NEXT && instruction.flow != COL_FLOW_BRANCH)
            return false;
    }
    return false;
}

/* What the instructions from the entry up to here have made of a frame. */
static bool find_beginning(const struct leaving *leaving, uintptr_t entry, struct caller *caller)
{
    struct col_stack_state state = {.sp = {0, false}};
    struct col_instruction instruction;
    uintptr_t end = leaving->regs->pc, pc = entry;
    for (unsigned i = 0; i < MOST_BEGINNING && pc < end; i++) {
        follow(&pc, end, &state, &instruction);
        if (instruction.flow == COL_FLOW_UNKNOWN || state.sp.from_fp || state.sp.offset > 0)
            return false;
    }
    uintptr_t at = leaving->regs->sp - (uintptr_t)(intptr_t)state.sp.offset;
    caller->sp = at + WORD;
    caller->fp = leaving->regs->fp;
    return pc == end && read_stack(leaving, at, &caller->pc) &&
           (state.fp_origin != COL_FP_POINTS || !state.has_pushed ||
            read_stack(leaving, at + (uintptr_t)(intptr_t)state.pushed.offset, &caller->fp));
}

/* The frame that was interrupted. Before its entry a method only looks at the object it is called on. */
static bool leave_interrupted(const struct leaving *leaving, const struct col_java_blob *blob, uintptr_t entry)
{
    uintptr_t pc = leaving->regs->pc;
    struct caller caller;
    bool is_beginning = pc < blob->frame_is_made && entry >= blob->code;
    if (is_beginning ? find_beginning(leaving, pc < entry ? pc : entry, &caller) : find_ending(leaving, blob, &caller))
        return leave_to(leaving, &caller);
    return !is_beginning && leave_whole_frame(leaving, blob);
}

/* A stub that was interrupted. Some push and pop as they like. */
static bool leave_stub(const struct leaving *leaving, const struct col_java_blob *blob)
{
    struct caller caller;
    return ((find_ending(leaving, blob, &caller) || find_beginning(leaving, blob->code, &caller)) &&
            is_return_address(leaving, caller.pc) && leave_to(leaving, &caller)) ||
           leave_whole_frame(leaving, blob);
}

static bool leave_method(const struct leaving *leaving, const struct col_java_blob *blob, bool is_exact)
{
    struct col_regs *regs = leaving->regs;
    uintptr_t pc =
        is_exact ? regs->pc : col_java_code_original_pc(leaving->java, blob, regs->pc, regs->sp, leaving->reader);
    leaving->frame->count = col_java_code_methods(leaving->java, blob, pc, is_exact, leaving->proved,
                                                  leaving->frame->addresses, MOST_INLINED);
    if (leaving->frame->count == 0)
        return false;
    return is_exact ? leave_interrupted(leaving, blob, col_java_code_entry(leaving->java, blob))
                    : leave_whole_frame(leaving, blob);
}

/* ---- the interpreter ---- */

static uintptr_t slot_of(const struct leaving *leaving, int words)
{
    uintptr_t word = 0;
    return read_stack(leaving, leaving->regs->fp + (uintptr_t)(intptr_t)(words * WORD), &word) ? word : 0;
}

/* Of two pointers the first that points to a bytecode of the method tells where it is; else it is at its first. */
static bool add_method(const struct leaving *leaving, uintptr_t address, bool is_certain, uintptr_t bytecode,
                       uintptr_t other)
{
    struct col_java_method method;
    if (!col_java_method_find(leaving->java, address, is_certain, &method))
        return false;
    bool is_first = bytecode - method.instructions < method.bytes;
    leaving->frame->addresses[0] =
        col_java_method_address(&method, (is_first ? bytecode : other) - method.instructions, COL_JAVA_INTERPRETED);
    leaving->frame->count = 1;
    return true;
}

/*
 * Who calls a method that has no frame yet. The return address is on top of the stack, below the frame pointer just pushed, in a register while the parameters are
 * made locals, or in the frame that has its first words.
 */
static bool find_return(const struct leaving *leaving, struct caller *caller)
{
    const struct col_regs *regs = leaving->regs;
    uintptr_t words[2], linked = regs->fp - regs->sp;
    if (!read_stack(leaving, regs->sp, &words[0]) || !read_stack(leaving, regs->sp + WORD, &words[1]))
        return false;
    caller->fp = regs->fp;
    caller->pc = is_return_address(leaving, words[0])                           ? words[0]
                 : words[0] == regs->fp && is_return_address(leaving, words[1]) ? words[1]
                                                                                : 0;
    if (caller->pc == 0 && linked <= 2 * WORD)
        return read_stack(leaving, regs->fp + WORD, &caller->pc) && read_stack(leaving, regs->fp, &caller->fp);
    if (caller->pc == 0)
        caller->pc = regs->dwarf[COL_ARCH_JAVA_RETURN_REG];
    return true;
}

/* A method that is being called lies in a register, as does its caller's stack pointer until the frame has that. */
static bool leave_call(const struct leaving *leaving)
{
    const struct col_regs *regs = leaving->regs;
    struct caller caller = {.sp = regs->dwarf[COL_ARCH_JAVA_BYTECODE_REG]};
    bool is_linked = regs->fp - regs->sp <= 2 * WORD && caller.sp - regs->sp > LARGEST_FRAME;
    if (is_linked && !read_stack(leaving, regs->fp - WORD, &caller.sp))
        return false;
    return caller.sp - regs->sp <= LARGEST_FRAME && find_return(leaving, &caller) &&
           is_return_address(leaving, caller.pc) &&
           add_method(leaving, regs->dwarf[COL_ARCH_JAVA_METHOD_REG], false, 0, 0) && leave_to(leaving, &caller);
}

/* An interpreted method. The one that was interrupted has the bytecode in a register. */
static bool leave_interpreter(const struct leaving *leaving, bool is_exact)
{
    const struct col_regs *regs = leaving->regs;
    if (is_exact && leave_call(leaving))
        return true;
    struct caller caller = {.sp = slot_of(leaving, COL_ARCH_JAVA_SENDER_SP)};
    uintptr_t bytecode = slot_of(leaving, COL_ARCH_JAVA_BYTECODE);
    return regs->fp >= regs->sp && regs->fp - regs->sp <= LARGEST_FRAME && caller.sp >= regs->fp + 2 * WORD &&
           read_stack(leaving, regs->fp, &caller.fp) && read_stack(leaving, regs->fp + WORD, &caller.pc) &&
           add_method(leaving, slot_of(leaving, COL_ARCH_JAVA_METHOD),
                      !is_exact || is_return_address(leaving, caller.pc),
                      is_exact ? regs->dwarf[COL_ARCH_JAVA_BYTECODE_REG] : bytecode, bytecode) &&
           leave_to(leaving, &caller);
}

/* ---- all else ---- */

/* Where a virtual thread's frames on the stack end lies what HotSpot knows of it, and behind that the frame that its carrier came by. */
static bool leave_barrier(const struct leaving *leaving)
{
    uintptr_t sp = leaving->regs->sp;
    for (unsigned words = 0; words < MOST_ENTRY; words++) {
        struct caller caller = {.sp = sp + (words + 2) * WORD};
        if (!read_stack(leaving, caller.sp - WORD, &caller.pc) || !is_return_address(leaving, caller.pc))
            continue;
        leaving->frame->addresses[0] = COL_FRAMES_LEFT_OUT;
        leaving->frame->count = 1;
        return read_stack(leaving, caller.sp - 2 * WORD, &caller.fp) && leave_to(leaving, &caller);
    }
    return false;
}

/* A stub that calls native code, or that native code calls Java by, has a frame pointer. One puts a mark before its return address. */
static bool leave_by_record(const struct leaving *leaving)
{
    uintptr_t fp = leaving->regs->fp;
    struct caller caller = {.sp = fp + 2 * WORD};
    if (fp < leaving->regs->sp || !read_stack(leaving, fp, &caller.fp) || !read_stack(leaving, fp + WORD, &caller.pc))
        return false;
    if (caller.pc == UINTPTR_MAX) {
        caller.sp += WORD;
        return read_stack(leaving, fp + 2 * WORD, &caller.pc) && is_return_address(leaving, caller.pc) &&
               leave_to(leaving, &caller);
    }
    return leaving->regs->pc == col_java_get_pointer(&leaving->java->layout, COL_JAVA_CALL_STUB_RETURN, 0) &&
           leave_to(leaving, &caller);
}

/* True if a frame that returns to `pc`, of which a fixed size is known, returns itself from there. */
static bool is_frame(const struct leaving *leaving, uintptr_t pc, uintptr_t sp)
{
    struct col_java_blob blob;
    uintptr_t word;
    return col_java_code_find(leaving->java, pc - 1, &blob) &&
           (blob.frame_bytes == 0 ||
            (read_stack(leaving, sp + blob.frame_bytes - WORD, &word) && is_return_address(leaving, word)));
}

/*
 * What lies between a call and a method has no frame. Where the callee wants its arguments elsewhere the return address is moved, by way of a register; the
 * caller's stack pointer is in another one then.
 */
static bool leave_adapter(const struct leaving *leaving)
{
    const struct col_regs *regs = leaving->regs;
    struct caller caller = {.sp = regs->sp + WORD, .fp = regs->fp};
    uintptr_t moved_sp = regs->dwarf[COL_ARCH_JAVA_BYTECODE_REG];
    if (!read_stack(leaving, regs->sp, &caller.pc))
        return false;
    bool is_moving = !is_return_address(leaving, caller.pc);
    if (is_moving)
        caller.pc = regs->dwarf[COL_ARCH_JAVA_RETURN_REG];
    if (is_moving || !is_frame(leaving, caller.pc, caller.sp))
        caller.sp = moved_sp;
    return is_return_address(leaving, caller.pc) && is_frame(leaving, caller.pc, caller.sp) &&
           leave_to(leaving, &caller);
}

static bool leave(const struct leaving *leaving, const struct col_java_blob *blob, bool is_exact)
{
    switch (blob->kind) {
    case COL_JAVA_CODE_INTERPRETER:
        return leave_interpreter(leaving, is_exact);
    case COL_JAVA_CODE_METHOD:
        return leave_method(leaving, blob, is_exact);
    case COL_JAVA_CODE_STUB:
        return is_exact ? leave_stub(leaving, blob) : leave_whole_frame(leaving, blob);
    case COL_JAVA_CODE_BARE:
        break;
    }
    return is_exact                                       ? leave_adapter(leaving)
           : is_barrier(leaving, blob, leaving->regs->pc) ? leave_barrier(leaving)
                                                          : leave_by_record(leaving);
}

/* False: there is no room, or the walk has gone on elsewhere. */
static bool put(const struct leaving *leaving, struct col_unwind_frames *output, uintptr_t address)
{
    uintptr_t sp = leaving->regs->sp;
    if (output->count == output->max &&
        (!col_unwind_frames_turn(output, leaving->reader, leaving->regs) || leaving->regs->sp != sp))
        return false;
    if (output->sps != NULL)
        output->sps[output->count] = sp;
    output->pcs[output->count++] = address;
    return true;
}

enum col_unwind_java_leaving col_unwind_java_walk(const struct col_java_runtime *java, struct col_regs *regs,
                                                  struct col_stack_reader *reader, struct col_proved_pages *proved,
                                                  bool is_exact, struct col_unwind_frames *output)
{
    struct frame frame = {.count = 0};
    struct col_regs caller = *regs;
    struct leaving leaving = {java, &caller, reader, proved, &frame};
    struct col_java_blob blob;
    if (is_exact && java->layout.memory != NULL)
        return COL_JAVA_LEFT_NOT; /* its registers are not known */
    if (!col_java_code_find(java, regs->pc - !is_exact, &blob) || !leave(&leaving, &blob, is_exact))
        return COL_JAVA_LEFT_NOT;
    if (frame.count == 0)
        frame.addresses[frame.count++] = regs->pc + (output->count != 0 && is_exact);
    uintptr_t sp = regs->sp;
    leaving.regs = regs;
    for (size_t i = 0; i < frame.count; i++)
        if (!put(&leaving, output, frame.addresses[i]))
            return regs->sp != sp ? COL_JAVA_JUMPED : COL_JAVA_NO_ROOM;
    *regs = caller;
    return COL_JAVA_LEFT;
}
