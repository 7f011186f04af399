/* child_environment.c -- what a program this process runs finds in its environment */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/child_environment.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/kept_text.h"
#include "base/os.h"
#include "control/options.h"
#include "control/silence.h"
#include "target/launcher.h"

#define PRELOAD "LD_PRELOAD="
#define PRELOADED_NAME                                                                                                 \
    "COLLECTOR_PRELOAD=" /* what the launcher put into LD_PRELOAD: the recorder, and what metric plugins want */
#define SEPARATORS " :"
#define LISTS_LIBRARIES "LD_TRACE_LOADED_OBJECTS=" /* the dynamic linker lists what it loads and runs nothing: ldd */

/* AddressSanitizer refuses to start behind another library, unless it is asked not to mind. */
#define ASAN_OPTIONS "ASAN_OPTIONS="
#define ASAN_BEHIND_US "verify_asan_link_order=0"

static const char *const kept_names[] = {"COLLECTOR_EXPERIMENT=", "COLLECTOR_OPTIONS=",       "COLLECTOR_FOLLOW=",
                                         "COLLECTOR_METRICS=",    COL_LAUNCHER_VARIABLE "=",  COL_SILENCE_VARIABLE "=",
                                         PRELOADED_NAME,          COL_OPTIONS_NODE_READER "="};
#define KEPT_START "COLLECTOR_" /* of all of them, and few others */
#define KEPT_COUNT (sizeof kept_names / sizeof *kept_names)
#define EXPERIMENT 0 /* its place among them */

static struct {
    bool is_remembered, is_passed_on;
    bool tells_asan;           /* the launcher asked AddressSanitizer not to mind us */
    bool is_added[KEPT_COUNT]; /* by us: not in the environment that the program was given */
    char *kept[KEPT_COUNT];    /* whole entries, "NAME=value"; NULL: the variable was not set */
    char *given_experiment;    /* its entry as it was given: kept is that, but a path from the root */
    char *library;             /* as LD_PRELOAD named us */
    const char *ours;          /* the list of what we want preloaded, the recorder first */
} self;

static bool begins_with(const char *text, const char *start)
{
    return *text == *start && strncmp(text, start, strlen(start)) == 0;
}

static bool is_listed(const char *list, const char *word, size_t bytes)
{
    for (list += strspn(list, SEPARATORS); *list != '\0'; list += strspn(list, SEPARATORS)) {
        size_t length = strcspn(list, SEPARATORS);
        if (length == bytes && memcmp(list, word, bytes) == 0)
            return true;
        list += length;
    }
    return false;
}

static bool tells_asan(const char *options)
{
    return options != NULL && is_listed(options, ASAN_BEHIND_US, strlen(ASAN_BEHIND_US));
}

static bool is_relative_path(const char *name, const char *value)
{
    bool is_path = strcmp(name, "COLLECTOR_EXPERIMENT=") == 0 || strcmp(name, "COLLECTOR_METRICS=") == 0;
    return is_path && value[0] != '/' && value[0] != '\0';
}

/* The entry with a path from the root, which still holds when the program has changed its directory. NULL: it cannot be had. */
static char *entry_from_root(const char *name, const char *relative)
{
    char directory[PATH_MAX + 1];
    ssize_t length = col_os_working_directory(directory, PATH_MAX);
    if (length <= 0 || directory[0] != '/')
        return NULL;
    memcpy(directory + length, "/", 2);
    const char *path = col_kept_text_join(directory, relative);
    return path != NULL ? col_kept_text_join(name, path) : NULL;
}

static void remember_entry(size_t i, const char *value)
{
    char *given = col_kept_text_join(kept_names[i], value);
    char *absolute = is_relative_path(kept_names[i], value) ? entry_from_root(kept_names[i], value) : NULL;
    self.is_added[i] = given != NULL && absolute != NULL;
    self.kept[i] = self.is_added[i] ? absolute : given;
    if (i == EXPERIMENT)
        self.given_experiment = given;
}

void col_child_environment_remember(bool is_passed_on)
{
    Dl_info library;
    for (size_t i = 0; i < KEPT_COUNT; i++) {
        char name[32];
        memcpy(name, kept_names[i], strlen(kept_names[i]));
        name[strlen(kept_names[i]) - 1] = '\0';
        const char *value = getenv(name);
        if (value == NULL)
            continue;
        remember_entry(i, value);
        if (strcmp(kept_names[i], PRELOADED_NAME) == 0 && self.kept[i] != NULL)
            self.ours = self.kept[i] + strlen(PRELOADED_NAME);
    }
    /* A program may hold another path to us than the one we were loaded by: keep the first. */
    if (dladdr((void *)(uintptr_t)col_child_environment_remember, &library) != 0 && library.dli_fname != NULL)
        self.library = col_kept_text_join(library.dli_fname, "");
    if (self.ours == NULL)
        self.ours = self.library;
    self.tells_asan = tells_asan(getenv("ASAN_OPTIONS"));
    self.is_remembered = self.library != NULL && self.kept[EXPERIMENT] != NULL;
    self.is_passed_on = is_passed_on;
}

const char *col_child_environment_library(void)
{
    return self.library;
}

const char *col_child_environment_experiment(void)
{
    return self.kept[EXPERIMENT] != NULL ? self.kept[EXPERIMENT] + strlen(kept_names[EXPERIMENT]) : NULL;
}

static bool is_kept(const char *entry)
{
    for (size_t i = 0; i < KEPT_COUNT && begins_with(entry, KEPT_START); i++)
        if (begins_with(entry, kept_names[i]))
            return true;
    return false;
}

void col_child_environment_add(char *entry)
{
    for (size_t i = 0; i < KEPT_COUNT; i++)
        if (begins_with(entry, kept_names[i])) {
            self.kept[i] = entry;
            self.is_added[i] = true;
        }
}

/* ---- lists of libraries ---- */

static bool is_ours(const char *word, size_t bytes)
{
    return is_listed(self.ours, word, bytes) ||
           (strlen(self.library) == bytes && memcmp(self.library, word, bytes) == 0);
}

/* Behind `text` the words of `list`: all, or those that are not ours. */
static void append_words(char *text, const char *list, bool has_ours)
{
    char *end = text + strlen(text);
    for (list += strspn(list, SEPARATORS); *list != '\0'; list += strspn(list, SEPARATORS)) {
        size_t length = strcspn(list, SEPARATORS);
        if (has_ours || !is_ours(list, length)) {
            if (end != text && end[-1] != '=')
                *end++ = ':';
            memcpy(end, list, length);
            end += length;
        }
        list += length;
    }
    *end = '\0';
}

static bool names_us(const char *list)
{
    for (list += strspn(list, SEPARATORS); *list != '\0'; list += strspn(list, SEPARATORS)) {
        size_t length = strcspn(list, SEPARATORS);
        if (is_ours(list, length))
            return true;
        list += length;
    }
    return false;
}

/* ---- the child's environment ---- */

struct found {
    size_t count;
    const char *preload; /* of several the dynamic linker takes the last */
    const char *asan;
    bool lists_libraries, names_experiment, has_experiment; /* the one of this recording */
    unsigned kept;                                          /* a bit for each entry that is as we keep it */
};

static void look_at_kept(struct found *found, const char *entry)
{
    for (size_t i = 0; i < KEPT_COUNT; i++)
        if (self.kept[i] != NULL && strcmp(entry, self.kept[i]) == 0)
            found->kept |= 1u << i;
    found->names_experiment = found->names_experiment || begins_with(entry, kept_names[EXPERIMENT]);
    found->has_experiment = (found->kept & 1u << EXPERIMENT) != 0 || found->has_experiment ||
                            (self.given_experiment != NULL && strcmp(entry, self.given_experiment) == 0);
}

static struct found look_at(char *const *environment)
{
    struct found found = {.count = 0};
    for (; environment != NULL && environment[found.count] != NULL; found.count++) {
        const char *entry = environment[found.count];
        if (begins_with(entry, PRELOAD))
            found.preload = entry + strlen(PRELOAD);
        else if (begins_with(entry, LISTS_LIBRARIES))
            found.lists_libraries = true;
        else if (begins_with(entry, ASAN_OPTIONS) && found.asan == NULL)
            found.asan = entry + strlen(ASAN_OPTIONS);
        else if (begins_with(entry, KEPT_START))
            look_at_kept(&found, entry);
    }
    return found;
}

/* Of this installation or of another one, which calls its library by the same name. */
static bool names_a_recorder(const char *list)
{
    const char *slash = strrchr(self.library, '/'), *file = slash != NULL ? slash + 1 : self.library;
    size_t bytes = strlen(file);
    for (list += strspn(list, SEPARATORS); *list != '\0'; list += strspn(list, SEPARATORS)) {
        size_t length = strcspn(list, SEPARATORS);
        if (length >= bytes && memcmp(list + length - bytes, file, bytes) == 0 &&
            (length == bytes || list[length - bytes - 1] == '/'))
            return true;
        list += length;
    }
    return false;
}

static bool is_of_another_recording(const struct found *found)
{
    return self.is_remembered && found->preload != NULL && found->names_experiment && !found->has_experiment &&
           names_a_recorder(found->preload);
}

bool col_child_environment_is_of_another_recording(char *const *environment)
{
    struct found found = look_at(environment);
    return is_of_another_recording(&found);
}

/* A child that was given all this is left as it is. */
static bool is_complete(const struct found *found)
{
    if (found->preload == NULL || !is_listed(found->preload, self.library, strlen(self.library)) ||
        !found->has_experiment)
        return false;
    for (size_t i = 0; i < KEPT_COUNT; i++)
        if (self.is_added[i] && (found->kept & 1u << i) == 0)
            return false;
    return !self.tells_asan || tells_asan(found->asan);
}

/* We are not one of the program's libraries, so ldd must not list us. */
static enum col_child_kind kind_in(const struct found *found, enum col_child_kind kind)
{
    return kind == COL_CHILD_RECORDED && found->lists_libraries ? COL_CHILD_UNRECORDED : kind;
}

/* Nothing has to change. */
static bool is_as_wanted(const struct found *found, enum col_child_kind kind)
{
    if (kind == COL_CHILD_RECORDED)
        return !self.is_passed_on || is_complete(found) || is_of_another_recording(found);
    return found->preload == NULL || !names_us(found->preload);
}

size_t col_child_environment_measure(char *const *environment, enum col_child_kind kind, size_t *text_bytes)
{
    struct found found = look_at(environment);
    if (!self.is_remembered || is_as_wanted(&found, kind_in(&found, kind)))
        return 0;
    *text_bytes = strlen(PRELOAD) + strlen(self.ours) + 1 + (found.preload != NULL ? strlen(found.preload) : 0) + 1;
    *text_bytes +=
        strlen(ASAN_OPTIONS) + (found.asan != NULL ? strlen(found.asan) : 0) + 1 + strlen(ASAN_BEHIND_US) + 1;
    return found.count + KEPT_COUNT + 3;
}

static void fill_recorded(char *const *environment, const struct found *found, char **entries, char *text)
{
    const char *preload = found->preload, *asan = found->asan;
    bool has_to_tell_asan = self.tells_asan && !tells_asan(asan);
    strcpy(text, PRELOAD);
    if (preload != NULL && is_listed(preload, self.library, strlen(self.library)))
        append_words(text, preload, true);
    else {
        append_words(text, self.ours, true);
        append_words(text, preload != NULL ? preload : "", false);
    }
    *entries++ = text;
    if (has_to_tell_asan) {
        text = strcpy(text + strlen(text) + 1, ASAN_OPTIONS);
        strcat(strcat(strcat(text, asan != NULL ? asan : ""), asan != NULL && *asan != '\0' ? ":" : ""),
               ASAN_BEHIND_US);
        *entries++ = text;
    }
    for (size_t i = 0; i < KEPT_COUNT; i++)
        if (self.kept[i] != NULL)
            *entries++ = self.kept[i];
    for (; environment != NULL && *environment != NULL; environment++)
        if (!begins_with(*environment, PRELOAD) && !is_kept(*environment) &&
            !(has_to_tell_asan && begins_with(*environment, ASAN_OPTIONS)))
            *entries++ = *environment;
    *entries = NULL;
}

/* Everything stays as and where it is, but for our words in LD_PRELOAD and, if it is to be bare, our variables. */
static void fill_unrecorded(char *const *environment, const char *preload, bool is_bare, char **entries, char *text)
{
    for (; environment != NULL && *environment != NULL; environment++) {
        if (!begins_with(*environment, PRELOAD)) {
            if (!is_bare || !is_kept(*environment))
                *entries++ = *environment;
            continue;
        }
        if (*environment + strlen(PRELOAD) != preload)
            continue;
        append_words(strcpy(text, PRELOAD), preload, false);
        if (text[strlen(PRELOAD)] != '\0')
            *entries++ = text;
    }
    *entries = NULL;
}

void col_child_environment_fill(char *const *environment, enum col_child_kind kind, char **entries, char *text)
{
    struct found found = look_at(environment);
    kind = kind_in(&found, kind);
    if (kind == COL_CHILD_RECORDED)
        fill_recorded(environment, &found, entries, text);
    else
        fill_unrecorded(environment, found.preload, kind == COL_CHILD_BARE, entries, text);
}

/* ---- room ---- */

#define SMALLEST_LIMIT (128u << 10) /* of all strings and pointers, and of one string */
#define LARGEST_LIMIT (6u << 20)

static size_t room_of(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return bytes <= SMALLEST_LIMIT ? bytes + sizeof(char *) : LARGEST_LIMIT + 1;
}

/* As the kernel counts: a quarter of the limit of the stack, within bounds, for the path and for each string and a pointer to it. */
bool col_child_environment_would_fit(const char *path, char *const *arguments, char *const *environment)
{
    struct rlimit stack;
    size_t limit = LARGEST_LIMIT, bytes = strlen(path) + 1;
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur / 4 < limit)
        limit = stack.rlim_cur / 4 > SMALLEST_LIMIT ? stack.rlim_cur / 4 : SMALLEST_LIMIT;
    for (; arguments != NULL && *arguments != NULL && bytes <= limit; arguments++)
        bytes += room_of(*arguments);
    for (; environment != NULL && *environment != NULL && bytes <= limit; environment++)
        if (!is_kept(*environment) && !begins_with(*environment, PRELOAD))
            bytes += room_of(*environment);
    return bytes <= limit;
}
