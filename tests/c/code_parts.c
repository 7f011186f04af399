/* code_parts.c -- what is known of code made at run time, below the sanitizers: object files sound and damaged, copies, a compiler's list. Ends with 0 if all agree */
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "experiment/log_writer.h"
#include "experiment/object_store.h"
#include "target/api_arguments.h"
#include "target/dynamic_code.h"
#include "target/elf_view.h"
#include "target/jit_debug.h"

/* Hidden in this program, as compilers have it. */
struct list_entry {
    struct list_entry *next, *previous;
    const void *file;
    uint64_t bytes;
};
__attribute__((visibility("hidden"), used)) struct {
    uint32_t version, action;
    struct list_entry *relevant, *first;
} __jit_debug_descriptor = {1, 0, NULL, NULL};

static int failures;
static char experiment[512];

static void check(bool is_true, const char *what)
{
    if (!is_true) {
        printf("%s\n", what);
        failures++;
    }
}

static uint8_t *read_file(const char *path, size_t *size)
{
    struct stat about;
    int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &about) != 0)
        exit(2);
    uint8_t *bytes = malloc((size_t)about.st_size);
    *size = (size_t)about.st_size;
    if (read(fd, bytes, *size) != about.st_size)
        exit(2);
    close(fd);
    return bytes;
}

/* Everything that can be asked of a file; the sanitizers say whether anything outside it was read. */
static uint64_t ask_all(const struct col_elf_view *view)
{
    uint64_t first, last, sum = 0;
    unsigned index = 0;
    if (!col_elf_view_is_sound(view))
        return 0;
    if (col_elf_view_segments(view, &first, &last))
        sum += last - first;
    if (col_elf_view_lay_out_code(view, &first, &last))
        sum += first;
    for (unsigned count = 0; count < 100000 && col_elf_view_next_code(view, &index, &first, &last); count++)
        sum += last - first;
    return sum + col_elf_view_find_object(view, "__jit_debug_descriptor", sizeof __jit_debug_descriptor) + col_elf_view_is_relocatable(view);
}

static void test_damaged_files(const uint8_t *sound, size_t size, unsigned rounds)
{
    uint64_t sum = 0;
    for (unsigned round = 0; round < rounds; round++) {
        size_t part = rand() % 8 == 0 ? (size_t)rand() % size : size;
        uint8_t *damaged = malloc(part);
        memcpy(damaged, sound, part);
        for (int i = rand() % 6; i >= 0 && part > 0; i--)
            damaged[rand() % 3 == 0 ? (size_t)rand() % part : rand() % 64 % part] = (uint8_t)rand();
        sum += ask_all(&(struct col_elf_view){damaged, part});
        free(damaged);
    }
    check(sum != 0, "no damaged file could be read at all");
}

static void test_layout(const uint8_t *bytes, size_t size)
{
    struct col_elf_view view = {bytes, size};
    uint64_t code_bytes, file_offset, first, last;
    unsigned index = 0;
    check(col_elf_view_is_sound(&view) && col_elf_view_is_relocatable(&view), "a .o is relocatable");
    check(col_elf_view_lay_out_code(&view, &code_bytes, &file_offset) && code_bytes > 60 && file_offset >= 64, "it has code");
    check(!col_elf_view_segments(&view, &first, &last), "a .o has no segments");
    check(!col_elf_view_next_code(&view, &index, &first, &last), "a .o says of no section where it is");
}

static void test_own_symbol(void)
{
    size_t size;
    uint8_t *bytes = read_file("/proc/self/exe", &size);
    struct col_elf_view view = {bytes, size};
    uint64_t value = col_elf_view_find_object(&view, "__jit_debug_descriptor", sizeof __jit_debug_descriptor), first, last;
    check(value != 0, "a hidden symbol is found");
    check(col_elf_view_find_object(&view, "no_such_symbol_anywhere", 24) == 0, "others are not");
    check(col_elf_view_segments(&view, &first, &last) && value > first && value < last, "it lies in a segment");
    col_jit_debug_meet("/proc/self/exe", (uintptr_t)&__jit_debug_descriptor - value);
    free(bytes);
}

/* Not every linker makes one string of a name and of the end of a longer one. */
static void test_longer_name(void)
{
    static const char strings[] = "\0the_name\0name\0name";
    struct {
        Elf64_Ehdr header;
        Elf64_Shdr sections[3];
        Elf64_Sym symbols[3];
        char strings[sizeof strings];
    } file = {
        .header = {.e_ident = ELFMAG, .e_shoff = sizeof file.header, .e_shentsize = sizeof file.sections[0], .e_shnum = 3},
        .sections[1] = {.sh_type = SHT_SYMTAB, .sh_link = 2, .sh_offset = offsetof(typeof(file), symbols), .sh_size = sizeof file.symbols},
        .sections[2] = {.sh_offset = offsetof(typeof(file), strings), .sh_size = sizeof strings},
    };
    for (unsigned i = 0; i < 3; i++)
        file.symbols[i] = (Elf64_Sym){.st_name = (Elf64_Word[]){1, 10, 15}[i], .st_info = STT_OBJECT, .st_shndx = 1, .st_value = i + 1, .st_size = i == 1 ? 16 : 24};
    memcpy(file.strings, strings, sizeof strings);
    file.header.e_ident[EI_CLASS] = ELFCLASS64;
    file.header.e_ident[EI_DATA] = ELFDATA2LSB;
    struct col_elf_view view = {(const uint8_t *)&file, sizeof file};
    check(col_elf_view_find_object(&view, "name", 24) == 3, "the object of that name and size");
    file.symbols[2].st_name = 16;
    check(col_elf_view_find_object(&view, "name", 24) == 0, "no name leads beyond the strings");
}

static void *keep_again(void *argument)
{
    char name[COL_OBJECT_NAME_BYTES];
    for (int i = 0; i < 200; i++) {
        int error = col_object_store_keep("/where/ever/part.o", argument, 5000, name);
        if (error != 0 || strlen(name) != strlen("0123456789abcdef.part.o"))
            return argument;
    }
    return NULL;
}

static void test_copies(void)
{
    static char bytes[4][5000];
    pthread_t threads[4];
    void *result;
    for (int i = 0; i < 4; i++) {
        memset(bytes[i], 'a' + i / 2, sizeof bytes[i]); /* two and two the same */
        pthread_create(&threads[i], NULL, keep_again, bytes[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &result);
        check(result == NULL, "a copy was not made");
    }
}

static void link_entry(struct list_entry *entry)
{
    entry->next = __jit_debug_descriptor.first;
    __jit_debug_descriptor.relevant = __jit_debug_descriptor.first = entry;
    __jit_debug_descriptor.action = 1;
}

static uint64_t frames(void)
{
    uint64_t frame_count, byte_count;
    col_log_writer_counts(&frame_count, &byte_count);
    return frame_count;
}

/* A file on the list is told once, when it is there; broken lists harm nobody. */
static void test_list(uint8_t *bytes, size_t size, const char *stated)
{
    size_t stated_size;
    uint8_t *stated_bytes = read_file(stated, &stated_size);
    struct list_entry plain = {.file = bytes, .bytes = size}, good = {.file = stated_bytes, .bytes = stated_size};
    struct list_entry wild = {.file = (void *)16, .bytes = 4096}, circle = {.file = NULL, .bytes = 0};
    uint64_t before = frames();
    col_jit_debug_look(col_clock_now(), false);
    check(frames() == before, "an empty list says nothing");
    link_entry(&plain);
    link_entry(&good);
    for (unsigned turn = 0; turn < 10000000 && frames() == before; turn++) /* a look that was preempted is followed by a rest */
        col_jit_debug_look(col_clock_now(), false);
    check(frames() > before, "a section with an address is told");
    before = frames();
    link_entry(&wild);
    col_jit_debug_look(col_clock_now(), true);
    col_jit_debug_look(col_clock_now(), true);
    check(frames() == before, "and only once");
    link_entry(&circle);
    circle.next = &circle;
    col_jit_debug_look(col_clock_now(), true);
    __jit_debug_descriptor.first = (void *)8;
    col_jit_debug_look(col_clock_now(), true);
    check(frames() == before, "a broken list says nothing");
    free(stated_bytes);
}

static void *tell_functions(void *argument)
{
    static char code[64];
    const struct { int offset, line; } lines[] = {{0, 1}, {4, 2}}, wrong[] = {{4, 1}, {4, 2}};
    (void)argument;
    for (int i = 0; i < 2000; i++) {
        struct col_dynamic_function function = {"name", i % 2 ? "alias" : NULL, NULL, (uintptr_t)code, 64, 2, i % 4 == 3 ? (const void *)wrong : lines};
        col_dynamic_code_load_function(&function);
        col_dynamic_code_unload_function((uintptr_t)code);
    }
    return NULL;
}

static void test_functions_of_many_threads(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, tell_functions, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    check(col_api_arguments_drop_count() == 4 * 500, "each wrong call is counted");
    col_dynamic_code_unload_function(0);
    col_dynamic_code_load_module(NULL, 4096);
    col_dynamic_code_load_module("/no/such/file", 4096);
    col_dynamic_code_load_module("/proc/self", 4096);
    check(col_api_arguments_drop_count() == 4 * 500 + 4, "and modules that are none");
}

int main(int argc, char **argv)
{
    unsigned image;
    size_t size;
    if (argc < 5)
        return 2;
    snprintf(experiment, sizeof experiment, "%s", argv[3]);
    uint8_t *bytes = read_file(argv[1], &size);
    if (col_log_writer_open(experiment, getpid(), &image) != 0)
        return 2;
    test_layout(bytes, size);
    test_damaged_files(bytes, size, (unsigned)atoi(argv[4]));
    test_own_symbol();
    test_longer_name();
    test_copies();
    test_list(bytes, size, argv[2]);
    test_functions_of_many_threads();
    col_api_arguments_close();
    col_log_writer_close();
    free(bytes);
    return failures;
}
