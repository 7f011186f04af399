/*
 * remote_stacks.c -- the stacks of the threads of other processes that wait, from outside
 *
 *   remote_stacks PID...        a line for each thread that waits: its id, how the walk ended, and its addresses
 *   remote_stacks -n N PID...   looks N times; prints how the walks ended and what a look and a walk cost
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sample/remote_process.h"
#include "sample/unwind.h"

enum { MOST_FRAMES = 4096, ENDS = COL_STACK_BAD_FRAME + 1, MOST_THREADS = 4096 };

static uintptr_t pcs[MOST_FRAMES];

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

struct thread {
    int tid, file;
    struct col_remote_process *process;
};

/* False while it runs. */
static bool look(const struct thread *thread, struct col_remote_registers *registers)
{
    char line[256];
    ssize_t count = pread(thread->file, line, sizeof line - 1, 0);
    if (count <= 0 || line[0] == 'r')
        return false;
    line[count] = '\0';
    char *pc = strrchr(line, ' ');
    *pc = '\0';
    char *sp = strrchr(line, ' ');
    *registers = (struct col_remote_registers){.pc = strtoul(pc + 1, NULL, 16), .sp = strtoul(sp + 1, NULL, 16)};
    return true;
}

static size_t find_threads(int pid, struct col_remote_process *process, struct thread *threads, size_t room)
{
    char path[320];
    size_t count = 0;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *directory = opendir(path);
    for (struct dirent *entry; directory != NULL && count < room && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/syscall", pid, entry->d_name);
        threads[count++] = (struct thread){atoi(entry->d_name), open(path, O_RDONLY | O_CLOEXEC), process};
    }
    if (directory != NULL)
        closedir(directory);
    return count;
}

static void print_stacks(const struct thread *threads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct col_remote_registers registers;
        unsigned end;
        if (!look(&threads[i], &registers))
            continue;
        size_t frames = col_remote_walk(threads[i].process, &registers, pcs, MOST_FRAMES, &end);
        printf("%d %u", threads[i].tid, end);
        for (size_t frame = 0; frame < frames; frame++)
            printf(" %lx", (unsigned long)pcs[frame]);
        putchar('\n');
    }
}

static void measure(const struct thread *threads, size_t count, int looks)
{
    unsigned long ends[ENDS] = {0}, walks = 0, running = 0, frames = 0;
    double look_us = 0, walk_us = 0, first_us = 0, last_us = now_us();
    for (int n = 0; n < looks; n++) {
        for (size_t i = 0; i < count; i++) {
            struct col_remote_registers registers;
            unsigned end;
            double begun_us = now_us();
            bool is_waiting = look(&threads[i], &registers);
            double looked_us = now_us();
            look_us += looked_us - begun_us;
            if (!is_waiting) {
                running++;
                continue;
            }
            frames += col_remote_walk(threads[i].process, &registers, pcs, MOST_FRAMES, &end);
            *(n == 0 ? &first_us : &walk_us) += now_us() - looked_us;
            ends[end]++;
            walks++;
        }
        if (n == 0)
            last_us = now_us();
        usleep(1000);
    }
    (void)last_us;
    printf("threads %zu walks %lu running %lu frames %.1f look %.2f us first %.1f us warm %.2f us ends", count, walks, running,
           walks ? (double)frames / (double)walks : 0, look_us / (double)(walks + running), first_us / (double)count,
           looks > 1 ? walk_us / (double)(walks - walks / (unsigned)looks) : 0);
    for (int end = 0; end < ENDS; end++)
        printf(" %lu", ends[end]);
    putchar('\n');
}

int main(int argc, char **argv)
{
    static struct thread threads[MOST_THREADS];
    size_t count = 0;
    int looks = 0, first = 1;
    if (argc > 2 && strcmp(argv[1], "-n") == 0) {
        looks = atoi(argv[2]);
        first = 3;
    }
    for (int i = first; i < argc; i++)
        count += find_threads(atoi(argv[i]), col_remote_open(atoi(argv[i])), threads + count, MOST_THREADS - count);
    if (looks > 0)
        measure(threads, count, looks);
    else
        print_stacks(threads, count);
    return 0;
}
