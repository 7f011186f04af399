/* shapes.c -- records that are the same but for their numbers */
#include "shapes.h"

#include "array.h"

#include "../pmclog/checksum.h"
#include "../pmclog/cursor.h"
#include "experiment/format.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 512, LEAST_VALUES = 3, POSITIVE = 0x80, UINT_8 = 0xCC, UINT_64 = 0xCF };

/* Reads the values behind the kind of a record, and takes the numbers out of `shape`, a copy of its bytes. */
static bool take_numbers(struct col_cursor *cursor, uint32_t values, const uint8_t *record, uint8_t *shape,
                         struct col_shaped *found)
{
    for (found->number_count = 0; values > 0; values--) {
        const uint8_t *value = cursor->at;
        uint8_t tag = value < cursor->end ? *value : 0;
        if (tag >= POSITIVE && (tag < UINT_8 || tag > UINT_64)) {
            if (!col_cursor_skip(cursor))
                return false;
            continue;
        }
        if (found->number_count >= COL_SHAPE_MOST_NUMBERS ||
            !col_cursor_read_unsigned(cursor, &found->numbers[found->number_count++]))
            return false;
        uint8_t *place = shape + (value - record);
        memset(tag < POSITIVE ? place : place + 1, 0, tag < POSITIVE ? 1 : (size_t)(cursor->at - value) - 1);
    }
    return true;
}

/* The shape of a record. Values of metrics are hardly ever the same; a record that is long has room for what no other one says. */
static bool shape_of(const uint8_t *record, size_t count, uint8_t *shape, struct col_shaped *found)
{
    struct col_cursor cursor = {record, record + count};
    uint32_t values;
    if (count > MOST_BYTES || !col_cursor_read_array(&cursor, &values) || values < LEAST_VALUES ||
        cursor.at >= cursor.end || *cursor.at >= POSITIVE || *cursor.at == COL_KIND_METRIC)
        return false;
    cursor.at++;
    memcpy(shape, record, count);
    return take_numbers(&cursor, values - 1, record, shape, found);
}

static bool learn(struct col_shapes *shapes, uint32_t slot, uint32_t checksum, const uint8_t *shape, size_t count)
{
    if (!COL_ARRAY_RESERVE(shapes->bytes, shapes->byte_capacity, shapes->byte_count + count))
        return false;
    memcpy(shapes->bytes + shapes->byte_count, shape, count);
    shapes->shapes[shapes->shape_count++] = (struct col_shape){checksum, (uint32_t)shapes->byte_count, (uint32_t)count};
    shapes->slots[slot] = (uint16_t)shapes->shape_count;
    shapes->byte_count += count;
    return true;
}

bool col_shapes_find(struct col_shapes *shapes, const uint8_t *record, size_t count, struct col_shaped *found,
                     bool *is_short)
{
    uint8_t shape[MOST_BYTES];
    if (!shape_of(record, count, shape, found))
        return false;
    uint32_t checksum = col_checksum_of(shape, count);
    uint32_t slot = checksum % COL_SHAPES_SLOTS;
    for (; shapes->slots[slot]; slot = (slot + 1) % COL_SHAPES_SLOTS) {
        const struct col_shape *known = &shapes->shapes[shapes->slots[slot] - 1];
        if (known->checksum == checksum && known->count == count &&
            memcmp(shapes->bytes + known->start, shape, count) == 0) {
            found->shape = shapes->slots[slot] - 1u;
            return true;
        }
    }
    if (shapes->shape_count < COL_SHAPES_MOST && !learn(shapes, slot, checksum, shape, count))
        *is_short = true;
    return false;
}

void col_shapes_free(struct col_shapes *shapes)
{
    free(shapes->bytes);
}
