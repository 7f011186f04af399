/*
 * unwind_signal_handler.c -- the time is spent in signal handlers
 *
 * Truth: handlers run on top of what they interrupted. On the alternate stack: main > interrupted > raise ... >
 * on_alternate_stack > case_spin. On the same stack, interrupting a loop between two instructions:
 * main > counting > on_same_stack > case_spin.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

#include "unwind_case.h"

static volatile sig_atomic_t is_handled;

CASE_FRAME void on_alternate_stack(int signal_number)
{
    (void)signal_number;
    for (int i = 0; i < 3000; i++)
        case_spin();
    is_handled = 1;
}

CASE_FRAME void on_same_stack(int signal_number)
{
    (void)signal_number;
    for (int i = 0; i < 3000; i++)
        case_spin();
    is_handled = 1;
}

CASE_FRAME void interrupted(void)
{
    raise(SIGUSR1);
    CASE_NO_TAIL_CALL;
}

CASE_FRAME void counting(void)
{
    struct itimerval soon = {{0, 0}, {0, 100}};
    is_handled = 0;
    setitimer(ITIMER_REAL, &soon, NULL);
    while (!is_handled)
        ;
}

int main(void)
{
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_alternate_stack, .sa_flags = SA_ONSTACK}, NULL);
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = on_same_stack}, NULL);
    case_begin();
    while (!case_is_over()) {
        interrupted();
        counting();
    }
    case_print();
    return 0;
}
