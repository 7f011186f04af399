/* addresses.h -- the addresses of one log by number, and which were put on over which */
#ifndef COL_ANALYSIS_ADDRESSES_H
#define COL_ANALYSIS_ADDRESSES_H

#include "array.h"

#include "../pmclog/tokens.h"

#include <stdint.h>

/* The numbers of what was put on over an address in the record of that epoch; COL_ANALYSIS_NONE: none. */
struct col_children {
    uint32_t epoch;
    uint32_t child[COL_TOKENS_MAX_CHILDREN];
};

/* Zeroed memory is an empty table. Number 0 is address 0, below every first frame. */
struct col_addresses {
    uint64_t *addresses;
    struct col_children *children;
    uint32_t *slots; /* a hash table of numbers, 0 where it is free */
    size_t count;
    size_t address_capacity;
    size_t child_capacity;
    size_t slot_count; /* a power of two */
    uint32_t epoch;    /* of the record that is read now */
};

/* Begins a record, which knows nothing of the children of others. */
bool col_addresses_begin_record(struct col_addresses *table);

/* The number of an address, a new one where there is none; COL_ANALYSIS_NONE if memory is short. */
uint32_t col_addresses_number(struct col_addresses *table, uint64_t address);

void col_addresses_free(struct col_addresses *table);

#endif
