/* stack_room.h -- how much stack is left to a signal handler */
#ifndef COL_TARGET_STACK_ROOM_H
#define COL_TARGET_STACK_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * An alternate signal stack may be as small as 8 KiB, of which the kernel's frame takes up to a half. A tick fits into what is left; what it does once in a
 * while, such as telling the log of a new object, may not, and is put off to a tick that has the room. FROM ANYWHERE, signal handlers included, on threads with
 * storage of the C library's.
 */

/* The lowest address of the stack that this thread's handler runs on; 0: it is no alternate stack, and large enough. Holds until the next handler says otherwise. */
void col_stack_room_note(uintptr_t low);

/* Are `bytes` of stack left to the caller? True of a stack that nothing was noted of. */
bool col_stack_room_has(size_t bytes);

#endif
