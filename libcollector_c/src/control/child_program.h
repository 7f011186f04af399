/* child_program.h -- whether the program that is about to be run can be recorded */
#ifndef COL_CONTROL_CHILD_PROGRAM_H
#define COL_CONTROL_CHILD_PROGRAM_H

/* Learns which dynamic linker runs this process and what the recorder needs of the C library. Ordinary code, once. */
void col_child_program_learn(void);

/*
 * Why the recorder must not be preloaded into the program that execve, or execveat with `directory`, would run now: a sentence for the report, without its
 * end. NULL: it may. Makes only system calls and writes nothing: safe in vfork children.
 */
const char *col_child_program_obstacle(int directory, const char *path);

/* The same for execvp and posix_spawnp, which search PATH. */
const char *col_child_program_obstacle_of_name(const char *file);

#endif
