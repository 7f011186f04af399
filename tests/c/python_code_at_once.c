/*
 * python_code_at_once.c -- threads that meet new code objects at the same time: as many as there are buffers are told of at once, each with its own name and
 * lines, and one more when it is met again
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "experiment/event.h"
#include "experiment/format.h"
#include "target/python_code.h"
#include "target/python_locations.h"

enum { AT_ONCE = 8, MOST = AT_ONCE + 1, TABLE = 40 };

/* Objects as the layout below has them; sizes and names of fields are CPython's. */
struct text {
    uintptr_t refcnt, type, length, hash, state, unused[4];
    uint8_t latin1[16];
};
struct table {
    uintptr_t refcnt, type, size, hash;
    uint8_t bytes[TABLE];
};
struct code {
    uintptr_t refcnt, type, units, unused, name, file;
    uint32_t first_line, version;
    uintptr_t line_table;
    uint16_t instructions[8];
};

static struct {
    uintptr_t words[4], basic_bytes;
} code_type = {.basic_bytes = offsetof(struct code, instructions)};

static const struct col_python_runtime runtime = {
    .layout = {.line_table = COL_LINES_LOCATIONS,
               .code = {.name = offsetof(struct code, name),
                        .file = offsetof(struct code, file),
                        .first_line = offsetof(struct code, first_line),
                        .version = offsetof(struct code, version),
                        .line_table = offsetof(struct code, line_table)},
               .text = {.ascii = offsetof(struct text, latin1), .other = offsetof(struct text, latin1)}},
    .code_type = (uintptr_t)&code_type,
};

static struct text texts[MOST];
static struct table tables[MOST];
static struct code codes[MOST];
static __thread int own;
static bool was_told[MOST];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_come = PTHREAD_COND_INITIALIZER;
static int wanted, come, refused;

uint64_t col_clock_now(void)
{
    return 1;
}

/* Until each of them is here, or was refused. */
static void await_others(int *count)
{
    pthread_mutex_lock(&lock);
    ++*count;
    pthread_cond_broadcast(&has_come);
    while (come + refused < wanted)
        pthread_cond_wait(&has_come, &lock);
    pthread_mutex_unlock(&lock);
}

int col_record_write(const struct col_record *record)
{
    const struct col_event_mappingchange *change = record->fields;
    uint8_t lines[TABLE + COL_PYTHON_LOCATIONS_MORE];
    size_t bytes = col_python_locations_shorten(tables[own].bytes, TABLE, lines);
    char name[16];
    await_others(&come);
    snprintf(name, sizeof name, "\xc3\xa9%d", own);
    if (strcmp(change->name, name) != 0 || strcmp(change->source, name) != 0 || change->lines_bytes != bytes ||
        memcmp(change->lines, lines, bytes) != 0)
        abort();
    return 0;
}

static void *meet(void *number)
{
    struct col_python_code found;
    own = (int)(intptr_t)number;
    was_told[own] = col_python_code_find(&runtime, (uintptr_t)&codes[own], &found);
    if (!was_told[own])
        await_others(&refused);
    return NULL;
}

static void meet_at_once(int count)
{
    pthread_t threads[MOST];
    col_python_code_forget(); /* all are new again */
    wanted = count;
    come = refused = 0;
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, meet, (void *)(intptr_t)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    printf("%d told, %d refused\n", come, refused);
}

int main(void)
{
    for (int i = 0; i < MOST; i++) {
        texts[i] = (struct text){.length = 2, .state = 1u << 2 | 1u << 5, .latin1 = {0xE9, (uint8_t)('0' + i)}};
        tables[i] = (struct table){.size = TABLE};
        for (int at = 0; at + 5 <= TABLE; at += 5) /* long form: one unit, i lines on, and columns */
            memcpy(tables[i].bytes + at, (uint8_t[]){0x80 | 14 << 3, (uint8_t)(2 * i), 0, (uint8_t)i, (uint8_t)(i + 1)}, 5);
        codes[i] = (struct code){.type = (uintptr_t)&code_type, .units = 8, .name = (uintptr_t)&texts[i], .file = (uintptr_t)&texts[i],
                                 .first_line = 1, .version = 1, .line_table = (uintptr_t)&tables[i]};
    }
    meet_at_once(AT_ONCE);
    meet_at_once(AT_ONCE + 1);
    for (intptr_t i = 0; i < MOST; i++)
        if (!was_told[i])
            meet((void *)i);
    for (int i = 0; i < MOST; i++)
        printf("%d", was_told[i]);
    putchar('\n');
    return 0;
}
