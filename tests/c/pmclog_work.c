/* pmclog_work.c -- counts the bytes that libpmclog checksums to read a log: work that does not depend on the machine */
#include <fcntl.h>
#include <inttypes.h>
#include <pmclog.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t checksummed_bytes;

uint32_t __real_col_checksum_of(const uint8_t *bytes, size_t count);
uint32_t __wrap_col_checksum_of(const uint8_t *bytes, size_t count);

uint32_t __wrap_col_checksum_of(const uint8_t *bytes, size_t count)
{
    checksummed_bytes += count;
    return __real_col_checksum_of(bytes, count);
}

/* pmclog_work LOG: events of USERDATA, and bytes */
int main(int count, char **arguments)
{
    int fd = count > 1 ? open(arguments[1], O_RDONLY) : -1;
    void *parser = pmclog_open(fd);
    struct pmclog_ev ev;
    int found = 0;
    if (fd < 0 || !parser)
        return 2;
    pmclog_finish(parser);
    while (pmclog_read(parser, &ev) == 0)
        found += ev.pl_type == PMCLOG_TYPE_USERDATA;
    printf("%d %" PRIu64 "\n", found, checksummed_bytes);
    pmclog_close(parser);
    close(fd);
    return 0;
}
