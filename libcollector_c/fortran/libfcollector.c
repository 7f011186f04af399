/* libfcollector.c -- what Fortran calls (-lfcollector): labels without padding, then the C API
 *
 * Two callers, two conventions:
 *   libfcollector.h  external procedures, named in lower case with one underscore
 *                    behind, or two where the compiler adds a second one to names
 *                    that contain one. A character argument is a pointer, and its
 *                    length comes unseen behind all arguments. There is no entry
 *                    without an underscore: that name is the C function's, which
 *                    expects a NUL.
 *   collector.f90    the module's interfaces, bound to the entries by their C names,
 *                    with the length in plain sight.
 * The recorder is found as every C program finds it; without it nothing happens.
 */
#include "libcollector.h"

#include <stddef.h>
#include <string.h>

enum { LABEL_BYTES = 1024 };

void collector_fortran_sample(const char *label, size_t length);
size_t collector_fortran_version(char *text, size_t capacity);
void collector_sample_(const char *label, size_t length);
void collector_pause_(void);
void collector_resume_(void);
void collector_terminate_expt_(void);

/* The bytes of LABEL without the blanks that pad it, at most LABEL_BYTES - 1 and then
   not ending inside a UTF-8 character.  */
static size_t label_length(const char *label, size_t length)
{
    while (length > 0 && label[length - 1] == ' ')
        length--;
    if (length < LABEL_BYTES)
        return length;
    length = LABEL_BYTES - 1;
    while (length > 0 && ((unsigned char)label[length] & 0xC0) == 0x80)
        length--;
    return length;
}

/* On the stack rather than from malloc: samples may be taken in signal handlers.  */
static void sample(const char *label, size_t length)
{
    char text[LABEL_BYTES];
    size_t used = label_length(label, length);
    memcpy(text, label, used);
    text[used] = '\0';
    collector_sample(text);
}

void collector_fortran_sample(const char *label, size_t length)
{
    sample(label, length);
}

/* Fills TEXT with the recorder's version, cut at CAPACITY; returns the bytes used.  */
size_t collector_fortran_version(char *text, size_t capacity)
{
    const char *version = collector_version();
    size_t length = strnlen(version, capacity);
    memcpy(text, version, length);
    return length;
}

void collector_sample_(const char *label, size_t length)
{
    /* Compilers before gfortran 8 pass an int: the upper half may hold anything.  */
    sample(label, (unsigned int)length);
}

void collector_pause_(void)
{
    collector_pause();
}

void collector_resume_(void)
{
    collector_resume();
}

void collector_terminate_expt_(void)
{
    collector_terminate_expt();
}

#define SECOND_UNDERSCORE(function) __attribute__((alias(#function "_"))) extern __typeof__(function##_) function##__
SECOND_UNDERSCORE(collector_sample);
SECOND_UNDERSCORE(collector_pause);
SECOND_UNDERSCORE(collector_resume);
SECOND_UNDERSCORE(collector_terminate_expt);
