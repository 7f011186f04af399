/* open_records.c -- small records that come again and again, gathered for one frame of the log */
#include "experiment/open_records.h"

#include <errno.h>
#include <string.h>

#include "base/os.h"
#include "experiment/crc32.h"
#include "experiment/format.h"
#include "experiment/log_writer.h"
#include "experiment/open_slots.h"
#include "experiment/sparse_file.h"

#define SLOT_BYTES 4096u /* one page: a process that is read once takes no more */
#define ROOM_BYTES (SLOT_BYTES - COL_OPEN_HEADER_BYTES)
#define FRAME_NS 1000000000u
#define CRC_BEGIN offsetof(struct col_open_slot, state) /* as of an open frame's rows */
#define CRC_END offsetof(struct col_open_slot, commits)

static struct {
    struct col_open_slot *slot; /* NULL: none */
    uint32_t generation;        /* of the file it is in */
    uint32_t bytes;             /* of records */
    uint32_t crc;               /* of the header and the records so far */
    uint32_t next_commit;
    uint32_t frame; /* see col_open_records_frame */
    bool is_apart;  /* the last record has a frame of its own */
} self;

static void empty(void)
{
    self.bytes = self.next_commit = 0;
    self.frame++;
    __atomic_store_n(&self.slot->commits[0], 0, __ATOMIC_RELEASE);
    __atomic_store_n(&self.slot->commits[1], 0, __ATOMIC_RELEASE);
}

static bool has_slot(void)
{
    return self.slot != NULL && self.generation == col_open_slots_generation() && col_log_writer_is_open();
}

static bool acquire(void)
{
    uint32_t index;
    self.slot = col_log_writer_is_open() ? col_open_slots_claim_spare(&index) : NULL;
    if (self.slot == NULL)
        return false;
    if (col_os_populate(self.slot, SLOT_BYTES) != 0) {
        col_open_slots_give_back(index);
        self.slot = NULL;
        return false;
    }
    self.generation = col_open_slots_generation();
    empty();
    return true;
}

/* A slot that may be stored to. */
static bool make_ready(void)
{
    return has_slot() ? col_sparse_file_renew(self.slot, SLOT_BYTES) == 0 : acquire();
}

static void begin(uint64_t time_ns)
{
    struct col_open_slot *slot = self.slot;
    memcpy(slot->magic, COL_OPEN_MAGIC, sizeof slot->magic);
    slot->state = COL_OPEN_STATE_RECORDS;
    slot->thread = slot->source = slot->unit_ns = 0;
    slot->time_ns = time_ns;
    self.crc = col_crc32_update(0, (const uint8_t *)slot + CRC_BEGIN, CRC_END - CRC_BEGIN);
}

/* Makes the records so far, and all of them, those that count: one store of 8 bytes. */
static void commit(uint32_t new_bytes)
{
    self.crc = col_crc32_update(self.crc, self.slot->rows + self.bytes, new_bytes);
    self.bytes += new_bytes;
    __atomic_store_n(&self.slot->commits[self.next_commit], (uint64_t)self.crc << 32 | self.bytes, __ATOMIC_RELEASE);
    self.next_commit ^= 1;
}

uint32_t col_open_records_frame(void)
{
    return self.frame;
}

static int write_alone(const struct col_record *record)
{
    self.frame++;
    self.is_apart = true;
    return col_record_write(record);
}

static size_t encode(const struct col_record *record)
{
    return col_record_encode(record, self.slot->rows + self.bytes, ROOM_BYTES - self.bytes);
}

int col_open_records_flush(void)
{
    if (!has_slot() || self.bytes == 0)
        return 0;
    int error = make_ready() ? col_log_writer_append(self.slot->rows, self.bytes) : -ENOSPC;
    if (error == 0)
        empty();
    return error;
}

int col_open_records_add(const struct col_record *record)
{
    self.frame += self.is_apart;
    self.is_apart = false;
    if (!make_ready())
        return write_alone(record);
    if (self.bytes != 0 && record->head.time_ns > self.slot->time_ns + FRAME_NS)
        col_open_records_flush(); /* if that fails the frame just grows older */
    size_t bytes = encode(record);
    if (bytes > ROOM_BYTES - self.bytes) {
        int error = col_open_records_flush();
        if (error != 0)
            return error;
        bytes = encode(record);
        if (bytes > ROOM_BYTES)
            return write_alone(record);
    }
    if (self.bytes == 0)
        begin(record->head.time_ns);
    commit((uint32_t)bytes);
    return 0;
}
