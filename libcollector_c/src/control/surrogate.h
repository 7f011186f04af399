/* surrogate.h -- the signals that stand in the kernel for those that our clocks took from the program */
#ifndef COL_CONTROL_SURROGATE_H
#define COL_CONTROL_SURROGATE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The clocks' signals must never be blocked, whatever the program asks for. So each has a surrogate, a real-time signal that the program does not use: where
 * the program blocks SIGTRAP, the kernel blocks the surrogate; what others send as SIGTRAP, our handler sends on as the surrogate. Whatever the kernel
 * does with masks and pending signals (handlers and their masks, siglongjmp, sigsuspend, sigwait, signalfd, threads, fork) is then right without our help.
 *
 * Everything here may be called from anywhere, signal handlers included. Sets are the kernel's words: bit n-1 is signal n.
 */

uint64_t col_surrogate_word(const sigset_t *set);
void col_surrogate_set_word(sigset_t *set, uint64_t word);

/* The stand-in of a clock's signal, 0 if it has none; and the signal that `signo` stands for, 0 if it does not. */
int col_surrogate_of(int signo);
int col_surrogate_owner(int signo);

/* Chooses another stand-in for a clock's signal, one that is in none of `taken`; 0 when there is none left, and then the signal goes without. */
int col_surrogate_choose(int signo, uint64_t taken);

/* A set of the program as the kernel is to have it, and the other way. `believed`: what the program believes of the surrogates themselves. */
uint64_t col_surrogate_to_kernel(uint64_t set);
uint64_t col_surrogate_to_program(uint64_t set, uint64_t believed);

/* The surrogates, and clocks' signals without one, that the program believes blocked in this thread. */
uint64_t col_surrogate_believed(void);
void col_surrogate_believe(int how, uint64_t set);

/* Sends a clock's signal that was not for us on. `is_blocked`: the program has it blocked here; one that waits already is then enough, as for any old signal. */
void col_surrogate_forward(int signo, const siginfo_t *info, bool is_blocked);

/* Sends a siginfo, marked or not, to the process by another number. */
void col_surrogate_send(int signo, siginfo_t *info);
bool col_surrogate_is_forwarded(const siginfo_t *info);

/* What a signal that was received is to the program; corrects `info`. Its own number, if it is no forwarded one. */
int col_surrogate_reveal(int signo, siginfo_t *info);

/*
 * Without a surrogate, when the program uses all real-time signals, what it blocks waits here: one of a kind in each thread. From handlers too, if the
 * thread's storage is its own.
 */
void col_surrogate_keep(int signo, const siginfo_t *info);
uint64_t col_surrogate_kept(void);
int col_surrogate_take_kept(uint64_t set, siginfo_t *info); /* its number; 0: none of `set` waits */

/* In a fork child: it begins with the mask of who made it, and nothing waits. */
void col_surrogate_begin_child(void);

#endif
