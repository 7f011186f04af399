/* unwind_case.h -- what the unwind_* targets share: a timer that walks the stack, and its printed findings */
#ifndef UNWIND_CASE_H
#define UNWIND_CASE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Samples the calling thread from here on, about every millisecond of real time. */
void case_begin(void);

/* 1 when there are enough samples. */
int case_is_over(void);

/* Works for some microseconds; most samples fall in here. */
void case_spin(void);

/*
 * Stops, and prints one line a sample: how its stack ended, then its functions, outermost first. A function that
 * follows itself is shown once with its count: "0 _start __libc_start_main main down*40 case_spin". A frame without
 * symbol is its object's file name in brackets; [anonymous] is none.
 */
void case_print(void);

#ifdef __cplusplus
}
#endif

/* A function with a frame of its own that the test can name. */
#define CASE_FRAME __attribute__((noinline, noclone, visibility("default")))
#ifdef __clang__
#undef CASE_FRAME
#define CASE_FRAME __attribute__((noinline, visibility("default")))
#endif

/* Keeps a call from becoming a jump. */
#define CASE_NO_TAIL_CALL __asm__ volatile("")

#endif
