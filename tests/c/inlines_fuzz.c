/* inlines_fuzz.c -- hostile debug information through the readers of inlined calls and of line programs, under the sanitizers: no crash, no hang, no read outside
 *
 * inlines_fuzz COUNT SEED SECTION...: the sections of a file in the order of enum col_dwarf_section, and .debug_line, each in a file of its own;
 * read as they are, then COUNT times with a few bytes changed.
 */
#include "changed_sections.h"
#include "dwarf/inlines.h"
#include "dwarf/lines.h"
#include "dwarf/units.h"

#include <errno.h>
#include <string.h>

enum { LINE = COL_DWARF_SECTIONS, SECTIONS };

static size_t sequence_count; /* that line programs had */

/* What the caller is promised: rising starts, and numbers that count into what there is. */
static void look(const struct col_inlines *found)
{
    size_t names = 0;
    for (size_t i = 0; i < found->start_count; i++)
        if ((i > 0 && found->starts[i] <= found->starts[i - 1]) ||
            (found->nodes[i] != COL_DWARF_NOTHING && found->nodes[i] >= found->node_count))
            abort();
    for (uint32_t i = 0; i < found->node_count; i++)
        if ((found->parents[i] != COL_DWARF_NOTHING && found->parents[i] >= i) || found->functions[i] >= found->function_count)
            abort();
    for (size_t i = 0; i < found->name_bytes; i++)
        names += found->names[i] == '\0';
    if (names != found->function_count)
        abort();
}

static size_t read_all(const struct col_dwarf_bytes *sections)
{
    struct col_dwarf *dwarf = col_dwarf_open(sections, sections, 0); /* its own supplement: any reference leads somewhere */
    struct col_dwarf_file units = {.work = 0};
    size_t nodes = 0;
    bool is_partial = below(2); /* each unit by itself, without those it refers to */
    memcpy(units.sections, sections, sizeof units.sections);
    if (!dwarf || col_dwarf_index_units(&units) != 0)
        abort();
    for (size_t i = 0; i < units.unit_count; i++) {
        struct col_inlines found;
        struct col_dwarf_attribute attributes[8];
        uint64_t read_bytes;
        int count = col_dwarf_find_abbreviation(&sections[COL_DWARF_ABBREV], units.units[i].abbreviations_offset, 1 + below(200), attributes, 8,
                                                &read_bytes);
        if (count > 8 || read_bytes > sections[COL_DWARF_ABBREV].size)
            abort();
        if (is_partial && col_dwarf_hold(dwarf, &units.units[i].offset, 1) != 0)
            abort();
        int status = col_dwarf_inlines(dwarf, units.units[i].offset, &found);
        if (status == 0)
            look(&found);
        else if (status != -EBADMSG)
            abort();
        nodes += status == 0 ? found.node_count : 0;
    }
    col_dwarf_free_file(&units);
    col_dwarf_close(dwarf);
    return nodes;
}

/* The end of a section as a line program, behind a header of any numbers; what the caller is promised: sequences that end with their code. */
static void run_lines(struct col_lines *lines, struct col_dwarf_bytes section)
{
    uint8_t operand_counts[255];
    size_t from = section.size == 0 ? 0 : below(section.size), row = 0;
    struct col_line_program program = {.bytes = section.start + from,
                                       .size = section.size - from,
                                       .operand_counts = operand_counts,
                                       .minimum_bytes = (uint8_t)below(256),
                                       .line_base = (int8_t)below(256),
                                       .line_range = (uint8_t)(1 + below(255)),
                                       .opcode_base = (uint8_t)(below(2) ? 13 : 1 + below(255))};
    struct col_line_rows rows;
    for (unsigned opcode = 0; opcode < program.opcode_base; opcode++)
        operand_counts[opcode] = (uint8_t)below(3);
    int status = col_lines_run(lines, &program, &rows);
    if (status != 0 && status != -EBADMSG)
        abort();
    for (size_t i = 0; status == 0 && i < rows.sequence_count; row = rows.ends[i++])
        if (rows.ends[i] < row + 2 || rows.ends[i] > rows.row_count || rows.files[rows.ends[i] - 1] != COL_LINES_NO_FILE)
            abort();
    if (status == 0 && row != rows.row_count)
        abort();
    sequence_count += status == 0 ? rows.sequence_count : 0;
}

int main(int argc, char **argv)
{
    struct col_lines *lines = col_lines_open();
    struct col_dwarf_bytes sections[SECTIONS] = {{0}};
    if (argc != 3 + SECTIONS || !lines)
        return 2;
    state = strtoull(argv[2], NULL, 10);
    for (int i = 0; i < SECTIONS; i++)
        sections[i] = read_file(argv[3 + i]);
    printf("%zu calls\n", read_all(sections));
    for (long round = atol(argv[1]); round > 0; round--) {
        struct change {
            uint8_t *at, was;
        } changes[8];
        size_t count = 0, wanted = 1 + below(8);
        while (count < wanted) {
            size_t which = below(4) ? below(2) : below(SECTIONS); /* mostly entries and their abbreviations */
            if (sections[which].size == 0)
                continue;
            uint8_t *at = (uint8_t *)(uintptr_t)sections[which].start + below(sections[which].size);
            changes[count++] = (struct change){at, *at};
            *at = (uint8_t)(below(3) ? below(256) : *at ^ 1u << below(8));
        }
        read_all(sections);
        run_lines(lines, sections[below(2) ? LINE : below(SECTIONS)]);
        while (count > 0) {
            count--;
            *changes[count].at = changes[count].was;
        }
    }
    for (int i = 0; i < SECTIONS; i++)
        free((void *)(uintptr_t)sections[i].start);
    col_lines_close(lines);
    printf("%zu sequences\n", sequence_count);
    puts("all held");
    return 0;
}
