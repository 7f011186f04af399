/* jit_files.c -- what just-in-time compilers say of their code in files: perf maps and jitdumps */
#include "target/jit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/sparse.h"
#include "base/text_format.h"
#include "experiment/messages.h"
#include "experiment/object_store.h"
#include "target/executable_mappings.h"

#define LIMIT_BYTES ((size_t)512 << 20)
#define CLOCK_STEP_NS 20000000u /* times of files are those of the kernel's last tick */
#define CHUNK_BYTES 512u

static struct {
    uint64_t begun_ns;
    size_t line_bytes;
} self;

static char line[PATH_MAX + 128] COL_SPARSE;

void col_jit_files_begin(void)
{
    self.begun_ns = col_clock_wall();
}

static void keep(const char *path)
{
    if (col_object_store_copy(path, self.begun_ns - CLOCK_STEP_NS, LIMIT_BYTES) == -EFBIG)
        col_messages_say(COL_MESSAGE_WARNING, path, "the file is too large to be copied into the experiment");
}

/* True of jit-PID.dump, and of jit-THREAD-PID.dump as JavaScriptCore names it; `ending` is -PID.dump. */
static bool is_dump(const char *path, const char *ending)
{
    const char *name = strrchr(path, '/') + 1;
    size_t name_bytes = strlen(name), ending_bytes = strlen(ending);
    return strncmp(name, "jit-", 4) == 0 && name_bytes > ending_bytes &&
           strcmp(name + name_bytes - ending_bytes, ending) == 0;
}

/* The path in a line of /proc/self/maps, if it is a dump's and the mapping is executable: so compilers show where their dump is. */
static const char *path_in_line(const char *ending)
{
    const char *path = strchr(line, '/'), *blank = strchr(line, ' ');
    bool is_executable = blank != NULL && strnlen(blank, 4) == 4 && blank[3] == 'x';
    return is_executable && path != NULL && is_dump(path, ending) ? path : NULL;
}

/* True when a whole line is there. */
static bool add_character(char c)
{
    if (c == '\n') {
        line[self.line_bytes] = '\0';
        self.line_bytes = 0;
        return true;
    }
    if (self.line_bytes < sizeof line - 1)
        line[self.line_bytes++] = c;
    return false;
}

static const char *find_mapped(const char *ending)
{
    char chunk[CHUNK_BYTES];
    const char *found = NULL;
    ssize_t count;
    int fd = col_os_open("/proc/self/maps", O_RDONLY, 0);
    self.line_bytes = 0;
    while (fd >= 0 && found == NULL && (count = col_os_read(fd, chunk, sizeof chunk)) > 0)
        for (ssize_t i = 0; i < count && found == NULL; i++)
            if (add_character(chunk[i]))
                found = path_in_line(ending);
    if (fd >= 0)
        col_os_close(fd);
    return found;
}

void col_jit_files_keep(void)
{
    char name[64];
    if (!col_executable_mappings_were_asked())
        return;
    col_text_print_into(name, sizeof name, "/tmp/perf-%d.map", (int)col_os_process_id());
    keep(name);
    col_text_print_into(name, sizeof name, "-%d.dump", (int)col_os_process_id());
    const char *path = find_mapped(name);
    if (path != NULL)
        keep(path);
}
