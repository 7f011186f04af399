/* interpose_openmp.h -- what of our hooks of OpenMP others must know */
#ifndef COL_ENTRY_INTERPOSE_OPENMP_H
#define COL_ENTRY_INTERPOSE_OPENMP_H

/* An object was unloaded: a runtime of OpenMP may have gone with it. */
void col_entry_forget_openmp(void);

#endif
