/* locking.c -- memory that is locked within the limit that users have */
#include "matrix.h"
#include <grp.h>

static void *touch(void *memory)
{
    memset(memory, 1, 65536);
    return memory;
}

/* Another user than root, who may lock so many bytes. */
static void become_user(rlim_t most_locked)
{
    struct rlimit limit = {most_locked, most_locked};
    setrlimit(RLIMIT_MEMLOCK, &limit);
    setgroups(0, NULL);
    setresgid(65534, 65534, 65534);
    setresuid(65534, 65534, 65534);
}

CASE(locks_as_user, 1, "another user than root locks all its memory within 8 MiB, the usual limit, and then maps more and has a thread")
{
    become_user(8 << 20);
    TELL(mlockall(MCL_CURRENT));
    TELL(munlockall());
    TELL(mlockall(MCL_CURRENT | MCL_FUTURE));
    TELL(mlockall(0));
    TELL(mlockall(99));
    burn();
    char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    say("mapped %d", memory != MAP_FAILED);
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    say("thread %d", pthread_create(&thread, &attributes, touch, memory));
    pthread_join(thread, NULL);
    say("too much %d", mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    TELL(munlockall());
    pid_t pid = fork();
    if (pid == 0)
        _exit(2);
    say_end(pid);
}

CASE(locks_too_much, 1, "another user locks all its memory, which is more than its limit: it is refused")
{
    become_user(1 << 20);
    TELL(mlockall(MCL_CURRENT));
    TELL(mlockall(MCL_FUTURE));
    burn();
    say("small %d", mmap(NULL, 256 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    say("big %d", mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
}

CASE(locks_by_syscall, 1, "another user than root locks all its memory within 8 MiB by syscall(2), and then maps more")
{
    become_user(8 << 20);
    TELL(syscall(SYS_mlockall, MCL_CURRENT | MCL_FUTURE));
    TELL(syscall(SYS_mlockall, 99));
    burn();
    say("mapped %d", mmap(NULL, 2 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    TELL(syscall(SYS_munlockall));
}
