/* pmclog_template.c -- pmclog(3)'s template, filled in: prints how many events of each kind of the manual page the log named on the command
   line has, then the state the parser ended in. Uses no name but those of the page and of <fcntl.h> and its like. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pmclog.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    void *parser;        /* cookie */
    struct pmclog_ev ev; /* parsed event */
    int fd;              /* file descriptor */
    unsigned long allocations = 0, switches = 0, samples = 0, drops = 0, exits = 0, attaches = 0, execs = 0, data = 0, marks = 0, others = 0;

    if (argc != 2 || (fd = open(argv[1], O_RDONLY)) < 0) /* open log file */
        return 2;
    parser = pmclog_open(fd); /* initialize parser */
    if (parser == NULL)
        return 3;

    /* read and parse data */
    while (pmclog_read(parser, &ev) == 0) {
        assert(ev.pl_state == PMCLOG_OK);
        assert(ev.pl_count > 0 && ev.pl_offset >= 0 && ev.pl_ts.tv_nsec < 1000000000);
        /* process the event */
        switch (ev.pl_type) {
        case PMCLOG_TYPE_INITIALIZE:
            printf("version %lu\n", (unsigned long)ev.pl_u.pl_i.pl_version);
            break;
        case PMCLOG_TYPE_PMCALLOCATE:
            allocations += ev.pl_u.pl_a.pl_pmcid != 0;
            break;
        case PMCLOG_TYPE_PROCCSW:
            switches += ev.pl_u.pl_c.pl_value != 0;
            break;
        case PMCLOG_TYPE_DROPNOTIFY:
            drops += sizeof ev.pl_u.pl_d != 0;
            break;
        case PMCLOG_TYPE_PROCEXIT:
            exits += ev.pl_u.pl_e.pl_pid != 0;
            break;
        case PMCLOG_TYPE_PCSAMPLE:
            samples += ev.pl_u.pl_s.pl_pc != 0;
            break;
        case PMCLOG_TYPE_PMCATTACH:
            attaches += ev.pl_u.pl_t.pl_pid != 0;
            break;
        case PMCLOG_TYPE_USERDATA:
            data += ev.pl_u.pl_u.pl_userdata != NULL;
            break;
        case PMCLOG_TYPE_PROCEXEC:
            execs += strlen(ev.pl_u.pl_x.pl_pathname) > 0;
            break;
        case PMCLOG_TYPE_CLOSELOG:
        case PMCLOG_TYPE_MAPPINGCHANGE:
        case PMCLOG_TYPE_PMCDETACH:
        case PMCLOG_TYPE_PROCFORK:
        case PMCLOG_TYPE_SYSEXIT:
            marks++;
            break;
        default:
            others++;
        }
    }
    printf("allocations %lu switches %lu drops %lu exits %lu samples %lu attaches %lu data %lu execs %lu marks %lu others %lu\n", allocations,
           switches, drops, exits, samples, attaches, data, execs, marks, others);

    /* examine parser state */
    switch (ev.pl_state) {
    case PMCLOG_EOF: /* normal termination */
        puts("end of file");
        break;
    case PMCLOG_ERROR: /* look at errno here */
        printf("error %s\n", strerror(errno));
        break;
    case PMCLOG_REQUIRE_DATA: /* arrange for more data to be available for parsing */
        puts("more data");
        break;
    case PMCLOG_OK:
        break;
    }
    pmclog_close(parser); /* cleanup */
    close(fd);
    return 0;
}
