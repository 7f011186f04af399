/* families.c -- daemons, orphans, zombies, sessions, subreapers: who is whose child, and who is told of whose end */
#include "matrix.h"
#include <sys/ptrace.h>

static int gates[2];
static void open_gate(void) { if (pipe(gates)) _exit(97); }
static void pass_gate(void) { char byte; while (read(gates[0], &byte, 1) < 0) {} }

CASE(daemons, 1, "daemon(): the parent ends at once, the daemon works on") { if (daemon(1, 1)) return; burn(); say("the daemon is done"); }
CASE(double_fork, 1, "the classical daemon: fork, setsid, fork, chdir, umask, close")
{
    if (fork()) _exit(0);
    setsid();
    if (fork()) _exit(0);
    if (chdir("/")) _exit(1);
    umask(0);
    close(0);
    for (int fd = 3; fd < 1024; fd++) close(fd);
    burn();
    say("session %d group %d", getsid(0) != getpid(), getpgrp() != getpid());
}
CASE(orphan, 2, "a child that outlives its parent")
{
    open_gate();
    if (fork() == 0) {
        close(gates[1]);
        pass_gate();
        burn();
        say("orphan done");
        _exit(0);
    }
    burn();
    _exit(3);
}
CASE(zombies, 11, "ten zombies that nobody waits for") { for (int i = 0; i < 10; i++) if (fork() == 0) { burn(); _exit(i); } burn(); sleep(0); usleep(300000); }
CASE(ignores_children, 1, "children vanish because SIGCHLD is ignored")
{
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 3; i++)
        if (fork() == 0) _exit(i);
    TELL(wait(NULL));
    burn();
}
CASE(no_child_wait, 1, "SA_NOCLDWAIT")
{
    struct sigaction action = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDWAIT};
    sigaction(SIGCHLD, &action, NULL);
    if (fork() == 0) _exit(1);
    TELL(wait(NULL));
    burn();
}
static volatile sig_atomic_t ends;
static void note_end(int signo, siginfo_t *info, void *context) { (void)signo, (void)context; ends += info->si_code == CLD_EXITED; }
CASE(sigchld, 3, "SIGCHLD for each of two children, and for nothing else")
{
    struct sigaction action = {.sa_sigaction = note_end, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGCHLD, &action, NULL);
    for (int i = 0; i < 2; i++) {
        pid_t pid = fork();
        if (pid == 0) { burn(); _exit(0); }
        say_end(pid);
    }
    burn();
    say("ends %d", (int)ends);
    TELL(waitpid(-1, NULL, WNOHANG));
}
CASE(no_children, 1, "a program without children has none, and one thread")
{
    char line[256] = "";
    burn();
    TELL(waitpid(-1, NULL, WNOHANG));
    FILE *file = fopen("/proc/self/task/self/children", "r");
    (void)file;
    snprintf(line, sizeof line, "/proc/self/task/%d/children", getpid());
    file = fopen(line, "r");
    say("children: '%s'", file && fgets(line, sizeof line, file) ? line : "");
    struct stat about;
    TELL(stat("/proc/self/task", &about) == 0 ? (long)about.st_nlink - 2 : -1);
}
CASE(subreaper, 3, "a subreaper gets the orphans of its children")
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) { usleep(50000); burn(); _exit(9); }
        burn();
        _exit(8);
    }
    burn();
    for (int i = 0; i < 2; i++) {
        int status;
        if (wait(&status) > 0) say_status("one", status);
    }
    TELL(wait(NULL));
}
CASE(death_signal, 1, "PR_SET_PDEATHSIG kills the grandchild when the child ends")
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    open_gate();
    pid_t pid = fork();
    if (pid == 0) {
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGUSR1);
            if (write(gates[1], "x", 1) == 1)
                for (;;) pause();
        }
        pass_gate();
        _exit(0);
    }
    burn();
    for (int i = 0; i < 2; i++) { int status; wait(&status); say_status("one", status); }
}
CASE(kill_nine_child, 2, "a child that works is killed by SIGKILL")
{
    open_gate();
    pid_t pid = fork();
    if (pid == 0) { burn(); if (write(gates[1], "x", 1) == 1) for (;;) pause(); }
    pass_gate();
    kill(pid, SIGKILL);
    say_end(pid);
    burn();
}
CASE(kill_nine_parent, 2, "the command is killed by SIGKILL, its child works on")
{
    open_gate();
    pid_t me = getpid();
    if (fork() == 0) {
        pass_gate();
        kill(me, SIGKILL);
        burn();
        say("the child is done");
        _exit(0);
    }
    burn();
    if (write(gates[1], "x", 1) == 1)
        for (;;) pause();
}
CASE(stopped, 2, "a child is stopped and continued; its parent sees both")
{
    open_gate();
    pid_t pid = fork();
    if (pid == 0) { burn(); raise(SIGSTOP); _exit(4); }
    int status;
    waitpid(pid, &status, WUNTRACED);
    say_status("child", status);
    kill(pid, SIGCONT);
    waitpid(pid, &status, WCONTINUED);
    say("continued %d", WIFCONTINUED(status));
    say_end(pid);
    burn();
}
CASE(session, 1, "setsid, setpgid and who leads") { pid_t pid = fork(); if (pid == 0) { TELL(setsid() == getpid()); TELL(setpgid(0, 0)); TELL(getsid(0) == getpid()); burn(); _exit(0); } say_end(pid); }
CASE(group_signal, 3, "SIGTERM to a process group of two children")
{
    open_gate();
    pid_t first = fork();
    if (first == 0) { setpgid(0, 0); burn(); if (write(gates[1], "x", 1) == 1) for (;;) pause(); }
    setpgid(first, first);
    pid_t second = fork();
    if (second == 0) { setpgid(0, first); burn(); if (write(gates[1], "x", 1) == 1) for (;;) pause(); }
    setpgid(second, first);
    pass_gate();
    pass_gate();
    TELL(kill(-first, SIGTERM));
    say_end(first);
    say_end(second);
    burn();
}
CASE(usage, 2, "getrusage of children and times() agree with what they did")
{
    pid_t pid = fork();
    if (pid == 0) { burn(); _exit(0); }
    say_end(pid);
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    long used_ms = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
    burn();
    say("at least its 40 ms, and no more than 40 more: %d", used_ms >= 39 && used_ms <= 80);
}
CASE(pidfds, 1, "pidfd_open, pidfd_send_signal, pidfd_getfd")
{
    open_gate();
    pid_t pid = fork();
    if (pid == 0) for (;;) pause();
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    say("opened %d", fd >= 0);
    int copy = (int)syscall(SYS_pidfd_getfd, fd, 1, 0);
    say("copied %d", copy >= 0 || errno == EPERM);
    TELL(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0));
    say_end(pid);
    burn();
}
CASE(background_jobs, 4, "three generations in the background, waited for by the first through a pipe")
{
    open_gate();
    for (int i = 0; i < 3; i++)
        if (fork() == 0) {
            if (fork() == 0) { burn(); if (write(gates[1], "x", 1) != 1) _exit(1); _exit(0); }
            _exit(0);
        }
    burn();
    for (int i = 0; i < 3; i++) pass_gate();
    say("all passed");
}
CASE(close_range_and_exec, 2, "the whole table of descriptors closed before exec")
{
    burn();
    TELL(syscall(SYS_close_range, 3, ~0U, 0));
    execl("/proc/self/exe", "families", "after_close", NULL);
}
PART(after_close) { burn(); TELL(fcntl(3, F_GETFD)); }
CASE(unshared_files, 2, "close_range with CLOSE_RANGE_UNSHARE, then fork")
{
    TELL(syscall(SYS_close_range, 3, ~0U, 2));
    pid_t pid = fork();
    if (pid == 0) { burn(); _exit(1); }
    burn();
    say_end(pid);
}
CASE(renamed, 1, "PR_SET_NAME and its own argv[0] overwritten, as daemons do")
{
    prctl(PR_SET_NAME, "a new name");
    char name[32] = "";
    burn();
    prctl(PR_GET_NAME, name);
    say("%s", name);
}
CASE(undumpable, 2, "PR_SET_DUMPABLE 0, then fork")
{
    TELL(prctl(PR_SET_DUMPABLE, 0));
    burn();
    pid_t pid = fork();
    if (pid == 0) { burn(); _exit(prctl(PR_GET_DUMPABLE)); }
    say_end(pid);
}
extern char **environ;
CASE(overwrites_environment, 2, "writes a title over the memory of its environment, as setproctitle does, and forks")
{
    int count = 0;
    while (environ[count]) count++;
    char **copy = calloc((size_t)count + 1, sizeof *copy), *first = environ[0], *last = environ[count - 1];
    for (int i = 0; i < count; i++) copy[i] = strdup(environ[i]);
    environ = copy;
    memset(first, 't', (size_t)(last + strlen(last) - first));
    burn();
    pid_t pid = fork();
    if (pid == 0) { burn(); _exit(1); }
    say_end(pid);
}
