/* functions_fuzz.c -- hostile symbol tables and unwind entries through the maker of tables of functions, under the sanitizers: no crash, no hang, no read outside
 *
 * functions_fuzz COUNT SEED SYMBOLS STRINGS DYNAMIC_SYMBOLS DYNAMIC_STRINGS FRAMES: sections of a file, each in a file of its own;
 * read as they are, then COUNT times with a few bytes changed.
 */
#include "changed_sections.h"
#include "elf/function_table.h"

#include <errno.h>
#include <string.h>

enum { SECTIONS = 5, MOST_CODE = 8, MOST_STUBS = 16, HIGHEST_RANGE = 0x4000 };

/* What the caller is promised: disjoint pieces that rise, in code, and names that end inside. */
static void look(const struct col_function_pieces *found, const struct col_code_range *code, size_t code_count)
{
    size_t around = 0;
    if (found->name_bytes == 0 || found->names[0] != '\0' || found->names[found->name_bytes - 1] != '\0')
        abort();
    for (size_t i = 0; i < found->count; i++) {
        while (around < code_count && code[around].end <= found->starts[i])
            around++;
        if (found->starts[i] >= found->ends[i] || (i > 0 && found->starts[i] < found->ends[i - 1]) ||
            found->name_offsets[i] >= found->name_bytes || around == code_count ||
            found->starts[i] < code[around].start || found->ends[i] > code[around].end ||
            found->function_starts[i] > found->starts[i])
            abort();
    }
}

static void look_at_names(const struct col_functions *functions, const struct col_function_names *names)
{
    size_t bytes = 0, ends = 0;
    for (size_t i = 0; i < names->alias_bytes; i++)
        ends += names->aliases[i] == '\0';
    for (size_t i = 0; i < names->piece_bytes; i++)
        ends += names->pieces[i] == '\0';
    if (ends < names->alias_count || ends > names->alias_count + names->symbol_count)
        abort();
    for (size_t i = 0; i < names->alias_count; i++)
        if (!col_functions_name_at(functions, names->alias_starts[i], &bytes))
            abort();
    for (int i = 0; i < 64; i++) {
        const char *name = col_functions_name_at(functions, below(HIGHEST_RANGE), &bytes);
        if (name && memchr(name, 0, bytes))
            abort();
    }
}

/* At times everything, at times some ranges, at times such that overlap. */
static size_t make_code(struct col_code_range *code)
{
    size_t count = below(3) ? 1 : below(MOST_CODE);
    uint64_t position = below(2) ? 0x1000 : 1;
    for (size_t i = 0; i < count; i++) {
        uint64_t start = position + below(64);
        uint64_t end = below(8) ? start + (count > 1 ? below(0x400) : HIGHEST_RANGE) : UINT64_MAX;
        code[i] = (struct col_code_range){start, end};
        position = end - (below(16) == 0 && end > 4 ? 4 : 0);
    }
    return count;
}

static size_t read_all(const struct col_dwarf_bytes *sections)
{
    struct col_symbol_table tables[] = {{sections[0], sections[1], below(16) ? UINT64_MAX / 2 : below(4096)},
                                        {sections[2], sections[3], UINT64_MAX / 2}};
    struct col_code_range code[MOST_CODE];
    uint64_t starts[MOST_STUBS], sizes[MOST_STUBS];
    static const char stub_names[] = "a@plt\0b@plt\0\0d\0a@plt\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p";
    struct col_function_stubs stubs = {starts, sizes, below(MOST_STUBS), stub_names, below(16) ? sizeof stub_names : below(20)};
    struct col_function_names names;
    struct col_function_pieces pieces = {0};
    struct col_functions *functions = col_functions_open();
    size_t code_count = make_code(code);
    for (size_t i = 0; i < MOST_STUBS; i++) {
        starts[i] = below(8) ? 0x1000 + below(0x400) : (uint64_t)below(SIZE_MAX);
        sizes[i] = below(8) ? 8 * below(4) : (uint64_t)below(SIZE_MAX);
    }
    if (!functions)
        abort();
    int status = col_functions_read(functions, tables, 2, code, code_count, &names);
    if (status == 0) {
        look_at_names(functions, &names);
        status = col_functions_lay(functions, &stubs, &sections[4], below(8) ? 0x2000 : UINT64_MAX - below(0x4000), &pieces);
    }
    if (status == 0)
        look(&pieces, code, code_count);
    else if (status != -ENOTSUP)
        abort();
    col_functions_close(functions);
    return status == 0 ? pieces.count : 0;
}

int main(int argc, char **argv)
{
    struct col_dwarf_bytes sections[SECTIONS] = {{0}};
    size_t found = 0;
    if (argc != 3 + SECTIONS)
        return 2;
    state = strtoull(argv[2], NULL, 10);
    for (int i = 0; i < SECTIONS; i++)
        sections[i] = read_file(argv[3 + i]);
    for (long round = atol(argv[1]); round >= 0; round--) {
        struct change {
            uint8_t *at, was;
        } changes[8];
        size_t count = 0, wanted = below(8);
        while (count < wanted) {
            size_t which = below(SECTIONS);
            if (sections[which].size == 0)
                continue;
            size_t place = below(8) ? below(sections[which].size) : sections[which].size - 1; /* the end is where readers go too far */
            uint8_t *at = (uint8_t *)(uintptr_t)sections[which].start + place;
            changes[count++] = (struct change){at, *at};
            *at = (uint8_t)(below(3) ? below(256) : *at ^ 1u << below(8));
        }
        found += read_all(sections);
        while (count > 0) {
            count--;
            *changes[count].at = changes[count].was;
        }
    }
    for (int i = 0; i < SECTIONS; i++)
        free((void *)(uintptr_t)sections[i].start);
    printf("%zu pieces\nall held\n", found);
    return 0;
}
