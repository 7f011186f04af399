/* rank.h -- which rank of a parallel job this process is, as its launcher told it */
#ifndef COL_CONTROL_RANK_H
#define COL_CONTROL_RANK_H

#include <stdbool.h>
#include <stdint.h>

struct col_rank {
    uint64_t rank, local_rank; /* COL_EVENT_UNKNOWN: it is none, or its launcher does not say */
};

/* Reads the environment. Once, before main: a forked child keeps what its parent was. */
void col_rank_read(void);

struct col_rank col_rank(void);

/* Whether it is one of `ranges`, "0+8-15+16-/4" up to a comma, colon or the end, or none at all; NULL: any. */
bool col_rank_is_among(const char *ranges);

/* The number behind the last of some ranges that it is one of, as "1-:10309279;0+8-15:100271" has them up to a comma or the end; `otherwise` if there is none. */
uint64_t col_rank_number(const char *lists, uint64_t otherwise);

#endif
