/* handles.c -- a library to load with RTLD_DEEPBIND: it has handlers for all signals that can have one, and children and threads of its own */
#define MATRIX_NO_MAIN
#include "matrix.h"

static volatile int handled[65];
static void handle(int signo) { handled[signo]++; }
static void *works(void *unused) { spin(20000000); return unused; }

int handle_all(void)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART}, set;
    pthread_t thread;
    int mine = 0;
    for (int signo = 1; signo <= 64; signo++)
        sigaction(signo, &action, NULL);
    for (int signo = 1; signo <= 64; signo++)
        mine += sigaction(signo, NULL, &set) == 0 && set.sa_handler == handle;
    spin(50000000);
    pthread_create(&thread, NULL, works, NULL);
    pthread_join(thread, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        spin(20000000);
        _exit(7);
    }
    say_end(pid);
    for (int signo = 1; signo <= 64; signo++)
        if (handled[signo] != 0)
            say("signal %d came %d times", signo, handled[signo]);
    raise(SIGTRAP);
    raise(SIGVTALRM);
    say("of those sent came %d %d", handled[SIGTRAP], handled[SIGVTALRM]);
    return mine;
}
