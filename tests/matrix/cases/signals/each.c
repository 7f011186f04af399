/* each.c -- one signal, by number, in every role: handled, sent in each way, blocked, waited for, ignored, default */
#include "matrix.h"

static volatile sig_atomic_t seen, code, value;
static void note(int signo, siginfo_t *info, void *context)
{
    (void)signo, (void)context;
    seen++;
    code = info->si_code;
    value = info->si_value.sival_int;
}

static void say_seen(const char *what)
{
    say("%s: seen %d code %d value %d", what, (int)seen, (int)code, code == SI_QUEUE ? (int)value : 0);
    seen = code = value = 0;
}

static void handled(int signo)
{
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | SA_RESTART};
    TELL(sigaction(signo, &action, NULL));
    raise(signo);
    say_seen("raise");
    kill(getpid(), signo);
    say_seen("kill");
    syscall(SYS_tgkill, getpid(), gettid(), signo);
    say_seen("tgkill");
    pthread_kill(pthread_self(), signo);
    say_seen("pthread_kill");
    sigqueue(getpid(), signo, (union sigval){.sival_int = 5});
    say_seen("sigqueue");
    pthread_sigqueue(pthread_self(), signo, (union sigval){.sival_int = 6});
    say_seen("pthread_sigqueue");
}

static void blocked(int signo)
{
    sigset_t set, pending;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, signo);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(signo);
    kill(getpid(), signo);
    burn();
    say_seen("blocked");
    sigpending(&pending);
    say_signals("pending", &pending);
    TELL(sigtimedwait(&set, &info, &(struct timespec){0}));
    TELL(sigtimedwait(&set, &info, &(struct timespec){0}));
    TELL(sigtimedwait(&set, &info, &(struct timespec){0}));
    raise(signo);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    say_seen("unblocked");
}

static void in_child(const char *what, void (*disposition)(int), int signo)
{
    pid_t pid = fork();
    if (pid == 0) {
        signal(signo, disposition);
        raise(signo);
        _exit(42);
    }
    int status;
    waitpid(pid, &status, WUNTRACED);
    say_status(what, status);
    if (WIFSTOPPED(status)) {
        kill(pid, SIGCONT);
        say_end(pid);
    }
}

PART(number)
{
    int signo = atoi(arguments[0]);
    if (signo == SIGKILL || signo == SIGSTOP) {
        TELL(sigaction(signo, &(struct sigaction){.sa_handler = SIG_IGN}, NULL));
        burn();
    } else {
        handled(signo);
        blocked(signo);
    }
    in_child("ignored", SIG_IGN, signo);
    in_child("default", SIG_DFL, signo);
}
