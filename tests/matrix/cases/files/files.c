/* files.c -- descriptors that run out, are closed, moved and listed; disks that are full; directories that are gone */
#include "matrix.h"
#include <dirent.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <linux/memfd.h>

extern char **environ;
static void limit(int what, rlim_t value) { struct rlimit now = {value, value}; TELL(setrlimit(what, &now)); }
PART(image) { burn(); say("image"); TELL(fcntl(3, F_GETFD)); }

CASE(limit_fsize, 1, "RLIMIT_FSIZE 0: a write of its own gets SIGXFSZ and EFBIG")
{
    signal(SIGXFSZ, SIG_IGN);
    limit(RLIMIT_FSIZE, 0);
    burn();
    TELL(write(open("file", O_WRONLY | O_CREAT, 0600), "x", 1));
}
CASE(limit_fsize_default, 2, "RLIMIT_FSIZE 0 with the default action; it writes no file, forks and makes threads")
{
    limit(RLIMIT_FSIZE, 0);
    burn();
    pid_t pid = fork();
    if (pid == 0) { burn(); _exit(1); }
    say_end(pid);
}
CASE(limit_fsize_exec, 2, "RLIMIT_FSIZE 0 over exec") { limit(RLIMIT_FSIZE, 0); burn(); execl("/proc/self/exe", "files", "image", NULL); }
CASE(limit_nofile, 1, "RLIMIT_NOFILE 16: how many descriptors one can have")
{
    int count = 0;
    limit(RLIMIT_NOFILE, 16);
    burn();
    while (open("/dev/null", O_RDONLY) >= 0) count++;
    say("opened %d", count);
}
CASE(limit_nofile_three, 2, "RLIMIT_NOFILE 3 over exec: nothing can be opened") { burn(); limit(RLIMIT_NOFILE, 4); execl("/proc/self/exe", "files", "image", NULL); }
CASE(all_descriptors, 1, "every descriptor up to the limit of 1,024 is opened, then all are closed")
{
    int count = 0, fd;
    limit(RLIMIT_NOFILE, 1024);
    while ((fd = open("/dev/null", O_RDONLY)) >= 0) count++;
    burn();
    say("opened %d", count);
    for (fd = 3; fd < 1024; fd++) close(fd);
    say("next %d", open("/dev/null", O_RDONLY));
}
CASE(lists_descriptors, 1, "/proc/self/fd has 0, 1, 2 and the listing itself")
{
    burn();
    DIR *directory = opendir("/proc/self/fd");
    struct dirent *entry;
    while ((entry = readdir(directory))) if (entry->d_name[0] != '.') say("%s", entry->d_name);
}
CASE(lists_descriptors_thread, 1, "/proc/self/fd after fork")
{
    pid_t pid = fork();
    if (pid == 0) {
        DIR *directory = opendir("/proc/self/fd");
        struct dirent *entry;
        burn();
        while ((entry = readdir(directory))) if (entry->d_name[0] != '.') say("%s", entry->d_name);
        _exit(0);
    }
    say_end(pid);
}
CASE(lowest_free, 1, "the lowest free descriptor is 3, and F_DUPFD gives what is asked for")
{
    burn();
    say("%d", open("/dev/null", O_RDONLY));
    static const int numbers[] = {10, 100, 500, 999, 1000, 1001, 1023};
    for (int i = 0; i < 7; i++) say("%d", fcntl(0, F_DUPFD, numbers[i]));
}
CASE(closes_all, 2, "close of every number, then work and fork") { for (int fd = 3; fd < 4096; fd++) close(fd); burn(); pid_t pid = fork(); if (pid == 0) { burn(); _exit(1); } say_end(pid); }
CASE(closes_raw, 2, "raw close of every number, then work and fork") { for (int fd = 3; fd < 4096; fd++) syscall(SYS_close, fd); burn(); pid_t pid = fork(); if (pid == 0) { burn(); _exit(1); } say_end(pid); }
CASE(dup_over_all, 2, "dup2 over every number, then fork: all are still open")
{
    for (int fd = 3; fd < 1024; fd++) dup2(0, fd);
    burn();
    pid_t pid = fork();
    if (pid == 0) { int open_count = 0; burn(); for (int fd = 3; fd < 1024; fd++) open_count += fcntl(fd, F_GETFD) >= 0; say("child has %d", open_count); _exit(0); }
    say_end(pid);
    int open_count = 0;
    for (int fd = 3; fd < 1024; fd++) open_count += fcntl(fd, F_GETFD) >= 0;
    say("parent has %d", open_count);
}
CASE(dup_raw_over_all, 2, "raw dup2 over every number, then fork: all are still open")
{
    for (int fd = 3; fd < 1024; fd++) syscall(SYS_dup2, 0, fd);
    burn();
    pid_t pid = fork();
    if (pid == 0) { int open_count = 0; burn(); for (int fd = 3; fd < 1024; fd++) open_count += fcntl(fd, F_GETFD) >= 0; say("child has %d", open_count); _exit(0); }
    say_end(pid);
    int open_count = 0;
    for (int fd = 3; fd < 1024; fd++) open_count += fcntl(fd, F_GETFD) >= 0;
    say("parent has %d", open_count);
}
CASE(closes_standard, 1, "0, 1 and 2 are closed, and opened again by others") { burn(); int keep = dup(1); close(0); close(1); close(2); int first = open("/dev/null", O_RDWR), second = open("/dev/null", O_RDWR); dup2(keep, 1); say("%d %d", first, second); }
CASE(no_standard, 1, "0, 1 and 2 are closed, and it ends so") { burn(); close(0); close(1); close(2); }
CASE(no_standard_exec, 2, "exec without 0, 1 and 2: the image's first file is 0") { burn(); close(0); close(2); execl("/proc/self/exe", "files", "first_file", NULL); }
PART(first_file) { say("%d", open("/dev/null", O_RDONLY)); burn(); }
CASE(full_disk, 1, "its own writes to a full device fail as ever") { burn(); TELL(write(open("/dev/full", O_WRONLY), "x", 1)); }
CASE(removed_directory, 2, "works, forks and execs in a directory that was removed") { mkdir("gone", 0700); TELL(chdir("gone")); rmdir("../gone"); burn(); TELL(getcwd((char[99]){0}, 99) ? 0 : -1); execl("/proc/self/exe", "files", "image", NULL); }
CASE(changes_directory, 2, "chdir to / and fork") { TELL(chdir("/")); pid_t pid = fork(); if (pid == 0) { burn(); _exit(1); } burn(); say_end(pid); }
CASE(umask_all, 2, "umask 0777 and fork") { umask(0777); pid_t pid = fork(); if (pid == 0) { burn(); _exit(1); } burn(); say_end(pid); close(open("file", O_WRONLY | O_CREAT, 0666)); say("umask %o", (unsigned)umask(0)); }
CASE(umask_zero, 2, "umask 0 and fork: files of its own are open to all") { umask(0); pid_t pid = fork(); if (pid == 0) { burn(); _exit(1); } burn(); say_end(pid); close(open("file", O_WRONLY | O_CREAT, 0666)); mkdir("directory", 0777); }
CASE(sealed_memfd, 1, "a sealed memfd cannot be written") { int fd = memfd_create("sealed", MFD_ALLOW_SEALING); ftruncate(fd, 4096); TELL(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL)); TELL(write(fd, "x", 1)); burn(); }
CASE(memfd_exec, 2, "runs a copy of itself out of a memfd")
{
    int from = open("/proc/self/exe", O_RDONLY), to = memfd_create("program", MFD_CLOEXEC);
    char block[65536];
    ssize_t got;
    while ((got = read(from, block, sizeof block)) > 0) if (write(to, block, (size_t)got) != got) return;
    char *words[] = {"files", "image_quiet", NULL};
    burn();
    fexecve(to, words, environ);
}
NATURE(memfd_exec, time, "A program that is only in memory is gone when the report is made: its time is there, under no name.")
PART(image_quiet) { burn(); say("from memory"); }
CASE(deleted_program, 2, "runs a copy of itself whose file is deleted meanwhile") { TELL(system("cp /proc/$PPID/exe copy")); burn(); pid_t pid = fork(); if (pid == 0) { execl("./copy", "files", "deleted", NULL); _exit(9); } say_end(pid); }
PART(deleted) { unlink("copy"); burn(); say("file gone %d", access("copy", F_OK) != 0); }
CASE(locks, 1, "POSIX and flock locks of its own") { int fd = open("file", O_RDWR | O_CREAT, 0600); struct flock lock = {.l_type = F_WRLCK}; TELL(fcntl(fd, F_SETLK, &lock)); burn(); pid_t pid = fork(); if (pid == 0) { struct flock other = {.l_type = F_WRLCK}; fcntl(fd, F_GETLK, &other); _exit(other.l_type == F_WRLCK); } say_end(pid); }
CASE(inode_watch, 1, "inotify and epoll on its own directory see its own files only")
{
    burn();
    TELL(system("touch a; rm a; ls -A | wc -l"));
}
CASE(pass_descriptors, 2, "descriptors passed over a socket to a child")
{
    int ends[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    pid_t pid = fork();
    char byte = 'x', room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    if (pid == 0) { recvmsg(ends[1], &message, 0); burn(); _exit(*(int *)CMSG_DATA(CMSG_FIRSTHDR(&message)) < 16); }
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
    *(int *)CMSG_DATA(header) = 0;
    TELL(sendmsg(ends[0], &message, 0));
    burn();
    say_end(pid);
}
CASE(environment, 1, "prints its environment") { burn(); for (char **entry = environ; *entry; entry++) say("%s", *entry); }
NATURE(environment, stdout, "The recorder comes in by LD_PRELOAD and is told what to do by COLLECTOR_ variables, and so they are in the environment.")
CASE(clears_environment, 2, "clearenv, then exec") { clearenv(); burn(); execl("/proc/self/exe", "files", "image", NULL); }
CASE(changes_environment, 2, "unsetenv and setenv of LD_PRELOAD, then exec") { unsetenv("LD_PRELOAD"); say("%s", getenv("LD_PRELOAD") ? "there" : "unset"); setenv("LD_PRELOAD", "", 1); burn(); execl("/proc/self/exe", "files", "preload", NULL); }
PART(preload) { const char *value = getenv("LD_PRELOAD"); burn(); say("LD_PRELOAD is %s", value ? value : "unset"); }
NATURE(changes_environment, stdout, "A new image can only be recorded if the library is in its LD_PRELOAD.")
CASE(fifo, 2, "a FIFO between parent and child") { mkfifo("pipe", 0600); pid_t pid = fork(); if (pid == 0) { int fd = open("pipe", O_WRONLY); burn(); if (write(fd, "abc", 3) != 3) _exit(1); _exit(0); } char text[4] = ""; int fd = open("pipe", O_RDONLY); while (read(fd, text, 3) > 0) {} say("%s", text); say_end(pid); burn(); }
CASE(short_reads, 1, "1,000 reads of 64 KiB from a pipe that is filled meanwhile: none is interrupted")
{
    int ends[2], interrupted = 0;
    static char block[65536];
    long sum = 0;
    if (pipe(ends)) return;
    pid_t pid = fork();
    if (pid == 0) { close(ends[0]); for (int i = 0; i < 1000; i++) if (write(ends[1], block, sizeof block) != sizeof block) _exit(1); _exit(0); }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], block, sizeof block)) != 0;) if (got < 0) interrupted++; else sum += got;
    burn();
    say("%ld bytes, interrupted %d", sum, interrupted);
    say_end(pid);
}
