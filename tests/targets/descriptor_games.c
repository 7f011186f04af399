/* descriptor_games.c -- truth: each case prints the same recorded or not, then works 120 ms in `afterwards`, which a recording must show
 *
 * descriptor_games CASE. The program closes, overwrites or uses up descriptors it never opened.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measured_work.h"

NOINLINE static void before(void) { work(60000); }
NOINLINE static void afterwards(void) { work(120000); }

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

/* ---- what a program can find out about its table ---- */

static void *list_open(void *where)
{
    DIR *directory = opendir("/proc/self/fd");
    char open_now[2048] = {0};
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) < 2048)
            open_now[atoi(entry->d_name)] = 1;
    printf("open in %s:", (const char *)where);
    for (int fd = 0; fd < 2048; fd++)
        if (open_now[fd])
            printf(" %d", fd);
    putchar('\n');
    closedir(directory);
    return NULL;
}

static void in_child(void (*act)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        act();
        fflush(stdout);
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    printf("child %#x\n", (unsigned)status);
}

static void list_child(void)
{
    list_open("a child");
    before();
    list_open("a child that worked");
}

static void listed(void)
{
    pthread_t thread;
    list_open("main");
    pthread_create(&thread, NULL, list_open, "a thread");
    pthread_join(thread, NULL);
    in_child(list_child);
    before();
    list_open("main after work");
}

static void begin_again(const char *name)
{
    fflush(stdout);
    setenv("IS_AGAIN", "1", 1);
    execl("/proc/self/exe", "descriptor_games", name, (char *)NULL);
}

static void listed_after_exec(void)
{
    if (getenv("IS_AGAIN") == NULL)
        begin_again("listed_after_exec");
    list_open("a new image");
}

static void use_up(void)
{
    int fd, last = -1, count = 0;
    while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
        count++;
        last = fd;
    }
    printf("%d more, the last %d, then %s\n", count, last, strerror(errno));
    for (fd = 3; fd <= last; fd++)
        close(fd);
}

static void few(const char *name, rlim_t count)
{
    if (getenv("IS_AGAIN") == NULL) {
        set_limit(count);
        begin_again(name);
    }
    use_up();
    before();
    use_up();
    in_child(use_up);
}

static void eight(void) { few("eight", 8); }
static void sixteen(void) { few("sixteen", 16); }
static void a_thousand(void) { few("a_thousand", 1001); }

static void duplicated(void)
{
    for (int least = 0; least <= 1000; least += 500)
        printf("F_DUPFD %d: %d\n", least, fcntl(1, F_DUPFD, least));
    printf("dup %d\n", dup(1));
}

static void probed(void)
{
    struct stat about;
    int count = 0, wrong_count = 0;
    for (int fd = 0; fd < 1100; fd++)
        count += fstat(fd, &about) == 0;
    for (int fd = 3; fd < 64; fd++) { /* the kernel looks no further where its table is small */
        fd_set set;
        struct timeval none = {0, 0};
        FD_ZERO(&set);
        FD_SET(fd, &set);
        wrong_count += select(fd + 1, &set, NULL, NULL, &none) >= 0 || errno != EBADF;
    }
    printf("%d open, %d can be waited for\n", count, wrong_count);
}

static void count_files(void)
{
    struct stat first, there;
    int wrong_count = 0;
    fstat(3, &first);
    for (int fd = 3; fd < 1024; fd++)
        wrong_count += syscall(SYS_fstat, fd, &there) != 0 || there.st_rdev != first.st_rdev || syscall(SYS_write, fd, "x", 1) != 1;
    printf("%d files were closed or changed\n", wrong_count);
}

/* The recorder does not see these. */
static void raw_overwritten(void)
{
    int own = (int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_WRONLY, 0);
    for (int fd = 3; fd < 1024; fd++)
        if (fd != own)
            syscall(SYS_dup3, own, fd, 0);
    count_files();
    in_child(count_files);
    before();
    count_files();
    in_child(count_files);
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"listed", listed}, {"listed_after_exec", listed_after_exec}, {"eight", eight}, {"sixteen", sixteen}, {"a_thousand", a_thousand},
    {"duplicated", duplicated}, {"probed", probed}, {"raw_overwritten", raw_overwritten},
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
