/* loading.c -- dlopen in its ways; build: is in the table beside it
 *
 * build: -ldl
 */
#include "matrix.h"
#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <ucontext.h>

static const char *library(void) { static __thread char path[4096]; snprintf(path, sizeof path, "%s/library.so", getenv("MATRIX_BUILD")); return path; }
static int call(void *handle) { int (*answer)(void) = (int (*)(void))dlsym(handle, "answer"); return answer ? answer() : -1; }

PART(loop)
{
    int sum = 0;
    for (int i = 0; i < 200; i++) { void *handle = dlopen(library(), RTLD_NOW | RTLD_LOCAL); sum += call(handle); dlclose(handle); }
    burn();
    say("sum %d", sum);
}
PART(namespaces)
{
    int sum = 0;
    for (int i = 0; i < 5; i++) { void *handle = dlmopen(LM_ID_NEWLM, library(), RTLD_NOW); if (!handle) { say("%s", dlerror()); return; } sum += call(handle); dlclose(handle); }
    burn();
    say("sum %d", sum);
}
PART(deep) { void *handle = dlopen(library(), RTLD_NOW | RTLD_DEEPBIND); say("%d", call(handle)); burn(); }
static void handle_all(const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("MATRIX_BUILD"), name);
    void *handle = dlopen(path, RTLD_LAZY | RTLD_DEEPBIND);
    int (*function)(void) = handle ? (int (*)(void))dlsym(handle, "handle_all") : NULL;
    say("%s", dlerror() ? "not loaded" : "loaded");
    say("%d handlers", function ? function() : -1);
    burn();
}
PART(deep_lazy) { handle_all("lazy.so"); }
PART(deep_sealed) { handle_all("sealed.so"); }
/* Each thread loads and unloads a library of its own: the list of what is loaded is never the same for long. */
static void *opens_deep(void *name)
{
    char path[4096];
    long opened = 0;
    snprintf(path, sizeof path, "%s/%s", getenv("MATRIX_BUILD"), (const char *)name);
    for (int i = 0; i < 2000; i++) { void *handle = dlopen(path, RTLD_NOW | RTLD_DEEPBIND); opened += handle && dlclose(handle) == 0; }
    return (void *)opened;
}
PART(deep_threads)
{
    static const char *names[] = {"first.so", "second.so", "third.so"};
    pthread_t threads[3];
    void *opened;
    burn();
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, opens_deep, (void *)names[i]);
    for (int i = 0; i < 3; i++) { pthread_join(threads[i], &opened); say("%ld times", (long)opened); }
}
PART(missing) { say("%d", dlopen("/does/not/exist.so", RTLD_NOW) == NULL); burn(); say("%d", dlerror() != NULL); }
PART(relative) { say("%d", dlopen("library.so", RTLD_NOW) != NULL); burn(); }
static int count(struct dl_phdr_info *info, size_t size, void *total) { (void)size; *(int *)total += info->dlpi_phnum > 0; return 0; }
PART(iterates) { int total = 0; burn(); for (int i = 0; i < 1000; i++) dl_iterate_phdr(count, &total); say("some %d", total > 3000); }
PART(lists) { burn(); void walk(struct link_map *map) { for (; map; map = map->l_next) say("%s", map->l_name); } walk(dlopen(NULL, RTLD_NOW)); }
static volatile int stop;
static void *opens(void *unused) { while (!stop) { void *handle = dlopen(library(), RTLD_NOW); call(handle); dlclose(handle); } return unused; }
PART(threads)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, opens, NULL);
    burn();
    for (int i = 0; i < 20; i++) { pid_t pid = fork(); if (pid == 0) _exit(0); waitpid(pid, NULL, 0); }
    stop = 1;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    say("done");
}
PART(next_symbol) { burn(); say("%d %d", dlsym(RTLD_NEXT, "write") != NULL, dlsym(RTLD_DEFAULT, "sigaction") != NULL); Dl_info info; say("%d", dladdr(dlsym(RTLD_DEFAULT, "printf"), &info) && strstr(info.dli_fname, "libc.so") != NULL); }
PART(whose_sigaction) { Dl_info info; burn(); dladdr(dlsym(RTLD_DEFAULT, "sigaction"), &info); say("%s", info.dli_fname); }
