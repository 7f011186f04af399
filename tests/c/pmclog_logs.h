/* pmclog_logs.h -- writes small logs for the tests of the parser, from docs/format.md; shares no code with it */
#ifndef PMCLOG_LOGS_H
#define PMCLOG_LOGS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_BYTES = 1 << 20, LOG_FRAMES = 64, HEADER_BYTES = 22 };

struct log {
    uint8_t bytes[LOG_BYTES];
    size_t length;
    size_t starts[LOG_FRAMES + 1]; /* of the frames; one more for the end */
    size_t frames;
};

static uint32_t crc_of(const uint8_t *bytes, size_t count)
{
    static uint32_t table[256];
    if (!table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t crc = i;
            for (int bit = 0; bit < 8; bit++)
                crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320u : 0);
            table[i] = crc;
        }
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < count; i++)
        crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
    return ~crc;
}

static void set_be32(uint8_t *at, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> (24 - 8 * i));
}

/* Both checksums, so that what the payload says is believed. */
static void seal(uint8_t *frame, size_t frame_bytes)
{
    set_be32(frame + 14, crc_of(frame, 14));
    set_be32(frame + 18, crc_of(frame + HEADER_BYTES, frame_bytes - HEADER_BYTES));
}

static void add_byte(struct log *log, unsigned byte)
{
    log->bytes[log->length++] = (uint8_t)byte;
}

static void add_bytes(struct log *log, const void *bytes, size_t count)
{
    if (count > 0)
        memcpy(log->bytes + log->length, bytes, count);
    log->length += count;
}

static void begin_frame(struct log *log)
{
    log->starts[log->frames] = log->length;
    log->length += HEADER_BYTES;
}

static void end_frame(struct log *log)
{
    uint8_t *frame = log->bytes + log->starts[log->frames];
    size_t frame_bytes = log->length - log->starts[log->frames];
    frame[0] = 0xC9;
    set_be32(frame + 1, (uint32_t)(frame_bytes - 6));
    frame[5] = 0x50;
    memcpy(frame + 6, "\xC1" "cev", 4);
    set_be32(frame + 10, (uint32_t)log->frames);
    seal(frame, frame_bytes);
    log->starts[++log->frames] = log->length;
}

static void add_unsigned(struct log *log, uint64_t number)
{
    int bytes = number < 0x80 ? 0 : number < 1u << 8 ? 1 : number < 1u << 16 ? 2 : number < UINT64_C(1) << 32 ? 4 : 8;
    if (bytes > 0)
        add_byte(log, bytes == 1 ? 0xCC : bytes == 2 ? 0xCD : bytes == 4 ? 0xCE : 0xCF);
    for (int shift = 8 * (bytes ? bytes : 1) - 8; shift >= 0; shift -= 8)
        add_byte(log, (unsigned)(number >> shift & 255));
}

static void add_array(struct log *log, unsigned count)
{
    if (count > 15) {
        add_byte(log, 0xDC);
        add_byte(log, count >> 8);
        add_byte(log, count & 255);
    } else {
        add_byte(log, 0x90 | count);
    }
}

static void add_head(struct log *log, unsigned fields, unsigned kind, uint64_t time, unsigned thread)
{
    add_array(log, 3 + fields);
    add_unsigned(log, kind);
    add_unsigned(log, time);
    add_unsigned(log, thread);
}

static void add_text(struct log *log, const char *text)
{
    add_byte(log, 0xD9);
    add_byte(log, (unsigned)strlen(text));
    add_bytes(log, text, strlen(text));
}

static void add_data(struct log *log, const void *data, size_t count)
{
    add_byte(log, 0xC5);
    add_byte(log, (unsigned)count >> 8);
    add_byte(log, (unsigned)count & 255);
    add_bytes(log, data, count);
}

static size_t put_leb128(uint8_t *at, uint64_t number)
{
    size_t count = 0;
    for (; number > 0x7F; number >>= 7)
        at[count++] = (uint8_t)(number | 0x80);
    at[count++] = (uint8_t)number;
    return count;
}

static void add_column(struct log *log, uint64_t base, const void *values, size_t bytes)
{
    add_array(log, 2);
    add_unsigned(log, base);
    add_data(log, values, bytes);
}

/* One stack as the others are: drop so many, then literals, leaf last, each `step` above the one before. */
static inline size_t put_stack(uint8_t *at, unsigned drop, unsigned add, uint64_t first, uint64_t step)
{
    size_t count = put_leb128(at, (uint64_t)drop << 3);
    count += put_leb128(at + count, add);
    for (unsigned i = 0; i < add; i++)
        count += put_leb128(at + count, (i == 0 ? first : step) << 2 | 1);
    return count;
}

static void add_samples(struct log *log, uint64_t time, unsigned thread, size_t rows)
{
    static uint8_t stacks[1 << 12], narrow[1 << 12], wide[1 << 13];
    size_t bytes = put_stack(stacks, 0, 4, 0x401000, 0x1230);
    bytes += put_stack(stacks + bytes, 1, 2, 0x77, 0x99);
    bytes += put_leb128(stacks + bytes, 5 << 3 | 2); /* drop all but end early, */
    bytes += put_leb128(stacks + bytes, 4);
    bytes += put_leb128(stacks + bytes, (4 - 1) << 4); /* and come back as they were */
    for (size_t row = 0; row < rows; row++) {
        narrow[row] = (uint8_t)(row % 3);
        wide[2 * row] = (uint8_t)row;
        wide[2 * row + 1] = 1;
    }
    add_head(log, 8, 5, time, thread);
    add_unsigned(log, 1);
    add_unsigned(log, rows);
    add_unsigned(log, 1000);
    add_column(log, 1003, narrow, rows);
    add_array(log, 2);
    add_column(log, 0, wide, 2 * rows);
    add_column(log, 7, NULL, 0);
    add_column(log, 0, narrow, rows);
    add_unsigned(log, 3);
    add_data(log, stacks, bytes);
}

static void add_initialize(struct log *log, unsigned version)
{
    add_head(log, 23, 3, 1000, 0);
    for (unsigned i = 0; i < 6; i++)
        add_unsigned(log, i == 0 ? version : i == 3 ? 77 : i);
    add_text(log, "host");
    add_text(log, "x86_64");
    add_text(log, "6.1");
    add_unsigned(log, 4);
    add_unsigned(log, 4096);
    add_text(log, "/bin/prog");
    add_array(log, 2);
    add_text(log, "prog");
    add_text(log, "");
    add_text(log, "/");
    add_array(log, 0);
    add_text(log, "1.0");
    for (unsigned i = 0; i < 7; i++)
        add_unsigned(log, i);
}

/* INITIALIZE; then frames of one, two or three records; CLOSELOG. No two records are the same. */
static void write_log(struct log *log, unsigned middle_frames, size_t rows)
{
    log->length = log->frames = log->starts[0] = 0;
    begin_frame(log);
    add_initialize(log, 1);
    end_frame(log);
    for (unsigned i = 0; i < middle_frames; i++) {
        uint64_t time = 100000 * (i + 1);
        begin_frame(log);
        switch (i % 4) {
        case 0:
            add_samples(log, time, 77, rows);
            break;
        case 1:
            add_head(log, 14, 4, time, 0);
            add_unsigned(log, 1);
            for (unsigned field = 0; field < 5; field++)
                add_unsigned(log, 0x400000 * field);
            add_text(log, "/usr/lib/libc.so.6");
            add_data(log, "\1\2\3\4\5", 5);
            for (unsigned field = 0; field < 6; field++)
                add_byte(log, 0xC0);
            add_head(log, 1, 33, time + 1, 77);
            add_unsigned(log, 2);
            break;
        case 2:
            add_head(log, 1, 14, time, 78);
            add_data(log, "what the program \0 wrote", 24);
            break;
        default:
            add_head(log, 4, 37, time, 78);
            add_unsigned(log, 1);
            add_unsigned(log, 1000000);
            add_byte(log, 0xCB);
            add_bytes(log, "\x3F\xF8\0\0\0\0\0\0", 8);
            add_unsigned(log, 1);
            add_samples(log, time + 1, 79, rows / 2);
        }
        end_frame(log);
    }
    begin_frame(log);
    add_head(log, 6, 1, 90000000, 0);
    for (unsigned i = 0; i < 6; i++)
        add_unsigned(log, i);
    end_frame(log);
}

/* xorshift64*: the same numbers everywhere. */
static inline uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static inline size_t random_below(uint64_t *state, size_t limit)
{
    return (size_t)((random_next(state) >> 32) * limit >> 32);
}

#endif
