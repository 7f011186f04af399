/* libcollectorAPI.c -- the API as ordinary functions, for programs that prefer linking (-lcollectorAPI)
 *
 * Each function passes the call on to the recorder if it is in the process, else
 * does nothing. Who calls what depends on the kind of library:
 *   shared  A preloaded recorder comes first in the search order, so the program's
 *           calls reach it directly and these functions are only there when it is not.
 *   static  These functions are inside the program and take its calls. They are
 *           built hidden: exported from the program they would stand before the
 *           recorder for everyone else as well, such as a JVM that looks for
 *           collector_func_load.
 */
#define _GNU_SOURCE
#define COLLECTOR_LINKED
#include "libcollector.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Weak, so that a static program needs no dynamic linker and an old libc no -ldl.  */
#pragma weak dlsym
#pragma weak dlerror

static struct {
    int is_resolved;
    void (*sample)(const char *);
    void (*pause)(void);
    void (*resume)(void);
    void (*writelog)(const void *, size_t);
    const char *(*version)(void);
    int (*is_active)(void);
    void (*terminate_expt)(void);
    void (*func_load)(const char *, const char *, const char *, const void *, int, int, const Lineno *);
    void (*func_unload)(const void *);
    void (*module_load)(const char *, const void *);
    void (*module_unload)(const void *);
} self;

/* Puts the recorder's function NAME into *ENTRY, null if there is none. OWN points to
   what that name means to us. If it means what the whole process finds first, that is
   either us, and the recorder may still come later; or not us, and nobody calls us.  */
static void find(const char *name, const void *own, void *entry)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    if (memcmp(&found, own, sizeof found) == 0)
        found = dlsym(RTLD_NEXT, name);
    memcpy(entry, &found, sizeof found);
}

#define FIND(verb)                                                                                                     \
    do {                                                                                                               \
        __typeof__(self.verb) own = collector_##verb;                                                                  \
        find("collector_" #verb, &own, &self.verb);                                                                    \
    } while (0)

/* Before main, because dlsym may not be called from a signal handler.  */
__attribute__((constructor)) static void resolve(void)
{
    if (dlsym != NULL) {
        FIND(sample);
        FIND(pause);
        FIND(resume);
        FIND(writelog);
        FIND(version);
        FIND(is_active);
        FIND(terminate_expt);
        FIND(func_load);
        FIND(func_unload);
        FIND(module_load);
        FIND(module_unload);
        /* The program must not find our failed look-ups in its own dlerror().  */
        if (dlerror != NULL)
            dlerror();
    }
    __atomic_store_n(&self.is_resolved, 1, __ATOMIC_RELEASE);
}

/* A constructor of another library may call before ours has run.  */
static void ensure_resolved(void)
{
    if (!__atomic_load_n(&self.is_resolved, __ATOMIC_ACQUIRE))
        resolve();
}

void collector_sample(const char *name)
{
    ensure_resolved();
    if (self.sample)
        self.sample(name);
}

void collector_pause(void)
{
    ensure_resolved();
    if (self.pause)
        self.pause();
}

void collector_resume(void)
{
    ensure_resolved();
    if (self.resume)
        self.resume();
}

void collector_writelog(const void *data, size_t length)
{
    ensure_resolved();
    if (self.writelog)
        self.writelog(data, length);
}

const char *collector_version(void)
{
    ensure_resolved();
    return self.version ? self.version() : "";
}

int collector_is_active(void)
{
    ensure_resolved();
    return self.is_active ? self.is_active() : 0;
}

void collector_terminate_expt(void)
{
    ensure_resolved();
    if (self.terminate_expt)
        self.terminate_expt();
}

void collector_func_load(const char *name, const char *alias, const char *sourcename, const void *vaddr, int size,
                         int lntsize, const Lineno *lntable)
{
    ensure_resolved();
    if (self.func_load)
        self.func_load(name, alias, sourcename, vaddr, size, lntsize, lntable);
}

void collector_func_unload(const void *vaddr)
{
    ensure_resolved();
    if (self.func_unload)
        self.func_unload(vaddr);
}

void collector_module_load(const char *modulename, const void *vaddr)
{
    ensure_resolved();
    if (self.module_load)
        self.module_load(modulename, vaddr);
}

void collector_module_unload(const void *vaddr)
{
    ensure_resolved();
    if (self.module_unload)
        self.module_unload(vaddr);
}
