/* node_leader.c -- the one process of a node that measures what belongs to the node */
#include "target/node_leader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/text_format.h"
#include "target/descriptors.h"

static struct {
    char path[PATH_MAX]; /* "": nobody else is asked */
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

static int open_file(void)
{
    struct stat about;
    int fd = col_os_open(self.path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
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

/* The last leader may have removed the file that we wait for: then the lock that counts is another one's. */
static bool is_current(void)
{
    struct stat about;
    return stat(self.path, &about) == 0 && about.st_dev == self.device && about.st_ino == self.inode;
}

static bool ask(void)
{
    struct stat about;
    int fd = self.file != 0 ? col_descriptors_current(self.file - 1) : -1;
    if (self.file != 0 && !is_ours(fd, &about)) {
        self.file = 0;
        self.is_leader = false;
    }
    if (self.is_leader)
        return true;
    if (self.file == 0 && (fd = open_file()) < 0)
        return false;
    if (col_arch_syscall(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0, 0) != 0)
        return false;
    if (!is_current()) {
        let_go();
        return false;
    }
    return self.is_leader = true;
}

bool col_node_leader_ask(void)
{
    if (self.path[0] == '\0')
        return true;
    int error = errno;
    bool is_leader = ask();
    errno = error;
    return is_leader;
}

void col_node_leader_close(void)
{
    if (self.is_leader)
        col_os_unlink(self.path);
    let_go();
}

void col_node_leader_forget(void)
{
    self.file = 0;
    self.is_leader = false;
}
