/* unwind_expression.c -- the little stack machine inside unwind tables */
#include "sample/unwind_expression.h"

enum {
    STACK_DEPTH = 16,
    MOST_STEPS = 256, /* backward branches could go on forever */
};

enum operation {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S,
    OP_CONST2U,
    OP_CONST2S,
    OP_CONST4U,
    OP_CONST4S,
    OP_CONST8U,
    OP_CONST8S,
    OP_CONSTU,
    OP_CONSTS,
    OP_DUP,
    OP_DROP,
    OP_OVER,
    OP_PICK,
    OP_SWAP,
    OP_ROT,
    OP_ABS = 0x19,
    OP_AND,
    OP_DIV,
    OP_MINUS,
    OP_MOD,
    OP_MUL,
    OP_NEG,
    OP_NOT,
    OP_OR,
    OP_PLUS,
    OP_PLUS_UCONST,
    OP_SHL,
    OP_SHR,
    OP_SHRA,
    OP_XOR,
    OP_BRA,
    OP_EQ,
    OP_GE,
    OP_GT,
    OP_LE,
    OP_LT,
    OP_NE,
    OP_SKIP,
    OP_LIT0 = 0x30,
    OP_LIT31 = 0x4f,
    OP_BREG0 = 0x70,
    OP_BREG31 = 0x8f,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

struct machine {
    struct col_cursor code;
    const uint8_t *begin;
    const struct col_unwind_expression_scene *scene;
    uintptr_t stack[STACK_DEPTH];
    unsigned depth;
};

/* Like the cursor, the machine remembers its first failure and goes on harmlessly. */
static void push(struct machine *machine, uintptr_t value)
{
    if (machine->depth == STACK_DEPTH)
        machine->code.failed = true;
    else
        machine->stack[machine->depth++] = value;
}

static uintptr_t pick(struct machine *machine, unsigned from_top)
{
    if (from_top < machine->depth)
        return machine->stack[machine->depth - 1 - from_top];
    machine->code.failed = true;
    return 0;
}

static uintptr_t pop(struct machine *machine)
{
    uintptr_t value = pick(machine, 0);
    machine->depth -= machine->depth > 0;
    return value;
}

static void push_register(struct machine *machine, uint64_t number)
{
    int64_t offset = col_cursor_sleb(&machine->code);
    if (number < COL_DWARF_REGS && machine->scene->known >> number & 1)
        push(machine, machine->scene->regs->dwarf[number] + (uintptr_t)offset);
    else
        machine->code.failed = true;
}

static void dereference(struct machine *machine, unsigned size)
{
    uintptr_t value = 0;
    if (size == 0 || size > sizeof value || !col_safe_read_stack(machine->scene->reader, pop(machine), &value))
        machine->code.failed = true;
    else if (size < sizeof value)
        value &= ((uintptr_t)1 << (8 * size)) - 1;
    push(machine, value);
}

static void jump(struct machine *machine, int16_t distance)
{
    intptr_t target = machine->code.at - machine->begin + distance;
    if (target < 0 || target > machine->code.end - machine->begin)
        machine->code.failed = true;
    else
        machine->code.at = machine->begin + target;
}

static void rotate(struct machine *machine)
{
    uintptr_t first = pop(machine), second = pop(machine), third = pop(machine);
    push(machine, first);
    push(machine, third);
    push(machine, second);
}

static void push_constant(struct machine *machine, unsigned operation)
{
    struct col_cursor *code = &machine->code;
    switch (operation) {
    case OP_CONST1U:
        push(machine, col_cursor_u8(code));
        break;
    case OP_CONST1S:
        push(machine, (uintptr_t)(intptr_t)(int8_t)col_cursor_u8(code));
        break;
    case OP_CONST2U:
        push(machine, col_cursor_u16(code));
        break;
    case OP_CONST2S:
        push(machine, (uintptr_t)(intptr_t)(int16_t)col_cursor_u16(code));
        break;
    case OP_CONST4U:
        push(machine, col_cursor_u32(code));
        break;
    case OP_CONST4S:
        push(machine, (uintptr_t)(intptr_t)(int32_t)col_cursor_u32(code));
        break;
    case OP_CONSTU:
        push(machine, col_cursor_uleb(code));
        break;
    case OP_CONSTS:
        push(machine, (uintptr_t)col_cursor_sleb(code));
        break;
    default:
        push(machine, col_cursor_u64(code));
    }
}

static void run_unary(struct machine *machine, unsigned operation)
{
    uintptr_t value = pop(machine);
    switch (operation) {
    case OP_ABS:
        push(machine, (intptr_t)value < 0 ? 0 - value : value);
        break;
    case OP_NEG:
        push(machine, 0 - value);
        break;
    case OP_NOT:
        push(machine, ~value);
        break;
    default:
        push(machine, value + col_cursor_uleb(&machine->code));
    }
}

static uintptr_t divide(struct machine *machine, uintptr_t left, uintptr_t right, bool wants_rest)
{
    bool is_defined = right != 0 && !(right == UINTPTR_MAX && left == (uintptr_t)INTPTR_MIN);
    if (!is_defined)
        machine->code.failed = true;
    else if (wants_rest)
        return left % right;
    return is_defined ? (uintptr_t)((intptr_t)left / (intptr_t)right) : 0;
}

/* Arithmetic shift by any amount; C leaves that of negative numbers to the compiler, all of ours do the right thing. */
static uintptr_t shift_right_signed(uintptr_t value, uintptr_t amount)
{
    return (uintptr_t)((intptr_t)value >> (amount < 63 ? amount : 63));
}

static void run_binary(struct machine *machine, unsigned operation)
{
    uintptr_t right = pop(machine), left = pop(machine);
    intptr_t signed_left = (intptr_t)left, signed_right = (intptr_t)right;
    switch (operation) {
    case OP_AND:
        push(machine, left & right);
        break;
    case OP_DIV:
        push(machine, divide(machine, left, right, false));
        break;
    case OP_MINUS:
        push(machine, left - right);
        break;
    case OP_MOD:
        push(machine, divide(machine, left, right, true));
        break;
    case OP_MUL:
        push(machine, left * right);
        break;
    case OP_OR:
        push(machine, left | right);
        break;
    case OP_PLUS:
        push(machine, left + right);
        break;
    case OP_SHL:
        push(machine, right < 64 ? left << right : 0);
        break;
    case OP_SHR:
        push(machine, right < 64 ? left >> right : 0);
        break;
    case OP_SHRA:
        push(machine, shift_right_signed(left, right));
        break;
    case OP_XOR:
        push(machine, left ^ right);
        break;
    case OP_EQ:
        push(machine, left == right);
        break;
    case OP_GE:
        push(machine, signed_left >= signed_right);
        break;
    case OP_GT:
        push(machine, signed_left > signed_right);
        break;
    case OP_LE:
        push(machine, signed_left <= signed_right);
        break;
    case OP_LT:
        push(machine, signed_left < signed_right);
        break;
    default:
        push(machine, left != right);
    }
}

static void run_operation(struct machine *machine, unsigned operation)
{
    if (operation >= OP_BREG0 && operation <= OP_BREG31) {
        push_register(machine, operation - OP_BREG0);
        return;
    }
    if (operation >= OP_LIT0 && operation <= OP_LIT31) {
        push(machine, operation - OP_LIT0);
        return;
    }
    switch (operation) {
    case OP_NOP:
        break;
    case OP_DEREF:
        dereference(machine, sizeof(uintptr_t));
        break;
    case OP_DEREF_SIZE:
        dereference(machine, col_cursor_u8(&machine->code));
        break;
    case OP_BREGX:
        push_register(machine, col_cursor_uleb(&machine->code));
        break;
    case OP_DUP:
        push(machine, pick(machine, 0));
        break;
    case OP_DROP:
        pop(machine);
        break;
    case OP_OVER:
        push(machine, pick(machine, 1));
        break;
    case OP_PICK:
        push(machine, pick(machine, col_cursor_u8(&machine->code)));
        break;
    case OP_SWAP: {
        uintptr_t first = pop(machine), second = pop(machine);
        push(machine, first);
        push(machine, second);
        break;
    }
    case OP_ROT:
        rotate(machine);
        break;
    case OP_SKIP:
        jump(machine, (int16_t)col_cursor_u16(&machine->code));
        break;
    case OP_BRA: {
        int16_t distance = (int16_t)col_cursor_u16(&machine->code);
        if (pop(machine) != 0)
            jump(machine, distance);
        break;
    }
    case OP_ABS:
    case OP_NEG:
    case OP_NOT:
    case OP_PLUS_UCONST:
        run_unary(machine, operation);
        break;
    default:
        if (operation == OP_ADDR || (operation >= OP_CONST1U && operation <= OP_CONSTS))
            push_constant(machine, operation);
        else if (operation >= OP_AND && operation <= OP_NE)
            run_binary(machine, operation);
        else
            machine->code.failed = true;
    }
}

bool col_unwind_expression_evaluate(const struct col_unwind_expression_scene *scene, struct col_cursor block,
                                    const uintptr_t *initial, uintptr_t *result)
{
    struct machine machine = {.code = block, .scene = scene};
    uint64_t length = col_cursor_uleb(&machine.code);
    if (machine.code.failed || length > (uint64_t)(machine.code.end - machine.code.at))
        return false;
    machine.begin = machine.code.at;
    machine.code.end = machine.code.at + length;
    if (initial)
        push(&machine, *initial);
    for (int step = 0; machine.code.at < machine.code.end && !machine.code.failed; step++) {
        if (step == MOST_STEPS)
            return false;
        run_operation(&machine, col_cursor_u8(&machine.code));
    }
    if (machine.code.failed || machine.depth == 0)
        return false;
    *result = machine.stack[machine.depth - 1];
    return true;
}
