/* counts.c -- functions of the C library that the program has itself, and counts the calls of before it hands them on */
#include "matrix.h"
#include <dlfcn.h>

#define COUNTED(X)                                                                                                  \
    X(access) X(calloc) X(clock_getres) X(connect) X(dl_iterate_phdr) X(dup) X(faccessat) X(fcntl) X(fopen) X(fstat) \
    X(ftruncate) X(getauxval) X(getcwd) X(getenv) X(getpid) X(getppid) X(getrandom) X(getrlimit) X(getrusage)       \
    X(gettid) X(gettimeofday) X(getuid) X(ioctl) X(kill) X(lseek) X(madvise) X(malloc) X(memfd_create) X(mkdir)     \
    X(mmap) X(mprotect) X(munmap) X(nanosleep) X(open) X(openat) X(opendir) X(pipe) X(poll) X(process_vm_readv)     \
    X(pthread_once) X(pthread_setcancelstate) X(pthread_setcanceltype) X(pthread_setspecific) X(readlink) X(realloc) \
    X(recv) X(regcomp) X(sched_getaffinity) X(sched_yield) X(send) X(sendmsg) X(sigaddset) X(sigdelset)             \
    X(sigemptyset) X(sigismember) X(snprintf) X(socket) X(stat) X(strlen) X(strtol) X(strtoul) X(strtoull)          \
    X(sysconf) X(time) X(timer_create) X(timer_settime) X(uname) X(unlink) X(usleep)

/* As the PLT would: arguments and stack are those of the caller. */
#define X(name)                                                                                                        \
    static long calls_of_##name __attribute__((used));                                                                                       \
    static void *next_##name __attribute__((used));                                                                                          \
    __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ": lock incq calls_of_" #name "(%rip)\n"     \
            "mov next_" #name "(%rip), %r11\ntest %r11, %r11\njnz 1f\n"                                               \
            "push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\npush %rax\n"                              \
            "lea 2f(%rip), %rsi\nmov $-1, %rdi\ncall dlsym@PLT\nmov %rax, next_" #name "(%rip)\nmov %rax, %r11\n"        \
            "pop %rax\npop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\n1: jmp *%r11\n"                      \
            "2: .asciz \"" #name "\"\n.size " #name ", . - " #name);
COUNTED(X)
#undef X

static void say_calls(const char *when)
{
#define X(name)                                      \
    if (calls_of_##name != 0)                        \
        say("%s: %s %ld", when, #name, calls_of_##name);
    COUNTED(X)
#undef X
}
static void *works(void *unused) { burn(); return unused; }
PART(all)
{
    pthread_t thread;
    burn();
    say_calls("burned");
    pthread_create(&thread, NULL, works, NULL);
    pthread_join(thread, NULL);
    say_calls("a thread");
    pid_t pid = fork();
    if (pid == 0) {
        burn();
        say_calls("child");
        _exit(5);
    }
    say_end(pid);
    system("true");
    say_calls("in the end");
}
