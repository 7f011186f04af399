/* metric_runs_programs.c -- a plugin whose ordinary functions, library and thread run programs in every way, each of which says how it was run and, by status 9, whether the recorder is there */
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allinea_metric_plugin_api.h"

extern char **environ;

#define SCRIPT "case $LD_PRELOAD in *collector*) exit 9;; esac"

static void say(const char *where, const char *how, int status)
{
    printf("%s %s: %s\n", where, how, status == 0 ? "alone" : "recorded");
    fflush(stdout);
}

static int end_of(pid_t child)
{
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

static void run_all(const char *where)
{
    char *arguments[] = {"sh", "-c", SCRIPT, NULL};
    pid_t child;
    say(where, "system", system(SCRIPT));
    say(where, "popen", pclose(popen(SCRIPT, "r")));
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ) == 0)
        say(where, "spawn", end_of(child));
    if ((child = fork()) == 0)
        _exit(execvp("sh", arguments));
    say(where, "fork", end_of(child));
    if ((child = vfork()) == 0)
        _exit(execve("/bin/sh", arguments, environ));
    say(where, "vfork", end_of(child));
}

static void *run_in_thread(void *unused)
{
    (void)unused;
    run_all("thread");
    return NULL;
}

__attribute__((constructor)) static void begin(void)
{
    run_all("library");
}

int allinea_plugin_initialize(plugin_id_t plugin_id, void *data)
{
    pthread_t thread;
    (void)plugin_id, (void)data;
    run_all("initialize");
    if (pthread_create(&thread, NULL, run_in_thread, NULL) == 0)
        pthread_join(thread, NULL);
    return 0;
}

int start(plugin_id_t plugin_id)
{
    (void)plugin_id;
    run_all("start");
    return 0;
}

int allinea_plugin_cleanup(plugin_id_t plugin_id, void *data)
{
    (void)plugin_id, (void)data;
    run_all("cleanup");
    return 0;
}

int get(metric_id_t metric_id, struct timespec *in_out_sample_time, uint64_t *out_value)
{
    (void)metric_id, (void)in_out_sample_time;
    *out_value = 1;
    return 0;
}
