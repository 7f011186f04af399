/* counter_parts.c -- groups of counters on a processor that is made up: each reading is the next row of a table. Ends with 0 if all agree */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "experiment/event.h"
#include "sample/clock_event.h"
#include "sample/counter_group.h"
#include "target/descriptors.h"

enum { EVENTS = 2, CYCLES = 0, INSTRUCTIONS = 1 };

/* What the processor answers: how many events, for how long they were to count and did, in ns, and what. */
struct row {
    uint64_t count, enabled_ns, running_ns, values[EVENTS];
};

static int failures, refusals, openings;
static char told[256];
static const struct row *rows;
static size_t row_count;
static struct col_thread thread;
static uint64_t pending[EVENTS];

static void check(bool is_true, const char *what, uint64_t value)
{
    if (!is_true) {
        printf("%s: %llu %s\n", what, (unsigned long long)value, told);
        failures++;
    }
}

/* ---- what stands below ---- */

const char *col_clock_event_parse(const char *text, struct col_clock_event_asked *event)
{
    snprintf(event->name, sizeof event->name, "%.1s", text);
    return text[1] == '+' ? text + 2 : NULL;
}

/* A file with the answers, which the group reads one by one. */
long col_clock_event_open_counter(const struct col_clock_event_asked *event, int leader)
{
    if (refusals != 0 && strcmp(event->name, "i") == 0)
        return -ENOENT;
    int fd = memfd_create(event->name, MFD_CLOEXEC);
    if (leader < 0) {
        openings++;
        check(write(fd, rows, row_count * sizeof *rows) == (ssize_t)(row_count * sizeof *rows), "no file", 0);
        lseek(fd, 0, SEEK_SET);
    }
    return fd;
}

int col_descriptors_adopt(int fd) { return fd; }
int col_descriptors_hand_over(int fd, uint32_t tid, unsigned use) { (void)tid, (void)use; close(fd); return COL_DESCRIPTORS_ELSEWHERE; }
int col_descriptors_current(int handle) { return handle; }
void col_descriptors_close(int handle) { if (handle != COL_DESCRIPTORS_ELSEWHERE) close(handle); }
int col_os_close(int fd) { return close(fd); }
uint64_t col_clock_now(void) { return 0; }

int col_record_write(const struct col_record *record)
{
    const struct col_event_message *message = record->fields;
    if (record->kind == COL_KIND_MESSAGE)
        snprintf(told, sizeof told, "%u %s", (unsigned)message->severity, message->text);
    return 0;
}

/* ---- threads ---- */

static void begin(const struct row *answers, size_t count)
{
    rows = answers, row_count = count, openings = 0;
    told[0] = '\0';
    thread = (struct col_thread){.tid = 7, .group = {.leader = -1}};
    memset(pending, 0, sizeof pending);
    col_counter_group_start("c+i,next=1");
    col_counter_group_begin(&thread);
    check(openings == 0, "opened before the clock", 0);
    col_counter_group_allow();
    col_counter_group_begin(&thread);
}

static void tick(void)
{
    col_counter_group_enter(&thread, pending);
    col_counter_group_leave(&thread);
}

static void end(void)
{
    col_counter_group_end(&thread);
    col_counter_group_close();
}

#define TABLE(...) (const struct row[]){__VA_ARGS__}, sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row)

int main(void)
{
    /* Counted all the time: increments, without what passes between enter and leave, which is ours. */
    begin(TABLE({2, 100, 100, {1000, 2000}}, {2, 200, 200, {1500, 3000}}, {2, 210, 210, {1600, 3300}}, {2, 300, 300, {2000, 4000}},
                {2, 310, 310, {2000, 4000}}, {2, 310, 310, {2000, 4000}}));
    check(col_counter_group_count() == EVENTS && strcmp(col_counter_group_name(1), "i") == 0, "events", col_counter_group_count());
    tick();
    check(pending[CYCLES] == 500 && pending[INSTRUCTIONS] == 1000, "first tick", pending[CYCLES]);
    tick();
    check(pending[CYCLES] == 900 && pending[INSTRUCTIONS] == 1700, "both ticks, without the recorder's part", pending[INSTRUCTIONS]);
    end();
    check(told[0] == '\0', "nothing is told", 0);

    /* Every other time another group's turn: scaled by the time, which is told. A tick without a turn is made up for by the next. */
    begin(TABLE({2, 0, 0, {0, 0}}, {2, 1000, 500, {100, 400}}, {2, 1000, 500, {100, 400}}, {2, 2000, 500, {100, 400}}, {2, 2000, 500, {100, 400}},
                {2, 3000, 1000, {200, 900}}, {2, 3000, 1000, {200, 900}}, {2, 3000, 1000, {200, 900}}));
    tick();
    check(pending[CYCLES] == 200 && pending[INSTRUCTIONS] == 800, "half of the time", pending[CYCLES]);
    tick();
    check(pending[CYCLES] == 200 && pending[INSTRUCTIONS] == 800, "not its turn", pending[CYCLES]);
    tick();
    check(pending[CYCLES] == 600 && pending[INSTRUCTIONS] == 2800, "a quarter of two ticks", pending[CYCLES]);
    end();
    check(strcmp(told, "1 the counters took turns with others: they counted 30 to 40 % of the time, and are scaled to all of it") == 0, "turns", 0);

    /* Of hours, without overflow. */
    begin(TABLE({2, 0, 0, {0, 0}}, {2, UINT64_C(40000000000000), UINT64_C(10000000000000), {UINT64_C(30000000000000), UINT64_C(1) << 50}},
                {2, 0, 0, {0, 0}}));
    col_counter_group_enter(&thread, pending);
    check(pending[CYCLES] / 1000000 + 1 == 120000000, "four times as much", pending[CYCLES]);
    check((pending[INSTRUCTIONS] + (UINT64_C(1) << 32)) >> 42 == 1u << 10, "and more", pending[INSTRUCTIONS]);

    /* More than the processor can count at a time: never. */
    begin(TABLE({2, 0, 0, {0, 0}}, {2, 1000, 0, {0, 0}}, {2, 1000, 0, {0, 0}}, {2, 2000, 0, {0, 0}}));
    tick();
    end();
    check(pending[CYCLES] == 0 && strcmp(told, "1 the counters never counted: the processor has not enough for all that were asked for") == 0, "never", 0);

    /* The descriptor has become another file, or the group has lost a member: it is opened anew, but not for ever. */
    begin(TABLE({2, 0, 0, {100, 100}}, {1, 0, 0, {0, 0}}));
    for (int i = 0; i < 10; i++)
        tick();
    check(openings == 3 && pending[CYCLES] == 0, "opened anew", (uint64_t)openings);
    end();

    /* No such counter. */
    refusals = 1;
    begin(TABLE({2, 0, 0, {0, 0}}));
    tick();
    end();
    check(strcmp(told, "1 the counters were not read: the kernel refused i (error 2)") == 0, "refused", 0);
    return failures != 0;
}
