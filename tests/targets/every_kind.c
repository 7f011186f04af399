/* every_kind.c -- does what each kind of record tells of: threads, a fork, an exec, a module that comes and goes, the calls of libcollector(3). Truth: argv[1] is a shared library, argv[2] a static program. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcollector.h"

static void *burn(void *unused)
{
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 30000000; i++)
        sum += i;
    (void)unused;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc < 3)
        return 2;
    collector_sample("begin");
    void *library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL || dlclose(library) != 0)
        return 3;
    pthread_create(&thread, NULL, burn, NULL);
    pthread_join(thread, NULL);
    burn(NULL);
    collector_writelog("user data", 9);
    collector_pause();
    collector_resume();
    collector_func_load(NULL, NULL, NULL, (void *)main, 16, 0, NULL); /* no name: a bad argument, counted */
    fflush(stdout);
    if (fork() == 0) {
        execl(argv[2], argv[2], (char *)NULL);
        _exit(4);
    }
    int status;
    wait(&status);
    return 0;
}
