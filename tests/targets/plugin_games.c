/* plugin_games.c -- truth: reuse: the plugins first and second lie at the same address, one after the other, and work_in_first, work_in_second and work_between use what is printed; origin: a library finds its neighbour;
 * namespace: code of a second namespace works 150 ms in work_in_first
 *
 * plugin_games reuse DIRECTORY ROUNDS | origin DIRECTORY | namespace DIRECTORY
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "measured_work.h"

typedef void run_function(long us);

static void *opened(const char *directory, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        printf("%s\n", dlerror());
        exit(1);
    }
    return library;
}

/* While neither of them is there: whoever maps memory now takes the address away from the next. */
static NOINLINE void work_between(long us)
{
    work(us);
}

static void reuse(const char *directory, int rounds)
{
    struct account accounts[] = {{"work_in_first", 0}, {"work_in_second", 0}, {"work_between", 0}};
    void *previous = NULL;
    int reuse_count = 0;
    for (int i = 0; i < rounds; i++) {
        void *library = opened(directory, i % 2 != 0 ? "libsecond.so" : "libfirst.so");
        run_function *run = (run_function *)dlsym(library, "run");
        BOOK(accounts[i % 2], run(i == 0 ? 100 : i % 2 != 0 ? 40000 : 20000)); /* the first tick comes when the first has gone */
        reuse_count += (void *)run == previous;
        previous = (void *)run;
        dlclose(library);
        BOOK(accounts[2], work_between(20000));
    }
    for (int i = 0; i < 3; i++)
        print_account(&accounts[i]);
    printf("reused %d\n", reuse_count == rounds - 1);
}

static void second_namespace(const char *directory)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/libfirst.so", directory);
    void *library = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    run_function *run = library != NULL ? (run_function *)dlsym(library, "run") : NULL;
    printf("opened %d\n", run != NULL);
    if (run != NULL)
        run(150000);
}

static void origin(const char *directory)
{
    void *library = opened(directory, "libfinder.so");
    int (*finds)(void) = (int (*)(void))dlsym(library, "finds_beside");
    printf("found %d\n", finds());
    printf("by the program %d\n", dlopen("libbeside.so", RTLD_NOW | RTLD_NOLOAD) != NULL);
    printf("missing %d\n", dlopen("no such library", RTLD_NOW) == NULL);
    printf("said %s\n", dlerror());
    run_function *run = (run_function *)dlsym(library, "run");
    run(150000);
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "reuse") == 0)
        reuse(argv[2], atoi(argv[3]));
    else if (argc > 2 && strcmp(argv[1], "namespace") == 0)
        second_namespace(argv[2]);
    else if (argc > 2)
        origin(argv[2]);
    return 6;
}
