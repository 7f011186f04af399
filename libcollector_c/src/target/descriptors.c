/* descriptors.c -- descriptors of ours in the program's table, which it does not know of */
#include "target/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/sparse.h"
#include "target/launcher.h"

#define OWN_MAX 4096 /* per-thread events of the second rung; a thread beyond that has none */
#define HIGH_ENOUGH                                                                                                    \
    1000 /* below 1024: the kernel makes and copies tables up to the highest descriptor, at 65536 70 us in each process and fork */
#define CLAIMED (-1)

/* Which file a descriptor is open on. All perf events share one inode; they have numbers of their own. */
struct identity {
    uint64_t device, inode, event;
};

/* The place in the table is the handle that adopt returns. */
struct own {
    int number; /* descriptor + 1; 0: free, CLAIMED: about to be used */
    struct identity identity;
};

static struct {
    int handle_end;
} self;

static struct own table[OWN_MAX] COL_SPARSE;

/* ---- which file is it? ---- */

static uint64_t event_number(int fd)
{
    uint64_t number = 0;
    return col_arch_syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, (long)&number, 0, 0, 0) == 0 ? number : 0;
}

static bool identify(int fd, struct identity *identity)
{
    struct stat about;
    if (col_arch_syscall(SYS_fstat, fd, (long)&about, 0, 0, 0, 0) != 0)
        return false;
    *identity = (struct identity){about.st_dev, about.st_ino, 0};
    return true;
}

/* No ioctl is made on a file of the program's that is not of the same kind. */
static bool is_still(int fd, const struct identity *known)
{
    struct identity now;
    return identify(fd, &now) && now.device == known->device && now.inode == known->inode &&
           (known->event == 0 || event_number(fd) == known->event);
}

/* The descriptor behind a handle, if it is ours still. */
static int verified(int handle)
{
    struct own *own = &table[handle];
    int number = __atomic_load_n(&own->number, __ATOMIC_ACQUIRE);
    if (number <= 0)
        return -1;
    if (is_still(number - 1, &own->identity))
        return number - 1;
    __atomic_compare_exchange_n(&own->number, &number, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    return -1;
}

/* A handle is what the rest of the library holds: descriptors may move under it. */
static int handle_of(int fd)
{
    int end = __atomic_load_n(&self.handle_end, __ATOMIC_ACQUIRE);
    for (int handle = 0; handle < end; handle++)
        if (__atomic_load_n(&table[handle].number, __ATOMIC_RELAXED) == fd + 1)
            return verified(handle) >= 0 ? handle : -1;
    return -1;
}

/* ---- in and out ---- */

int col_descriptors_copy_high(int fd)
{
    struct rlimit limit = {1024, 1024};
    col_arch_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
    long low = limit.rlim_cur > HIGH_ENOUGH ? HIGH_ENOUGH : (long)limit.rlim_cur / 4 * 3;
    long copy = col_arch_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, low, 0, 0, 0);
    return (int)copy;
}

static int claim_handle(void)
{
    for (int handle = 0; handle < OWN_MAX; handle++) {
        int nobody = 0;
        if (!__atomic_compare_exchange_n(&table[handle].number, &nobody, CLAIMED, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        int end = __atomic_load_n(&self.handle_end, __ATOMIC_RELAXED);
        while (end <= handle && !__atomic_compare_exchange_n(&self.handle_end, &end, handle + 1, false,
                                                             __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        return handle;
    }
    return -EMFILE;
}

int col_descriptors_adopt(int fd)
{
    int copy = col_descriptors_copy_high(fd), handle = copy < 0 ? copy : claim_handle();
    col_os_close(fd);
    if (handle < 0) {
        if (copy >= 0)
            col_os_close(copy);
        return handle;
    }
    struct own *own = &table[handle];
    identify(copy, &own->identity);
    own->identity.event = event_number(copy);
    __atomic_store_n(&own->number, copy + 1, __ATOMIC_RELEASE);
    return handle;
}

int col_descriptors_hand_over(int fd, uint32_t thread, unsigned use)
{
    int error = col_launcher_hold(fd, thread, use);
    if (error != 0 && error != -EMFILE)
        return col_descriptors_adopt(fd);
    col_os_close(fd); /* the last free descriptor is the program's: there are clocks that need none */
    return error != 0 ? error : COL_DESCRIPTORS_ELSEWHERE;
}

static bool is_handle(int handle)
{
    return handle >= 0 && handle < OWN_MAX;
}

int col_descriptors_current(int handle)
{
    return is_handle(handle) ? verified(handle) : -1;
}

void col_descriptors_close(int handle)
{
    int fd = col_descriptors_current(handle);
    if (fd >= 0 && __atomic_exchange_n(&table[handle].number, 0, __ATOMIC_ACQ_REL) == fd + 1)
        col_os_close(fd);
}

bool col_descriptors_owns(int fd)
{
    return fd >= 0 && handle_of(fd) >= 0;
}

void col_descriptors_evade(int fd)
{
    int handle = handle_of(fd);
    if (handle < 0)
        return;
    long copy = col_arch_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, fd + 1, 0, 0, 0);
    if (copy < 0)
        copy = col_descriptors_copy_high(fd);
    __atomic_store_n(&table[handle].number, copy < 0 ? 0 : (int)copy + 1, __ATOMIC_RELEASE);
    col_os_close(fd);
}

int col_descriptors_next(int fd)
{
    int next = -1, end = __atomic_load_n(&self.handle_end, __ATOMIC_ACQUIRE);
    for (int handle = 0; handle < end; handle++) {
        int own = __atomic_load_n(&table[handle].number, __ATOMIC_RELAXED) - 1;
        if (own >= fd && (next < 0 || own < next) && verified(handle) == own)
            next = own;
    }
    return next;
}

void col_descriptors_close_all(void)
{
    for (int handle = 0; handle < self.handle_end; handle++)
        col_descriptors_close(handle);
}
