/* wraps.c -- a preloaded library that wraps what the recorder wraps too: signals, fork, exec, close, dlopen, calloc */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/types.h>

static volatile int calls;
int sigaction(int signo, const struct sigaction *action, struct sigaction *old) { calls++; int (*real)(int, const struct sigaction *, struct sigaction *) = dlsym(RTLD_NEXT, "sigaction"); return real(signo, action, old); }
pid_t fork(void) { calls++; pid_t (*real)(void) = dlsym(RTLD_NEXT, "fork"); return real(); }
int close(int fd) { calls++; int (*real)(int) = dlsym(RTLD_NEXT, "close"); return real(fd); }
void *dlopen(const char *name, int mode) { calls++; void *(*real)(const char *, int) = dlsym(RTLD_NEXT, "dlopen"); return real(name, mode); }
int execve(const char *path, char *const *words, char *const *variables) { calls++; int (*real)(const char *, char *const *, char *const *) = dlsym(RTLD_NEXT, "execve"); return real(path, words, variables); }
