/* instruction.c -- what an instruction does to the stack pointer */
#include "base/instruction.h"

#include "base/safe_read.h"

#if defined(__x86_64__)

/* Operands by opcode (Intel SDM volume 2, appendix A). blank: none; m: ModRM; b, w, z, v: an immediate of 1, 2, 4 (2 after
   prefix 66) or up to 8 bytes; B, Z: ModRM and such an immediate; T: ModRM, and an immediate if it is a test; j: 4 bytes of
   relative address; o: 8 bytes of address; p: prefix; x: invalid, or looked at before. */
static const char one_byte_operands[] = "mmmmbzxxmmmmbzxxmmmmbzxxmmmmbzxx"  /* 00 */
                                        "mmmmbzpxmmmmbzpxmmmmbzpxmmmmbzpx"  /* 20 */
                                        "xxxxxxxxxxxxxxxx                "  /* 40 */
                                        "xxxmppppzZbB    bbbbbbbbbbbbbbbb"  /* 60 */
                                        "BZxBmmmmmmmmmmmm          x     "  /* 80 */
                                        "oooo    bz      bbbbbbbbvvvvvvvv"  /* a0 */
                                        "BBw xxBZx w  bx mmmmxxx mmmmmmmm"  /* c0 */
                                        "bbbbbbbbjjxb    pxpp  TT      mm"; /* e0 */
static const char two_byte_operands[] = "mmmmx     x xm Bmmmmmmmmmmmmmmmm"  /* 00 */
                                        "mmmmxxxxmmmmmmmm      x xxxxxxxx"  /* 20 */
                                        "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"  /* 40 */
                                        "mmmmmmmmmmmmmmmmBBBBmmm mmxxmmmm"  /* 60 */
                                        "jjjjjjjjjjjjjjjjmmmmmmmmmmmmmmmm"  /* 80 */
                                        "   mBmxm   mBmmmmmmmmmmmmmBmmmmm"  /* a0 */
                                        "mmBmBBBm        mmmmmmmmmmmmmmmm"  /* c0 */
                                        "mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm"; /* e0 */

enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8 };
enum { SP = 4, FP = 5 }; /* as instructions number them */

/* An instruction's parts. Registers have 4 bits. */
struct parts {
    unsigned bytes;
    unsigned map; /* of opcodes: 0 one byte, 1 after 0f, 2 after 0f 38, 3 after 0f 3a */
    uint8_t opcode;
    bool is_vector, has_modrm, is_relative, has_narrow_operand, is_wide;
    unsigned rex_b;         /* 8 or 0 */
    unsigned mode, reg, rm; /* mode 3: rm is a register, else it is the address's base, or NO_BASE */
    int32_t displacement, immediate;
};

enum { NO_BASE = 16 };

struct bytes {
    const uint8_t *code;
    size_t size, at;
    bool is_short; /* more was asked for than there is */
};

COL_READS_FOREIGN static uint8_t next_byte(struct bytes *bytes)
{
    bytes->is_short |= bytes->at >= bytes->size;
    return bytes->is_short ? 0 : bytes->code[bytes->at++];
}

/* A little-endian number of up to 4 bytes, with its sign; of 8, its lower half. */
static int32_t next_number(struct bytes *bytes, unsigned count)
{
    uint32_t number = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t byte = next_byte(bytes);
        number |= i < 4 ? byte << 8 * i : 0;
    }
    return count == 1 ? (int8_t)number : count == 2 ? (int16_t)number : (int32_t)number;
}

static void read_modrm(struct bytes *bytes, unsigned rex, struct parts *parts)
{
    unsigned modrm = next_byte(bytes), rm = modrm & 7, base = rm;
    bool is_indexed = false;
    parts->has_modrm = true;
    parts->mode = modrm >> 6;
    parts->reg = (modrm >> 3 & 7) | (rex & REX_R ? 8 : 0);
    parts->rm = rm | (rex & REX_B ? 8 : 0);
    if (parts->mode == 3)
        return;
    if (rm == 4) {
        unsigned sib = next_byte(bytes);
        base = sib & 7;
        is_indexed = (sib >> 3 & 7) != 4 || (rex & REX_X);
    }
    parts->is_relative = parts->mode == 0 && rm == 5; /* to the instruction's end */
    bool is_baseless = parts->mode == 0 && base == 5;
    parts->rm = is_baseless || is_indexed ? NO_BASE : base | (rex & REX_B ? 8u : 0u);
    parts->displacement = next_number(bytes, parts->mode == 1 ? 1 : parts->mode == 2 || is_baseless ? 4 : 0);
}

/* Prefixes and opcode. False: not an instruction we know. */
static bool read_opcode(struct bytes *bytes, struct parts *parts, unsigned *rex)
{
    uint8_t byte;
    while (one_byte_operands[byte = next_byte(bytes)] == 'p') /* a short end reads as 00 */
        parts->has_narrow_operand |= byte == 0x66;
    *rex = 0;
    if ((byte & 0xf0) == 0x40) {
        *rex = byte & 0xf;
        byte = next_byte(bytes);
    }
    parts->is_wide = *rex & REX_W;
    parts->rex_b = *rex & REX_B ? 8 : 0;
    parts->is_vector = byte == 0xc4 || byte == 0xc5 || byte == 0x62;
    parts->map = 0;
    if (byte == 0x62) {
        parts->map = next_byte(bytes) & 7;
        next_number(bytes, 2);
        byte = next_byte(bytes);
    } else if (parts->is_vector) {
        parts->map = 1;
        if (byte == 0xc4)
            parts->map = next_byte(bytes) & 31;
        next_byte(bytes);
        byte = next_byte(bytes);
    } else if (byte == 0x0f) {
        byte = next_byte(bytes);
        parts->map = byte == 0x38 ? 2 : byte == 0x3a ? 3 : 1;
        if (parts->map != 1)
            byte = next_byte(bytes);
    }
    parts->opcode = byte;
    return !parts->is_vector || (parts->map >= 1 && parts->map <= 6);
}

static bool read_parts(const uint8_t *code, size_t size, struct parts *parts)
{
    struct bytes bytes = {code, size < COL_INSTRUCTION_BYTES ? size : COL_INSTRUCTION_BYTES, 0, false};
    unsigned rex;
    *parts = (struct parts){.bytes = 0};
    if (!read_opcode(&bytes, parts, &rex))
        return false;
    char operands = parts->map == 0   ? one_byte_operands[parts->opcode]
                    : parts->map == 1 ? two_byte_operands[parts->opcode]
                    : parts->map == 3 ? 'B'
                                      : 'm';
    if (operands == 'x')
        return false;
    if (operands == 'm' || operands == 'B' || operands == 'Z' || operands == 'T')
        read_modrm(&bytes, rex, parts);
    if (operands == 'T')
        operands = (parts->reg & 7) > 1 ? 'm' : parts->opcode & 1 ? 'Z' : 'B';
    switch (operands) {
    case 'b':
    case 'B':
        parts->immediate = next_number(&bytes, 1);
        break;
    case 'w':
        parts->immediate = next_number(&bytes, 2);
        break;
    case 'z':
    case 'Z':
        parts->immediate = next_number(&bytes, parts->has_narrow_operand && !parts->is_wide ? 2 : 4);
        break;
    case 'v':
        parts->immediate = next_number(&bytes, parts->is_wide ? 8 : parts->has_narrow_operand ? 2 : 4);
        break;
    case 'j':
        parts->immediate = next_number(&bytes, 4);
        break;
    case 'o':
        next_number(&bytes, 8);
        break;
    }
    parts->bytes = (unsigned)bytes.at;
    return !bytes.is_short;
}

static bool is_in_register(const struct parts *parts, unsigned reg)
{
    return parts->has_modrm && parts->mode == 3 && parts->rm == reg;
}

/* The value of sp or fp, with what is added to it. False: nobody knows. */
static bool value_of(const struct col_stack_state *state, unsigned reg, int32_t more, struct col_stack_place *value)
{
    if (reg == SP)
        *value = state->sp;
    else if (reg == FP && state->fp_origin != COL_FP_LOADED)
        *value = state->fp_origin == COL_FP_KEPT ? (struct col_stack_place){0, true} : state->fp;
    else
        return false;
    return !__builtin_add_overflow(value->offset, more, &value->offset);
}

static enum col_instruction_flow move_sp(struct col_stack_state *state, int64_t bytes)
{
    int64_t offset = state->sp.offset + bytes;
    state->sp.offset = (int32_t)offset;
    return offset == state->sp.offset ? COL_FLOW_NEXT : COL_FLOW_UNKNOWN;
}

static bool is_same(struct col_stack_place a, struct col_stack_place b)
{
    return a.offset == b.offset && a.from_fp == b.from_fp;
}

static enum col_instruction_flow push(struct col_stack_state *state, unsigned reg)
{
    enum col_instruction_flow flow = move_sp(state, -8);
    if (reg == FP) {
        state->has_pushed = true;
        state->pushed = state->sp;
        state->fp_pushed = state->fp;
        state->origin_pushed = state->fp_origin;
    }
    return flow;
}

static void load_fp(struct col_stack_state *state, struct col_stack_place from)
{
    bool was_pushed = state->has_pushed && is_same(from, state->pushed);
    state->fp = was_pushed ? state->fp_pushed : from;
    state->fp_origin = was_pushed ? state->origin_pushed : COL_FP_LOADED;
}

/* Takes the value as the new sp or fp. */
static enum col_instruction_flow assign(struct col_stack_state *state, unsigned reg, unsigned source, int32_t more)
{
    struct col_stack_place value;
    if (!value_of(state, source, more, &value))
        return reg == SP ? COL_FLOW_UNKNOWN : COL_FLOW_NEXT; /* fp may hold anything until it is restored */
    if (reg == SP) {
        state->sp = value;
    } else if (source == SP) {
        state->fp = value;
        state->fp_origin = COL_FP_POINTS;
    }
    return COL_FLOW_NEXT;
}

static enum col_instruction_flow pop(struct col_stack_state *state, unsigned reg)
{
    if (reg == FP)
        load_fp(state, state->sp);
    return reg == SP ? COL_FLOW_UNKNOWN : move_sp(state, 8);
}

static enum col_instruction_flow leave(struct col_stack_state *state)
{
    return assign(state, SP, FP, 0) == COL_FLOW_NEXT ? pop(state, FP) : COL_FLOW_UNKNOWN;
}

static enum col_instruction_flow follow_two_byte(const struct parts *parts, struct col_stack_state *state)
{
    uint8_t opcode = parts->opcode;
    if (opcode >= 0x80 && opcode <= 0x8f)
        return COL_FLOW_BRANCH;
    if (opcode == 0xa0 || opcode == 0xa8) /* push %fs, %gs */
        return move_sp(state, -8);
    if (opcode == 0xa1 || opcode == 0xa9)
        return move_sp(state, 8);
    bool ends = opcode == 0x0b || opcode == 0xb9 || opcode == 0xff || opcode == 0x07 || opcode == 0x35;
    bool is_move_to_sp = opcode >= 0x40 && opcode <= 0x4f && parts->reg == SP;
    return ends || is_move_to_sp ? COL_FLOW_UNKNOWN : COL_FLOW_NEXT;
}

/* ff: calls, jumps and pushes among others. */
static enum col_instruction_flow follow_group_5(const struct parts *parts, struct col_stack_state *state)
{
    switch (parts->reg & 7) {
    case 2:
        return COL_FLOW_CALL;
    case 4:
        return parts->is_relative ? COL_FLOW_RETURN : COL_FLOW_ELSEWHERE;
    case 6:
        return move_sp(state, -8);
    case 3:
    case 5:
        return COL_FLOW_UNKNOWN;
    }
    return is_in_register(parts, SP) ? COL_FLOW_UNKNOWN : COL_FLOW_NEXT;
}

/* 81 and 83: an immediate to a register. */
static enum col_instruction_flow follow_group_1(const struct parts *parts, struct col_stack_state *state)
{
    unsigned operation = parts->reg & 7;
    if (!is_in_register(parts, SP) || operation == 7) /* cmp */
        return COL_FLOW_NEXT;
    if (operation == 0)
        return move_sp(state, parts->immediate);
    return operation == 5 ? move_sp(state, -(int64_t)parts->immediate) : COL_FLOW_UNKNOWN;
}

static enum col_instruction_flow follow_move(const struct parts *parts, struct col_stack_state *state)
{
    bool is_load = parts->opcode == 0x8b;
    unsigned to = is_load || parts->mode != 3 ? parts->reg : parts->rm, from = is_load ? parts->rm : parts->reg;
    struct col_stack_place place;
    if (!is_load && parts->mode != 3) /* a store */
        return COL_FLOW_NEXT;
    if (parts->mode == 3)
        return to == SP || to == FP ? assign(state, to, from, 0) : COL_FLOW_NEXT;
    if (to == FP && parts->rm == SP && value_of(state, SP, parts->displacement, &place))
        load_fp(state, place);
    return to == SP ? COL_FLOW_UNKNOWN : COL_FLOW_NEXT;
}

static enum col_instruction_flow follow_one_byte(const struct parts *parts, struct col_stack_state *state)
{
    uint8_t opcode = parts->opcode;
    bool is_arithmetic_to_rm = opcode < 0x38 && (opcode & 7) <= 1,
         is_arithmetic_to_reg = opcode < 0x38 && (opcode & 6) == 2;
    if (opcode >= 0x50 && opcode <= 0x57)
        return push(state, (opcode & 7) | parts->rex_b);
    if (opcode >= 0x58 && opcode <= 0x5f)
        return pop(state, (opcode & 7) | parts->rex_b);
    if ((opcode >= 0x70 && opcode <= 0x7f) || (opcode >= 0xe0 && opcode <= 0xe3))
        return COL_FLOW_BRANCH;
    if ((is_arithmetic_to_rm && is_in_register(parts, SP)) || (is_arithmetic_to_reg && parts->reg == SP))
        return COL_FLOW_UNKNOWN;
    switch (opcode) {
    case 0x68:
    case 0x6a:
    case 0x9c:
        return move_sp(state, -8);
    case 0x9d:
        return move_sp(state, 8);
    case 0x81:
    case 0x83:
        return follow_group_1(parts, state);
    case 0x89:
    case 0x8b:
        return follow_move(parts, state);
    case 0x8d: /* lea */
        return parts->reg == SP || parts->reg == FP ? assign(state, parts->reg, parts->rm, parts->displacement)
                                                    : COL_FLOW_NEXT;
    case 0x8f:
        return parts->mode == 3 ? pop(state, parts->rm) : move_sp(state, 8);
    case 0xc2:
    case 0xc3:
        return COL_FLOW_RETURN;
    case 0xc9:
        return leave(state);
    case 0xe8:
        return COL_FLOW_CALL;
    case 0xe9:
    case 0xeb:
        return COL_FLOW_JUMP;
    case 0xff:
        return follow_group_5(parts, state);
    case 0x87: /* xchg */
    case 0xc7:
    case 0x63:
        return is_in_register(parts, SP) || (opcode != 0xc7 && parts->reg == SP) ? COL_FLOW_UNKNOWN : COL_FLOW_NEXT;
    case 0xbc:
        return parts->rex_b ? COL_FLOW_NEXT : COL_FLOW_UNKNOWN;
    case 0xca: /* far returns, traps, the end of the processor's work */
    case 0xcb:
    case 0xcc:
    case 0xcd:
    case 0xcf:
    case 0xf4:
        return COL_FLOW_UNKNOWN;
    }
    return COL_FLOW_NEXT;
}

void col_instruction_follow(const uint8_t *code, size_t size, struct col_stack_state *state,
                            struct col_instruction *instruction)
{
    struct parts parts;
    *instruction = (struct col_instruction){.flow = COL_FLOW_UNKNOWN};
    if (!read_parts(code, size, &parts))
        return;
    instruction->bytes = parts.bytes;
    instruction->target = parts.immediate;
    if (parts.is_vector || parts.map >= 2)
        instruction->flow = COL_FLOW_NEXT;
    else if (parts.map == 1)
        instruction->flow = follow_two_byte(&parts, state);
    else
        instruction->flow = follow_one_byte(&parts, state);
    instruction->released =
        instruction->flow == COL_FLOW_RETURN && parts.opcode == 0xc2 ? (uint16_t)parts.immediate : 0;
}

#else

void col_instruction_follow(const uint8_t *code, size_t size, struct col_stack_state *state,
                            struct col_instruction *instruction)
{
    (void)code, (void)size, (void)state;
    *instruction = (struct col_instruction){.flow = COL_FLOW_UNKNOWN};
}

#endif
