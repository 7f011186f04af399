/*
 * remote_stacks.c -- the stacks of the threads of other processes that wait, from outside
 *
 *   remote_stacks PID...        a line for each thread that waits: its id, how the walk ended, and its addresses
 *   remote_stacks -p DIRECTORY PID...  the same with Python functions, told to a log that is made there
 *   remote_stacks -i PID        the same for each line of standard input, and an empty line behind them
 *   remote_stacks -n N PID...   looks N times; prints how the walks ended and what a look and a walk cost
 *
 * With -f before all else process_vm_readv(2) is refused, as by a container's filter.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "experiment/log_writer.h"
#include "sample/remote_process.h"
#include "sample/unwind.h"

enum { MOST_FRAMES = 4096, ENDS = COL_END_BAD_FRAME + 1, MOST_THREADS = 4096 };

static uintptr_t pcs[MOST_FRAMES];
static bool with_python;

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

static size_t walk(const struct thread *thread, const struct col_remote_registers *registers, unsigned *end)
{
    return col_remote_python(thread->process, thread->tid, registers, pcs, MOST_FRAMES, end);
}

static void print_stacks(const struct thread *threads, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct col_remote_registers registers;
        unsigned end;
        if (!look(&threads[i], &registers))
            continue;
        size_t frames = walk(&threads[i], &registers, &end);
        printf("%d %u", threads[i].tid, end);
        for (size_t frame = 0; frame < frames; frame++)
            printf(" %lx", (unsigned long)pcs[frame]);
        putchar('\n');
    }
}

static void measure(const struct thread *threads, size_t count, int looks)
{
    unsigned long ends[ENDS] = {0}, walks = 0, first_walks = 0, running = 0, frames = 0;
    double look_us = 0, walk_us = 0, first_us = 0;
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
            frames += walk(&threads[i], &registers, &end);
            *(n == 0 ? &first_us : &walk_us) += now_us() - looked_us;
            ends[end]++;
            walks++;
        }
        if (n == 0)
            first_walks = walks;
        usleep(1000);
    }
    printf("threads %zu walks %lu running %lu frames %.1f look %.2f us first %.1f us warm %.2f us ends", count, walks, running,
           (double)frames / (double)walks, look_us / (double)(walks + running), first_us / (double)first_walks,
           walk_us / (double)(walks - first_walks));
    for (int end = 0; end < ENDS; end++)
        printf(" %lu", ends[end]);
    putchar('\n');
}

static void refuse_call(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0), /* the number of the call */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof *code, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        exit(2);
}

/* The process is the same all the time; its threads are looked for each time. */
static void print_when_asked(int pid, struct thread *threads)
{
    char line[16];
    struct col_remote_process *process = col_remote_open(pid);
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (strcmp(line, "changed\n") == 0)
            col_remote_changed(process);
        size_t count = find_threads(pid, process, threads, MOST_THREADS);
        print_stacks(threads, count);
        for (size_t i = 0; i < count; i++)
            close(threads[i].file);
        puts("");
        fflush(stdout);
    }
    col_remote_close(process);
}

int main(int argc, char **argv)
{
    static struct thread threads[MOST_THREADS];
    size_t count = 0;
    int looks = 0;
    if (argc > 2 && strcmp(argv[1], "-f") == 0) {
        refuse_call();
        argv++;
    }
    if (strcmp(argv[1], "-p") == 0) {
        unsigned image;
        with_python = true;
        if (col_log_writer_open(argv[2], getpid(), &image) != 0)
            return 2;
        argv += 2;
    }
    if (strcmp(argv[1], "-i") == 0)
        return print_when_asked(atoi(argv[2]), threads), 0;
    if (strcmp(argv[1], "-n") == 0) {
        looks = atoi(argv[2]);
        argv += 2;
    }
    for (char **pid = argv + 1; *pid != NULL; pid++)
        count += find_threads(atoi(*pid), col_remote_open(atoi(*pid)), threads + count, MOST_THREADS - count);
    if (looks > 0)
        measure(threads, count, looks);
    else
        print_stacks(threads, count);
    if (with_python)
        col_log_writer_close();
    return 0;
}
