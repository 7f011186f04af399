/* early_birth.c -- what a program does before any constructor has run: in .preinit_array
 *
 * build: -ldl
 */
#include "matrix.h"
#include <dlfcn.h>
#include <spawn.h>

extern char **environ;
static volatile int came;
static void count_it(int signo) { (void)signo; came++; }
static void *body(void *unused) { burn(); return unused; }
static char text[2000];
static void note(const char *what, long value) { sprintf(text + strlen(text), "%s %ld\n", what, value); }

static void early(int argc, char **argv, char **envp)
{
    if (argc < 2 || strcmp(argv[1], "before_constructors") != 0)
        return;
    struct sigaction action = {.sa_handler = count_it}, old;
    sigset_t set, none;
    int status;
    sigemptyset(&none);
    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigaddset(&set, SIGVTALRM);
    note("sigaction", sigaction(SIGTRAP, &action, &old));
    note("sigaction", sigaction(SIGVTALRM, &action, &old));
    note("sigprocmask", sigprocmask(SIG_BLOCK, &set, NULL));
    pid_t pid = fork();
    if (pid == 0) {
        burn();
        _exit(4);
    }
    waitpid(pid, &status, 0);
    note("fork", status);
    char *const words[] = {"sh", "-c", "echo from the shell", NULL};
    note("spawn", posix_spawn(&pid, "/bin/sh", NULL, NULL, words, envp));
    waitpid(pid, &status, 0);
    note("status", status);
    pid = vfork();
    if (pid == 0) {
        execve("/bin/sh", words, envp);
        _exit(5);
    }
    waitpid(pid, &status, 0);
    note("vfork", status);
    note("system", system("echo from system"));
    pthread_t thread;
    note("thread", pthread_create(&thread, NULL, body, NULL));
    pthread_join(thread, NULL);
    note("dlopen", dlopen("libm.so.6", RTLD_NOW) != NULL);
    raise(SIGTRAP);
    raise(SIGVTALRM);
    note("came", came);
    sigpending(&set);
    note("pending", sigismember(&set, SIGTRAP) + sigismember(&set, SIGVTALRM));
    sigprocmask(SIG_SETMASK, &none, NULL);
    note("came", came);
    note("close", close(100));
    burn();
}
__attribute__((section(".preinit_array"), used)) static void (*early_entry)(int, char **, char **) = early;

CASE(before_constructors, 4, "before any constructor (.preinit_array) it forks, runs programs, makes a thread, and handles signals")
{
    say("%s", text);
    raise(SIGTRAP);
    raise(SIGVTALRM);
    say("came %d", came);
    burn();
}
