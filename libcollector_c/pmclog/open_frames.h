/* open_frames.h -- from the end of the frames to what the open frames hold beside them (docs/format.md, Open frames) */
#ifndef COL_PMCLOG_OPEN_FRAMES_H
#define COL_PMCLOG_OPEN_FRAMES_H

#include "parser.h"

/* The frames are at their end, for now or for ever, for which the state is `end`. If nobody writes the open frames any more: PMCLOG_OK and the next
   record that they hold and the frames do not, as *ev (*is_event), its samples made ready, or to be read as the payload. */
enum pmclog_state col_open_frames_go_on(struct col_parser *parser, enum pmclog_state end, struct pmclog_ev *ev,
                                        bool *is_event);

#endif
