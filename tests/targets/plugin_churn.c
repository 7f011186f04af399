/* plugin_churn.c -- truth: loads and unloads the library COUNT times while another thread works, and every load works */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "measured_work.h"

static volatile int is_over;

static void *keep_busy(void *unused)
{
    while (!is_over)
        work(500);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int works_count = 0, count = argc > 2 ? atoi(argv[2]) : 100;
    if (argc < 2)
        return 2;
    pthread_create(&thread, NULL, keep_busy, NULL);
    for (int i = 0; i < count; i++) {
        void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
        void (*run)(long) = library != NULL ? (void (*)(long))dlsym(library, "run") : NULL;
        if (run != NULL) {
            run(20);
            works_count++;
        }
        if (library != NULL)
            dlclose(library);
    }
    is_over = 1;
    pthread_join(thread, NULL);
    printf("worked %d\n", works_count);
    return 0;
}
