/* format.h -- the experiment's format in C: kinds, causes and the constants of a frame (docs/format.md; the same table is collector/format.py) */
#ifndef COL_EXPERIMENT_FORMAT_H
#define COL_EXPERIMENT_FORMAT_H

#define COL_FORMAT_VERSION_MAJOR 1
#define COL_FORMAT_VERSION_MINOR 0

#define COL_FRAME_EXT_CODE 0xC9
#define COL_FRAME_EXT_TYPE 0x50
#define COL_FRAME_SYNC                                                                                                 \
    "\xC1"                                                                                                             \
    "cev"
#define COL_FRAME_HEADER_BYTES 22
#define COL_FRAME_MAX_BYTES (1u << 20)

#define COL_OPEN_MAGIC "COLOPEN1"
#define COL_OPEN_HEADER_BYTES 64
#define COL_OPEN_SLOT_BYTES (1u << 16)
#define COL_OPEN_TAIL_BYTES 64 /* of a slot, always zero */
#define COL_OPEN_STATE_FREE 0
#define COL_OPEN_STATE_FRAME 1
#define COL_OPEN_STATE_CALL 2
#define COL_OPEN_STATE_RECORDS 3

#define COL_METRIC_MAX_VALUES 64 /* of one record */
#define COL_SAMPLE_MAX_VALUES 20 /* of one source */

/* A log that is being written is a multiple of COL_OPEN_SLOT_BYTES long, at least two of them, and its last sixteenth holds open frames. */
#define COL_OPEN_AREA_BYTES(log_bytes)                                                                                 \
    ((log_bytes) / 16 < COL_OPEN_SLOT_BYTES ? COL_OPEN_SLOT_BYTES                                                      \
                                            : (log_bytes) / 16 / COL_OPEN_SLOT_BYTES * COL_OPEN_SLOT_BYTES)

enum col_kind {
    COL_KIND_CLOSELOG = 1,
    COL_KIND_DROPNOTIFY = 2,
    COL_KIND_INITIALIZE = 3,
    COL_KIND_MAPPINGCHANGE = 4,
    COL_KIND_PCSAMPLE = 5,
    COL_KIND_PMCALLOCATE = 6,
    COL_KIND_PMCATTACH = 7,
    COL_KIND_PMCDETACH = 8,
    COL_KIND_PROCCSW = 9,
    COL_KIND_PROCEXEC = 10,
    COL_KIND_PROCEXIT = 11,
    COL_KIND_PROCFORK = 12,
    COL_KIND_SYSEXIT = 13,
    COL_KIND_USERDATA = 14,
    COL_KIND_SAMPLE = 32,
    COL_KIND_PAUSE = 33,
    COL_KIND_RESUME = 34,
    COL_KIND_THR_CREATE = 35,
    COL_KIND_THR_EXIT = 36,
    COL_KIND_METRIC = 37,
    COL_KIND_MESSAGE = 38,
    COL_KIND_INTERPRETER = 39
};

/* Why a walk over a stack ended. */
enum col_stack_end {
    COL_END_COMPLETE = 0,       /* at the program's or the thread's first function */
    COL_END_DEPTH_LIMIT = 1,    /* where there was no room for more frames */
    COL_END_NO_UNWIND_INFO = 2, /* in code without unwind table and without frame pointer */
    /* as COMPLETE, but the caller of a function without unwind table was found by reading its code, or by a word on the stack that looks
       like a return address */
    COL_END_GUESSED = 3,
    COL_END_UNREADABLE = 4, /* a part of the stack is not mapped */
    COL_END_BAD_PC = 5,     /* the return address is not code */
    COL_END_BAD_FRAME = 6,  /* the unwind table asks for what cannot be had, or for a caller below the one it called */
    COL_END_NOT_SAMPLED = 7 /* readers: no sample was taken */
};

enum col_drop_cause {
    COL_DROP_BUSY = 1,
    COL_DROP_NO_SPACE = 2,
    COL_DROP_NO_MEMORY = 3,
    COL_DROP_LOG_FULL = 4,
    COL_DROP_BAD_ARGUMENT = 5,
    COL_DROP_UNSAFE_THREAD = 6, /* foreign thread-local storage, or no room on its stack */
    COL_DROP_CAUSES             /* one more than the last the recorder writes */
};

enum { COL_SAMPLE_API = 0, COL_SAMPLE_PERIODIC = 1, COL_SAMPLE_SIGNAL = 2, COL_SAMPLE_START = 3, COL_SAMPLE_END = 4 };
enum { COL_PAUSE_API = 0, COL_PAUSE_SIGNAL = 1, COL_PAUSE_OPTION = 3, COL_PAUSE_TRACER = 4 };
enum { COL_CLOSE_EXIT = 0, COL_CLOSE_TERMINATED = 1, COL_CLOSE_EXEC = 2, COL_CLOSE_SECCOMP = 4 };
enum { COL_MAP_INSERT = 1, COL_MAP_DELETE = 2 };
enum {
    COL_MAP_OBJECT = 0,
    COL_MAP_DYNAMIC_FUNCTION = 1,
    COL_MAP_DYNAMIC_MODULE = 2,
    COL_MAP_ANONYMOUS = 3,
    COL_MAP_PYTHON_CODE = 4,
    COL_MAP_IMPORTED_CODE = 5,
    COL_MAP_JAVA_METHOD = 6
};
enum { COL_LINES_PAIRS = 0, COL_LINES_LNOTAB = 1, COL_LINES_LINETABLE = 2, COL_LINES_LOCATIONS = 3 };

#endif
