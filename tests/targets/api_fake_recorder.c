/* api_fake_recorder.c -- truth: prints each API call it receives on stderr, one line a call, and records nothing
 *
 * Preloaded in place of the recorder it shows what arrives there. It is written
 * against the plain prototypes, so it also checks them.
 */
#define COLLECTOR_LINKED
#include "libcollector.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    char line[2048];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length > 0 && write(2, line, (size_t)length) < 0)
        _exit(99);
}

static const char *shown(const char *text)
{
    return text ? text : "-";
}

void collector_sample(const char *name)
{
    say("sample [%s]\n", shown(name));
}

void collector_pause(void)
{
    say("pause\n");
}

void collector_resume(void)
{
    say("resume\n");
}

void collector_writelog(const void *data, __SIZE_TYPE__ length)
{
    const unsigned char *bytes = data;
    say("writelog");
    for (__SIZE_TYPE__ i = 0; i < length; i++)
        say(" %02x", (unsigned int)bytes[i]);
    say("\n");
}

const char *collector_version(void)
{
    return "9.8.7";
}

int collector_is_active(void)
{
    return 1;
}

void collector_terminate_expt(void)
{
    say("terminate_expt\n");
}

void collector_func_load(const char *name, const char *alias, const char *sourcename,
                         const void *vaddr, int size, int lntsize, const Lineno *lntable)
{
    say("func_load [%s] [%s] [%s] %p %d", shown(name), shown(alias), shown(sourcename), vaddr, size);
    for (int i = 0; lntable && i < lntsize; i++)
        say(" %d:%d", lntable[i].offset, lntable[i].lineno);
    say("\n");
}

void collector_func_unload(const void *vaddr)
{
    say("func_unload %p\n", vaddr);
}

void collector_module_load(const char *modulename, const void *vaddr)
{
    say("module_load [%s] %p\n", shown(modulename), vaddr);
}

void collector_module_unload(const void *vaddr)
{
    say("module_unload %p\n", vaddr);
}
