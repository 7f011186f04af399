/* call_kinds.h -- what a system call that waits may wait for */
#ifndef COL_BASE_CALL_KINDS_H
#define COL_BASE_CALL_KINDS_H

enum col_call_kind {
    COL_CALL_OTHER,
    COL_CALL_OF_FILE, /* the descriptor that is its first argument says for what */
    COL_CALL_LOCK,
    COL_CALL_TIMER,
    COL_CALL_EVENTS,
    COL_CALL_SOCKET,
    COL_CALL_CHILD,
    COL_CALL_SIGNAL,
    COL_CALL_MESSAGE,
    COL_CALL_STORAGE
};

/* By its number on this processor. From anywhere. */
enum col_call_kind col_call_kind_of(long call);

#endif
