/* sizes.h -- what a process holds: resident memory, mappings, descriptors, and the files in directories that it is told of */
#ifndef SIZES_H
#define SIZES_H

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A value in KiB of /proc/self/status: RssAnon is the process's own memory, the rest of VmRSS are pages of files. */
static long status_kib(const char *name)
{
    static char text[1 << 12];
    long value = -1;
    int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    text[got > 0 ? got : 0] = '\0';
    const char *found = strstr(text, name);
    if (found != NULL)
        sscanf(found + strlen(name), ": %ld", &value);
    return value;
}

static long mapping_count(void)
{
    static char text[1 << 14];
    long lines = 0, got;
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while ((got = read(file, text, sizeof text)) > 0)
        for (long i = 0; i < got; i++)
            lines += text[i] == '\n';
    close(file);
    return lines;
}

static long entry_count(const char *path)
{
    long count = -2; /* . and .. */
    DIR *directory = opendir(path);
    if (directory == NULL)
        return -1;
    while (readdir(directory) != NULL)
        count++;
    closedir(directory);
    return count;
}

/* One line of what this process holds now: milliseconds, its own memory and all that is resident in KiB, mappings, descriptors, files in shared memory, temporary files. */
static void print_sizes(long ms, const char *temporary)
{
    printf("sizes %ld %ld %ld %ld %ld %ld %ld\n", ms, status_kib("RssAnon"), status_kib("VmRSS"), mapping_count(), entry_count("/proc/self/fd"),
           entry_count("/dev/shm"), entry_count(temporary));
    fflush(stdout);
}

#endif
