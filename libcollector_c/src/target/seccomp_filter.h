/* seccomp_filter.h -- what a seccomp filter says to the recorder's system calls */
#ifndef COL_TARGET_SECCOMP_FILTER_H
#define COL_TARGET_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/* A system call of the recorder. Arguments whose bit in `known` is not set may have any value. */
struct col_seccomp_call {
    char name[20]; /* here, not elsewhere: the table then needs no relocations, which cost each process a page */
    int number;
    bool may_fail; /* the recorder lives with an error from it */
    uint8_t known;
    uint64_t arguments[6];
};

/* Signal-safe. Everything that seccomp(2) accepts is understood; a filter is followed along every path that the unknown values leave open. */

/* True if the whole program can be read and the kernel will find no fault with it. Programs also show it bad ones, just to see what it answers. */
bool col_seccomp_filter_is_valid(const struct sock_fprog *filter);

/* True if the call is allowed, or, where it may fail, refused by an error, whatever its unknown arguments are. */
bool col_seccomp_filter_allows(const struct sock_fprog *filter, const struct col_seccomp_call *call);

/* The first of the recorder's calls that the filter does not let through; NULL: it can go on. */
const struct col_seccomp_call *col_seccomp_filter_obstacle(const struct sock_fprog *filter);

/* True if a signal handler can return: all that is left where nothing else is allowed. */
bool col_seccomp_filter_lets_handlers_return(const struct sock_fprog *filter);

#endif
