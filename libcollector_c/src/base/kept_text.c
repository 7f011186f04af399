/* kept_text.c -- strings that stay as long as the process, in memory of our own */
#include "base/kept_text.h"

#include <string.h>

#include "base/os.h"

#define PIECE_BYTES 16384u
#define FIRST_BYTES 2048u /* enough for most processes, without memory of their own */

static char first_piece[FIRST_BYTES];

static struct {
    char *next;
    size_t room;
} self = {first_piece, FIRST_BYTES};

char *col_kept_text_join(const char *first, const char *second)
{
    size_t first_bytes = strlen(first), second_bytes = strlen(second), bytes = first_bytes + second_bytes + 1;
    if (bytes > self.room) {
        size_t wanted = bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
        char *piece = col_os_map_memory(wanted);
        if (piece == NULL)
            return NULL;
        self.next = piece;
        self.room = wanted;
    }
    char *text = self.next;
    memcpy(text, first, first_bytes);
    memcpy(text + first_bytes, second, second_bytes + 1);
    self.next += bytes;
    self.room -= bytes;
    return text;
}
