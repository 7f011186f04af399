/* event_kinds.h -- one function per kind of record; written by format_files.py from collector/format.py */
#ifndef COL_EXPERIMENT_EVENT_KINDS_H
#define COL_EXPERIMENT_EVENT_KINDS_H
/* clang-format off */

#include "experiment/event_fields.h"
#include "experiment/record.h"

static inline int col_event_closelog(struct col_event_head head, const struct col_event_closelog *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_CLOSELOG, event, 0, NULL});
}

static inline int col_event_dropnotify(struct col_event_head head, const struct col_event_dropnotify *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_DROPNOTIFY, event, 0, NULL});
}

static inline int col_event_mappingchange(struct col_event_head head, const struct col_event_mappingchange *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_MAPPINGCHANGE, event, 0, NULL});
}

static inline int col_event_pmcallocate(struct col_event_head head, const struct col_event_pmcallocate *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_PMCALLOCATE, event, 0, NULL});
}

static inline int col_event_pmcattach(struct col_event_head head, const struct col_event_pmcattach *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_PMCATTACH, event, 0, NULL});
}

static inline int col_event_pmcdetach(struct col_event_head head, const struct col_event_pmcdetach *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_PMCDETACH, event, 0, NULL});
}

static inline int col_event_proccsw(struct col_event_head head, const struct col_event_proccsw *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_PROCCSW, event, 0, NULL});
}

static inline int col_event_procexec(struct col_event_head head, const struct col_event_procexec *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_PROCEXEC, event, 0, NULL});
}

static inline int col_event_procexit(struct col_event_head head, const struct col_event_procexit *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_PROCEXIT, event, 0, NULL});
}

static inline int col_event_procfork(struct col_event_head head, const struct col_event_procfork *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_PROCFORK, event, 0, NULL});
}

static inline int col_event_sysexit(struct col_event_head head, const struct col_event_sysexit *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_SYSEXIT, event, 0, NULL});
}

static inline int col_event_userdata(struct col_event_head head, const struct col_event_userdata *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_USERDATA, event, 0, NULL});
}

static inline int col_event_sample(struct col_event_head head, const struct col_event_sample *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_SAMPLE, event, 0, NULL});
}

static inline int col_event_pause(struct col_event_head head, const struct col_event_pause *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_PAUSE, event, 0, NULL});
}

static inline int col_event_resume(struct col_event_head head, const struct col_event_resume *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_RESUME, event, 0, NULL});
}

static inline int col_event_thr_create(struct col_event_head head, const struct col_event_thr_create *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_THR_CREATE, event, 0, NULL});
}

static inline int col_event_thr_exit(struct col_event_head head, const struct col_event_thr_exit *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_THR_EXIT, event, 0, NULL});
}

static inline int col_event_message(struct col_event_head head, const struct col_event_message *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_MESSAGE, event, 0, NULL});
}

static inline int col_event_interpreter(struct col_event_head head, const struct col_event_interpreter *event)
{
    return col_record_write(&(struct col_record){head, COL_KIND_INTERPRETER, event, 0, NULL});
}

#endif
