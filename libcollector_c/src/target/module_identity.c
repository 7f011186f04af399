/* module_identity.c -- what tells a loaded object from another file at its path: its build id, or a checksum of its code */
#include "target/module_identity.h"

#include <elf.h>
#include <string.h>

#include "base/safe_read.h"
#include "experiment/crc32.h"

#define PIECE_BYTES 4096u /* of a text, of which not all is looked at: see docs/format.md */
#define PIECES 16u
#define LARGEST_NOTES 65536u /* bytes of one segment */

static size_t align_up(size_t bytes, size_t alignment)
{
    return (bytes + alignment - 1) & ~(alignment - 1);
}

/* A segment of notes, in memory; looks for the build id among them. */
static void read_notes(struct col_module_object *object, const ElfW(Phdr) * segment)
{
    struct col_proved_pages proved = {.memory = NULL};
    uintptr_t at = object->bias + segment->p_vaddr;
    size_t alignment = segment->p_align == 8 ? 8 : 4;
    if (at < object->low || at > object->high || segment->p_memsz > object->high - at ||
        segment->p_memsz > LARGEST_NOTES || !col_safe_read_prove(&proved, at, segment->p_memsz))
        return;
    uintptr_t end = at + segment->p_memsz;
    while (at <= end && end - at >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        uintptr_t name = at + sizeof *note, text = name + align_up(note->n_namesz, alignment);
        if (note->n_namesz > end - name || text > end || note->n_descsz > end - text)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp((const void *)name, "GNU", 4) == 0 &&
            note->n_descsz <= sizeof object->build_id) {
            object->build_id_bytes = note->n_descsz;
            memcpy(object->build_id, (const void *)text, note->n_descsz);
            return;
        }
        at = text + align_up(note->n_descsz, alignment);
    }
}

static bool add_piece(uint32_t *checksum, uintptr_t at, size_t bytes)
{
    for (uintptr_t page = at & ~(uintptr_t)4095; page < at + bytes; page += 4096)
        if (!col_safe_read_probe(page))
            return false;
    *checksum = col_crc32_update(*checksum, (const void *)at, bytes);
    return true;
}

/* What the code is, for an object that no build id tells from what may be at its path later. */
static void read_text(struct col_module_object *object, const ElfW(Phdr) * segment)
{
    uintptr_t start = object->bias + segment->p_vaddr;
    size_t bytes = segment->p_filesz, pieces = bytes <= PIECES * PIECE_BYTES ? 1 : PIECES;
    if (start < object->low || bytes > object->high - start)
        return;
    object->has_text = true;
    for (size_t i = 0; i < pieces && object->has_text; i++)
        object->has_text = pieces == 1 ? add_piece(&object->text_checksum, start, bytes)
                                       : add_piece(&object->text_checksum,
                                                   start + (bytes - PIECE_BYTES) / (PIECES - 1) * i, PIECE_BYTES);
}

void col_module_identity_read(struct col_module_object *object, const ElfW(Phdr) * segments, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_DYNAMIC)
            object->dynamic = object->bias + segments[i].p_vaddr;
    for (size_t i = 0; i < count && object->build_id_bytes == 0; i++)
        if (segments[i].p_type == PT_NOTE)
            read_notes(object, &segments[i]);
    for (size_t i = 0; i < count && object->build_id_bytes == 0 && !object->has_text; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_flags & PF_X)
            read_text(object, &segments[i]);
}

void col_module_identity_find(struct col_module_object *object)
{
    uintptr_t at = object->bias != 0 ? object->bias : object->low;
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)at;
    struct col_proved_pages proved = {.memory = NULL};
    if (!col_safe_read_prove(&proved, at, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return;
    if (header->e_phoff <= 4096 &&
        col_safe_read_prove(&proved, at + header->e_phoff, header->e_phnum * sizeof(ElfW(Phdr))))
        col_module_identity_read(object, (const ElfW(Phdr) *)(at + header->e_phoff), header->e_phnum);
}
