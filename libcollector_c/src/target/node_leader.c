/* node_leader.c -- the one process of a node that measures what belongs to the node */
#include "target/node_leader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/own_io.h"
#include "base/text_format.h"
#include "target/descriptors.h"

static struct {
    char path[PATH_MAX];     /* "": nobody else is asked */
    char new_path[PATH_MAX]; /* of a file that is to replace the other: not on a handler's stack */
    int file;            /* handle of the open file + 1; 0: not open */
    dev_t device;
    ino_t inode;
    bool is_leader;
} self;

void col_node_leader_open(const char *stem)
{
    struct utsname name;
    self.path[0] = '\0';
    if (stem[0] != '\0' && uname(&name) == 0)
        col_text_print_into(self.path, sizeof self.path, "%s-%s", stem, name.nodename);
}

/* Is this still the file we opened? The program may have closed the descriptor, and opened another file under its number. */
static bool is_ours(int fd, struct stat *about)
{
    return fd >= 0 && fstat(fd, about) == 0 && about->st_dev == self.device && about->st_ino == self.inode;
}

static void let_go(void)
{
    if (self.file != 0)
        col_descriptors_close(self.file - 1);
    self.file = 0;
    self.is_leader = false;
}

/* Opens the file at `path`, or makes it; the descriptor, -1 if that cannot be. */
static int open_file(const char *path, int flags)
{
    struct stat about;
    int fd = col_os_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | flags, 0600);
    int handle = fd < 0 ? fd : col_descriptors_adopt(fd);
    if (handle < 0)
        return -1;
    self.file = handle + 1;
    fd = col_descriptors_current(handle);
    if (fstat(fd, &about) != 0 || about.st_uid != geteuid()) { /* somebody else put it there */
        let_go();
        return -1;
    }
    self.device = about.st_dev;
    self.inode = about.st_ino;
    return fd;
}

/* Another one may have put his file in the place of the one we hold, or the last leader removed the one we wait for. */
static bool is_current(void)
{
    struct stat about;
    return stat(self.path, &about) == 0 && about.st_dev == self.device && about.st_ino == self.inode;
}

static bool lock(int fd)
{
    return col_arch_syscall(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0) == 0;
}

/* The leader's word that he is at it; the file never grows beyond it. */
static void note_time(int fd, uint64_t now_ns)
{
    if (col_own_io_count_write(pwrite(fd, &now_ns, sizeof now_ns, 0)) < 0)
        return; /* others will find us asleep, and do it themselves */
}

static bool is_asleep(int fd, uint64_t now_ns, uint64_t patience_ns)
{
    uint64_t noted_ns = 0;
    return col_own_io_count_read(pread(fd, &noted_ns, sizeof noted_ns, 0)) == sizeof noted_ns && now_ns > noted_ns && now_ns - noted_ns > patience_ns;
}

/* A file of ours, locked before anybody can see it, in the place of the one that a sleeper holds. Of several who do this at once the last one leads. */
static int replace_file(void)
{
    col_text_print_into(self.new_path, sizeof self.new_path, "%s.%d", self.path, (int)col_os_process_id());
    let_go();
    int fd = open_file(self.new_path, O_EXCL);
    if (fd < 0)
        return -1;
    if (lock(fd) && rename(self.new_path, self.path) == 0)
        return fd;
    col_os_unlink(self.new_path);
    let_go();
    return -1;
}

/* The descriptor of the file that counts, with its lock; -1: somebody else has it. */
static int hold(uint64_t now_ns, uint64_t patience_ns)
{
    struct stat about;
    int fd = self.file != 0 ? col_descriptors_current(self.file - 1) : -1;
    if (self.file != 0 && (!is_ours(fd, &about) || !is_current()))
        let_go();
    if (self.is_leader)
        return fd;
    if (self.file == 0 && (fd = open_file(self.path, 0)) < 0)
        return -1;
    if (lock(fd))
        return is_current() ? fd : -1;
    return is_asleep(fd, now_ns, patience_ns) ? replace_file() : -1;
}

enum col_node_leader col_node_leader_ask(uint64_t now_ns, uint64_t patience_ns)
{
    if (self.path[0] == '\0')
        return COL_NODE_LEADS;
    int error = errno, fd = hold(now_ns, patience_ns);
    bool was_leader = self.is_leader;
    self.is_leader = fd >= 0;
    if (self.is_leader)
        note_time(fd, now_ns);
    errno = error;
    return !self.is_leader ? COL_NODE_FOLLOWS : was_leader ? COL_NODE_LEADS : COL_NODE_LEADS_NEWLY;
}

void col_node_leader_close(void)
{
    if (self.is_leader && is_current())
        col_os_unlink(self.path);
    let_go();
}

void col_node_leader_forget(void)
{
    self.file = 0;
    self.is_leader = false;
}
