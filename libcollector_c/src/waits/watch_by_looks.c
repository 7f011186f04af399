/* watch_by_looks.c -- finds the threads, and looks at those that have run */
#include "waits/watch_by_looks.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/text_format.h"

#define PATH_BYTES 64
#define TEXT_BYTES 8192
#define FIND_NS 50000000u /* between two searches for new threads */
#define MOST_PAUSE 16u    /* looks that a thread that keeps still is left out of */
#define S_NS 1000000000u

struct finder {
    struct col_watching *watching;
    uint64_t now_ns;
};

static struct col_waiting_thread *meet(const struct finder *finder, uint32_t pid, uint32_t tid)
{
    struct col_schedule now;
    if (!col_look_schedule(pid, tid, &now))
        return NULL;
    struct col_waiting_thread *thread =
        col_wait_threads_add(&finder->watching->threads, pid, tid, COL_THREAD_RUNNING, finder->now_ns);
    if (thread != NULL) {
        thread->settled.cpu_ns = now.cpu_ns;
        thread->settled.delay_ns = now.delay_ns;
        thread->pace = (struct col_wait_pace){.cpu_ns = now.cpu_ns, .delay_ns = now.delay_ns, .turns = now.turns};
    }
    return thread;
}

static void find_threads(const struct finder *finder, uint32_t pid);

/* The kernel lists them as "PID PID ...", if it was built to. */
static void find_children(const struct finder *finder, uint32_t pid, uint32_t tid)
{
    char path[PATH_BYTES], text[TEXT_BYTES], *at = text, *next;
    col_text_print_into(path, sizeof path, "/proc/%u/task/%u/children", pid, tid);
    int fd = col_os_open(path, O_RDONLY, 0);
    ssize_t bytes = fd >= 0 ? col_os_read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        col_os_close(fd);
    text[bytes > 0 ? bytes : 0] = '\0';
    for (unsigned long child = strtoul(at, &next, 10); next != at; child = strtoul(at = next, &next, 10))
        find_threads(finder, (uint32_t)child);
}

static void find_threads(const struct finder *finder, uint32_t pid)
{
    char path[PATH_BYTES];
    col_text_print_into(path, sizeof path, "/proc/%u/task", pid);
    DIR *directory = opendir(path);
    const struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
        if (tid == 0)
            continue;
        if (col_wait_threads_find(&finder->watching->threads, tid) == NULL)
            meet(finder, pid, tid);
        find_children(finder, pid, tid);
    }
    if (directory != NULL)
        closedir(directory);
}

/* A thread that keeps still is left out of more and more looks. */
static bool is_its_turn(struct col_waiting_thread *thread, bool has_run)
{
    struct col_wait_pace *pace = &thread->pace;
    if (has_run || thread->seen == NULL)
        pace->pause = 0;
    else if (pace->pause < MOST_PAUSE)
        pace->pause = pace->pause * 2 + 1;
    pace->left = pace->pause;
    return has_run || thread->seen == NULL;
}

/* A look counts if the thread got no turn on a processor between. */
static void look_well(struct col_watching *watching, struct col_waiting_thread *thread, uint64_t turns)
{
    struct col_schedule after;
    col_wait_stack_drop(thread->seen);
    thread->seen = NULL;
    thread->state = COL_THREAD_BLOCKED;
    if (col_watching_look(watching, thread) != COL_LOOK_WAITING)
        return;
    if (!col_look_schedule(thread->process->pid, thread->tid, &after) || after.turns != turns)
        thread->state = COL_THREAD_RUNNING;
    col_wait_threads_prove(&watching->threads, thread);
}

/* What is new since the last look at it; false: it has ended. */
static bool look_again(struct col_watching *watching, struct col_waiting_thread *thread)
{
    struct col_schedule now;
    struct col_wait_pace *pace = &thread->pace;
    if (!col_look_schedule(thread->process->pid, thread->tid, &now))
        return false;
    uint64_t now_ns = col_clock_now(), wall_ns = now_ns - thread->accounted_ns,
             delay_ns = now.delay_ns - pace->delay_ns, busy_ns = now.cpu_ns - pace->cpu_ns + delay_ns;
    bool has_run = now.turns != pace->turns || now.cpu_ns != pace->cpu_ns;
    if (is_its_turn(thread, has_run))
        look_well(watching, thread, now.turns);
    struct col_wait wait = {.ns = wall_ns > busy_ns ? wall_ns - busy_ns : 0,
                            .whole_ns = UINT64_MAX,
                            .is_over = has_run,
                            .stack = thread->seen};
    col_wait_account_add(&thread->account, &wait);
    col_wait_account_add_ready(&thread->account, delay_ns);
    thread->settled.has_run |= has_run;
    thread->state = thread->seen != NULL ? COL_THREAD_BLOCKED : COL_THREAD_RUNNING;
    thread->since_ns = thread->accounted_ns = now_ns;
    pace->cpu_ns = now.cpu_ns;
    pace->delay_ns = now.delay_ns;
    pace->turns = now.turns;
    return true;
}

static void look_at_all(struct col_watching *watching)
{
    for (size_t i = watching->threads.count; i-- > 0;) {
        struct col_waiting_thread *thread = watching->threads.threads[i];
        if (thread->pace.left > 0)
            thread->pace.left--;
        else if (!look_again(watching, thread))
            col_watching_remove(watching, thread, thread->accounted_ns);
    }
}

/* True: it was closed. */
static bool await_end(int end, uint64_t until_ns)
{
    uint64_t now_ns = col_clock_now(), wait_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct timespec timeout = {(time_t)(wait_ns / S_NS), (long)(wait_ns % S_NS)};
    struct pollfd pipe = {.fd = end, .events = POLLIN};
    return ppoll(&pipe, 1, &timeout, NULL) > 0;
}

void col_watch_by_looks(struct col_watching *watching, pid_t pid, int end)
{
    uint64_t next_find_ns = 0;
    while (!await_end(end, watching->next_look_ns)) {
        col_watching_begin_round(watching);
        struct finder finder = {watching, col_clock_now()};
        if (finder.now_ns >= next_find_ns) {
            find_threads(&finder, (uint32_t)pid);
            next_find_ns = finder.now_ns + FIND_NS;
        }
        look_at_all(watching);
        col_watching_end_round(watching);
        col_watching_settle_due(watching);
    }
    col_watching_settle_all(watching);
}
