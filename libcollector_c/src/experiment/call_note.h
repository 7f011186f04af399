/* call_note.h -- a word on the disk that says whose code is running in our place, in case it never comes back */
#ifndef COL_EXPERIMENT_CALL_NOTE_H
#define COL_EXPERIMENT_CALL_NOTE_H

#include <stdint.h>

/*
 * A slot for open frames (docs/format.md) that holds a text while a plugin is being called. Pages shared with the kernel: whatever kills the
 * process, the word stays. One call at a time: whoever begins has made sure of that.
 */

/* Takes a slot of the log that is open now, if it has none yet. From ordinary code; where it fails calls are just not noted. */
void col_call_note_open(void);

/* From anywhere, signal handlers included. `text` is cut after 400 bytes. */
void col_call_note_begin(const char *text, uint32_t thread);
void col_call_note_end(void);

#endif
