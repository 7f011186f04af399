/* open_slots.c -- the slots at the end of a log that was not brought to its end: which were used, and what of them holds */
#define _GNU_SOURCE /* SEEK_DATA */

#include "open_slots.h"

#include "checksum.h"

#include "experiment/format.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 *  0           8       12       16       20        24     32         40         48        56     64
 *  'COLOPEN1' | state, values | thread | source | unit_ns | time | commit A | commit B | pending | zero | rows
 */
enum {
    STATE_AT = 8,
    VALUES_AT = 10,
    THREAD_AT = 12,
    SOURCE_AT = 16,
    UNIT_AT = 20,
    TIME_AT = 24,
    COMMITS_AT = 32,
    COMMIT_BYTES = 8,
    PENDING_AT = 48
};

static uint32_t word_at(const uint8_t *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return le32toh(word);
}

static uint32_t half_at(const uint8_t *bytes)
{
    uint16_t half;
    memcpy(&half, bytes, sizeof half);
    return le16toh(half);
}

static uint32_t checksum_of(const uint8_t *slot, size_t bytes)
{
    uint8_t covered[COL_OPEN_SLOT_BYTES];
    memcpy(covered, slot + STATE_AT, COMMITS_AT - STATE_AT);
    memcpy(covered + COMMITS_AT - STATE_AT, slot + COL_OPEN_HEADER_BYTES, bytes);
    return col_checksum_of(covered, COMMITS_AT - STATE_AT + bytes);
}

/* How many bytes the longer of the commits covers whose checksum holds. */
static size_t committed_bytes(const uint8_t *slot)
{
    size_t longest = 0;
    for (const uint8_t *commit = slot + COMMITS_AT; commit < slot + COMMITS_AT + 2 * COMMIT_BYTES;
         commit += COMMIT_BYTES) {
        size_t bytes = word_at(commit);
        if (bytes <= COL_OPEN_SLOT_BYTES - COL_OPEN_HEADER_BYTES && bytes > longest &&
            checksum_of(slot, bytes) == word_at(commit + 4))
            longest = bytes;
    }
    return longest;
}

static void decode(const uint8_t *bytes, struct col_open_slot *slot)
{
    const uint8_t *content = bytes + COL_OPEN_HEADER_BYTES;
    uint64_t time_ns, pending_ns;
    memcpy(&time_ns, bytes + TIME_AT, sizeof time_ns);
    memcpy(&pending_ns, bytes + PENDING_AT, sizeof pending_ns);
    *slot = (struct col_open_slot){.value_count = half_at(bytes + VALUES_AT),
                                   .thread = word_at(bytes + THREAD_AT),
                                   .source = word_at(bytes + SOURCE_AT),
                                   .unit_ns = word_at(bytes + UNIT_AT),
                                   .time_ns = le64toh(time_ns),
                                   .pending_ns = le64toh(pending_ns),
                                   .content = {content, content}};
    if (memcmp(bytes, COL_OPEN_MAGIC, sizeof COL_OPEN_MAGIC - 1) != 0)
        return;
    slot->state = half_at(bytes + STATE_AT);
    size_t room = COL_OPEN_SLOT_BYTES - COL_OPEN_HEADER_BYTES;
    slot->content.end +=
        slot->state == COL_OPEN_STATE_CALL ? strnlen((const char *)content, room) : committed_bytes(bytes);
}

/* Where the next byte is that is not in a hole; -1 if there is none. The descriptor's own position is put back, others may share it. */
static off_t find_data(int fd, off_t offset)
{
    off_t own = lseek(fd, 0, SEEK_CUR);
    off_t data = lseek(fd, offset, SEEK_DATA);
    bool is_end = data < 0 && errno == ENXIO;
    lseek(fd, own, SEEK_SET);
    return is_end ? -1 : data < 0 ? offset : data; /* a file system without holes has data everywhere */
}

int col_open_slots_next(int fd, off_t area, off_t *offset, uint8_t *buffer, struct col_open_slot *slot)
{
    off_t data = find_data(fd, *offset);
    if (data < 0)
        return 0;
    data -= (data - area) % (off_t)COL_OPEN_SLOT_BYTES;
    ssize_t count = pread(fd, buffer, COL_OPEN_SLOT_BYTES, data);
    if (count < 0)
        return -errno;
    if (count < (ssize_t)COL_OPEN_SLOT_BYTES)
        return 0;
    *offset = data + (off_t)COL_OPEN_SLOT_BYTES;
    decode(buffer, slot);
    return 1;
}
