/* open_frame.c -- the samples of one thread between two frames of the log */
#include "experiment/open_frame.h"

#include <errno.h>
#include <string.h>

#include "base/os.h"
#include "base/safe_read.h"
#include "experiment/crc32.h"
#include "experiment/event.h"
#include "experiment/format.h"
#include "experiment/log_writer.h"
#include "experiment/sample_rows.h"
#include "experiment/sparse_file.h"

#define UNIT_NS 1000u
#define FRAME_NS 1000000000u /* no frame is open longer than this while samples come */
#define ROW_AREA_BYTES (COL_OPEN_SLOT_BYTES - COL_OPEN_HEADER_BYTES - COL_OPEN_TAIL_BYTES)
#define CRC_BEGIN offsetof(struct col_open_slot, state) /* byte 8; the CRC covers bytes 8 to 31, then the rows */
#define CRC_END offsetof(struct col_open_slot, commits)

struct col_open_frame_private {
    bool is_used; /* the table is not all zero */
    struct col_stack_table stacks;
};

_Static_assert(2 * 10 + 10 * COL_STACK_TABLE_DEPTH + COL_SAMPLE_ROW_MAX_BYTES <= ROW_AREA_BYTES,
               "any stack fits an empty frame");

uint64_t col_open_frame_sample_count(void)
{
    return col_open_slots_sample_count();
}

size_t col_open_frame_private_bytes(void)
{
    return sizeof(struct col_open_frame_private);
}

void col_open_frame_prepare(struct col_open_frame *frame, void *private_memory)
{
    *frame = (struct col_open_frame){.private = private_memory};
}

static bool is_usable(const struct col_open_frame *frame)
{
    return frame->slot != NULL && frame->generation == col_open_slots_generation() && col_log_writer_is_open();
}

/* Of all that was populated the last byte is looked at: a file is cut from its end. */
static int renew_header(const struct col_open_frame *frame)
{
    int error = col_sparse_file_keeps_room() ? 0 : col_os_populate(frame->slot, COL_OPEN_HEADER_BYTES);
    bool is_there = col_safe_read_probe((uintptr_t)frame->slot->rows + frame->room_bytes - 1);
    return error == 0 && !is_there ? -ENOSPC : error;
}

/* Makes rows that end at `bytes` safe to store to. Pages are taken as they are needed: a short-lived thread takes one. */
static int make_room(struct col_open_frame *frame, uint32_t bytes)
{
    if (bytes <= frame->room_bytes)
        return col_sparse_file_keeps_room()
                   ? 0
                   : col_os_populate(frame->slot->rows + frame->row_bytes, bytes - frame->row_bytes);
    uint32_t page_bytes = (uint32_t)col_os_page_bytes(),
             begin = frame->room_bytes == 0 ? 0 : COL_OPEN_HEADER_BYTES + frame->row_bytes;
    uint32_t end = (COL_OPEN_HEADER_BYTES + bytes + page_bytes - 1) & ~(page_bytes - 1);
    int error = col_os_populate((uint8_t *)frame->slot + begin, end - begin);
    if (error == 0)
        frame->room_bytes = end - COL_OPEN_HEADER_BYTES;
    return error;
}

static void empty(struct col_open_frame *frame)
{
    frame->row_count = frame->row_bytes = frame->next_commit = 0;
    __atomic_store_n(&frame->slot->commits[0], 0, __ATOMIC_RELEASE);
    __atomic_store_n(&frame->slot->commits[1], 0, __ATOMIC_RELEASE);
}

int col_open_frame_acquire(struct col_open_frame *frame, uint32_t thread, uint32_t source, uint32_t value_count,
                           uint64_t time_ns)
{
    if (!col_log_writer_is_open())
        return -EBADF;
    frame->slot = col_open_slots_claim(&frame->slot_index);
    if (frame->slot == NULL)
        return col_open_slots_are_limited() ? -EFBIG : -ENOMEM;
    frame->generation = col_open_slots_generation();
    frame->thread = thread;
    frame->source = source;
    frame->value_count = value_count;
    frame->time_ns = time_ns;
    frame->room_bytes = 0;
    int error = make_room(frame, 1);
    if (error != 0) {
        col_open_slots_give_back(frame->slot_index);
        frame->slot = NULL;
        return error;
    }
    frame->slot->pending_ns = 0; /* there may be that of another thread */
    empty(frame);
    return 0;
}

/* Begins an empty frame. Its time is the frame's name in the log: never that of the one before. */
static void begin(struct col_open_frame *frame, uint64_t time_ns)
{
    struct col_open_slot *slot = frame->slot;
    frame->time_ns = time_ns > frame->time_ns ? time_ns : frame->time_ns + 1;
    frame->last_us = 0;
    memcpy(slot->magic, COL_OPEN_MAGIC, sizeof slot->magic);
    slot->state = COL_OPEN_STATE_FRAME;
    slot->value_count = (uint16_t)frame->value_count;
    slot->thread = frame->thread;
    slot->source = frame->source;
    slot->unit_ns = UNIT_NS;
    slot->time_ns = frame->time_ns;
    frame->crc = col_crc32_update(0, (const uint8_t *)slot + CRC_BEGIN, CRC_END - CRC_BEGIN);
    if (frame->private->is_used)
        col_stack_table_reset(&frame->private->stacks);
    frame->private->is_used = true;
}

int col_open_frame_flush(struct col_open_frame *frame)
{
    if (!is_usable(frame))
        return -EBADF;
    if (frame->row_count == 0)
        return 0;
    struct col_event_head head = {frame->time_ns, frame->thread};
    struct col_event_pcsample samples = {
        frame->source,
        UNIT_NS,
        {.start = frame->slot->rows, .bytes = frame->row_bytes, .value_count = frame->value_count}};
    int error = renew_header(frame);
    if (error == 0)
        error = col_event_pcsample(head, &samples);
    if (error != 0)
        return error;
    col_open_slots_count_samples(samples.rows.count);
    empty(frame);
    return 0;
}

void col_open_frame_release(struct col_open_frame *frame)
{
    if (is_usable(frame) && col_open_frame_flush(frame) == 0 && renew_header(frame) == 0) {
        __atomic_store_n(&frame->slot->state, 0, __ATOMIC_RELEASE);
        col_open_slots_give_back(frame->slot_index);
    }
    frame->slot = NULL;
}

/* Microseconds since the frame's time, never less than those of the sample before. */
static uint64_t sample_us(const struct col_open_frame *frame, uint64_t time_ns)
{
    uint64_t us = time_ns > frame->time_ns ? (time_ns - frame->time_ns) / UNIT_NS : 0;
    return us > frame->last_us ? us : frame->last_us;
}

static int begin_afresh(struct col_open_frame *frame, uint64_t time_ns)
{
    int error = col_open_frame_flush(frame);
    if (error == 0)
        begin(frame, time_ns);
    return error;
}

/* Begins a frame where there is none, or where this one is full or old. When the log has no room an old frame just grows older. */
static int begin_if_due(struct col_open_frame *frame, uint64_t time_ns)
{
    if (frame->row_count == 0)
        begin(frame, time_ns);
    uint64_t age_ns = time_ns > frame->time_ns ? time_ns - frame->time_ns : 0;
    bool is_full =
        frame->row_count == COL_STACK_TABLE_STACKS || sample_us(frame, time_ns) - frame->last_us > UINT32_MAX;
    if (age_ns < FRAME_NS && !is_full)
        return 0;
    int error = begin_afresh(frame, time_ns);
    return is_full ? error : 0;
}

/* A sample on its way into the frame. */
struct sample {
    struct col_stack stack;
    uint64_t hash;
    bool is_known; /* its stack is defined in the frame, as number `index` */
    uint32_t index;
};

/* Bytes of the row, at most. */
static uint32_t look_up(const struct col_open_frame *frame, struct sample *sample)
{
    const struct col_stack_table *stacks = &frame->private->stacks;
    sample->is_known = col_stack_table_find(stacks, sample->hash, &sample->index);
    return COL_SAMPLE_ROW_BYTES(frame->value_count) +
           (sample->is_known ? 0 : (uint32_t)col_stack_table_bound(stacks, &sample->stack));
}

/* Makes sure that the sample has a place in the frame, in a new one if need be. */
static int find_place(struct col_open_frame *frame, uint64_t time_ns, struct sample *sample)
{
    int error = begin_if_due(frame, time_ns);
    if (error != 0)
        return error;
    uint32_t end = frame->row_bytes + look_up(frame, sample);
    if (end <= ROW_AREA_BYTES && make_room(frame, end) == 0)
        return 0;
    error = frame->row_count != 0 ? begin_afresh(frame, time_ns) : 0;
    return error != 0 ? error : make_room(frame, look_up(frame, sample));
}

/* Makes the rows so far, and all of them, those that count: one store of 8 bytes. */
static void commit(struct col_open_frame *frame, uint32_t new_bytes)
{
    frame->crc = col_crc32_update(frame->crc, frame->slot->rows + frame->row_bytes, new_bytes);
    frame->row_bytes += new_bytes;
    frame->row_count++;
    __atomic_store_n(&frame->slot->commits[frame->next_commit], (uint64_t)frame->crc << 32 | frame->row_bytes,
                     __ATOMIC_RELEASE);
    frame->next_commit ^= 1;
}

static int add_row(struct col_open_frame *frame, uint64_t time_ns, const uint32_t *values, struct sample *sample)
{
    int error = renew_header(frame);
    if (error == 0)
        error = find_place(frame, time_ns, sample);
    if (error != 0)
        return error;
    uint8_t *at = frame->slot->rows + frame->row_bytes;
    uint32_t row_bytes = COL_SAMPLE_ROW_BYTES(frame->value_count);
    size_t definition_bytes = 0;
    if (!sample->is_known) {
        sample->index = frame->private->stacks.stack_count;
        definition_bytes =
            col_stack_table_define(&frame->private->stacks, sample->hash, &sample->stack, at + row_bytes);
    }
    uint64_t us = sample_us(frame, time_ns);
    col_sample_row_put(at, (uint32_t)(us - frame->last_us), values, frame->value_count, sample->index,
                       definition_bytes);
    frame->last_us = us;
    commit(frame, row_bytes + (uint32_t)definition_bytes);
    return 0;
}

/* What one row can hold of each value from `values`, less those in the rows before: false if that leaves nothing for another row. */
static bool take_part(const uint64_t *values, uint32_t value_count, uint64_t row_number, uint32_t *part)
{
    bool is_more = false;
    for (uint32_t i = 0; i < value_count; i++) {
        uint64_t before = row_number * UINT32_MAX, rest = values[i] > before ? values[i] - before : 0;
        part[i] = rest < UINT32_MAX ? (uint32_t)rest : UINT32_MAX;
        is_more |= rest > UINT32_MAX;
    }
    return is_more;
}

void col_open_frame_note_pending(struct col_open_frame *frame, uint64_t pending_ns)
{
    if (is_usable(frame))
        __atomic_store_n(&frame->slot->pending_ns, pending_ns, __ATOMIC_RELAXED);
}

int col_open_frame_add(struct col_open_frame *frame, uint64_t time_ns, const uint64_t *values, const uintptr_t *pcs,
                       size_t count, unsigned end)
{
    if (!is_usable(frame))
        return -EBADF;
    bool is_cut = count > COL_STACK_TABLE_DEPTH;
    struct sample sample = {
        .stack = {pcs, is_cut ? COL_STACK_TABLE_DEPTH : (uint32_t)count, is_cut ? COL_END_DEPTH_LIMIT : end}};
    sample.hash = col_stack_table_hash(&sample.stack);
    int error = 0;
    bool is_more = true;
    for (uint64_t row = 0; error == 0 && is_more; row++) { /* one, but for a sample of more than 71 minutes */
        uint32_t part[COL_SAMPLE_MAX_VALUES];
        is_more = take_part(values, frame->value_count, row, part);
        error = add_row(frame, time_ns, part, &sample);
    }
    return error;
}
