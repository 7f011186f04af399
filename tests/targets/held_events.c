/* held_events.c -- truth: CPU time of its functions, and how many perf events its parent, the launcher, has open
 *
 * held_events CASE: killed     kills its parent, and works on, in two threads and a child
 *                   terminated ends its experiment, and works on
 *                   children N makes so many children, one after the other, which do nothing
 *                   crowd N    makes so many children that are there at the same time
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libcollector.h"
#include "measured_work.h"

static struct account before_it = {"before_it", 0}, after_it = {"after_it", 0}, thread_after_it = {"thread_after_it", 0};

NOINLINE static void before(long us) { BOOK(before_it, work(us)); }
NOINLINE static void after(long us) { BOOK(after_it, work(us)); }
NOINLINE static void thread_after(long us) { BOOK(thread_after_it, work(us)); }

static int count_links(const char *path, const char *target)
{
    DIR *directory = opendir(path);
    int count = 0;
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        char link[64] = "";
        if (readlinkat(dirfd(directory), entry->d_name, link, sizeof link - 1) > 0)
            count += strcmp(link, target) == 0;
    }
    closedir(directory);
    return count;
}

static int count_of_launcher(const char *target)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)getppid());
    return count_links(path, target);
}

/* One of them is the launcher's own. */
static int count_held(void)
{
    return count_of_launcher("anon_inode:[perf_event]") - 1;
}

/* How many processes the launcher has events of: for each it has a pidfd beside them. It has its own pace. */
static int await_processes(int count)
{
    int held = -1;
    for (int i = 0; i < 1000 && (held = count_of_launcher("anon_inode:[pidfd]")) != count; i++)
        usleep(10000);
    return held;
}

static void *in_thread(void *start)
{
    char byte;
    if (read(*(int *)start, &byte, 1) != 0)
        return NULL;
    thread_after(300000);
    return NULL;
}

static void killed(void)
{
    pthread_t thread;
    int ends[2];
    pid_t launcher = getppid();
    if (pipe(ends) != 0)
        exit(1);
    pthread_create(&thread, NULL, in_thread, &ends[0]);
    before(200000);
    kill(launcher, SIGKILL);
    while (getppid() == launcher)
        usleep(1000);
    close(ends[1]);
    after(600000);
    pthread_join(thread, NULL);
    print_account(&before_it);
    print_account(&after_it);
    print_account(&thread_after_it);
}

static int count_timers(void)
{
    char line[256];
    int count = 0;
    FILE *timers = fopen("/proc/self/timers", "r");
    while (timers != NULL && fgets(line, sizeof line, timers) != NULL)
        count += strncmp(line, "ID:", 3) == 0;
    if (timers != NULL)
        fclose(timers);
    return count;
}

static void terminated(void)
{
    before(200000);
    printf("processes_before %d\n", await_processes(1));
    printf("held_before %d\n", count_held());
    collector_terminate_expt();
    printf("held_after %d\ntimers_after %d\n", count_held(), count_timers());
    after(100000);
    print_account(&before_it);
    print_account(&after_it);
}

static void children(int count)
{
    int begun = await_processes(1), failed = 0;
    for (int i = 0; i < count; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            _exit(0);
        failed += pid < 0 || waitpid(pid, &status, 0) != pid || status != 0;
    }
    printf("failed %d\nprocesses_first %d\nprocesses_last %d\n", failed, begun, await_processes(1));
    printf("held_last %d\n", count_held());
}

static void crowd(int count)
{
    int ends[2], answers[2], seen = 0;
    if (pipe(ends) != 0 || pipe(answers) != 0)
        exit(1);
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            char byte = (char)count_links("/proc/self/fd", "anon_inode:[perf_event]");
            close(ends[1]);
            if (write(answers[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 0)
                _exit(0);
            _exit(1);
        }
        if (pid < 0)
            exit(1);
    }
    for (int i = 0; i < count; i++) {
        char byte = 1;
        seen += read(answers[0], &byte, 1) != 1 || byte != 0;
    }
    printf("visible %d\nprocesses_at_most %d\n", seen, await_processes(count + 1));
    close(ends[1]);
    while (wait(NULL) > 0)
        continue;
    printf("processes_last %d\n", await_processes(1));
    printf("held_last %d\n", count_held());
}

int main(int argc, char **argv)
{
    int count = argc > 2 ? atoi(argv[2]) : 0;
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "killed") == 0)
        killed();
    else if (strcmp(name, "terminated") == 0)
        terminated();
    else if (strcmp(name, "children") == 0)
        children(count);
    else if (strcmp(name, "crowd") == 0)
        crowd(count);
    else
        return 2;
    return 0;
}
