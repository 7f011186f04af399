/* analysis_fuzz.c -- hostile logs and records through the whole analysis, under the sanitizers: no crash, no hang, no read outside
 *
 * analysis_fuzz COUNT SEED LOG...: each log is read as it is, then COUNT times with a few bytes changed; payloads get sound checksums again.
 */
#define _GNU_SOURCE
#include "analysis/seam.h"
#include "pmclog/checksum.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t T0 = UINT64_C(1000000000000), SECOND = 1000000000;

enum { HEADER_BYTES = 22, MOST_BYTES = 1 << 20, COLUMNS = 5, LAYOUTS = 3, SPACE = 0, OWN_SPACE = 1 };

static uint64_t state;

static uint32_t below(uint32_t limit)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(state >> 33) % limit;
}

static void must(int status, const char *what)
{
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", what, strerror(-status));
        abort();
    }
}

static uint32_t number_at(const uint8_t *bytes)
{
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return ntohl(number);
}

static void put(uint8_t *bytes, uint32_t number)
{
    number = htonl(number);
    memcpy(bytes, &number, sizeof number);
}

/* Makes the checksums of all frames right that still follow one another, so that what reads records sees the damage. */
static void seal(uint8_t *log, size_t count)
{
    for (size_t at = 0; at + HEADER_BYTES <= count && log[at] == 0xC9;) {
        size_t length = number_at(log + at + 1);
        if (length < HEADER_BYTES - 6 || at + 6 + length > count)
            return;
        put(log + at + 14, col_checksum_of(log + at, 14));
        put(log + at + 18, col_checksum_of(log + at + HEADER_BYTES, length - (HEADER_BYTES - 6)));
        at += 6 + length;
    }
}

static size_t mutate(uint8_t *log, size_t count)
{
    static const uint8_t odd[] = {0, 1, 0x7F, 0x80, 0xC1, 0xC4, 0xCF, 0xFF};
    for (uint32_t changes = 1 + below(6); changes > 0; changes--) {
        uint32_t at = below((uint32_t)count);
        log[at] = below(2) ? odd[below(sizeof odd)] : (uint8_t)below(256);
    }
    if (below(4) > 0)
        seal(log, count);
    return below(10) ? count : 1 + below((uint32_t)count);
}

/* Every entry is given frames: none, one or several, and some change their meaning. Gives how many frames there are. */
static void expand(struct col_analysis *analysis, size_t entries, uint32_t *first_meaning, uint64_t *times,
                   uint32_t *first_frame, uint32_t *frames)
{
    uint32_t meaning = 0, frame = 0, turn = 0;
    first_meaning[0] = first_frame[0] = 0;
    for (size_t entry = 0; entry < entries; entry++) {
        for (uint32_t more = below(8) ? 1 : 3; more > 0; more--) {
            for (uint32_t several = below(5); several > 0 && several < 4; several--)
                frames[frame++] = (uint32_t)(entry + several) % (uint32_t)entries;
            first_frame[++meaning] = frame;
            if (more > 1) {
                times[turn] = turn > 0 && entry % 2 ? times[turn - 1] + below(1000000)
                                                    : T0 + below(1000000000);
                turn++;
            }
        }
        first_meaning[entry + 1] = meaning;
    }
    struct col_expansion expansion = {first_meaning, times, first_frame, frames, entries, {0}};
    must(col_analysis_expand(analysis, &expansion), "expand");
}

static void ask(struct col_analysis *analysis, const uint32_t *groups, size_t count, int fd)
{
    const double scales[] = {1.0, 0.0, 1.0, 0.5, 0.25, 2.0};
    const struct col_span spans[] = {{0, T0 + 1000 + below(1000000000), 3}, {T0 + SECOND, T0 + 2 * SECOND, below(4)}, {T0 + 2 * SECOND, UINT64_MAX, 1}};
    const uint32_t first_span[] = {0, below(4), 3};
    static const uint64_t wants[] = {0, COL_WANT_GROUPS, COL_WANT_TREE, COL_WANT_EDGES,
                                     COL_WANT_GROUPS | COL_WANT_TREE, COL_WANT_GROUPS | COL_WANT_EDGES};
    uint32_t *demands = malloc((count + 1) * sizeof *demands);
    uint8_t *roles = malloc(count + 1);
    for (size_t frame = 0; frame < count; frame++)
        demands[frame] = below(4) | (below(3) ? 0 : below(16) * COL_DEMAND_UPTO);
    for (size_t frame = 0; frame < count; frame++)
        roles[frame] = (uint8_t)(below(5) ? below(5) : COL_ROLE_BASE + below(2));
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        struct col_question question = {groups, below(2) ? spans : NULL, first_span, scales, count, 2, count, wants[i],
                                        below(2) ? demands : NULL, below(4) | (below(2) ? COL_DEMAND_LAST : 0) | below(4) * COL_DEMAND_UPTO,
                                        below(2) ? roles : NULL, below(4)};
        struct col_answer answer;
        must(col_analysis_begin(analysis, &question), "begin");
        must(col_analysis_follow(analysis, 0, fd), "follow");
        must(col_analysis_finish(analysis, &answer), "finish");
        for (size_t node = 1; node < answer.node_count; node++)
            if (!(wants[i] & COL_WANT_EDGES) && answer.parents[node] >= node)
                abort();
    }
    free(demands);
    free(roles);
}

static void analyse(const uint8_t *log, size_t bytes)
{
    static const uint32_t kinds[COLUMNS] = {COL_COLUMN_TIME | COL_COLUMN_USER, COL_COLUMN_TIME | COL_COLUMN_SYSTEM, COL_COLUMN_TIME | COL_COLUMN_MISSING, 0, COL_COLUMN_COUNT};
    struct col_analysis *analysis = col_analysis_open();
    int fd = memfd_create("log", 0);
    struct col_scan scan;
    const struct col_entry *entries;
    struct col_answer answer;
    uint64_t empty[8];
    size_t count;
    if (!analysis || fd < 0 || write(fd, log, bytes) != (ssize_t)bytes || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    must(col_analysis_scan(analysis, fd, &scan), "scan");
    must(col_analysis_measure(analysis, kinds, COLUMNS), "measure");
    uint32_t *threads = calloc(2 * scan.record_count + 1, sizeof *threads), *numbers_of_layouts = threads + scan.record_count;
    struct col_layout layouts[LAYOUTS];
    for (size_t layout = 0; layout < LAYOUTS; layout++) {
        for (size_t value = 0; value < COL_ANALYSIS_MOST_VALUES; value++)
            layouts[layout].columns[value] = below(4) ? below(COLUMNS - 1) : COL_ANALYSIS_NONE;
        layouts[layout].times = below(1 << 12);
        layouts[layout].counted_in = below(2) ? COLUMNS - 1 : COL_ANALYSIS_NONE;
    }
    for (size_t record = 0; record < scan.record_count; record++) {
        threads[record] = below(9) ? below(2) : COL_ANALYSIS_NONE;
        numbers_of_layouts[record] = below(LAYOUTS);
    }
    const struct col_owners owners = {threads, numbers_of_layouts, scan.record_count, layouts, LAYOUTS};
    const struct col_segment segments[] = {{0x400000, 0x500000, 0x1000, SPACE, 0}, {0x600000, 0x700000, 0, SPACE, 1}};
    must(col_analysis_attribute(analysis, 0, &owners, segments, 2, OWN_SPACE), "attribute");
    must(col_analysis_collect(analysis, 0, fd), "collect");
    must(col_analysis_entries(analysis, &entries, &count, &answer, empty), "entries");
    uint32_t *numbers = calloc(14 * (count + 2), sizeof *numbers), *groups = calloc(count + 1, sizeof *groups);
    uint64_t *times = calloc(2 * count + 1, sizeof *times);
    for (size_t frame = 0; frame < count; frame++)
        groups[frame] = below((uint32_t)count);
    if (count > 0) {
        expand(analysis, count, numbers, times, numbers + count + 1, numbers + 4 * (count + 1));
        uint8_t *is_met = calloc(3 * count, 1);
        must(col_analysis_mark(analysis, 0, fd, is_met), "mark");
        free(is_met);
        ask(analysis, groups, count, fd);
    }
    free(numbers);
    free(groups);
    free(times);
    free(threads);
    close(fd);
    col_analysis_close(analysis);
}

int main(int argc, char **argv)
{
    static uint8_t log[MOST_BYTES], changed[MOST_BYTES];
    long rounds = argc > 2 ? atol(argv[1]) : 0;
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    for (int i = 3; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        size_t count = file ? fread(log, 1, sizeof log, file) : 0;
        if (count == 0 || fclose(file) != 0)
            return 1;
        analyse(log, count);
        for (long round = 0; round < rounds; round++) {
            memcpy(changed, log, count);
            analyse(changed, mutate(changed, count));
        }
    }
    puts("all held");
    return 0;
}
