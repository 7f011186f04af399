/* introduction.h -- what a log says first: which process this is, and what it was asked to record */
#ifndef COL_CONTROL_INTRODUCTION_H
#define COL_CONTROL_INTRODUCTION_H

#include <sys/types.h>

#include "control/options.h"

/* Notes the command line. Once, before main. */
void col_introduction_remember(int argc, char **argv);

/* Writes INITIALIZE. While no other thread is at it. */
void col_introduction_write(const struct col_options *options, pid_t pid, unsigned image);

#endif
