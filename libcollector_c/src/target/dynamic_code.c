/* dynamic_code.c -- code that the program made or mapped itself, as it tells us */
#include "target/dynamic_code.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/safe_read.h"
#include "experiment/event.h"
#include "experiment/messages.h"
#include "experiment/object_store.h"
#include "target/api_arguments.h"
#include "target/elf_view.h"

#define LINE_LIMIT 65536u
#define CODE_LIMIT (256u << 10)
#define MODULE_LIMIT ((int64_t)1 << 30)

/* One entry of the table a program gives, and of the log's. */
struct line {
    int32_t offset, number;
};

static struct col_event_head head_now(void)
{
    return (struct col_event_head){col_clock_now(), 0};
}

static void write_change(struct col_event_head head, const struct col_event_mappingchange *change)
{
    col_api_arguments_count(col_event_mappingchange(head, change));
}

/* ---- what can be read of what the program gives ---- */

static bool is_range(uintptr_t start, int bytes)
{
    return start != 0 && bytes > 0 && start <= UINTPTR_MAX - (uintptr_t)bytes;
}

/* True if the first `count` entries can be read and their offsets rise. */
static bool is_line_table(const struct line *lines, size_t count)
{
    if (col_api_arguments_readable((uintptr_t)lines, count * sizeof *lines) < count * sizeof *lines)
        return false;
    int64_t before = -1;
    for (size_t i = 0; i < count; before = lines[i++].offset)
        if (lines[i].offset <= before)
            return false;
    return true;
}

/* ---- functions ---- */

void col_dynamic_code_load_function(const struct col_dynamic_function *function)
{
    struct col_event_head head = head_now();
    size_t line_count = function->lines == NULL || function->line_count < 0 ? 0 : (size_t)function->line_count;
    line_count = line_count < LINE_LIMIT ? line_count : LINE_LIMIT;
    if (function->name == NULL || !col_api_arguments_is_text(function->name) || function->name[0] == '\0' ||
        !is_range(function->start, function->bytes) ||
        (function->alias != NULL && !col_api_arguments_is_text(function->alias)) ||
        (function->source != NULL && !col_api_arguments_is_text(function->source)) ||
        !is_line_table(function->lines, line_count)) {
        col_api_arguments_drop();
        return;
    }
    size_t code_bytes = col_api_arguments_readable(
        function->start, (size_t)function->bytes < CODE_LIMIT ? (size_t)function->bytes : CODE_LIMIT);
    struct col_event_mappingchange change = {.action = COL_MAP_INSERT,
                                             .map_kind = COL_MAP_DYNAMIC_FUNCTION,
                                             .start = function->start,
                                             .end = function->start + (uintptr_t)function->bytes,
                                             .bias = function->start,
                                             .path = "",
                                             .name = function->name,
                                             .alias = function->alias,
                                             .source = function->source,
                                             .lines = function->lines,
                                             .lines_bytes = line_count * sizeof(struct line),
                                             .code = code_bytes != 0 ? (const void *)function->start : NULL,
                                             .code_bytes = code_bytes};
    write_change(head, &change);
}

static void unload(unsigned kind, uintptr_t start)
{
    struct col_event_head head = head_now();
    if (start == 0)
        col_api_arguments_drop();
    else
        write_change(head, &(struct col_event_mappingchange){
                               .action = COL_MAP_DELETE, .map_kind = kind, .start = start, .end = start, .path = ""});
}

void col_dynamic_code_unload_function(uintptr_t start)
{
    unload(COL_MAP_DYNAMIC_FUNCTION, start);
}

void col_dynamic_code_unload_module(uintptr_t start)
{
    unload(COL_MAP_DYNAMIC_MODULE, start);
}

/* ---- modules ---- */

/* The whole file, in memory of ours; its size, or -errno. */
static int64_t read_file(const char *path, uint8_t **bytes)
{
    int fd = col_os_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0)
        return fd;
    struct col_os_file file;
    int error = col_os_describe(fd, &file);
    int64_t size = error != 0 ? error : (int64_t)file.bytes, done = 0;
    *bytes = size > 0 && size <= MODULE_LIMIT ? col_os_map_memory((size_t)size) : NULL;
    ssize_t count = 1;
    while (*bytes != NULL && done < size && (count = col_os_read(fd, *bytes + done, (size_t)(size - done))) > 0)
        done += count;
    col_os_close(fd);
    if (*bytes != NULL && done == size)
        return size;
    if (*bytes != NULL)
        col_os_unmap(*bytes, (size_t)size);
    return count < 0 ? count : size < 0 ? size : size > MODULE_LIMIT ? -EFBIG : -ENOEXEC;
}

/* A file that was mapped as it is begins, in memory, with its own header. */
static bool is_whole_file_at(uintptr_t start, const struct col_elf_view *view)
{
    uint8_t header[64];
    return view->size >= sizeof header && col_safe_read_bytes(start, header, sizeof header) &&
           memcmp(header, view->bytes, sizeof header) == 0;
}

/* Where the file lies, as docs/format.md describes it under MAPPINGCHANGE. */
static bool place(const struct col_elf_view *view, uintptr_t start, struct col_event_mappingchange *change)
{
    uint64_t first, last, bytes = view->size, file_offset = 0;
    change->start = start;
    if (!col_elf_view_is_relocatable(view)) {
        if (!col_elf_view_segments(view, &first, &last))
            return false;
        change->bias = start - first;
        change->end = start + (last - first);
        return change->end > start;
    }
    if (!is_whole_file_at(start, view) && !col_elf_view_lay_out_code(view, &bytes, &file_offset))
        return false;
    change->file_offset = file_offset;
    change->bias = start - file_offset;
    change->end = start + bytes;
    return change->end > start;
}

static void load_bytes(const char *path, uintptr_t start, const struct col_elf_view *view, struct col_event_head head)
{
    char copy[COL_OBJECT_NAME_BYTES];
    struct col_event_mappingchange change = {
        .action = COL_MAP_INSERT, .map_kind = COL_MAP_DYNAMIC_MODULE, .path = path};
    if (!col_elf_view_is_sound(view) || !place(view, start, &change)) {
        col_api_arguments_drop();
        col_messages_say(
            COL_MESSAGE_WARNING, path,
            "collector_module_load was called with a file that is no object file of this machine, or has no code");
        return;
    }
    int error = col_object_store_keep(path, view->bytes, view->size, copy);
    if (error == 0)
        change.copy = copy;
    else
        col_messages_say(
            COL_MESSAGE_WARNING, path,
            "the file could not be copied into the experiment; it is needed at its place when reports are made");
    write_change(head, &change);
}

void col_dynamic_code_load_module(const char *path, uintptr_t start)
{
    struct col_event_head head = head_now();
    uint8_t *bytes = NULL;
    if (path == NULL || !col_api_arguments_is_text(path) || path[0] == '\0' || start == 0) {
        col_api_arguments_drop();
        return;
    }
    int64_t size = read_file(path, &bytes);
    if (size <= 0) {
        col_api_arguments_drop();
        col_messages_say(COL_MESSAGE_WARNING, path, "collector_module_load was called with a file that cannot be read");
        return;
    }
    load_bytes(path, start, &(struct col_elf_view){bytes, (size_t)size}, head);
    col_os_unmap(bytes, (size_t)size);
}

void col_dynamic_code_forget(void)
{
    col_api_arguments_forget();
    col_object_store_forget();
}
