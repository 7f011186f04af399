/* go_program.c -- is the program that runs written in Go? */
#include "target/go_program.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#define GO_BUILD_ID 4 /* type of the note, whose name is "Go" */
#define NAME_BYTES 4

/* Notes are laid out by words. */
static bool has_go_note(uintptr_t at, size_t bytes)
{
    for (uintptr_t end = at + bytes; end - at >= sizeof(ElfW(Nhdr)) + NAME_BYTES;) {
        const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)at;
        if (note->n_type == GO_BUILD_ID && note->n_namesz == NAME_BYTES && memcmp(note + 1, "Go\0", NAME_BYTES) == 0)
            return true;
        size_t rest = ((note->n_namesz + 3) & ~(size_t)3) + ((note->n_descsz + 3) & ~(size_t)3) + sizeof *note;
        if (rest > end - at)
            return false;
        at += rest;
    }
    return false;
}

bool col_go_program_is_running(void)
{
    const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
    size_t count = segments != NULL ? getauxval(AT_PHNUM) : 0;
    uintptr_t bias = 0;
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_PHDR)
            bias = (uintptr_t)segments - segments[i].p_vaddr;
    for (size_t i = 0; i < count; i++)
        if (segments[i].p_type == PT_NOTE && has_go_note(bias + segments[i].p_vaddr, segments[i].p_memsz))
            return true;
    return false;
}
