/* experiment.c -- programs that damage the experiment they are recorded in; natively there is none */
#include "matrix.h"
#include <dirent.h>
#include <sys/file.h>

static int change_logs(int (*change)(const char *path))
{
    const char *experiment = getenv("COLLECTOR_EXPERIMENT");
    DIR *directory = experiment != NULL ? opendir(experiment) : NULL;
    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", experiment, entry->d_name);
        if (strstr(entry->d_name, ".log") != NULL)
            change(path);
    }
    return directory != NULL ? closedir(directory) : 0;
}

static void work_on(void)
{
    for (int i = 0; i < 5; i++)
        burn();
    pid_t child = fork();
    if (child == 0) {
        burn();
        exit(3);
    }
    say_end(child);
}

static int cut(const char *path)
{
    return truncate(path, 0);
}
static int take_away(const char *path)
{
    return chmod(path, 0);
}
static int lock(const char *path)
{
    struct flock all = {.l_type = F_WRLCK};
    int fd = open(path, O_RDWR);
    flock(fd, LOCK_EX);
    return fcntl(fd, F_SETLK, &all);
}

CASE(cuts_logs, 0, "cuts the logs of its experiment to nothing, and works on")
{
    burn();
    change_logs(cut);
    work_on();
}
CASE(deletes_logs, 0, "deletes the logs of its experiment, and works on")
{
    burn();
    change_logs(unlink);
    work_on();
}
CASE(forbids_logs, 7, "lets nobody read or write the logs of its experiment, and works on")
{
    burn();
    change_logs(take_away);
    work_on();
}
CASE(locks_logs, 7, "locks the logs of its experiment, and works on")
{
    burn();
    change_logs(lock);
    work_on();
}
