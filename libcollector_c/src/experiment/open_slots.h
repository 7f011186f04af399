/* open_slots.h -- the place of open frames, at the end of the log: who has which slot */
#ifndef COL_EXPERIMENT_OPEN_SLOTS_H
#define COL_EXPERIMENT_OPEN_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

/* A slot as it lies in the file (docs/format.md, Open frames). Little-endian, as the processors we know are. */
struct col_open_slot {
    uint8_t magic[8];
    uint16_t state;
    uint16_t value_count; /* of each row */
    uint32_t thread;
    uint32_t source;
    uint32_t unit_ns;
    uint64_t time_ns;
    uint64_t commits[2]; /* bytes of rows, and above them the CRC; each stored at once */
    uint64_t pending_ns; /* of the thread: CPU time that no row stands for, as far as known at the last one */
    uint8_t zero[8];
    uint8_t rows[]; /* up to COL_OPEN_TAIL_BYTES before the slot's end */
};

struct col_sparse_file;

/* From ordinary code. */
void col_open_slots_open(const struct col_sparse_file *log);
bool col_open_slots_close(
    void); /* true when every slot is empty: then nothing of the log is mapped here any more, and it can be cut */

/* From anywhere, signal handlers included. */
struct col_open_slot *
col_open_slots_claim(uint32_t *index); /* none of its pages is populated; NULL: none free, or no memory */
struct col_open_slot *col_open_slots_claim_spare(
    uint32_t *index); /* for what is not samples: none where a limit of the file's size leaves few slots */
bool col_open_slots_are_limited(void); /* a limit of the file's size leaves fewer of them than there could be */
void col_open_slots_give_back(uint32_t index);
uint32_t col_open_slots_generation(void); /* changes with each open: slots of another log are gone */
void col_open_slots_count_samples(uint32_t count);
uint64_t col_open_slots_sample_count(void); /* since the open */
void col_open_slots_forget(void);           /* in a fork child, where the windows are not mapped */

#endif
