/* shapes.h -- records that are the same but for their numbers: thousands of processes map the same libraries, at other addresses
 *
 * The shape of a record is its bytes without the values of the numbers that stand in it, those inside of its values
 * excepted. Whoever has read one record of a shape knows all of them by their numbers.
 */
#ifndef COL_ANALYSIS_SHAPES_H
#define COL_ANALYSIS_SHAPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COL_SHAPES_MOST = 1024, COL_SHAPES_SLOTS = 4 * COL_SHAPES_MOST, COL_SHAPE_MOST_NUMBERS = 48 };

struct col_shape {
    uint32_t checksum;
    uint32_t start; /* in `bytes` */
    uint32_t count;
};

/* The shapes of many logs, as many as there is room for. Zeroed memory has none. */
struct col_shapes {
    struct col_shape shapes[COL_SHAPES_MOST];
    uint16_t slots[COL_SHAPES_SLOTS]; /* one more than the number of a shape, by its checksum */
    uint32_t shape_count;
    uint8_t *bytes;
    size_t byte_count;
    size_t byte_capacity;
};

/* What is to be known of a record of a known shape: from the second value on its numbers, in their order. */
struct col_shaped {
    uint32_t shape;
    uint32_t number_count;
    uint64_t numbers[COL_SHAPE_MOST_NUMBERS];
};

/* True if there was a record of that shape before; else there may be one from now on. *is_short says that memory is. */
bool col_shapes_find(struct col_shapes *shapes, const uint8_t *record, size_t count, struct col_shaped *found,
                     bool *is_short);

void col_shapes_free(struct col_shapes *shapes);

#endif
