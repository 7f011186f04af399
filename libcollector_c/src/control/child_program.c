/* child_program.c -- whether the program that is about to be run can be recorded */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/child_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/os.h"
#include "control/child_environment.h"
#include "sample/plugin_call.h"
#include "target/program_file.h"

static const char *const reasons[] = {
    [COL_PROGRAM_OTHER_MACHINE] = "it is built for another kind of processor than the recorder",
    [COL_PROGRAM_OTHER_LIBRARY] = "it uses another C library than the recorder",
    [COL_PROGRAM_OLDER_LIBRARY] = "its C library is older than the one that the recorder needs",
};

/* ---- what the recorder needs ---- */

/* 0 if the object has no such entry. */
static uintptr_t find_entry(const struct link_map *object, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry->d_un.d_val;
    return 0;
}

/* The linker has turned some of these values into addresses, and left others as they are in the file. */
static const char *find_table(const struct link_map *object, ElfW(Sxword) tag)
{
    uintptr_t value = find_entry(object, tag);
    return (const char *)(value < object->l_addr ? object->l_addr + value : value);
}

/* N of "GLIBC_2.N", 0 of others. */
static unsigned minor_of(const char *version)
{
    static const char start[] = "GLIBC_2.";
    unsigned minor = 0;
    if (strncmp(version, start, sizeof start - 1) == 0)
        for (const char *at = version + sizeof start - 1; *at >= '0' && *at <= '9'; at++)
            minor = minor * 10 + (unsigned)(*at - '0');
    return minor;
}

/* The newest version of the C library that the linker would insist on for us. */
static unsigned needed_minor(const struct link_map *object)
{
    unsigned newest = 0;
    const char *strings = find_table(object, DT_STRTAB), *at = find_table(object, DT_VERNEED);
    for (size_t count = find_entry(object, DT_VERNEEDNUM); count > 0; count--) {
        const ElfW(Verneed) *file = (const void *)at;
        const char *part = at + file->vn_aux;
        for (unsigned i = 0; i < file->vn_cnt; i++) {
            const ElfW(Vernaux) *version = (const void *)part;
            unsigned minor = (version->vna_flags & VER_FLG_WEAK) != 0 ? 0 : minor_of(strings + version->vna_name);
            newest = minor > newest ? minor : newest;
            part += version->vna_next;
        }
        at += file->vn_next;
    }
    return newest;
}

void col_child_program_learn(void)
{
    struct col_os_identity linker = {.inode = 0};
    unsigned minor = 0;
    uintptr_t base = getauxval(AT_BASE);
    for (const struct link_map *object = _r_debug.r_map; object != NULL;
         object = object->l_next) { /* dladdr would search their symbols as well */
        if (object->l_addr == base && base != 0)
            col_os_identify_path(object->l_name, &linker);
        if (object->l_ld == _DYNAMIC) /* our own */
            minor = needed_minor(object);
    }
    col_program_file_compare_with(&linker, minor);
}

/* ---- what the program gets ---- */

static bool is_out_of_reach(const char *path, int mode)
{
    return path != NULL && path[0] == '/' && col_os_access(AT_FDCWD, path, mode) != 0;
}

/*
 * What a limit on memory has to leave: our library, most of whose memory is reserved and never used, and what it maps. A program that natively keeps below
 * such a limit could otherwise not be loaded.
 */
#define MEMORY_NEEDED (24u << 20)

static bool is_below(__rlimit_resource_t resource, rlim_t needed)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur < needed;
}

/* As things stand for this process now, with its user, root and namespaces, which the program inherits. */
static const char *find_limits(void)
{
    if (is_out_of_reach(col_child_environment_library(), R_OK))
        return "the recorder cannot be read where it runs (as another user, in another root or namespace)";
    if (is_out_of_reach(col_child_environment_experiment(), W_OK | X_OK))
        return "the experiment cannot be written where it runs (as another user, in another root or namespace)";
    if (is_below(RLIMIT_DATA, MEMORY_NEEDED) || is_below(RLIMIT_AS, MEMORY_NEEDED))
        return "its limit on memory leaves no room for the recorder";
    if (is_below(RLIMIT_NOFILE, STDERR_FILENO + 2))
        return "its limit on descriptors does not let a library be loaded";
    return NULL;
}

/* Recorded, a program that a plugin runs when it begins would load the plugin, which would run it. */
static const char *explain(enum col_program_kind kind)
{
    if (col_plugin_call_is_within())
        return "a metric plugin ran it";
    return kind == COL_PROGRAM_FIT ? find_limits() : reasons[kind];
}

const char *col_child_program_obstacle(int directory, const char *path)
{
    return path != NULL && col_child_environment_library() != NULL
               ? explain(col_program_file_kind(directory, path, false))
               : NULL;
}

static bool can_run(const char *path)
{
    struct col_os_identity file;
    if (col_os_access(AT_FDCWD, path, X_OK) != 0)
        return false;
    int fd = col_os_open_at(AT_FDCWD, path);
    if (fd < 0)
        return true; /* it may be run and not be read */
    bool is_file = col_os_identify(fd, &file) == 0 && file.is_regular;
    col_os_close(fd);
    return is_file;
}

/* Writes "directory/file" for the next directory of `*search`, and moves on behind it. */
static bool next_candidate(const char **search, const char *file, char *path, size_t bytes)
{
    size_t directory_bytes = strcspn(*search, ":"), file_bytes = strlen(file);
    const char *directory = *search;
    *search += directory_bytes + (directory[directory_bytes] == ':');
    if (directory_bytes + file_bytes + 2 > bytes)
        return false;
    memcpy(path, directory, directory_bytes);
    if (directory_bytes != 0)
        path[directory_bytes++] = '/'; /* an empty one is where we are */
    memcpy(path + directory_bytes, file, file_bytes + 1);
    return true;
}

const char *col_child_program_obstacle_of_name(const char *file)
{
    char path[PATH_MAX];
    if (file == NULL || col_child_environment_library() == NULL)
        return NULL;
    if (strchr(file, '/') != NULL)
        return explain(col_program_file_kind(AT_FDCWD, file, true));
    const char *search = getenv("PATH");
    if (search == NULL)
        search = "/bin:/usr/bin";
    do
        if (next_candidate(&search, file, path, sizeof path) && can_run(path))
            return explain(col_program_file_kind(AT_FDCWD, path, true));
    while (search[0] != '\0');
    return NULL;
}
