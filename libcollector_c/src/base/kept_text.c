/* kept_text.c -- strings that stay as long as the process, in memory of our own */
#include "base/kept_text.h"

#include <string.h>

#include "base/os.h"

#define PIECE_BYTES 16384u
#define FIRST_BYTES 2048u /* enough for most processes, without memory of their own */

static struct {
    char *next;
    size_t room;
    char first[FIRST_BYTES];
} self;

char *col_kept_text_join(const char *first, const char *second)
{
    size_t bytes = strlen(first) + strlen(second) + 1;
    if (self.next == NULL) {
        self.next = self.first;
        self.room = sizeof self.first;
    }
    if (bytes > self.room) {
        size_t wanted = bytes > PIECE_BYTES ? bytes : PIECE_BYTES;
        char *piece = col_os_map_memory(wanted);
        if (piece == NULL)
            return NULL;
        self.next = piece;
        self.room = wanted;
    }
    char *text = self.next;
    memcpy(text, first, strlen(first));
    memcpy(text + strlen(first), second, strlen(second) + 1);
    self.next += bytes;
    self.room -= bytes;
    return text;
}
