/* making.c -- each way to make a process, and each way to run another program in it */
#include "matrix.h"
#include <linux/sched.h>
#include <sched.h>
#include <spawn.h>

extern char **environ;

PART(image) { burn(); say("image %s", arguments[0] ? arguments[0] : "alone"); exit(7); }
PART(silent_image) { burn(); exit(0); }

static char *image_words[] = {"making", "image", "word", NULL};
static void in_child(void) { burn(); say("child"); }

CASE(forks, 2, "fork") { pid_t pid = fork(); if (pid == 0) { in_child(); _exit(1); } burn(); say_end(pid); }
CASE(forks_exit, 2, "a fork child that calls exit") { pid_t pid = fork(); if (pid == 0) { in_child(); exit(1); } burn(); say_end(pid); }
CASE(underscore_forks, 2, "_Fork") { pid_t pid = _Fork(); if (pid == 0) { in_child(); _exit(1); } burn(); say_end(pid); }
CASE(raw_forks, 2, "the raw system call fork") { pid_t pid = (pid_t)syscall(SYS_fork); if (pid == 0) { in_child(); _exit(1); } burn(); say_end(pid); }
CASE(raw_clones, 2, "the raw system call clone as a fork") { pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); if (pid == 0) { in_child(); _exit(1); } burn(); say_end(pid); }
CASE(raw_clone3, 2, "the raw system call clone3 as a fork")
{
    struct clone_args how = {.exit_signal = SIGCHLD};
    pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof how);
    if (pid == 0) { in_child(); _exit(1); }
    burn();
    say_end(pid);
}
CASE(clone3_pidfd, 2, "clone3 with a pidfd, and waitid for it")
{
    int fd = -1;
    struct clone_args how = {.exit_signal = SIGCHLD, .flags = CLONE_PIDFD, .pidfd = (uintptr_t)&fd};
    pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof how);
    if (pid == 0) { in_child(); _exit(1); }
    siginfo_t info = {0};
    burn();
    TELL(waitid(P_PIDFD, fd, &info, WEXITED));
    say("status %d", info.si_status);
}
CASE(clone3_without_signal, 2, "clone3 without an exit signal, waited for with __WALL")
{
    struct clone_args how = {0};
    pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof how);
    int status;
    if (pid == 0) { in_child(); _exit(3); }
    burn();
    TELL(waitpid(pid, &status, __WALL) == pid);
    say_status("child", status);
}
static void heard(int signo) { say("heard %d", signo); }
CASE(clone3_without_handlers, 3, "clone3 of a child whose signals are at their defaults (CLONE_CLEAR_SIGHAND)")
{
    struct clone_args how = {.flags = 0x100000000, .exit_signal = SIGCHLD};
    signal(SIGTRAP, heard);
    signal(SIGVTALRM, SIG_IGN);
    signal(SIGUSR1, heard);
    burn();
    pid_t pid = (pid_t)syscall(SYS_clone3, &how, sizeof how);
    if (pid == 0) {
        struct sigaction now;
        for (int signo = 1; signo < 32; signo++)
            if (sigaction(signo, NULL, &now) == 0 && now.sa_handler != SIG_DFL)
                say("%d is %s", signo, now.sa_handler == SIG_IGN ? "ignored" : "handled");
        in_child();
        raise(SIGTRAP);
        _exit(3);
    }
    say_end(pid);
    raise(SIGTRAP);
    burn();
}
static char child_stack[65536] __attribute__((aligned(16)));
static int in_clone(void *unused) { (void)unused; in_child(); return 5; }
CASE(libc_clone, 2, "clone() of the C library with a stack of its own") { pid_t pid = clone(in_clone, child_stack + sizeof child_stack, SIGCHLD, NULL); burn(); say_end(pid); }
CASE(libc_clone_refused, 1, "clone() of the C library without a function, and without a stack") { TELL(clone(NULL, child_stack + sizeof child_stack, SIGCHLD, NULL)); TELL(clone(in_clone, NULL, SIGCHLD, NULL)); burn(); }
static int quiet_clone(void *unused) { (void)unused; spin(1000000); return 5; }
CASE(clone_vm, 1, "clone(CLONE_VM) of another process in the same memory") { pid_t pid = clone(quiet_clone, child_stack + sizeof child_stack, CLONE_VM | SIGCHLD, NULL); say_end(pid); burn(); }
CASE(clone_vm_files, 1, "clone(CLONE_VM|CLONE_FILES|CLONE_FS|CLONE_SIGHAND)") { pid_t pid = clone(quiet_clone, child_stack + sizeof child_stack, CLONE_VM | CLONE_FILES | CLONE_FS | CLONE_SIGHAND | SIGCHLD, NULL); say_end(pid); burn(); }
CASE(clone_files, 2, "a fork that shares descriptors; the child closes one of the parent's")
{
    int file = open("/dev/null", O_RDONLY);
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) { in_child(); close(file); _exit(1); }
    say_end(pid);
    TELL(fcntl(file, F_GETFD));
    burn();
}

CASE(vforks, 2, "vfork and exec") { pid_t pid = vfork(); if (pid == 0) { execv("/proc/self/exe", image_words); _exit(127); } burn(); say_end(pid); }
CASE(vfork_fails, 1, "vfork whose exec fails") { pid_t pid = vfork(); if (pid == 0) { execl("/does/not/exist", "x", NULL); _exit(99); } say_end(pid); burn(); }
CASE(vforks_often, 1, "300 times vfork and _exit") { int sum = 0; for (int i = 0; i < 300; i++) { int status; pid_t pid = vfork(); if (pid == 0) _exit(i & 127); waitpid(pid, &status, 0); sum += WEXITSTATUS(status); } say("sum %d", sum); burn(); }
CASE(forks_often, 1, "300 forks in a row") { int sum = 0; for (int i = 0; i < 300; i++) { int status; pid_t pid = fork(); if (pid == 0) _exit(i & 127); waitpid(pid, &status, 0); sum += WEXITSTATUS(status); } say("sum %d", sum); burn(); }
CASE(forks_at_once, 31, "30 children at a time") { for (int i = 0; i < 30; i++) if (fork() == 0) { burn(); _exit(i); } burn(); int sum = 0, status; while (wait(&status) > 0) sum += WEXITSTATUS(status); say("sum %d", sum); }
CASE(fork_depth, 8, "eight generations") { int depth = 0; while (++depth < 8) { pid_t pid = fork(); if (pid) { burn(); say_end(pid); _exit(depth); } } burn(); say("deepest"); _exit(depth); }

static void spawn(const posix_spawn_file_actions_t *actions, short flags)
{
    posix_spawnattr_t wish;
    pid_t pid;
    posix_spawnattr_init(&wish);
    posix_spawnattr_setflags(&wish, flags);
    int error = posix_spawn(&pid, "/proc/self/exe", actions, &wish, image_words, environ);
    burn();
    say_end(pid);
    TELL(error); /* not before: the child says something, and comes first as it likes */
}
CASE(spawns, 2, "posix_spawn") { spawn(NULL, 0); }
CASE(spawns_session, 2, "posix_spawn in a new session") { spawn(NULL, POSIX_SPAWN_SETSID); }
CASE(spawns_redirected, 2, "posix_spawn with file actions that move and close descriptors")
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "output", O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addclose(&actions, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    spawn(&actions, 0);
}
CASE(spawnp_missing, 1, "posix_spawnp of a program that is not there") { pid_t pid; TELL(posix_spawnp(&pid, "no-such-program", NULL, NULL, image_words, environ)); burn(); }

static void then(int result) { say("exec gave %d %s", result, strerrorname_np(errno)); _exit(98); }
CASE(execs_l, 2, "execl") { burn(); then(execl("/proc/self/exe", "making", "image", "l", NULL)); }
CASE(execs_le, 2, "execle with an empty environment") { char *none[] = {NULL}; burn(); then(execle("/proc/self/exe", "making", "image", "le", NULL, none)); }
CASE(execs_vp, 2, "execvp by way of PATH") { burn(); setenv("PATH", getenv("MATRIX_BUILD"), 1); then(execvp("making", image_words)); }
CASE(execs_vpe, 2, "execvpe by way of PATH") { burn(); setenv("PATH", getenv("MATRIX_BUILD"), 1); char *some[] = {"A=1", NULL}; then(execvpe("making", image_words, some)); }
CASE(execs_fd, 2, "fexecve") { burn(); then(fexecve(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), image_words, environ)); }
CASE(execs_at, 2, "execveat with AT_EMPTY_PATH") { burn(); then(execveat(open("/proc/self/exe", O_PATH | O_CLOEXEC), "", image_words, environ, AT_EMPTY_PATH)); }
CASE(execs_raw, 2, "the raw system call execve") { burn(); then((int)syscall(SYS_execve, "/proc/self/exe", image_words, environ)); }
CASE(execs_null, 2, "execve with an environment of NULL")
{
    burn();
    then(execve("/proc/self/exe", image_words, NULL));
}
CASE(exec_fails, 1, "exec that fails in each way, and the program goes on")
{
    int file = open("plain", O_WRONLY | O_CREAT, 0600);
    if (write(file, "\177ELFno", 6) != 6)
        return;
    close(file);
    TELL(execl("/does/not/exist", "x", NULL));
    TELL(execl("/tmp", "x", NULL));
    TELL(execl("plain", "x", NULL));
    chmod("plain", 0700);
    TELL(execl("plain", "x", NULL));
    TELL(execve((char *)8, image_words, environ));
    TELL(execve("/proc/self/exe", (char **)8, environ));
    burn();
}
/* Runs /bin/true with so many bytes of arguments; what wait says, or errno. */
static int run_with(size_t bytes, bool is_spawned)
{
    enum { PIECE = 100000 };
    static char piece[PIECE + 1], rest[PIECE + 1], *words[100];
    char *some[] = {"A=1", NULL};
    size_t count = 1;
    memset(piece, 'a', PIECE);
    memset(rest, 'b', bytes % PIECE);
    rest[bytes % PIECE] = 0;
    for (words[0] = "true"; count <= bytes / PIECE; count++)
        words[count] = piece;
    words[count] = rest;
    words[count + 1] = NULL;
    int status, error = 0;
    pid_t pid;
    if (is_spawned)
        error = posix_spawn(&pid, "/bin/true", NULL, NULL, words, some);
    else if ((pid = vfork()) == 0) {
        execve("/bin/true", words, some);
        _exit(errno);
    }
    if (error != 0)
        return error;
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

static void most_arguments(bool is_spawned)
{
    size_t fits = 0, too_many = 8000000;
    while (too_many - fits > 1) {
        size_t middle = (fits + too_many) / 2;
        *(run_with(middle, is_spawned) == 0 ? &fits : &too_many) = middle;
    }
    say("%zu bytes of arguments fit, and then %s", fits, strerrorname_np(run_with(too_many, is_spawned)));
    burn();
}
CASE(exec_most_arguments, 1, "how many bytes of arguments execve takes") { most_arguments(false); }
CASE(spawn_most_arguments, 1, "how many bytes of arguments posix_spawn takes") { most_arguments(true); }

CASE(execs_often, 12, "a chain of twelve images")
{
    static char number[16];
    int left = arguments[0] ? atoi(arguments[0]) : 11;
    burn();
    if (left == 0)
        return;
    snprintf(number, sizeof number, "%d", left - 1);
    then(execl("/proc/self/exe", "making", "execs_often", number, NULL));
}
static void *exec_in_thread(void *unused) { burn(); then(execv("/proc/self/exe", image_words)); return unused; }
CASE(execs_in_thread, 2, "exec in another thread than the first, while that one waits") { pthread_t thread; pthread_create(&thread, NULL, exec_in_thread, NULL); for (;;) pause(); }
static void *busy(void *unused) { for (;;) spin(100000); return unused; }
CASE(execs_beside_threads, 2, "exec while three other threads work") { pthread_t thread; for (int i = 0; i < 3; i++) pthread_create(&thread, NULL, busy, NULL); burn(); then(execv("/proc/self/exe", image_words)); }
CASE(fork_in_thread, 2, "a fork in another thread, and exec in the child")
{
    pthread_t thread;
    void *run(void *unused) { pid_t pid = fork(); if (pid == 0) then(execv("/proc/self/exe", image_words)); burn(); say_end(pid); return unused; }
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
}
static volatile int stop;
static void *until_stop(void *unused) { while (!stop) free(malloc(100)); return unused; }
CASE(forks_beside_threads, 0, "50 forks while two threads allocate; the children allocate as well")
{
    pthread_t threads[2];
    int sum = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, until_stop, NULL);
    for (int i = 0; i < 50; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0) { free(malloc(5000)); _exit(1); }
        waitpid(pid, &status, 0);
        sum += status == 0x100;
    }
    stop = 1;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    say("%d children ended well", sum);
}

static int parent_spoke[2]; /* the child's turn comes then */

static void prepare_fork(void) { say("prepare"); }
static void parent_fork(void)
{
    say("parent");
    if (write(parent_spoke[1], "", 1) != 1)
        say("cannot write");
}
static void child_fork(void)
{
    char byte;
    if (read(parent_spoke[0], &byte, 1) != 1)
        say("cannot read");
    say("in child");
    burn();
}
CASE(atfork, 2, "pthread_atfork handlers, one of which works")
{
    if (pipe(parent_spoke) != 0)
        return;
    pthread_atfork(prepare_fork, parent_fork, child_fork);
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    say_end(pid);
    burn();
}

CASE(systems, 1, "system() with a pipeline") { burn(); TELL(system("echo one two | tr a-z A-Z; exit 3")); }
CASE(popens, 1, "popen for reading and writing")
{
    char line[64] = "";
    FILE *pipe = popen("echo from the shell", "r");
    if (!fgets(line, sizeof line, pipe))
        say("nothing");
    burn();
    say("%s", line);
    TELL(pclose(pipe));
    pipe = popen("cat >&2; exit 4", "w");
    fputs("to the shell\n", pipe);
    TELL(pclose(pipe));
}
static void *spawns_from_small_stack(void *unused)
{
    static char *const words[] = {"true", NULL};
    pid_t pid = -1;
    TELL(posix_spawnp(&pid, "true", NULL, NULL, words, environ));
    say_end(pid);
    pid = vfork();
    if (pid == 0) { execve("/bin/true", words, environ); _exit(9); }
    say_end(pid);
    pid = fork();
    if (pid == 0) { execvp("true", words); _exit(9); }
    say_end(pid);
    return unused;
}
CASE(spawns_small_stack, 1, "a thread of 16 KiB, with other memory below its guard page, runs programs in an environment of 1,900 variables")
{
    enum { GUARD = 4096, STACK = 16384, BELOW = 65536 };
    char name[32];
    pthread_attr_t attributes;
    pthread_t thread;
    for (int i = 0; i < 1900; i++) { snprintf(name, sizeof name, "NUMBER_%d", i); setenv(name, "x", 1); }
    burn();
    char *memory = mmap(NULL, BELOW + GUARD + STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(memory + BELOW, GUARD, PROT_NONE);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, memory + BELOW + GUARD, STACK);
    if (pthread_create(&thread, &attributes, spawns_from_small_stack, NULL) == 0)
        pthread_join(thread, NULL);
}
