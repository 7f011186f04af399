/* pmclog_calls.c -- the calls of pmclog.h in all their states: what is fed, refused, waited for, and said of errors */
#define _GNU_SOURCE
#include "pmclog_logs.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pmclog.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct log whole;

static int file_of(const uint8_t *bytes, size_t count)
{
    int fd = memfd_create("log", 0);
    assert(fd >= 0 && write(fd, bytes, count) == (ssize_t)count && lseek(fd, 0, SEEK_SET) == 0);
    return fd;
}

static size_t read_all(void *parser, struct pmclog_ev *ev)
{
    size_t events = 0;
    while (pmclog_read(parser, ev) == 0) {
        assert(ev->pl_state == PMCLOG_OK);
        events++;
    }
    return events;
}

static void test_feeding(void)
{
    struct pmclog_ev ev;
    void *parser = pmclog_open(PMCLOG_FD_NONE);
    assert(pmclog_read(parser, &ev) == -1 && ev.pl_state == PMCLOG_REQUIRE_DATA);
    errno = 0;
    assert(pmclog_feed(parser, (char *)whole.bytes, -1) == -1 && errno == EINVAL);
    errno = 0;
    assert(pmclog_feed(parser, NULL, 1) == -1 && errno == EINVAL);
    assert(pmclog_feed(parser, NULL, 0) == 0);
    assert(pmclog_feed(parser, (char *)whole.bytes, (int)whole.length) == 0);
    assert(pmclog_feed(parser, (char *)whole.bytes, 1) == -1 && errno == EBUSY);
    assert(read_all(parser, &ev) > 20 && ev.pl_state == PMCLOG_REQUIRE_DATA);
    assert(pmclog_feed(parser, (char *)whole.bytes, 0) == 0);
    assert(pmclog_read(parser, &ev) == -1 && ev.pl_state == PMCLOG_REQUIRE_DATA);
    pmclog_close(parser);

    int fd = file_of(whole.bytes, whole.length);
    parser = pmclog_open(fd);
    errno = 0;
    assert(pmclog_feed(parser, (char *)whole.bytes, 1) == -1 && errno == EINVAL);
    pmclog_close(parser);
    close(fd);
    pmclog_close(NULL);
    errno = 0;
    assert(pmclog_open(fd) == NULL && errno == EBADF);
}

/* A file is read from where it stands, and its own position stays there. */
static void test_position(void)
{
    struct pmclog_ev ev;
    int fd = file_of(whole.bytes, whole.length);
    off_t second = (off_t)whole.starts[1];
    assert(lseek(fd, second, SEEK_SET) == second);
    void *parser = pmclog_open(fd);
    assert(pmclog_read(parser, &ev) == 0 && ev.pl_type == PMCLOG_TYPE_DROPNOTIFY);
    assert(ev.pl_u.pl_d.pl_cause == PMCLOG_DROP_MISSING_FRAMES && ev.pl_u.pl_d.pl_count == 1);
    assert(pmclog_read(parser, &ev) == 0 && ev.pl_offset == HEADER_BYTES);
    assert(lseek(fd, 0, SEEK_CUR) == second);
    pmclog_close(parser);
    close(fd);
}

static void test_pipe(void)
{
    struct pmclog_ev ev;
    int ends[2];
    assert(pipe2(ends, O_NONBLOCK) == 0);
    void *parser = pmclog_open(ends[0]);
    assert(pmclog_read(parser, &ev) == -1 && ev.pl_state == PMCLOG_REQUIRE_DATA);
    assert(write(ends[1], whole.bytes, whole.starts[2] + 5) == (ssize_t)whole.starts[2] + 5);
    size_t events = read_all(parser, &ev);
    assert(events > 2 && ev.pl_state == PMCLOG_REQUIRE_DATA);
    assert(write(ends[1], whole.bytes + whole.starts[2] + 5, whole.length - whole.starts[2] - 5) > 0);
    close(ends[1]);
    events += read_all(parser, &ev);
    struct pmclog_totals totals;
    pmclog_get_totals(parser, &totals);
    assert(ev.pl_state == PMCLOG_EOF && totals.pl_is_closed && totals.pl_events == events && totals.pl_frames == whole.frames);
    assert(totals.pl_damages == 0 && totals.pl_missing_frames == 0 && totals.pl_leftover_bytes == 0 && totals.pl_samples > 20);
    pmclog_close(parser);
    close(ends[0]);
}

static void test_strict(void)
{
    static uint8_t bytes[LOG_BYTES];
    struct pmclog_ev ev;
    memcpy(bytes, whole.bytes, whole.length);
    bytes[whole.starts[1] + 30] ^= 4;
    int fd = file_of(bytes, whole.length);
    void *parser = pmclog_open(fd);
    pmclog_set_strict(parser, 1);
    assert(pmclog_error(parser)[0] == '\0');
    assert(pmclog_read(parser, &ev) == 0 && ev.pl_type == PMCLOG_TYPE_INITIALIZE);
    for (int again = 0; again < 3; again++) {
        errno = 0;
        assert(pmclog_read(parser, &ev) == -1 && ev.pl_state == PMCLOG_ERROR && errno == EBADMSG);
        assert(strstr(pmclog_error(parser), "damaged at byte"));
    }
    pmclog_close(parser);
    close(fd);
}

static void test_newer_version(void)
{
    static struct log newer;
    struct pmclog_ev ev;
    begin_frame(&newer);
    add_initialize(&newer, 2);
    end_frame(&newer);
    int fd = file_of(newer.bytes, newer.length);
    void *parser = pmclog_open(fd);
    for (int again = 0; again < 2; again++) {
        errno = 0;
        assert(pmclog_read(parser, &ev) == -1 && ev.pl_state == PMCLOG_ERROR && errno == ENOTSUP);
        assert(strstr(pmclog_error(parser), "newer"));
    }
    pmclog_close(parser);
    close(fd);
}

/* Kinds and fields to come, and fields that an older recorder did not write. */
static void test_other_versions(void)
{
    static struct log log;
    struct pmclog_ev ev;
    begin_frame(&log);
    add_head(&log, 2, 99, 5, 0);
    add_text(&log, "of a kind to come");
    add_array(&log, 0);
    add_head(&log, 2, 33, 6, 8);
    add_unsigned(&log, 2);
    add_text(&log, "a field to come");
    add_head(&log, 1, 37, 7, 8);
    add_unsigned(&log, 1);
    end_frame(&log);
    void *parser = pmclog_open(PMCLOG_FD_NONE);
    assert(pmclog_feed(parser, (char *)log.bytes, (int)log.length) == 0);
    assert(pmclog_read(parser, &ev) == 0 && ev.pl_type == PMCLOG_TYPE_PAUSE && ev.pl_count == 1);
    assert(ev.pl_u.pl_pause.pl_cause == 2 && ev.pl_ts.tv_nsec == 6 && ev.pl_tid == 8);
    assert(pmclog_read(parser, &ev) == 0 && ev.pl_type == PMCLOG_TYPE_METRIC && ev.pl_count == 2);
    assert(ev.pl_u.pl_metric.pl_pmcid == 1 && ev.pl_u.pl_metric.pl_value == PMCLOG_UNKNOWN && !ev.pl_u.pl_metric.pl_is_real);
    assert(pmclog_read(parser, &ev) == -1 && ev.pl_state == PMCLOG_REQUIRE_DATA);
    struct pmclog_totals totals;
    pmclog_get_totals(parser, &totals);
    assert(totals.pl_unknown_kinds == 1 && !totals.pl_is_closed);
    pmclog_finish(parser);
    assert(pmclog_read(parser, &ev) == 0 && ev.pl_u.pl_d.pl_cause == PMCLOG_DROP_UNKNOWN_KIND && ev.pl_u.pl_d.pl_count == 1);
    assert(pmclog_read(parser, &ev) == -1 && ev.pl_state == PMCLOG_REQUIRE_DATA);
    pmclog_close(parser);
}

static void test_errors_of_read(void)
{
    struct pmclog_ev ev;
    int fd = open("/proc/self/mem", O_RDONLY); /* nothing is mapped at 0 */
    void *parser = pmclog_open(fd);
    errno = 0;
    assert(pmclog_read(parser, &ev) == -1 && ev.pl_state == PMCLOG_ERROR && errno == EIO);
    assert(strstr(pmclog_error(parser), "cannot be read at byte 0"));
    pmclog_close(parser);
    close(fd);
}

/* Samples of one record share their stacks, and the worked example of docs/format.md comes out as drawn there. */
static void test_worked_example(void)
{
    static const uint8_t stacks[] = {0x00, 0x02, 0x81, 0x81, 0x82, 0x10, 0x81, 0x1F, 0x08, 0x01, 0x43};
    static struct log log;
    struct pmclog_ev ev;
    begin_frame(&log);
    add_head(&log, 8, 5, 2000000000, 78);
    add_unsigned(&log, 4);
    add_unsigned(&log, 3);
    add_unsigned(&log, 1000);
    add_column(&log, 10, "\0\0\1\0\2\0", 6);
    add_array(&log, 2);
    add_column(&log, 5, "\1\0\3", 3);
    add_column(&log, 6, "", 0);
    add_column(&log, 0, "\1\0\7", 3);
    add_unsigned(&log, 2);
    add_data(&log, stacks, sizeof stacks);
    end_frame(&log);
    void *parser = pmclog_open(PMCLOG_FD_NONE);
    assert(pmclog_feed(parser, (char *)log.bytes, (int)log.length) == 0);
    static const uint64_t expected[3][4] = {/* time, user, depth, leaf */ {10000, 6000, 2, 0x401208}, {21000, 5000, 2, 0x401200}, {33000, 8000, 0, 0}};
    for (size_t i = 0; i < 3; i++) {
        const struct pmclog_ev_pcsample *sample = &ev.pl_u.pl_s;
        assert(pmclog_read(parser, &ev) == 0 && ev.pl_type == PMCLOG_TYPE_PCSAMPLE && ev.pl_count == i + 1 && ev.pl_offset == HEADER_BYTES);
        assert(ev.pl_ts.tv_sec == 2 && (uint64_t)ev.pl_ts.tv_nsec == expected[i][0] && ev.pl_tid == 78 && sample->pl_pmcid == 4);
        assert(sample->pl_user_ns == expected[i][1] && sample->pl_system_ns == 6000 && sample->pl_npc == expected[i][2]);
        assert(sample->pl_pc == expected[i][3] && sample->pl_end == (i < 2 ? PMCLOG_END_COMPLETE : PMCLOG_END_NO_UNWIND_INFO));
        assert(i == 2 || (sample->pl_chain[0] == sample->pl_pc && sample->pl_chain[1] == 0x401010));
    }
    pmclog_close(parser);
}

/* A program that does not look at what pmclog_open gave is told so by what it looks at. */
static void test_no_parser(void)
{
    char byte = 0;
    struct pmclog_ev ev;
    struct pmclog_totals totals;
    void *parser = pmclog_open(-5);
    assert(parser == NULL && errno == EBADF);
    assert(pmclog_read(parser, &ev) == -1 && ev.pl_state == PMCLOG_ERROR && errno == EINVAL);
    assert(strcmp(pmclog_error(parser), "There is no parser: the log could not be opened.") == 0);
    assert(pmclog_feed(parser, &byte, 1) == -1 && errno == EINVAL);
    pmclog_finish(parser);
    pmclog_set_strict(parser, 1);
    pmclog_get_totals(parser, &totals);
    assert(totals.pl_events == 0);
    pmclog_close(parser);
}

int main(void)
{
    test_no_parser();
    write_log(&whole, 8, 12);
    test_feeding();
    test_position();
    test_pipe();
    test_strict();
    test_newer_version();
    test_other_versions();
    test_errors_of_read();
    test_worked_example();
    puts("all held");
    return 0;
}
