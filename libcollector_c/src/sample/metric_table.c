/* metric_table.c -- which metrics are to be measured, and the plugins they come from */
#include "sample/metric_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "base/os.h"
#include "base/signal_heap.h"
#include "base/text_format.h"
#include "experiment/messages.h"

#define MOST_BYTES (4u << 20)
#define MOST_WORDS 64u
#define CALL_TEXT_BYTES 400u
#define ROOM_BYTES 16384u
#define FIRST_PLUGIN_ID ((uintptr_t)0x706c0001) /* apart from each other, and from small numbers */
#define FIRST_METRIC_ID ((uintptr_t)0x6d650001)

static struct {
    struct col_metric_table table;
    const char **attributes; /* of all metrics, one after the other */
    size_t attribute_count;
    unsigned scopes;
} self = {.table = {.interval_ns = 20000000u}};

struct col_metric_table *col_metric_table(void)
{
    return &self.table;
}

/* ---- the file ---- */

/* The file as text and its bytes, with room behind it for a table of a few metrics; NULL and -errno if it cannot be had. */
static char *read_text(int fd, size_t *text_bytes, int *error)
{
    struct col_os_file file;
    *error = col_os_describe(fd, &file);
    if (*error == 0 && file.bytes >= MOST_BYTES)
        *error = -EFBIG;
    char *text = *error == 0 ? col_os_map_memory(file.bytes + 1 + ROOM_BYTES) : NULL;
    if (text == NULL) {
        *error = *error == 0 ? -ENOMEM : *error;
        return NULL;
    }
    ssize_t bytes = col_os_read(fd, text, file.bytes);
    if (bytes >= 0) {
        *text_bytes = (size_t)bytes;
        return text;
    }
    *error = (int)bytes;
    col_os_unmap(text, file.bytes + 1 + ROOM_BYTES);
    return NULL;
}

static char *read_file(const char *path, size_t *text_bytes, int *error)
{
    int fd = col_os_open(path, O_RDONLY, 0);
    if (fd < 0) {
        *error = fd;
        return NULL;
    }
    char *text = read_text(fd, text_bytes, error);
    col_os_close(fd);
    return text;
}

/* Takes the escapes out of a word, where it stands. */
static void unescape(char *word)
{
    char *to = strchr(word, '\\');
    if (to == NULL)
        return;
    for (const char *from = to; *from != '\0'; from++)
        *to++ = from[0] != '\\' || from[1] == '\0' ? *from : *++from == 't' ? '\t' : *from == 'n' ? '\n' : *from;
    *to = '\0';
}

/* Cuts the next line off `*rest` and into words; 0 at the end. */
static size_t next_words(char **rest, char **words)
{
    size_t count = 0;
    char *line = *rest;
    if (*line == '\0')
        return 0;
    char *end = strchr(line, '\n');
    *rest = end != NULL ? end + 1 : line + strlen(line);
    if (end != NULL)
        *end = '\0';
    while (line != NULL && count < MOST_WORDS) {
        char *tab = strchr(line, '\t');
        if (tab != NULL)
            *tab = '\0';
        unescape(line);
        words[count++] = line;
        line = tab != NULL ? tab + 1 : NULL;
    }
    return count;
}

static uint64_t number_of(const char *text)
{
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    return number;
}

/* ---- its lines ---- */

static void add_plugin(char **words, size_t count)
{
    self.table.plugins[self.table.plugin_count++] = (struct col_plugin){
        .id = words[1], .path = words[2], .start_name = words[3], .stop_name = words[4], .is_built_in = count >= 6};
}

static void add_metric(char **words, size_t count)
{
    uint64_t plugin = number_of(words[1]);
    if (plugin >= self.table.plugin_count)
        return;
    struct col_metric *metric = &self.table.metrics[self.table.metric_count++];
    *metric = (struct col_metric){.plugin = &self.table.plugins[plugin],
                                  .id = words[2],
                                  .function = words[3],
                                  .is_real = strcmp(words[4], "double") == 0,
                                  .is_divided = strchr(words[5], 'd') != NULL,
                                  .is_per_node = strchr(words[5], 'n') != NULL,
                                  .is_backfilled = strchr(words[5], 'b') != NULL,
                                  .units = words[6],
                                  .custom_data = words[7],
                                  .attributes = self.attributes + self.attribute_count,
                                  .attribute_count = count - 8};
    metric->is_wanted = (self.scopes & (metric->is_per_node ? COL_METRICS_OF_NODE : COL_METRICS_OF_PROCESS)) != 0;
    metric->plugin->is_wanted |= metric->is_wanted;
    for (size_t i = 8; i < count; i++)
        self.attributes[self.attribute_count++] = words[i];
}

static void add_line(char **words, size_t count)
{
    if (strcmp(words[0], "interval") == 0 && count >= 2)
        self.table.interval_ns = number_of(words[1]);
    else if (strcmp(words[0], "plugin") == 0 && count >= 5)
        add_plugin(words, count);
    else if (strcmp(words[0], "metric") == 0 && count >= 8)
        add_metric(words, count);
}

static size_t count_of(const char *text, size_t bytes, char character)
{
    size_t count = 0;
    for (const char *end = text + bytes; (text = memchr(text, character, (size_t)(end - text))) != NULL; text++)
        count++;
    return count;
}

/* All in one piece, behind the text if there is room: the parts lie together, and few pages are touched. */
static bool make_room(char *text_end, size_t lines, size_t words)
{
    size_t metrics_bytes = lines * sizeof *self.table.metrics, plugins_bytes = lines * sizeof *self.table.plugins,
           values_bytes = lines * sizeof *self.table.values;
    size_t bytes = metrics_bytes + plugins_bytes + 2 * values_bytes + words * sizeof *self.attributes;
    char *room = text_end + 1 + -(uintptr_t)(text_end + 1) % _Alignof(max_align_t);
    if (bytes > ROOM_BYTES - _Alignof(max_align_t))
        room = col_os_map_memory(bytes);
    if (room == NULL)
        return false;
    self.table.metrics = (void *)room;
    self.table.plugins = (void *)(room += metrics_bytes);
    self.table.values = (void *)(room += plugins_bytes);
    self.table.before = (void *)(room += values_bytes);
    self.attributes = (void *)(room + values_bytes);
    return true;
}

int col_metric_table_read(const char *path, unsigned scopes)
{
    int error;
    size_t bytes;
    char *text = read_file(path, &bytes, &error), *words[MOST_WORDS];
    if (text == NULL)
        return error;
    self.scopes = scopes;
    size_t lines = count_of(text, bytes, '\n') + 1;
    if (!make_room(text + bytes, lines, count_of(text, bytes, '\t') + lines))
        return -ENOMEM;
    for (size_t count; (count = next_words(&text, words)) > 0;)
        add_line(words, count);
    return 0;
}

void col_metric_table_leave_node(void)
{
    for (size_t i = 0; i < self.table.plugin_count; i++)
        self.table.plugins[i].is_wanted = false;
    for (size_t i = 0; i < self.table.metric_count; i++) {
        struct col_metric *metric = &self.table.metrics[i];
        metric->is_wanted &= !metric->is_per_node;
        metric->plugin->is_wanted |= metric->is_wanted;
    }
    for (size_t i = 0; i < self.table.plugin_count; i++)
        if (!self.table.plugins[i].is_wanted) /* its start was the parent's, and so will its stop and cleanup be */
            self.table.plugins[i].is_loaded = self.table.plugins[i].is_started = false;
}

/* ---- calls ---- */

const char *col_metric_table_describe(struct col_metric *metric)
{
    if (metric->plugin->is_built_in) /* its own name says it */
        return metric->function;
    char *text = metric->call_text == NULL ? col_signal_heap_allocate(CALL_TEXT_BYTES) : NULL;
    if (text != NULL) {
        col_text_print_into(text, CALL_TEXT_BYTES, "%s (metric %s) of %s", metric->function, metric->id,
                            metric->plugin->path);
        metric->call_text = text;
    }
    return metric->call_text != NULL ? metric->call_text : metric->id;
}

/* ---- handles ---- */

uintptr_t col_metric_table_plugin_id(const struct col_plugin *plugin)
{
    return FIRST_PLUGIN_ID + (uintptr_t)(plugin - self.table.plugins);
}

uintptr_t col_metric_table_metric_id(const struct col_metric *metric)
{
    return FIRST_METRIC_ID + (uintptr_t)(metric - self.table.metrics);
}

struct col_plugin *col_metric_table_plugin(uintptr_t id)
{
    return id - FIRST_PLUGIN_ID < self.table.plugin_count ? &self.table.plugins[id - FIRST_PLUGIN_ID] : NULL;
}

struct col_metric *col_metric_table_metric(uintptr_t id)
{
    return id - FIRST_METRIC_ID < self.table.metric_count ? &self.table.metrics[id - FIRST_METRIC_ID] : NULL;
}

/* ---- errors ---- */

static void say(const char *subject, int error, const char *text)
{
    char sentence[512];
    text = text != NULL ? text : "it gave an error without a text";
    if (error != 0)
        col_text_print_into(sentence, sizeof sentence, "%s (error %d)", text, error);
    else
        col_text_print_into(sentence, sizeof sentence, "%s", text);
    col_messages_say(COL_MESSAGE_WARNING, subject, sentence);
}

void col_metric_table_fail_plugin(uintptr_t id, int error, const char *text)
{
    struct col_plugin *plugin = col_metric_table_plugin(id);
    say(plugin != NULL ? plugin->id : "a metric plugin", error, text);
    if (plugin == NULL)
        return;
    __atomic_fetch_add(&plugin->error_count, 1, __ATOMIC_RELAXED);
    plugin->is_disabled = plugin->is_disabled || !plugin->is_starting_up;
}

void col_metric_table_fail_metric(uintptr_t id, int error, const char *text)
{
    struct col_metric *metric = col_metric_table_metric(id);
    say(metric != NULL ? metric->id : "a metric plugin", error, text);
    if (metric == NULL)
        return;
    __atomic_fetch_add(&metric->error_count, 1, __ATOMIC_RELAXED);
    metric->is_disabled = true;
}
