/* call_note.c -- a word on the disk that says whose code is running in our place */
#include "experiment/call_note.h"

#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/os.h"
#include "experiment/format.h"
#include "experiment/log_writer.h"
#include "experiment/open_slots.h"
#include "experiment/sparse_file.h"

#define TEXT_BYTES 400u

static struct {
    struct col_open_slot *slot; /* NULL: none */
    uint32_t generation;        /* of the file it is in */
} self;

void col_call_note_open(void)
{
    uint32_t index;
    if (self.slot != NULL && self.generation == col_open_slots_generation())
        return;
    self.slot = col_log_writer_is_open() ? col_open_slots_claim_spare(&index) : NULL;
    if (self.slot == NULL)
        return;
    if (col_os_populate(self.slot, COL_OPEN_HEADER_BYTES + TEXT_BYTES + 1) != 0) {
        col_open_slots_give_back(index);
        self.slot = NULL;
        return;
    }
    self.generation = col_open_slots_generation();
    self.slot->commits[0] = self.slot->commits[1] = 0;
    memcpy(self.slot->magic, COL_OPEN_MAGIC, sizeof self.slot->magic);
}

static bool is_usable(void)
{
    return self.slot != NULL && self.generation == col_open_slots_generation() && col_log_writer_is_open() &&
           col_sparse_file_renew(self.slot, COL_OPEN_HEADER_BYTES + TEXT_BYTES + 1) == 0;
}

void col_call_note_begin(const char *text, uint32_t thread)
{
    if (!is_usable())
        return;
    size_t bytes = 0;
    self.slot->thread = thread;
    self.slot->time_ns = col_clock_now();
    for (; bytes < TEXT_BYTES && text[bytes] != '\0';
         bytes++) /* no function of the C library: sanitizers watch those, and know nothing of turns */
        self.slot->rows[bytes] = (uint8_t)text[bytes];
    self.slot->rows[bytes] = '\0';
    __atomic_store_n(&self.slot->state, COL_OPEN_STATE_CALL, __ATOMIC_RELEASE);
}

void col_call_note_end(void)
{
    if (is_usable())
        __atomic_store_n(&self.slot->state, COL_OPEN_STATE_FREE, __ATOMIC_RELEASE);
}
