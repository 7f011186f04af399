/* watch_by_rings.h -- waits by the kernel's records of switches, and looks that these prove */
#ifndef COL_WAITS_WATCH_BY_RINGS_H
#define COL_WAITS_WATCH_BY_RINGS_H

#include "waits/switch_rings.h"
#include "waits/watching.h"

/* Watches until the pipe `end` is closed. Ordinary code. */
void col_watch_by_rings(struct col_watching *watching, struct col_switch_rings *rings, int end);

#endif
