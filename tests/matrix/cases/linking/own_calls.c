/* own_calls.c -- a program whose own functions stand before the C library's, and make their calls by syscall(2) */
#include "matrix.h"

int execve(const char *path, char *const words[], char *const variables[])
{
    return (int)syscall(SYS_execve, path, words, variables);
}
int sigaltstack(const stack_t *stack, stack_t *old)
{
    return (int)syscall(SYS_sigaltstack, stack, old);
}
int close(int fd)
{
    return (int)syscall(SYS_close, fd);
}

CASE(own_execve, 1, "an execve, a sigaltstack and a close of its own, by syscall(2)")
{
    extern char **environ;
    char *words[] = {"true", NULL};
    burn();
    pid_t child = fork();
    if (child == 0) {
        execve("/bin/true", words, environ);
        _exit(5);
    }
    say_end(child);
    child = vfork();
    if (child == 0) {
        execvp("true", words);
        _exit(6);
    }
    say_end(child);
    say("system %d", system("exit 3"));
    stack_t none;
    TELL(sigaltstack(NULL, &none));
    TELL(close(0));
}

CASE(smallest_stack_by_syscall, 2, "an alternate stack of 2 KiB, set by syscall(2): no handler needs it")
{
    static char low[2048];
    stack_t small = {.ss_sp = low, .ss_size = sizeof low};
    burn();
    TELL(syscall(SYS_sigaltstack, &small, NULL));
    burn();
    stack_t now = {0};
    TELL(syscall(SYS_sigaltstack, NULL, &now));
    say("of %zu bytes", now.ss_size);
    TELL(syscall(SYS_sigaltstack, 8, NULL));
}
