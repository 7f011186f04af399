/*
 * unwind_loader.c -- the time is spent in the dynamic linker: loading, binding at first call, unloading
 *
 * Run with the path of a library that exports plugin_work, bound lazily. Truth: everything is below main > load_once
 * or main > use > plugin_work; first calls go through the linker: plugin_work > [ld-linux-x86-64.so.2].
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "sample/unwind.h"
#include "unwind_case.h"

CASE_FRAME int use(void *library)
{
    int (*plugin_work)(int) = (int (*)(int))dlsym(library, "plugin_work");
    int result = plugin_work(3);
    CASE_NO_TAIL_CALL;
    return result;
}

CASE_FRAME int load_once(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    int result = use(library);
    dlclose(library);
    col_unwind_forget_modules();
    return result;
}

int main(int argc, char **argv)
{
    int sum = 0;
    if (argc != 2)
        return 2;
    case_begin();
    while (!case_is_over())
        sum += load_once(argv[1]);
    case_print();
    return sum == 1;
}
