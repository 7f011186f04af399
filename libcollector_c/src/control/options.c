/* options.c -- what the environment asks of the recorder */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/options.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/kept_text.h"
#include "sample/thread_counters.h"
#include "control/rank.h"

#define DEFAULT_PERIOD_NS 1062699u /* 941 Hz: in step neither with milliseconds nor with slices of some of them */
#define SHORTEST_PERIOD_NS 50000u  /* shorter ones a busy machine takes for the ticks themselves */

/* Programs write over the arguments and the environment they began with (setproctitle), or unmap them: what is needed later is kept apart. */
static struct {
    char *follow;  /* COLLECTOR_FOLLOW; NULL: not set */
    char *program; /* the name we were run by, for a regular expression in `follow`; else NULL */
} self;

static char *copy_of(const char *name)
{
    const char *value = getenv(name);
    return value != NULL ? col_kept_text_join(value, "") : NULL;
}

static bool is_named(const char *word, size_t length, const char *name)
{
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

static uint64_t number_in(const char *text)
{
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    return number;
}

static int64_t signed_number_in(const char *text)
{
    return *text == '-' ? -(int64_t)number_in(text + 1) : (int64_t)number_in(text);
}

static void read_word(struct col_options *options, const char *name, size_t name_length, const char *value,
                      size_t value_length, pid_t *root)
{
    uint64_t number = number_in(value);
    if (is_named(name, name_length, "clock"))
        options->clock = col_clock_source_named(value, value_length);
    else if (is_named(name, name_length, "period"))
        options->period_ns = number;
    else if (is_named(name, name_length, "start"))
        options->start_ns = number;
    else if (is_named(name, name_length, "end"))
        options->end_ns = number;
    else if (is_named(name, name_length, "monotonic_ahead"))
        options->monotonic_ahead_ns = signed_number_in(value);
    else if (is_named(name, name_length, "boottime_ahead"))
        options->boottime_ahead_ns = signed_number_in(value);
    else if (is_named(name, name_length, "wall_offset"))
        options->wall_offset_ns = signed_number_in(value);
    else if (is_named(name, name_length, "boottime_offset"))
        options->boottime_offset_ns = signed_number_in(value);
    else if (is_named(name, name_length, "sample_signal"))
        options->sample_signal = (int)number;
    else if (is_named(name, name_length, "pause_signal"))
        options->pause_signal = (int)number;
    else if (is_named(name, name_length, "paused"))
        options->is_paused = number != 0;
    else if (is_named(name, name_length, "events"))
        options->events = value;
    else if (is_named(name, name_length, "counted"))
        options->counted = value;
    else if (is_named(name, name_length, "faults"))
        options->counters |= number != 0 ? COL_COUNT_FAULTS : 0;
    else if (is_named(name, name_length, "switches"))
        options->counters |= number != 0 ? COL_COUNT_SWITCHES : 0;
    else if (is_named(name, name_length, "waits"))
        options->has_exact_waits = number != 0;
    else if (is_named(name, name_length, "ranks"))
        options->ranks = value;
    else if (is_named(name, name_length, "rank_periods"))
        options->rank_periods = value;
    else if (is_named(name, name_length, "root"))
        *root = (pid_t)number;
}

static void read_words(struct col_options *options, const char *text, pid_t *root)
{
    while (*text != '\0') {
        size_t length = (size_t)(strchrnul(text, ',') - text);
        const char *equals = memchr(text, '=', length);
        if (equals != NULL)
            read_word(options, text, (size_t)(equals - text), equals + 1, (size_t)(text + length - equals - 1), root);
        text += length;
        text += *text == ',';
    }
}

static void settle_period(struct col_options *options)
{
    options->period_ns = col_rank_number(options->rank_periods, options->period_ns);
    if (options->period_ns == 0) {
        options->clock = COL_CLOCK_OFF;
        options->period_ns = DEFAULT_PERIOD_NS;
    } else if (options->period_ns < SHORTEST_PERIOD_NS)
        options->period_ns = SHORTEST_PERIOD_NS;
}

static bool matches(const char *pattern, const char *program)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return true;
    bool is_match = regexec(&regex, program, 0, NULL, 0) == 0;
    regfree(&regex);
    return is_match;
}

bool col_options_follow(const char *program)
{
    const char *rule = self.follow;
    if (rule == NULL || strcmp(rule, "off") != 0) {
        if (rule == NULL || rule[0] != '=')
            return true;
        const char *name = program != NULL ? program : self.program != NULL ? self.program : "";
        const char *slash = strrchr(name, '/');
        return matches(rule + 1, slash != NULL ? slash + 1 : name);
    }
    return false;
}

void col_options_read(struct col_options *options)
{
    const char *text = copy_of("COLLECTOR_OPTIONS");
    pid_t root = 0;
    self.follow = copy_of("COLLECTOR_FOLLOW");
    if (self.follow != NULL && self.follow[0] == '=')
        self.program = col_kept_text_join(program_invocation_name, "");
    *options = (struct col_options){
        .experiment = copy_of("COLLECTOR_EXPERIMENT"),
        .text = text != NULL ? text : "",
        .period_ns = DEFAULT_PERIOD_NS,
        .end_ns = UINT64_MAX,
    };
    if (options->experiment == NULL || options->experiment[0] == '\0') {
        options->experiment = NULL;
        return;
    }
    read_words(options, options->text, &root);
    settle_period(options);
    /* Without a launcher every process that has the variables is a root. */
    bool is_root = root == 0 || getpid() == root;
    options->is_followed = is_root || (col_rank_is_among(options->ranks) && col_options_follow(NULL));
}
