/* pmclog_again.c -- reads a log to its end, and again after each line of standard input: how many events came each time */
#include <fcntl.h>
#include <pmclog.h>
#include <stdio.h>
#include <unistd.h>

static void count_events(void *parser)
{
    struct pmclog_ev ev;
    int count = 0;
    while (pmclog_read(parser, &ev) == 0)
        count++;
    printf("%d events\n", count);
    fflush(stdout);
}

/* pmclog_again LOG */
int main(int count, char **arguments)
{
    char line[80];
    int fd = count > 1 ? open(arguments[1], O_RDONLY) : -1;
    void *parser = pmclog_open(fd);
    if (fd < 0 || !parser)
        return 2;
    count_events(parser);
    while (fgets(line, sizeof line, stdin))
        count_events(parser);
    pmclog_close(parser);
    close(fd);
    return 0;
}
