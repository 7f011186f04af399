/* pmclog_fuzz.c -- hostile logs, under the sanitizers: no crash, no hang, no read outside, memory and events bounded */
#define _GNU_SOURCE
#include "pmclog_describe.h"
#include "pmclog_logs.h"

#include <time.h>

enum { MAX_SAMPLES_OF_RECORD = 65536 };

static struct log whole, hostile;
static volatile uint64_t sink; /* so that nothing read is optimised away */
static uint64_t most_events;

static void fail(const char *what, uint64_t number)
{
    fprintf(stderr, "%s (%" PRIu64 ")\n", what, number);
    abort();
}

static void touch_text(const char *text)
{
    sink += text ? strlen(text) : 0;
}

/* Reads everything an event points to; of a long chain both ends. */
static void touch(const struct pmclog_ev *ev)
{
    static struct line line;
    if (ev->pl_type != PMCLOG_TYPE_PCSAMPLE) {
        describe(&line, ev);
        touch_text(line.text);
        return;
    }
    const struct pmclog_ev_pcsample *sample = &ev->pl_u.pl_s;
    if (sample->pl_npc > 0)
        sink += sample->pl_chain[0] + sample->pl_chain[sample->pl_npc / 2] + sample->pl_chain[sample->pl_npc - 1] + sample->pl_pc;
}

/* Feeds the log in memory of exactly its size, in one or two pieces. Every record has a byte at least, every event a record. */
static uint64_t read_hostile(const uint8_t *bytes, size_t length, size_t first_piece)
{
    struct pmclog_ev ev;
    uint64_t events = 0;
    void *parser = pmclog_open(PMCLOG_FD_NONE);
    for (int piece = 0; piece < 2; piece++) {
        size_t count = piece == 0 ? first_piece : length - first_piece;
        char *memory = malloc(count + !count);
        memcpy(memory, bytes + (piece == 0 ? 0 : first_piece), count);
        if (pmclog_feed(parser, memory, (int)count) != 0)
            fail("feeding failed", count);
        if (piece == 1)
            pmclog_finish(parser);
        for (; pmclog_read(parser, &ev) == 0; events++)
            touch(&ev);
        free(memory);
        if (ev.pl_state == PMCLOG_ERROR)
            break;
    }
    if (ev.pl_state != PMCLOG_REQUIRE_DATA && ev.pl_state != PMCLOG_ERROR)
        fail("ends in a wrong state", ev.pl_state);
    if (events > (length + 2) * (uint64_t)MAX_SAMPLES_OF_RECORD)
        fail("too many events", events);
    pmclog_close(parser);
    if (events > most_events)
        most_events = events;
    return events;
}

/* A few frames of the whole log, so that most of an input is near what is changed. */
static void pick_frames(uint64_t *seed)
{
    size_t first = random_below(seed, whole.frames), frames = 1 + random_below(seed, 3);
    hostile.length = hostile.frames = 0;
    for (size_t frame = first; frame < first + frames && frame < whole.frames; frame++) {
        hostile.starts[hostile.frames++] = hostile.length;
        add_bytes(&hostile, whole.bytes + whole.starts[frame], whole.starts[frame + 1] - whole.starts[frame]);
    }
    hostile.starts[hostile.frames] = hostile.length;
}

static void change(uint64_t *seed)
{
    static const uint8_t spiteful[] = {0x00, 0x01, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC4, 0xC6, 0xC9, 0xCF, 0xD3, 0xDB, 0xDC, 0xDD, 0xDF, 0xFF};
    static const uint32_t lengths[] = {0, 1, 15, 16, 17, 22, 255, 65535, 65536, 1u << 20, (1u << 20) + 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFF};
    size_t at = random_below(seed, hostile.length);
    switch (random_below(seed, 6)) {
    case 0:
        hostile.bytes[at] ^= (uint8_t)(1u << random_below(seed, 8));
        break;
    case 1:
        hostile.bytes[at] = spiteful[random_below(seed, sizeof spiteful)];
        break;
    case 2:
        hostile.bytes[at] = (uint8_t)random_next(seed);
        break;
    case 3:
        if (at + 4 <= hostile.length)
            set_be32(hostile.bytes + at, lengths[random_below(seed, sizeof lengths / sizeof *lengths)]);
        break;
    case 4: /* any header's length */
        set_be32(hostile.bytes + hostile.starts[random_below(seed, hostile.frames)] + 1, lengths[random_below(seed, sizeof lengths / sizeof *lengths)]);
        break;
    default: /* a piece from elsewhere */
        for (size_t from = random_below(seed, whole.length), i = 0; i < 16 && at + i < hostile.length && from + i < whole.length; i++)
            hostile.bytes[at + i] = whole.bytes[from + i];
    }
}

/* Half of the inputs get their checksums right again: only they reach what is behind them. */
static void fuzz(uint64_t inputs)
{
    uint64_t events = 0;
    for (uint64_t input = 0; input < inputs; input++) {
        uint64_t seed = UINT64_C(0xD1B54A32D192ED03) * (input + 1);
        pick_frames(&seed);
        for (size_t changes = 1 + random_below(&seed, 4); changes > 0; changes--)
            change(&seed);
        if (random_below(&seed, 2))
            for (size_t frame = 0; frame < hostile.frames; frame++)
                seal(hostile.bytes + hostile.starts[frame], hostile.starts[frame + 1] - hostile.starts[frame]);
        if (random_below(&seed, 8) == 0)
            hostile.length = random_below(&seed, hostile.length + 1);
        events += read_hostile(hostile.bytes, hostile.length, random_below(&seed, 4) ? 0 : random_below(&seed, hostile.length + 1));
    }
    printf("%" PRIu64 " inputs, %" PRIu64 " events, at most %" PRIu64 " of one input\n", inputs, events, most_events);
}

/* Every length that a header can lie about, alone and before a good log. */
static void lengths(void)
{
    uint64_t expected = read_hostile(whole.bytes, whole.length, 0);
    for (uint64_t length = 0; length <= UINT32_MAX; length = length == 40 ? UINT64_C(0xFFFFFFC0) : length + 1) {
        hostile.length = 0;
        add_bytes(&hostile, whole.bytes, HEADER_BYTES);
        set_be32(hostile.bytes + 1, (uint32_t)length);
        set_be32(hostile.bytes + 14, crc_of(hostile.bytes, 14));
        set_be32(hostile.bytes + 18, 0);
        read_hostile(hostile.bytes, hostile.length, 0);
        add_bytes(&hostile, whole.bytes, whole.length);
        if (read_hostile(hostile.bytes, hostile.length, 0) < expected)
            fail("a lying length cost sound frames", length);
    }
}

static void read_frame(const char *what, uint64_t most)
{
    end_frame(&hostile);
    uint64_t events = read_hostile(hostile.bytes, hostile.length, 0);
    if (events > most)
        fail(what, events);
    hostile.length = hostile.frames = 0;
}

static void begin_samples(uint64_t count, uint64_t stack_count)
{
    begin_frame(&hostile);
    add_head(&hostile, 8, 5, 0, 1);
    add_unsigned(&hostile, 1);
    add_unsigned(&hostile, count);
    add_unsigned(&hostile, UINT64_MAX);
    for (int column = 0; column < 4; column++) {
        if (column == 1)
            add_array(&hostile, 2);
        add_column(&hostile, column == 3 ? 0 : UINT64_MAX, NULL, 0);
    }
    add_unsigned(&hostile, stack_count);
}

/* Small records that ask for much: with checksums that hold, since whoever writes them can count. */
static void bombs(void)
{
    static uint8_t stacks[1 << 15];
    hostile.length = hostile.frames = 0;
    begin_samples(UINT64_C(1) << 62, 0);
    add_data(&hostile, "", 0);
    read_frame("samples out of nothing", 3);

    begin_samples(MAX_SAMPLES_OF_RECORD, UINT64_MAX);
    size_t bytes = put_stack(stacks, 0, 2, 0x1000, 0); /* a frame over itself is its own child for ever */
    while (bytes < sizeof stacks - 32) {
        bytes += put_leb128(stacks + bytes, 0);
        bytes += put_leb128(stacks + bytes, 60000);
        bytes += put_leb128(stacks + bytes, (60000 - 1) << 4);
        bytes += put_leb128(stacks + bytes, 60000 << 3);
        bytes += put_leb128(stacks + bytes, 0);
    }
    add_data(&hostile, stacks, bytes);
    read_frame("frames out of nothing", MAX_SAMPLES_OF_RECORD + 2);

    for (int endless = 0; endless < 3; endless++) {
        begin_samples(1, 1);
        bytes = endless == 0 ? put_leb128(stacks, UINT64_MAX) : put_leb128(stacks, 0);
        bytes += put_leb128(stacks + bytes, endless == 1 ? UINT64_MAX : 1);
        bytes += put_leb128(stacks + bytes, UINT64_MAX & ~UINT64_C(1));
        memset(stacks + bytes, 0xFF, 16);
        add_data(&hostile, stacks, bytes + 16);
        read_frame("numbers without end", 3);
    }

    for (int nested = 0; nested < 2; nested++) {
        begin_frame(&hostile);
        memset(hostile.bytes + hostile.length, nested ? 0x91 : 0x81, LOG_BYTES / 2);
        hostile.length += LOG_BYTES / 2;
        read_frame("deep nesting", 3);
    }
    begin_frame(&hostile);
    memset(hostile.bytes + hostile.length, 0x90, 100000); /* records of size nothing */
    hostile.length += 100000;
    read_frame("empty records", 100001);

    begin_frame(&hostile);
    add_array(&hostile, 3 + 19);
    add_unsigned(&hostile, 3);
    for (int i = 0; i < 14; i++)
        add_byte(&hostile, i < 3 ? 1 : 0xC0);
    add_byte(&hostile, 0xDD); /* arguments: as many empty texts as fit, each a byte here and a pointer there */
    set_be32(hostile.bytes + hostile.length, 900000);
    hostile.length += 4;
    memset(hostile.bytes + hostile.length, 0xA0, 900000);
    hostile.length += 900000;
    for (int i = 0; i < 6; i++)
        add_byte(&hostile, 0xC0);
    read_frame("many texts", 3);
}

/* Of this program: getrusage begins with what was the peak of the process before it was run. */
static long peak_kib(void)
{
    char line[256];
    long peak = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        (void)sscanf(line, "VmHWM: %ld", &peak);
    if (status != NULL)
        fclose(status);
    return peak;
}

/* pmclog_fuzz fuzz COUNT | lengths | bombs */
int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    write_log(&whole, 8, 12);
    if (strcmp(what, "fuzz") == 0 && count > 2)
        fuzz(strtoull(arguments[2], NULL, 10));
    else if (strcmp(what, "lengths") == 0)
        lengths();
    else if (strcmp(what, "bombs") == 0)
        bombs();
    else
        return 2;
    long peak = peak_kib();
    printf("%.1f s, %ld MB at most\n", (double)clock() / CLOCKS_PER_SEC, peak / 1024);
    return peak < 0 || peak > 1 << 20;
}
