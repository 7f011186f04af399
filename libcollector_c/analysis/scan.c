/* scan.c -- a log from its first byte to its last: samples are noted, all the rest is handed on
 *
 * Where frames are, and what is lost between them, the frame finder knows. What a record means is for the caller:
 * here it is only asked whether it is samples, and everything else, sound or not, is handed on as it lies in the log.
 */
#include "scan.h"

#include "sample_record.h"

#include "../pmclog/frame_finder.h"
#include "experiment/format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool add_item(struct col_scanner *scanner, enum col_item_kind kind, uint64_t offset, uint64_t length,
                     uint64_t value)
{
    if (!COL_ARRAY_RESERVE(scanner->items, scanner->item_capacity, scanner->item_count + 1))
        return false;
    scanner->items[scanner->item_count++] = (struct col_item){kind, offset, length, value};
    return true;
}

static bool copy_bytes(struct col_scanner *scanner, const uint8_t *bytes, size_t count)
{
    if (!COL_ARRAY_RESERVE(scanner->bytes, scanner->byte_capacity, scanner->byte_count + count))
        return false;
    memcpy(scanner->bytes + scanner->byte_count, bytes, count);
    scanner->byte_count += count;
    return true;
}

static bool hand_on(struct col_scanner *scanner, const uint8_t *bytes, size_t count, uint64_t offset)
{
    return count == 0 || (add_item(scanner, COL_ITEM_RECORDS, offset, count, scanner->byte_count) &&
                          copy_bytes(scanner, bytes, count));
}

/* A record of a known shape. */
static bool note_shaped(struct col_scanner *scanner, const struct col_shaped *shaped, const uint8_t *bytes,
                        size_t count, uint64_t offset)
{
    size_t place = scanner->number_count, numbers = COL_SHAPED_NUMBERS + shaped->number_count;
    if (!COL_ARRAY_RESERVE(scanner->numbers, scanner->number_capacity, place + numbers) ||
        !add_item(scanner, COL_ITEM_SHAPED, offset, count, place))
        return false;
    scanner->numbers[place + COL_SHAPED_SHAPE] = shaped->shape;
    scanner->numbers[place + COL_SHAPED_BYTES] = scanner->byte_count;
    scanner->numbers[place + COL_SHAPED_COUNT] = shaped->number_count;
    memcpy(scanner->numbers + place + COL_SHAPED_NUMBERS, shaped->numbers, shaped->number_count * sizeof(uint64_t));
    scanner->number_count += numbers;
    return copy_bytes(scanner, bytes, count);
}

static bool note_samples(struct col_scanner *scanner, struct col_log *log, const struct col_sample_record *record,
                         const uint8_t *bytes, size_t count, uint64_t offset)
{
    if (!COL_ARRAY_RESERVE(scanner->heads, scanner->head_capacity, scanner->head_count + COL_HEAD_NUMBERS) ||
        !add_item(scanner, COL_ITEM_SAMPLES, offset, count, log->record_count) ||
        !col_log_add_record(log, bytes, count, offset, false))
        return false;
    col_sample_record_describe(record, offset, scanner->heads + scanner->head_count);
    scanner->head_count += COL_HEAD_NUMBERS;
    return true;
}

/* The records of a sound frame: samples, those of known shapes, and runs of others. What stops being msgpack is of the others. */
static bool split_frame(struct col_scanner *scanner, struct col_log *log, const struct col_finding *frame)
{
    struct col_cursor cursor = {frame->payload, frame->payload + frame->payload_bytes};
    struct col_sample_record record;
    struct col_shaped shaped;
    uint64_t start = frame->offset + COL_FRAME_HEADER_BYTES;
    const uint8_t *others = cursor.at;
    bool is_short = false;
    if (!add_item(scanner, COL_ITEM_FRAME, start, frame->payload_bytes, 0))
        return false;
    while (cursor.at < cursor.end) {
        const uint8_t *bytes = cursor.at;
        if (!col_cursor_skip(&cursor))
            break;
        size_t count = (size_t)(cursor.at - bytes);
        uint64_t offset = start + (uint64_t)(bytes - frame->payload);
        bool is_samples = col_sample_record_read(&record, bytes, count);
        bool is_shaped = !is_samples && col_shapes_find(&scanner->shapes, bytes, count, &shaped, &is_short);
        if (is_short)
            return false;
        if (!is_samples && !is_shaped)
            continue;
        if (!hand_on(scanner, others, (size_t)(bytes - others), start + (uint64_t)(others - frame->payload)) ||
            !(is_samples ? note_samples(scanner, log, &record, bytes, count, offset)
                         : note_shaped(scanner, &shaped, bytes, count, offset)))
            return false;
        others = cursor.at;
    }
    return hand_on(scanner, others, (size_t)(cursor.end - others), start + (uint64_t)(others - frame->payload));
}

static bool take(struct col_scanner *scanner, struct col_log *log, const struct col_finding *found)
{
    switch (found->what) {
    case COL_FOUND_FRAME:
        return split_frame(scanner, log, found);
    case COL_FOUND_DAMAGE:
        return add_item(scanner, COL_ITEM_DAMAGE, found->offset, found->lost_bytes, 0);
    case COL_FOUND_GAP:
        return add_item(scanner, COL_ITEM_MISSING, found->offset, found->lost_bytes, found->lost_frames);
    case COL_FOUND_TRUNCATED:
        return add_item(scanner, COL_ITEM_TRUNCATED, found->offset, found->lost_bytes, 0);
    }
    return true;
}

static int scan_stream(struct col_scanner *scanner, struct col_log *log, struct col_stream *stream, uint64_t *settled)
{
    struct col_frame_finder finder = {.is_final = true};
    struct col_finding found;
    enum pmclog_state state;
    while ((state = col_frame_finder_next(&finder, stream, &found)) == PMCLOG_OK)
        if (!take(scanner, log, &found))
            return -ENOMEM;
    *settled = finder.settled;
    return state == PMCLOG_EOF ? 0 : -errno;
}

int col_scan_log(struct col_scanner *scanner, struct col_log *log, int fd, struct col_scan *scan)
{
    struct col_stream stream;
    scanner->item_count = scanner->byte_count = scanner->head_count = scanner->number_count = 0;
    int error = col_stream_open(&stream, fd);
    if (error)
        return error;
    error = scan_stream(scanner, log, &stream, &scan->settled);
    col_stream_close(&stream);
    scan->items = scanner->items;
    scan->item_count = scanner->item_count;
    scan->bytes = scanner->bytes;
    scan->byte_count = scanner->byte_count;
    scan->heads = scanner->heads;
    scan->record_count = log->record_count;
    scan->numbers = scanner->numbers;
    scan->number_count = scanner->number_count;
    return error;
}

void col_scan_free(struct col_scanner *scanner)
{
    free(scanner->items);
    free(scanner->bytes);
    free(scanner->heads);
    free(scanner->numbers);
    col_shapes_free(&scanner->shapes);
}
