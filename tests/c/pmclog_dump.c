/* pmclog_dump.c -- prints logs through pmclog.h, one event a line: serial, offset, then what pmclog_describe.h says; at last the state */
#define _POSIX_C_SOURCE 200809L
#include "pmclog_describe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static struct line line;

static void print_all(void *parser, struct pmclog_ev *ev)
{
    while (pmclog_read(parser, ev) == 0) {
        describe(&line, ev);
        printf("%zu %lld%s\n", ev->pl_count, (long long)ev->pl_offset, line.text);
    }
}

/* In pieces, each in memory of its own size that is gone before the next comes: reading past it, or later, is seen. */
static void feed_all(void *parser, int fd, size_t piece_bytes, struct pmclog_ev *ev)
{
    for (;;) {
        char *piece = malloc(piece_bytes);
        ssize_t count = read(fd, piece, piece_bytes);
        if (count > 0)
            pmclog_feed(parser, piece, (int)count);
        if (count > 0)
            print_all(parser, ev);
        free(piece);
        if (count <= 0 || ev->pl_state == PMCLOG_ERROR)
            return;
    }
}

/* One log, by its name and the options behind it. */
static int dump(int count, char **arguments)
{
    struct pmclog_ev ev = {.pl_state = PMCLOG_REQUIRE_DATA};
    size_t piece_bytes = 0;
    bool is_strict = false, is_finished = false;
    for (int i = 1; i < count; i++) {
        is_strict |= strcmp(arguments[i], "--strict") == 0;
        is_finished |= strcmp(arguments[i], "--finish") == 0;
        if (strncmp(arguments[i], "--feed=", 7) == 0)
            piece_bytes = strtoul(arguments[i] + 7, NULL, 10);
    }
    int fd = count > 0 ? open(arguments[0], O_RDONLY) : -1;
    if (fd < 0) {
        perror("pmclog_dump");
        return 2;
    }
    void *parser = pmclog_open(piece_bytes ? PMCLOG_FD_NONE : fd);
    if (!parser) {
        perror("pmclog_open");
        return 2;
    }
    pmclog_set_strict(parser, is_strict);
    if (piece_bytes)
        feed_all(parser, fd, piece_bytes, &ev);
    if (is_finished)
        pmclog_finish(parser);
    if (!piece_bytes || is_finished)
        print_all(parser, &ev);
    static const char *const names[] = {"ok", "eof", "require data", "error"};
    printf("%s%s%s\n", names[ev.pl_state], ev.pl_state == PMCLOG_ERROR ? ": " : "", ev.pl_state == PMCLOG_ERROR ? pmclog_error(parser) : "");
    struct pmclog_totals totals;
    pmclog_get_totals(parser, &totals);
    printf("unknown %" PRIu64 " leftover %" PRIu64 "\n", totals.pl_unknown_kinds, totals.pl_leftover_bytes);
    fflush(stdout); /* a sanitizer that stops the next one leaves this one's events */
    pmclog_close(parser);
    close(fd);
    return 0;
}

/* pmclog_dump LOG [--strict] [--finish] [--feed=BYTES] [-- LOG ...] */
int main(int count, char **arguments)
{
    for (int first = 1, last; first <= count; first = last + 1) {
        for (last = first; last < count && strcmp(arguments[last], "--") != 0; last++)
            continue;
        int status = dump(last - first, arguments + first);
        if (status != 0)
            return status;
    }
    return 0;
}
