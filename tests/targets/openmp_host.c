/* openmp_host.c -- calls `planted` of the libraries that its arguments name, which it loads for itself alone */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
    for (int i = 1; i < count; i++) {
        void *library = dlopen(words[i], RTLD_NOW | RTLD_LOCAL);
        void (*planted)(void) = library ? (void (*)(void))dlsym(library, "planted") : NULL;
        if (planted == NULL) {
            puts(dlerror());
            return 1;
        }
        planted();
        fflush(stdout);
    }
    return 0;
}
