/* seccomp_filter.c -- what a seccomp filter says to the recorder's system calls */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "target/seccomp_filter.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/safe_read.h"
#include "target/recorder_calls.h"

#define FORK_LIMIT 32     /* branches on unknown values along one path */
#define STEP_LIMIT 100000 /* instructions along all paths */

#define NEED(call, known, ...) {#call, SYS_##call, false, known, {__VA_ARGS__}},
#define LIKE(call, known, ...) {#call, SYS_##call, true, known, {__VA_ARGS__}},
static const struct col_seccomp_call recorder_calls[] = {COL_RECORDER_CALLS(NEED, LIKE)};

/* A register or memory word of the filter's machine. */
struct word {
    uint32_t value;
    bool is_known;
};

struct machine {
    struct word a, x, memory[BPF_MEMWORDS];
};

struct walk {
    const struct sock_fprog *filter;
    const struct col_seccomp_call *call;
    unsigned steps;
};

static bool is_readable(const struct sock_fprog *filter)
{
    uintptr_t start = (uintptr_t)filter;
    if (!col_safe_read_probe(start) || !col_safe_read_probe(start + sizeof *filter - 1) || filter->len == 0 ||
        filter->len > BPF_MAXINSNS)
        return false;
    uintptr_t end = (uintptr_t)(filter->filter + filter->len) - 1;
    for (uintptr_t at = (uintptr_t)filter->filter; at < end; at += COL_PAGE_BYTES)
        if (!col_safe_read_probe(at))
            return false;
    return col_safe_read_probe(end);
}

/* As the kernel's seccomp_check_filter, and bpf_check_classic for jumps. */
static bool is_valid_instruction(const struct sock_filter *one, size_t remaining)
{
    bool has_x = BPF_SRC(one->code) == BPF_X;
    switch (BPF_CLASS(one->code)) {
    case BPF_LD:
        if (one->code == (BPF_LD | BPF_W | BPF_ABS))
            return one->k % 4 == 0 && one->k < sizeof(struct seccomp_data);
        return one->code == (BPF_LD | BPF_IMM) || one->code == (BPF_LD | BPF_W | BPF_LEN) ||
               (one->code == (BPF_LD | BPF_MEM) && one->k < BPF_MEMWORDS);
    case BPF_LDX:
        return one->code == (BPF_LDX | BPF_IMM) || one->code == (BPF_LDX | BPF_W | BPF_LEN) ||
               (one->code == (BPF_LDX | BPF_MEM) && one->k < BPF_MEMWORDS);
    case BPF_ST:
    case BPF_STX:
        return one->k < BPF_MEMWORDS;
    case BPF_ALU:
        return BPF_OP(one->code) <= BPF_XOR && BPF_OP(one->code) != BPF_MOD &&
               (has_x || BPF_OP(one->code) != BPF_DIV || one->k != 0);
    case BPF_JMP:
        return BPF_OP(one->code) <= BPF_JSET &&
               (BPF_OP(one->code) == BPF_JA ? one->k < remaining : one->jt < remaining && one->jf < remaining);
    default:
        return true;
    }
}

bool col_seccomp_filter_is_valid(const struct sock_fprog *filter)
{
    if (!is_readable(filter) || BPF_CLASS(filter->filter[filter->len - 1].code) != BPF_RET)
        return false;
    for (size_t i = 0; i < filter->len; i++)
        if (!is_valid_instruction(&filter->filter[i], filter->len - 1u - i))
            return false;
    return true;
}

static struct word known(uint64_t value)
{
    return (struct word){(uint32_t)value, true};
}

/* A word of struct seccomp_data. */
static struct word load(const struct col_seccomp_call *call, uint32_t offset)
{
    const struct word unknown = {0, false};
    if (offset == offsetof(struct seccomp_data, nr))
        return known((uint64_t)call->number);
    if (offset == offsetof(struct seccomp_data, arch))
        return known(COL_ARCH_AUDIT);
    if (offset < offsetof(struct seccomp_data, args) || offset >= sizeof(struct seccomp_data))
        return unknown;
    unsigned place = offset - (unsigned)offsetof(struct seccomp_data, args), argument = place / 8;
    if ((call->known >> argument & 1) == 0)
        return unknown;
    return known(place % 8 == 0 ? call->arguments[argument] : call->arguments[argument] >> 32);
}

static struct word calculate(unsigned operation, struct word a, struct word b)
{
    if (operation == BPF_AND && ((a.is_known && a.value == 0) || (b.is_known && b.value == 0)))
        return known(0);
    if (!a.is_known || (!b.is_known && operation != BPF_NEG))
        return (struct word){0, false};
    switch (operation) {
    case BPF_ADD:
        return known(a.value + b.value);
    case BPF_SUB:
        return known(a.value - b.value);
    case BPF_MUL:
        return known(a.value * b.value);
    case BPF_DIV:
        return b.value != 0 ? known(a.value / b.value) : (struct word){0, false};
    case BPF_OR:
        return known(a.value | b.value);
    case BPF_AND:
        return known(a.value & b.value);
    case BPF_XOR:
        return known(a.value ^ b.value);
    case BPF_LSH:
        return known(b.value < 32 ? a.value << b.value : 0);
    case BPF_RSH:
        return known(b.value < 32 ? a.value >> b.value : 0);
    case BPF_NEG:
        return known(-a.value);
    default:
        return (struct word){0, false};
    }
}

static bool holds(unsigned operation, uint32_t a, uint32_t b)
{
    switch (operation) {
    case BPF_JEQ:
        return a == b;
    case BPF_JGT:
        return a > b;
    case BPF_JGE:
        return a >= b;
    default:
        return (a & b) != 0; /* BPF_JSET */
    }
}

/* Instructions that neither jump nor return. */
static void compute(struct machine *machine, const struct col_seccomp_call *call, const struct sock_filter *one)
{
    struct word operand = BPF_SRC(one->code) == BPF_X ? machine->x : known(one->k);
    struct word *slot = &machine->memory[one->k % BPF_MEMWORDS];
    struct word loaded = BPF_MODE(one->code) == BPF_MEM   ? *slot
                         : BPF_MODE(one->code) == BPF_LEN ? known(sizeof(struct seccomp_data))
                                                          : known(one->k);
    switch (BPF_CLASS(one->code)) {
    case BPF_LD:
        machine->a = BPF_MODE(one->code) == BPF_ABS ? load(call, one->k) : loaded;
        break;
    case BPF_LDX:
        machine->x = loaded;
        break;
    case BPF_ST:
        *slot = machine->a;
        break;
    case BPF_STX:
        *slot = machine->x;
        break;
    case BPF_ALU:
        machine->a = calculate(BPF_OP(one->code), machine->a, operand);
        break;
    default: /* BPF_MISC */
        if (BPF_MISCOP(one->code) == BPF_TAX)
            machine->x = machine->a;
        else
            machine->a = machine->x;
    }
}

static bool is_good(const struct col_seccomp_call *call, struct word answer)
{
    uint32_t action = answer.value & SECCOMP_RET_ACTION_FULL;
    return answer.is_known && (action == SECCOMP_RET_ALLOW || (action == SECCOMP_RET_ERRNO && call->may_fail));
}

/* True if all paths from instruction `at` on end well. Jumps go forward only. */
static bool follow(struct walk *walk, struct machine machine, size_t at, unsigned forks)
{
    while (at < walk->filter->len && walk->steps++ < STEP_LIMIT) {
        const struct sock_filter *one = &walk->filter->filter[at++];
        struct word operand = BPF_SRC(one->code) == BPF_X ? machine.x : known(one->k);
        if (BPF_CLASS(one->code) == BPF_RET)
            return is_good(walk->call, BPF_RVAL(one->code) == BPF_A ? machine.a : known(one->k));
        if (BPF_CLASS(one->code) != BPF_JMP)
            compute(&machine, walk->call, one);
        else if (BPF_OP(one->code) == BPF_JA)
            at += one->k;
        else if (machine.a.is_known && operand.is_known)
            at += holds(BPF_OP(one->code), machine.a.value, operand.value) ? one->jt : one->jf;
        else if (forks == 0 || !follow(walk, machine, at + one->jt, forks - 1))
            return false;
        else
            at += one->jf;
    }
    return false;
}

bool col_seccomp_filter_allows(const struct sock_fprog *filter, const struct col_seccomp_call *call)
{
    struct walk walk = {filter, call, 0};
    struct machine machine = {known(0), known(0), {{0, false}}};
    return follow(&walk, machine, 0, FORK_LIMIT);
}

const struct col_seccomp_call *col_seccomp_filter_obstacle(const struct sock_fprog *filter)
{
    for (size_t i = 0; i < sizeof recorder_calls / sizeof *recorder_calls; i++)
        if (!col_seccomp_filter_allows(filter, &recorder_calls[i]))
            return &recorder_calls[i];
    return NULL;
}

bool col_seccomp_filter_lets_handlers_return(const struct sock_fprog *filter)
{
    return col_seccomp_filter_allows(filter, &recorder_calls[0]);
}
