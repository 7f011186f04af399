/* messages.h -- what there is to say about the recording: each text once, with a count */
#ifndef COL_EXPERIMENT_MESSAGES_H
#define COL_EXPERIMENT_MESSAGES_H

/* From anywhere, signal handlers included. */

enum { COL_MESSAGE_NOTE = 0, COL_MESSAGE_WARNING = 1, COL_MESSAGE_ERROR = 2 };

/*
 * Says a sentence about `subject` (NULL: the recorder itself). The first time it is written as a MESSAGE at once; the same sentence about the same subject
 * is only counted from then on. Texts of more than 500 bytes are cut. Of different ones 64 are kept apart; later ones are written each time.
 */
void col_messages_say(unsigned severity, const char *subject, const char *text);

/* The log is about to be closed: writes all of them again, with how often they were said, where who closes a book looks. */
void col_messages_write_counts(void);

/* In a fork child, whose log knows nothing yet. */
void col_messages_forget(void);

#endif
