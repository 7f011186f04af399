/* libcollector.h -- what a program may tell the recording it is part of
 *
 * A program that includes this header links with nothing. The recorder is
 * brought in by `collector record`; each macro below looks whether it is there.
 * If it is not, the macro does nothing, costs about as much as testing a
 * pointer, and does not evaluate its arguments; so give it none whose side
 * effects the program needs. If it is there but no experiment is open (never
 * opened, or terminated), the call is ignored.
 *
 * Include it at the top of a file, or inside the function that uses it; C from
 * C89, C++ from C++98, in shared libraries and plugins as well. A macro stands
 * inside a function, as a statement or as an expression of the type given; it has
 * no address. A table written out as an argument, (Lineno[]){{0, 1}, {4, 2}},
 * needs parentheses of its own, as in every macro.
 *
 * All strings are NUL-terminated bytes, UTF-8 by custom. Everything passed in is
 * copied before the call returns and stays the caller's. No call sets errno,
 * prints, or reports an error: what the recorder could not use is counted and
 * told in the experiment's header.
 *
 * ---- From anywhere: any thread, before main, inside a signal handler ----------
 *
 * void collector_sample(const char *name)
 *     Records a sample point now: the readings of the whole process (CPU time,
 *     page faults, context switches, memory, input and output), labelled `name`.
 *     NULL is an empty label; one of 64 KiB or more is a wrong argument, and the
 *     point is not recorded. Of calls made at the same time by several threads
 *     one is recorded. Also recorded while recording is paused.
 *
 * void collector_pause(void)
 * void collector_resume(void)
 *     Stop and start the recording of profile events for the whole process.
 *     Ignored if it is already so: pauses do not nest. Sample points, and what is
 *     said about code (below), are recorded all the same.
 *
 * void collector_writelog(const void *data, size_t length)
 *     Puts `length` bytes of the program's own into the log, with time and thread.
 *     Nobody interprets them. NULL data or a length of 0 is an empty record; more
 *     than 1,000,000 bytes are a wrong argument, and nothing is recorded.
 *
 * const char *collector_version(void)
 *     The recorder's version, such as "1.0.0"; valid for ever, not to be freed.
 *     "" (never NULL) if there is no recorder in the process.
 *
 * int collector_is_active(void)
 *     1 while an experiment is open in this process, paused or not; else 0.
 *
 * ---- From ordinary threads: at any time, but not inside a signal handler ------
 *
 * void collector_terminate_expt(void)
 *     Closes the experiment for good. The program runs on, unrecorded.
 *
 * void collector_func_load(const char *name, const char *alias,
 *                          const char *sourcename, const void *vaddr, int size,
 *                          int lntsize, const Lineno *lntable)
 *     The program has generated a function: `size` bytes of code at `vaddr`, valid
 *     from now on. Its bytes are kept, so call this once they are written. `name`
 *     is what reports show. `alias`, free text shown beside it, and `sourcename`,
 *     the path of its source, may be NULL. `lntable` has `lntsize` entries, by
 *     increasing offset; NULL or 0 says that no lines are known. A function that
 *     overlaps an earlier one counts for its range until it is unloaded; one of
 *     the same range replaces it. Ignored and counted: no name, no address, a size
 *     below 1, a range that wraps, offsets that do not increase, memory that
 *     cannot be read. The first 256 KiB of code and 65,536 lines are kept.
 *
 * void collector_func_unload(const void *vaddr)
 *     The function loaded at `vaddr` is gone. Samples taken before keep its name.
 *
 * void collector_module_load(const char *modulename, const void *vaddr)
 *     The program itself has mapped the object file at path `modulename` (a linked
 *     ELF image, or a relocatable .o placed at `vaddr`). The file is copied into
 *     the experiment, and its functions and lines are used for samples from now on.
 *
 * void collector_module_unload(const void *vaddr)
 *     The module loaded at `vaddr` is gone. Samples taken before keep its names.
 *
 * ---- Plain functions instead of macros ----------------------------------------
 *
 * With COLLECTOR_LINKED defined before the include (then at the top of a file),
 * the same names are ordinary functions with addresses and evaluated arguments;
 * the program links with -lcollectorAPI, which is as harmless.
 */
#ifndef LIBCOLLECTOR_H
#define LIBCOLLECTOR_H

/* One entry of a line table: the code from `offset` bytes into the function, up
   to the next entry's offset, came from line `lineno` of its source. The macro
   takes any table of pairs of int; this type exists where the header is first
   included, so a file with several users of it includes the header at its top.  */
typedef struct {
    int offset;
    int lineno;
} Lineno __attribute__((__unused__));

#if defined(COLLECTOR_LINKED)

#ifdef __cplusplus
extern "C" {
#endif
void collector_sample(const char *name);
void collector_pause(void);
void collector_resume(void);
void collector_writelog(const void *data, __SIZE_TYPE__ length);
const char *collector_version(void);
int collector_is_active(void);
void collector_terminate_expt(void);
void collector_func_load(const char *name, const char *alias, const char *sourcename, const void *vaddr, int size,
                         int lntsize, const Lineno *lntable);
void collector_func_unload(const void *vaddr);
void collector_module_load(const char *modulename, const void *vaddr);
void collector_module_unload(const void *vaddr);
#ifdef __cplusplus
}
#endif

#elif !defined(__GNUC__) || !defined(__ELF__)
#error "libcollector.h: this compiler has no weak references; define COLLECTOR_LINKED and link with -lcollectorAPI"
#else

#define collector_sample(name) COLLECTOR_CALL_(collector_sample, (const char *), (name))
#define collector_pause() COLLECTOR_CALL_(collector_pause, (void), ())
#define collector_resume() COLLECTOR_CALL_(collector_resume, (void), ())
#define collector_writelog(data, length)                                                                               \
    COLLECTOR_CALL_(collector_writelog, (const void *, __SIZE_TYPE__), (data, length))
#define collector_version() COLLECTOR_ASK_(collector_version, const char *, "")
#define collector_is_active() COLLECTOR_ASK_(collector_is_active, int, 0)
#define collector_terminate_expt() COLLECTOR_CALL_(collector_terminate_expt, (void), ())
#define collector_func_load(name, alias, sourcename, vaddr, size, lntsize, lntable)                                    \
    COLLECTOR_CALL_(collector_func_load,                                                                               \
                    (const char *, const char *, const char *, const void *, int, int, const void *),                  \
                    (name, alias, sourcename, vaddr, size, lntsize, lntable))
#define collector_func_unload(vaddr) COLLECTOR_CALL_(collector_func_unload, (const void *), (vaddr))
#define collector_module_load(modulename, vaddr)                                                                       \
    COLLECTOR_CALL_(collector_module_load, (const char *, const void *), (modulename, vaddr))
#define collector_module_unload(vaddr) COLLECTOR_CALL_(collector_module_unload, (const void *), (vaddr))

/* ---- How a call finds the recorder: of no interest to users ------------------- */

#define COLLECTOR_CALL_(function, parameters, arguments)                                                               \
    __extension__({                                                                                                    \
        COLLECTOR_FIND_(function, void, parameters);                                                                   \
        if (function##_entry_)                                                                                         \
            function##_entry_ arguments;                                                                               \
    })

#define COLLECTOR_ASK_(function, result, otherwise)                                                                    \
    __extension__({                                                                                                    \
        COLLECTOR_FIND_(function, result, (void));                                                                     \
        function##_entry_ ? function##_entry_() : otherwise;                                                           \
    })

/* Declares FUNCTION_entry_ and gives it the function's address, or null.
   The usual way, a weak declaration, has two holes. At link time a program that is
   not position-independent has it settled as null, so the recorder would never be
   found; and C++ has no place for it inside a function (nor, for a function in an
   unnamed namespace, any linkage that can be weak). An explicit load from the global
   offset table has neither: the dynamic linker fills the slot whatever the code
   model, and no declaration is needed. A processor without its own lines here gets
   the weak declaration, holes and all.  */
#if defined(__x86_64__) && defined(__LP64__) && !defined(COLLECTOR_WEAK_DECLARATIONS)
#define COLLECTOR_FIND_(function, result, parameters)                                                                  \
    result(*function##_entry_) parameters;                                                                             \
    __asm__(".weak " #function "\n\t"                                                                                  \
            "mov{q}\t{" #function "@GOTPCREL(%%rip), %0|%0, QWORD PTR " #function "@GOTPCREL[rip]}"                    \
            : "=r"(function##_entry_))
#elif defined(__aarch64__) && defined(__LP64__) && !defined(COLLECTOR_WEAK_DECLARATIONS)
#define COLLECTOR_FIND_(function, result, parameters)                                                                  \
    result(*function##_entry_) parameters;                                                                             \
    __asm__(".weak " #function "\n\t"                                                                                  \
            "adrp\t%0, :got:" #function "\n\t"                                                                         \
            "ldr\t%0, [%0, #:got_lo12:" #function "]"                                                                  \
            : "=r"(function##_entry_))
#else
#define COLLECTOR_FIND_(function, result, parameters)                                                                  \
    extern result function##_weak_ parameters __asm__(#function) __attribute__((__weak__));                            \
    result(*function##_entry_) parameters = function##_weak_
#endif

#endif
#endif
