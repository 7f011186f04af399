/* watch_by_looks.c -- finds the threads, and looks at those that have run */
#include "waits/watch_by_looks.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"
#include "base/text_format.h"

#define PATH_BYTES 64
#define TEXT_BYTES 8192
#define FIND_NS 50000000u /* between two searches for new processes */
#define FIND_SHARE 100u   /* of the time, one part in so many is spent on them */
#define MOST_PAUSE 16u    /* looks that a thread that keeps still is left out of */
#define S_NS 1000000000u

struct finder {
    struct col_watching *watching;
    uint64_t now_ns;
};

/* How many threads a process has, and 2; 0: it has ended. */
static uint64_t link_count(uint32_t pid)
{
    char path[PATH_BYTES];
    struct stat status;
    col_text_print_into(path, sizeof path, "/proc/%u/task", pid);
    return stat(path, &status) == 0 ? status.st_nlink : 0;
}

/* From its beginning on: on a busy machine it is found later than a look after. */
static struct col_waiting_thread *meet(const struct finder *finder, uint32_t pid, uint32_t tid)
{
    struct col_schedule now;
    uint64_t begin_ns = col_look_beginning(pid, tid);
    if (!col_look_schedule(pid, tid, &now))
        return NULL;
    if (begin_ns != 0 && begin_ns < finder->now_ns)
        now = (struct col_schedule){0};
    else
        begin_ns = finder->now_ns;
    struct col_waiting_thread *thread =
        col_wait_threads_add(&finder->watching->threads, pid, tid, COL_THREAD_RUNNING, begin_ns);
    if (thread != NULL) {
        thread->process->alive_ns = finder->now_ns;
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
        if (tid != 0 && col_wait_threads_find(&finder->watching->threads, tid) == NULL)
            meet(finder, pid, tid);
    }
    if (directory != NULL)
        closedir(directory);
}

/* Those of threads that are known, which may be known by now as well. */
static void find_processes(const struct finder *finder)
{
    const struct col_wait_threads *threads = &finder->watching->threads;
    for (size_t i = 0; i < threads->count; i++)
        find_children(finder, threads->threads[i]->process->pid, threads->threads[i]->tid);
}

/* Threads that began are found, and none that may have ended is left out of the next looks. */
static void look_for_changes(const struct finder *finder)
{
    const struct col_wait_threads *threads = &finder->watching->threads;
    for (size_t i = 0; i < threads->count; i++) {
        struct col_waiting_process *process = threads->threads[i]->process;
        if (process->checked_ns != finder->now_ns) {
            uint64_t links = link_count(process->pid);
            process->has_changed = links != process->links;
            process->links = links;
            process->checked_ns = finder->now_ns;
            if (process->has_changed && links != 0)
                find_threads(finder, process->pid);
        }
        if (process->has_changed)
            threads->threads[i]->pace.left = 0;
    }
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

/* Of the time since then. */
static double recorded_part(struct col_waiting_thread *thread, uint64_t now_ns)
{
    col_watching_ask(thread->process, now_ns);
    uint64_t wall_ns = now_ns - thread->accounted_ns;
    uint64_t recorded_ns = col_wait_threads_recorded(thread->process, thread->accounted_ns, now_ns);
    return wall_ns != 0 ? (double)recorded_ns / (double)wall_ns : 1;
}

/* What is new since the last look at it; false: it has ended. */
static bool look_again(struct col_watching *watching, struct col_waiting_thread *thread)
{
    struct col_schedule now;
    struct col_wait_pace *pace = &thread->pace;
    if (!col_look_schedule(thread->process->pid, thread->tid, &now))
        return false;
    uint64_t now_ns = col_clock_now(), wall_ns = now_ns - thread->accounted_ns, cpu_ns = now.cpu_ns - pace->cpu_ns;
    uint64_t off_ns = wall_ns > cpu_ns ? wall_ns - cpu_ns : 0, delay_ns = now.delay_ns - pace->delay_ns;
    if (delay_ns >
        off_ns) /* a delay is known when it is over, and was taken for a wait before: settling puts that right */
        delay_ns = off_ns;
    bool has_run = now.turns != pace->turns || now.cpu_ns != pace->cpu_ns;
    if (is_its_turn(thread, has_run))
        look_well(watching, thread, now.turns);
    double recorded = recorded_part(thread, now_ns); /* the first look finds out */
    thread->settled.off_ns += off_ns - (uint64_t)((double)off_ns * recorded);
    off_ns = (uint64_t)((double)off_ns * recorded);
    delay_ns = (uint64_t)((double)delay_ns * recorded);
    struct col_wait wait = {.ns = off_ns - delay_ns,
                            .whole_ns = UINT64_MAX,
                            .is_over = has_run,
                            .is_guess = has_run,
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

/* It is taken to have waited on until its process was last found unchanged. */
static void end_thread(struct col_watching *watching, struct col_waiting_thread *thread)
{
    uint64_t end_ns =
        thread->process->alive_ns > thread->accounted_ns ? thread->process->alive_ns : thread->accounted_ns;
    struct col_wait wait = {.ns = col_wait_threads_recorded(thread->process, thread->accounted_ns, end_ns),
                            .whole_ns = UINT64_MAX,
                            .is_over = true,
                            .stack = thread->seen};
    if (thread->seen != NULL)
        col_wait_account_add(&thread->account, &wait);
    thread->state = COL_THREAD_RUNNING;
    col_watching_remove(watching, thread, end_ns);
}

static void look_at_all(const struct finder *finder)
{
    struct col_watching *watching = finder->watching;
    look_for_changes(finder);
    for (size_t i = watching->threads.count; i-- > 0;) {
        struct col_waiting_thread *thread = watching->threads.threads[i];
        if (!thread->process->has_changed)
            thread->process->alive_ns = finder->now_ns;
        if (thread->pace.left > 0)
            thread->pace.left--;
        else if (!look_again(watching, thread))
            end_thread(watching, thread);
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
    bool is_over = false;
    find_threads(&(struct finder){watching, col_clock_now()}, (uint32_t)pid);
    while (!is_over) {
        is_over = await_end(end, watching->next_look_ns);
        struct finder finder = {watching, col_clock_now()};
        if (finder.now_ns >= next_find_ns) { /* it costs more the more there are */
            find_processes(&finder);
            next_find_ns = finder.now_ns + FIND_NS + (col_clock_now() - finder.now_ns) * FIND_SHARE;
        }
        col_watching_begin_round(watching);
        look_at_all(&finder);
        col_watching_end_round(watching);
        col_watching_settle_due(watching);
    }
    col_watching_settle_all(watching);
}
