/* cores.h -- how many processors this machine has */
#ifndef COL_TARGET_CORES_H
#define COL_TARGET_CORES_H

/* From anywhere, signal handlers included; looked up once. -1: unknown. */
int col_cores_logical(void);  /* online, hardware threads counted each */
int col_cores_physical(void); /* those of them that are the first of their core */

#endif
