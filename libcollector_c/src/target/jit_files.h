/* jit_files.h -- what just-in-time compilers say of their code in files: perf maps and jitdumps */
#ifndef COL_TARGET_JIT_FILES_H
#define COL_TARGET_JIT_FILES_H

/* A session begins: files that are older than this are somebody else's, who had the same number. */
void col_jit_files_begin(void);

/*
 * Copies /tmp/perf-PID.map and the jit-PID.dump that this process has mapped into objects/. What the compiler still holds in buffers is not in them: `collector
 * record` copies them once more when the process has ended. One thread, when the log is about to be closed; it need not be ordinary code.
 */
void col_jit_files_keep(void);

#endif
