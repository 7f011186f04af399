/* jit_debug.c -- object files that just-in-time compilers made in memory, and told debuggers of */
#include "target/jit_debug.h"

#include <fcntl.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/safe_read.h"
#include "base/sparse.h"
#include "experiment/event.h"
#include "experiment/object_store.h"
#include "target/elf_view.h"

#define SYMBOL "__jit_debug_descriptor"
#define NAME "jit-symbols" /* last part of the name of a copy */
#define SHOWN_PATH "[jit]"
#define COMPILER_LIMIT 8u
#define FILE_LIMIT 4096u /* a power of two; of more files at a time the rest goes unnamed */
#define WALK_LIMIT 65536u
#define LARGEST_FILE_BYTES (UINT64_C(256) << 20)
#define REST_PER_WALK 50u /* after a walk that took t, none for 50 t */

/* As compilers and debuggers have agreed on it. */
struct descriptor {
    uint32_t version, action;
    uintptr_t relevant, first;
};
struct list_entry {
    uintptr_t next, previous, file;
    uint64_t bytes;
};

struct compiler {
    uintptr_t descriptor; /* 0: this library has none */
    uintptr_t bias;
    struct descriptor seen;
};

/* A file that was written down, by the place of its entry. Free while entry is 0. */
struct known {
    uintptr_t entry, file;
    uint64_t bytes;
};

static struct {
    bool is_busy;            /* atomic: the rest is somebody's */
    uint32_t compiler_count; /* atomic */
    struct compiler compilers[COMPILER_LIMIT];
    uint64_t next_walk_ns;
} self;

static struct known files[FILE_LIMIT] COL_SPARSE;

static bool enter(void)
{
    return !__atomic_exchange_n(&self.is_busy, true, __ATOMIC_ACQUIRE);
}

static void leave(void)
{
    __atomic_store_n(&self.is_busy, false, __ATOMIC_RELEASE);
}

/* ---- finding a list ---- */

/* The symbol's address in the file, 0 if it is not there. */
static uint64_t find_in_file(const char *path)
{
    struct col_os_file file;
    uint64_t address = 0;
    int fd = col_os_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (fd < 0)
        return 0;
    void *bytes = col_os_describe(fd, &file) == 0 && file.bytes != 0 ? col_os_map_to_read(fd, file.bytes) : NULL;
    col_os_close(fd);
    if (bytes != NULL) {
        address =
            col_elf_view_find_object(&(struct col_elf_view){bytes, file.bytes}, SYMBOL, sizeof(struct descriptor));
        col_os_unmap(bytes, file.bytes);
    }
    return address;
}

static bool is_met(uintptr_t bias)
{
    for (uint32_t i = 0; i < self.compiler_count; i++)
        if (self.compilers[i].bias == bias)
            return true;
    return self.compiler_count == COMPILER_LIMIT;
}

void col_jit_debug_meet(const char *path, uintptr_t bias)
{
    if (!enter())
        return;
    if (!is_met(bias)) {
        uint64_t address = find_in_file(path);
        self.compilers[self.compiler_count] =
            (struct compiler){.descriptor = address != 0 ? bias + address : 0, .bias = bias};
        __atomic_store_n(&self.compiler_count, self.compiler_count + 1, __ATOMIC_RELEASE);
    }
    leave();
}

/* ---- taking files in ---- */

/* Copies memory page by page; false if not all of it can be read. */
static bool copy_memory(uintptr_t from, uint8_t *to, size_t bytes)
{
    for (size_t done = 0, part; done < bytes; done += part) {
        part = COL_PAGE_BYTES - (from + done) % COL_PAGE_BYTES;
        part = part < bytes - done ? part : bytes - done;
        if (!col_safe_read_bytes(from + done, to + done, part))
            return false;
    }
    return true;
}

/* One record for each section of code: what lies between them may belong to others. */
static void write_sections(const struct col_elf_view *view, const char *copy, uint64_t time_ns)
{
    unsigned index = 0;
    uint64_t start, end;
    while (col_elf_view_next_code(view, &index, &start, &end)) {
        struct col_event_mappingchange change = {.action = COL_MAP_INSERT,
                                                 .map_kind = COL_MAP_DYNAMIC_MODULE,
                                                 .start = start,
                                                 .end = end,
                                                 .path = SHOWN_PATH,
                                                 .copy = copy};
        col_event_mappingchange((struct col_event_head){time_ns, 0}, &change);
    }
}

/* False if it could not be done now. */
static bool take(const struct known *file, uint64_t time_ns)
{
    char copy[COL_OBJECT_NAME_BYTES];
    uint8_t *bytes = file->bytes != 0 && file->bytes <= LARGEST_FILE_BYTES ? col_os_map_memory(file->bytes) : NULL;
    if (bytes == NULL)
        return true;
    struct col_elf_view view = {bytes, file->bytes};
    int error = 0;
    if (copy_memory(file->file, bytes, file->bytes) && col_elf_view_is_sound(&view)) {
        error = col_object_store_keep(NAME, bytes, file->bytes, copy);
        if (error == 0)
            write_sections(&view, copy, time_ns);
    }
    col_os_unmap(bytes, file->bytes);
    return error == 0;
}

/* The place of an entry, or of the first free one where it could be; NULL if the table is full. */
static struct known *place_of(uintptr_t entry)
{
    for (uint32_t step = 0; step < FILE_LIMIT; step++) {
        struct known *place = &files[((entry >> 4) * 2654435761u + step) % FILE_LIMIT];
        if (place->entry == entry || place->entry == 0)
            return place;
    }
    return NULL;
}

/* A compiler may have used the memory of an entry again. */
static bool is_new(const struct known *place, const struct list_entry *entry)
{
    return place != NULL && (place->entry == 0 || place->file != entry->file || place->bytes != entry->bytes);
}

static void walk(struct compiler *compiler, const struct descriptor *now, uint64_t time_ns)
{
    struct list_entry entry;
    bool is_complete = true;
    uintptr_t at = now->first;
    for (uint32_t count = 0; at != 0 && count < WALK_LIMIT && col_safe_read_bytes(at, &entry, sizeof entry);
         count++, at = entry.next) {
        struct known *place = place_of(at);
        struct known file = {at, entry.file, entry.bytes};
        if (!is_new(place, &entry))
            continue;
        if (take(&file, time_ns))
            *place = file;
        else
            is_complete = false;
    }
    if (is_complete)
        compiler->seen = *now;
}

static void look_at(struct compiler *compiler, uint64_t time_ns, bool is_last)
{
    struct descriptor now;
    if (compiler->descriptor == 0 || !col_safe_read_bytes(compiler->descriptor, &now, sizeof now) || now.version != 1)
        return;
    bool is_changed = now.first != compiler->seen.first || now.relevant != compiler->seen.relevant ||
                      now.action != compiler->seen.action;
    if ((is_changed && time_ns >= self.next_walk_ns) || is_last)
        walk(compiler, &now, time_ns);
}

void col_jit_debug_look(uint64_t time_ns, bool is_last)
{
    uint32_t count = __atomic_load_n(&self.compiler_count, __ATOMIC_ACQUIRE);
    if (count == 0 || !enter())
        return;
    uint64_t begun_ns = col_clock_now();
    for (uint32_t i = 0; i < count; i++)
        look_at(&self.compilers[i], time_ns, is_last);
    uint64_t ended_ns = col_clock_now();
    if (ended_ns - begun_ns > 10000) /* a walk, and not just a glance */
        self.next_walk_ns = ended_ns + (ended_ns - begun_ns) * REST_PER_WALK;
    leave();
}

void col_jit_debug_forget(void)
{
    leave();
}
