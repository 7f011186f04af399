/* child_environment.c -- what a program this process runs finds in its environment */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/child_environment.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "control/options.h"

#define PRELOAD "LD_PRELOAD="

static const char *const kept_names[] = {"COLLECTOR_EXPERIMENT=", "COLLECTOR_OPTIONS=", "COLLECTOR_FOLLOW=", "COLLECTOR_METRICS=", COL_OPTIONS_PROVEN_CLOCK "="};
#define KEPT_COUNT (sizeof kept_names / sizeof *kept_names)

static struct {
    bool is_remembered;
    char *kept[KEPT_COUNT]; /* whole entries, "NAME=value"; NULL: the variable was not set */
    char *library;          /* as LD_PRELOAD named us */
} self;

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static char *joined(const char *first, const char *second)
{
    char *text = malloc(strlen(first) + strlen(second) + 1);
    return text != NULL ? strcat(strcpy(text, first), second) : NULL;
}

void col_child_environment_remember(void)
{
    Dl_info library;
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        char name[32];
        memcpy(name, kept_names[i], strlen(kept_names[i]));
        name[strlen(kept_names[i]) - 1] = '\0';
        const char *value = getenv(name);
        self.kept[i] = value != NULL ? joined(kept_names[i], value) : NULL;
    }
    /* A program may hold another path to us than the one we were loaded by: keep the first. */
    if (dladdr((void *)col_child_environment_remember, &library) != 0 && library.dli_fname != NULL)
        self.library = joined(library.dli_fname, "");
    self.is_remembered = self.library != NULL && self.kept[0] != NULL;
}

void col_child_environment_add(char *entry)
{
    putenv(entry);
    for (size_t i = 0; i < KEPT_COUNT; i++)
        if (begins_with(entry, kept_names[i]))
            self.kept[i] = entry;
}

static bool is_ours(const char *entry)
{
    for (size_t i = 0; i < KEPT_COUNT; i++)
        if (begins_with(entry, kept_names[i]))
            return true;
    return false;
}

static const char *preload_of(char *const *environment)
{
    for (; environment != NULL && *environment != NULL; environment++)
        if (begins_with(*environment, PRELOAD))
            return *environment + strlen(PRELOAD);
    return NULL;
}

/* A child that was given all this is left as it is. */
static bool is_complete(char *const *environment, const char *preload)
{
    if (preload == NULL || strstr(preload, self.library) == NULL)
        return false;
    for (; *environment != NULL; environment++)
        if (begins_with(*environment, kept_names[0]))
            return true;
    return false;
}

size_t col_child_environment_measure(char *const *environment, size_t *text_bytes)
{
    size_t count = 0;
    const char *preload = preload_of(environment);
    if (!self.is_remembered || (environment != NULL && is_complete(environment, preload)))
        return 0;
    while (environment != NULL && environment[count] != NULL)
        count++;
    *text_bytes = strlen(PRELOAD) + strlen(self.library) + 1 + (preload != NULL ? strlen(preload) : 0) + 1;
    return count + KEPT_COUNT + 2;
}

void col_child_environment_fill(char *const *environment, char **entries, char *text)
{
    const char *preload = preload_of(environment);
    strcat(strcpy(text, PRELOAD), self.library);
    if (preload != NULL && preload[0] != '\0' && strstr(preload, self.library) == NULL)
        strcat(strcat(text, ":"), preload);
    else if (preload != NULL && strstr(preload, self.library) != NULL)
        strcpy(text + strlen(PRELOAD), preload);
    *entries++ = text;
    for (size_t i = 0; i < KEPT_COUNT; i++)
        if (self.kept[i] != NULL)
            *entries++ = self.kept[i];
    for (; environment != NULL && *environment != NULL; environment++)
        if (!begins_with(*environment, PRELOAD) && !is_ours(*environment))
            *entries++ = *environment;
    *entries = NULL;
}
