/* pmclog_damage.c -- cuts, grows and damages logs: every intact frame must come through, every loss must be told with its extent */
#define _GNU_SOURCE
#include "pmclog_describe.h"
#include "pmclog_logs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK(condition)                                                                                                       \
    do {                                                                                                                       \
        if (!(condition)) {                                                                                                    \
            fprintf(stderr, "%s:%d: %s does not hold (%s)\n", __FILE__, __LINE__, #condition, context);                         \
            abort();                                                                                                           \
        }                                                                                                                      \
    } while (0)

enum { MAX_EVENTS = 4096 };

static char context[200];

/* What a log says, in order: a hash of every event and the frame it is in. */
struct story {
    uint64_t hash[MAX_EVENTS];
    size_t frame[MAX_EVENTS];
    size_t events;
};

static struct line line;
static struct log whole;
static struct story told;

static uint64_t hash_of(const struct pmclog_ev *ev)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    describe(&line, ev);
    for (size_t i = 0; i < line.length; i++)
        hash = (hash ^ (uint8_t)line.text[i]) * UINT64_C(1099511628211);
    return hash;
}

static size_t frame_at(size_t offset)
{
    size_t frame = 0;
    while (whole.starts[frame + 1] <= offset)
        frame++;
    return frame;
}

/* A descriptor whose file holds these bytes. */
static int file_of(const uint8_t *bytes, size_t count)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("log", 0);
    if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes, count, 0) != (ssize_t)count || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    return fd;
}

static void tell_whole_story(void)
{
    struct pmclog_ev ev;
    void *parser = pmclog_open(file_of(whole.bytes, whole.length));
    told.events = 0;
    while (pmclog_read(parser, &ev) == 0) {
        told.hash[told.events] = hash_of(&ev);
        told.frame[told.events++] = frame_at((size_t)ev.pl_offset);
        CHECK(ev.pl_count == told.events);
        CHECK(ev.pl_type != PMCLOG_TYPE_DROPNOTIFY);
    }
    CHECK(ev.pl_state == PMCLOG_EOF);
    CHECK(told.events > 20 && told.frame[told.events - 1] == whole.frames - 1);
    pmclog_close(parser);
}

/* Reads on from event `next` to an end of file; all events must be the story's. */
static size_t read_on(void *parser, size_t next)
{
    struct pmclog_ev ev;
    while (pmclog_read(parser, &ev) == 0) {
        CHECK(next < told.events);
        CHECK(hash_of(&ev) == told.hash[next]);
        next++;
    }
    CHECK(ev.pl_state == PMCLOG_EOF);
    return next;
}

static size_t events_before(size_t offset)
{
    size_t events = 0;
    while (events < told.events && whole.starts[told.frame[events] + 1] <= offset)
        events++;
    return events;
}

/* Cut at every byte: exactly the complete frames, then end of file; the file grows to its full length: the rest. */
static void cut(void)
{
    for (size_t length = 0; length <= whole.length; length++) {
        snprintf(context, sizeof context, "cut at %zu", length);
        int fd = file_of(whole.bytes, length);
        void *parser = pmclog_open(fd);
        size_t events = read_on(parser, 0);
        CHECK(events == events_before(length));
        CHECK(read_on(parser, events) == events);
        struct pmclog_totals totals;
        pmclog_get_totals(parser, &totals);
        CHECK(totals.pl_leftover_bytes == length - whole.starts[totals.pl_frames]);
        CHECK(pwrite(fd, whole.bytes + length, whole.length - length, (off_t)length) == (ssize_t)(whole.length - length));
        CHECK(read_on(parser, events) == told.events);
        pmclog_close(parser);
    }
}

/* The same log byte by byte, through a file that grows and through feeding; and with space reserved behind it, in which frames appear. */
static void grow(void)
{
    uint8_t byte = 0;
    struct pmclog_ev ev;
    int fd = file_of(&byte, 0);
    void *growing = pmclog_open(fd), *fed = pmclog_open(PMCLOG_FD_NONE);
    size_t grown_events = 0, fed_events = 0;
    for (size_t length = 1; length <= whole.length; length++) {
        snprintf(context, sizeof context, "grown to %zu", length);
        CHECK(pwrite(fd, whole.bytes + length - 1, 1, (off_t)length - 1) == 1);
        grown_events = read_on(growing, grown_events);
        CHECK(grown_events == events_before(length));
        byte = whole.bytes[length - 1];
        CHECK(pmclog_feed(fed, (char *)&byte, 1) == 0);
        while (pmclog_read(fed, &ev) == 0)
            CHECK(hash_of(&ev) == told.hash[fed_events++]);
        CHECK(ev.pl_state == PMCLOG_REQUIRE_DATA && fed_events == grown_events);
    }
    pmclog_close(growing);
    pmclog_close(fed);

    void *reserved = pmclog_open(fd);
    CHECK(ftruncate(fd, 0) == 0 && ftruncate(fd, (off_t)8 << 30) == 0);
    size_t events = 0;
    for (size_t frame = 0; frame < whole.frames; frame++) {
        size_t start = whole.starts[frame], length = whole.starts[frame + 1] - start;
        snprintf(context, sizeof context, "frame %zu in reserved space", frame);
        CHECK(pwrite(fd, whole.bytes + start + 1, length - 1, (off_t)start + 1) == (ssize_t)length - 1);
        CHECK(read_on(reserved, events) == events); /* its first byte is still zero */
        CHECK(pwrite(fd, whole.bytes + start, 1, (off_t)start) == 1);
        events = read_on(reserved, events);
        CHECK(events == events_before(start + length));
    }
    pmclog_close(reserved);
}

/* A damaged log, and what of the whole one is untouched in it. */
struct damaged {
    uint8_t bytes[LOG_BYTES];
    size_t length;
    bool is_touched[LOG_FRAMES];
    bool is_shifted;
};

static struct damaged damaged;

static void touch(size_t from, size_t until)
{
    for (size_t frame = 0; frame < whole.frames; frame++)
        if (from < whole.starts[frame + 1] && until > whole.starts[frame])
            damaged.is_touched[frame] = true;
}

static void begin_damage(void)
{
    damaged = (struct damaged){.length = whole.length};
    memcpy(damaged.bytes, whole.bytes, whole.length);
}

/* Marks [from, until) of the damaged log as accounted for; nothing may be accounted for twice. */
static void account(bool *is_accounted, size_t from, size_t until)
{
    CHECK(from <= until && until <= damaged.length);
    for (; from < until; from++) {
        CHECK(!is_accounted[from]);
        is_accounted[from] = true;
    }
}

/* Every event is one of the whole log, frame by frame and in order; untouched frames are all there; every byte that is not zero is in a
   frame, in a loss that was told, or left over at the end; missing frames are counted. */
static void check_damaged(void)
{
    static bool is_accounted[LOG_BYTES];
    bool is_there[LOG_FRAMES] = {false};
    struct pmclog_ev ev;
    struct pmclog_totals totals;
    size_t next = 0, last_frame = SIZE_MAX;
    memset(is_accounted, 0, damaged.length);
    void *parser = pmclog_open(file_of(damaged.bytes, damaged.length));
    while (pmclog_read(parser, &ev) == 0) {
        if (ev.pl_type == PMCLOG_TYPE_DROPNOTIFY) {
            CHECK(next == told.events || last_frame == SIZE_MAX || told.frame[next] != last_frame); /* not inside a frame */
            CHECK((size_t)ev.pl_offset == ev.pl_u.pl_d.pl_offset);
            if (ev.pl_u.pl_d.pl_cause == PMCLOG_DROP_DAMAGE)
                account(is_accounted, (size_t)ev.pl_u.pl_d.pl_offset, (size_t)(ev.pl_u.pl_d.pl_offset + ev.pl_u.pl_d.pl_length));
            continue;
        }
        uint64_t hash = hash_of(&ev);
        if (last_frame == SIZE_MAX || next == told.events || told.frame[next] != last_frame) {
            while (next < told.events && (told.hash[next] != hash || (next > 0 && told.frame[next - 1] == told.frame[next])))
                next++;
            CHECK(next < told.events);
            last_frame = told.frame[next];
            is_there[last_frame] = true;
            size_t start = (size_t)ev.pl_offset - HEADER_BYTES;
            account(is_accounted, start, start + whole.starts[last_frame + 1] - whole.starts[last_frame]);
        }
        CHECK(told.hash[next] == hash);
        next++;
    }
    CHECK(ev.pl_state == PMCLOG_EOF);
    pmclog_get_totals(parser, &totals);
    account(is_accounted, damaged.length - (size_t)totals.pl_leftover_bytes, damaged.length);
    size_t settled = damaged.length;
    while (settled > 0 && !is_accounted[settled - 1])
        settled--;
    /* Behind zeros at the end a frame may be being written. */
    for (size_t i = 0; i < (settled < damaged.length && damaged.bytes[settled] == 0 ? settled : damaged.length); i++)
        CHECK(is_accounted[i] || damaged.bytes[i] == 0);
    uint64_t missing = 0;
    bool is_last_there = true;
    for (size_t frame = 0, gap = 0; frame < whole.frames; frame++) {
        CHECK(is_there[frame] || damaged.is_touched[frame]);
        is_last_there = is_there[frame];
        gap = is_there[frame] ? 0 : gap + 1;
        missing += is_there[frame] ? 0 : 1;
        if (frame + 1 == whole.frames)
            missing -= gap; /* nobody can count what the end is missing, */
    }
    CHECK(totals.pl_missing_frames == missing);
    CHECK(totals.pl_is_closed == is_last_there); /* but that it is missing can be seen */
    pmclog_close(parser);
}

static void flip_every_bit(void)
{
    for (size_t bit = 0; bit < 8 * whole.length; bit++) {
        snprintf(context, sizeof context, "bit %zu", bit);
        begin_damage();
        damaged.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        touch(bit / 8, bit / 8 + 1);
        check_damaged();
        for (size_t frame = 0; frame < whole.frames; frame++)
            CHECK(!damaged.is_touched[frame] || frame_at(bit / 8) == frame);
    }
}

/* Inserts or deletes; `touch` counts in the whole log, so this comes last of the damages of one log. */
static void shift(uint64_t *seed, bool is_insertion)
{
    size_t at = random_below(seed, whole.length), count = 1 + random_below(seed, random_below(seed, 2) ? 8 : 700);
    uint8_t *here = damaged.bytes + at;
    if (is_insertion) {
        memmove(here + count, here, damaged.length - at);
        for (size_t i = 0; i < count; i++)
            here[i] = (uint8_t)random_next(seed);
        damaged.length += count;
        bool is_boundary = whole.starts[frame_at(at)] == at;
        touch(at, is_boundary ? at : at + 1);
        return;
    }
    if (count > whole.length - at)
        count = whole.length - at;
    memmove(here, here + count, damaged.length - at - count);
    damaged.length -= count;
    touch(at, at + count);
}

static void damage_once(uint64_t *seed)
{
    size_t at = random_below(seed, whole.length), count = 1 + random_below(seed, 600);
    size_t kind = random_below(seed, 3);
    if (count > whole.length - at)
        count = whole.length - at;
    if (kind == 0)
        count = 1;
    touch(at, at + count);
    for (size_t i = at; i < at + count; i++)
        if (kind == 0)
            damaged.bytes[i] ^= (uint8_t)(1u << random_below(seed, 8));
        else
            damaged.bytes[i] = kind == 1 ? (uint8_t)random_next(seed) : 0;
}

static void damage(size_t logs)
{
    for (size_t i = 0; i < logs; i++) {
        uint64_t seed = 0x9E3779B97F4A7C15u + i;
        snprintf(context, sizeof context, "damage %zu", i);
        begin_damage();
        for (size_t damages = random_below(&seed, 3); damages > 0; damages--)
            damage_once(&seed);
        switch (random_below(&seed, 3)) {
        case 0:
            damage_once(&seed);
            break;
        case 1:
            shift(&seed, true);
            break;
        default:
            shift(&seed, false);
        }
        check_damaged();
    }
}

/* pmclog_damage cut | grow | bits | damage COUNT */
int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    write_log(&whole, 14, 20);
    tell_whole_story();
    if (strcmp(what, "cut") == 0)
        cut();
    else if (strcmp(what, "grow") == 0)
        grow();
    else if (strcmp(what, "bits") == 0)
        flip_every_bit();
    else if (strcmp(what, "damage") == 0 && count > 2)
        damage(strtoul(arguments[2], NULL, 10));
    else
        return 2;
    printf("%zu bytes, %zu frames, %zu events\n", whole.length, whole.frames, told.events);
    return 0;
}
