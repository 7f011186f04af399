/* inlines_fuzz.c -- hostile debug information through the reader of inlined calls, under the sanitizers: no crash, no hang, no read outside
 *
 * inlines_fuzz COUNT SEED SECTION...: the sections of a file in the order of enum col_dwarf_section, each in a file of its own;
 * read as they are, then COUNT times with a few bytes changed.
 */
#include "changed_sections.h"
#include "dwarf/inlines.h"
#include "dwarf/units.h"

#include <errno.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    struct col_dwarf_bytes sections[COL_DWARF_SECTIONS] = {{0}};
    if (argc != 3 + COL_DWARF_SECTIONS)
        return 2;
    state = strtoull(argv[2], NULL, 10);
    for (int i = 0; i < COL_DWARF_SECTIONS; i++)
        sections[i] = read_file(argv[3 + i]);
    printf("%zu calls\n", read_all(sections));
    for (long round = atol(argv[1]); round > 0; round--) {
        struct change {
            uint8_t *at, was;
        } changes[8];
        size_t count = 0, wanted = 1 + below(8);
        while (count < wanted) {
            size_t which = below(4) ? below(2) : below(COL_DWARF_SECTIONS); /* mostly entries and their abbreviations */
            if (sections[which].size == 0)
                continue;
            uint8_t *at = (uint8_t *)(uintptr_t)sections[which].start + below(sections[which].size);
            changes[count++] = (struct change){at, *at};
            *at = (uint8_t)(below(3) ? below(256) : *at ^ 1u << below(8));
        }
        read_all(sections);
        while (count > 0) {
            count--;
            *changes[count].at = changes[count].was;
        }
    }
    for (int i = 0; i < COL_DWARF_SECTIONS; i++)
        free((void *)(uintptr_t)sections[i].start);
    puts("all held");
    return 0;
}
