/* descriptor_games.c -- truth: each case prints the same recorded or not, then works 200 ms in `afterwards`, which a recording must show
 *
 * descriptor_games CASE. The program closes, overwrites or uses up descriptors it never opened.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "measured_work.h"

NOINLINE static void before(void) { work(60000); }
NOINLINE static void afterwards(void) { work(200000); }

static void set_limit(rlim_t count)
{
    struct rlimit limit = {count, count};
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void print_next(void)
{
    int first = open("/dev/null", O_RDONLY), second = open("/dev/null", O_RDONLY);
    printf("next %d %d\n", first, second);
}

static void close_loop(void)
{
    for (int fd = 3; fd < 1024; fd++)
        if (close(fd) == 0)
            printf("closed %d\n", fd);
    print_next();
}

static void raw_close_loop(void)
{
    for (int fd = 3; fd < 1024; fd++)
        syscall(SYS_close, fd);
    print_next();
}

static void ranges(void)
{
    printf("close_range %d\n", close_range(3, ~0u, 0));
    print_next();
}

static void raw_ranges(void)
{
    printf("close_range %ld\n", syscall(SYS_close_range, 3, ~0u, 0));
    print_next();
}

static void from_three(void)
{
    closefrom(3);
    print_next();
}

static void overwritten(void)
{
    struct stat mine, there;
    int wrong_count = 0, copied_count = 0;
    int own = open("/dev/null", O_WRONLY);
    fstat(own, &mine);
    for (int fd = own + 1; fd < 1024; fd++)
        copied_count += fd % 2 != 0 ? dup2(own, fd) == fd : dup3(own, fd, O_CLOEXEC) == fd;
    for (int fd = own + 1; fd < 1024; fd++)
        wrong_count += fstat(fd, &there) != 0 || there.st_rdev != mine.st_rdev || write(fd, "x", 1) != 1;
    printf("copied %d wrong %d\n", copied_count, wrong_count);
}

/* Another library may use what the table has left, so the count itself is not part of the truth. */
static void table_full(void)
{
    int opened[1024], count = 0;
    set_limit(256);
    while (count < 1024 && (opened[count] = open("/dev/null", O_RDONLY)) >= 0)
        count++;
    printf("full %d\n", errno == EMFILE);
    before();
    for (int i = 0; i < count; i++)
        if (close(opened[i]) != 0)
            printf("lost %d\n", opened[i]);
    print_next();
}

static void full_from_start(void)
{
    if (getenv("TABLE_IS_FULL") == NULL) {
        set_limit(64);
        while (open("/dev/null", O_RDONLY) >= 0)
            ;
        setenv("TABLE_IS_FULL", "1", 1);
        close(63);
        execl("/proc/self/exe", "descriptor_games", "full_from_start", (char *)NULL);
        printf("execl: %d\n", errno);
        exit(1);
    }
    before();
    for (int fd = 40; fd < 64; fd++)
        close(fd);
    print_next();
}

static void numbers(void)
{
    print_next();
    printf("pipe");
    int ends[2];
    if (pipe(ends) == 0)
        printf(" %d %d", ends[0], ends[1]);
    putchar('\n');
}

static void standard_closed(void)
{
    close(0);
    close(2);
    printf("next %d %d\n", open("/dev/null", O_RDONLY), open("/dev/null", O_WRONLY));
}

static void root_directory(void)
{
    printf("chdir %d\n", chdir("/"));
    umask(0777);
    printf("umask %#o\n", umask(022));
}

static void own_files(void)
{
    char name[] = "/tmp/descriptor_games_XXXXXX";
    struct stat about;
    umask(027);
    int fd = mkstemp(name);
    fchmod(fd, 0640);
    fstat(fd, &about);
    printf("mode %#o links %d\n", (unsigned)about.st_mode, (int)about.st_nlink);
    unlink(name);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"close_loop", close_loop}, {"raw_close_loop", raw_close_loop}, {"ranges", ranges}, {"raw_ranges", raw_ranges}, {"from_three", from_three},
    {"overwritten", overwritten}, {"table_full", table_full}, {"full_from_start", full_from_start}, {"numbers", numbers},
    {"standard_closed", standard_closed}, {"root_directory", root_directory}, {"own_files", own_files},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof cases / sizeof *cases; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            afterwards();
            return 5;
        }
    return 2;
}
