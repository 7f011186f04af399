/* messages.c -- what there is to say about the recording */
#include "experiment/messages.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/sparse.h"
#include "experiment/event.h"

#define MESSAGE_LIMIT 64u
#define TEXT_BYTES 501u
#define SUBJECT_BYTES 128u

struct message {
    bool is_whole; /* atomic: the rest is written */
    unsigned severity;
    uint64_t count;
    char text[TEXT_BYTES], subject[SUBJECT_BYTES];
};

static struct {
    uint32_t count; /* atomic: of places taken */
} self;

static struct message messages[MESSAGE_LIMIT] COL_SPARSE;

static void copy_cut(char *to, const char *from, size_t size)
{
    size_t bytes = strnlen(from, size - 1);
    memcpy(to, from, bytes);
    to[bytes] = '\0';
}

static void write_message(unsigned severity, const char *subject, const char *text, uint64_t count)
{
    col_event_message(
        (struct col_event_head){col_clock_now(), 0},
        &(struct col_event_message){
            .severity = severity, .text = text, .count = count, .subject = subject[0] != '\0' ? subject : NULL});
}

static struct message *find(const char *subject, const char *text)
{
    uint32_t count = __atomic_load_n(&self.count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < MESSAGE_LIMIT; i++) {
        struct message *message = &messages[i];
        bool is_whole = __atomic_load_n(&message->is_whole, __ATOMIC_ACQUIRE);
        if (is_whole && strncmp(message->text, text, TEXT_BYTES - 1) == 0 &&
            strncmp(message->subject, subject, SUBJECT_BYTES - 1) == 0)
            return message;
    }
    return NULL;
}

void col_messages_say(unsigned severity, const char *subject, const char *text)
{
    subject = subject != NULL ? subject : "";
    struct message *message = find(subject, text);
    if (message != NULL) {
        __atomic_fetch_add(&message->count, 1, __ATOMIC_RELAXED);
        return;
    }
    uint32_t place = __atomic_fetch_add(&self.count, 1, __ATOMIC_ACQ_REL);
    if (place >= MESSAGE_LIMIT) {
        __atomic_store_n(&self.count, MESSAGE_LIMIT, __ATOMIC_RELEASE);
        write_message(severity, subject, text, 1);
        return;
    }
    message = &messages[place];
    message->severity = severity;
    message->count = 1;
    copy_cut(message->text, text, TEXT_BYTES);
    copy_cut(message->subject, subject, SUBJECT_BYTES);
    __atomic_store_n(&message->is_whole, true, __ATOMIC_RELEASE);
    write_message(severity, message->subject, message->text, 1);
}

void col_messages_write_counts(void)
{
    uint32_t count = __atomic_load_n(&self.count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < MESSAGE_LIMIT; i++) {
        struct message *message = &messages[i];
        uint64_t times = __atomic_load_n(&message->count, __ATOMIC_RELAXED);
        if (message->is_whole)
            write_message(message->severity, message->subject, message->text, times);
    }
}

void col_messages_forget(void)
{
    for (uint32_t i = 0; i < self.count && i < MESSAGE_LIMIT; i++)
        messages[i].is_whole = false;
    self.count = 0;
}
