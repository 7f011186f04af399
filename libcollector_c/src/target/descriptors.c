/* descriptors.c -- descriptors of ours in the program's table, which it does not know of */
#include "target/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "base/arch.h"

#define OWN_MAX 4096 /* per-thread events of the second rung; a thread beyond that has none */
#define HIGH_ENOUGH 1000 /* below 1024: the kernel makes and copies tables up to the highest descriptor, at 65536 70 us in each process and fork */

static struct {
    int handle_end;
    int handles[OWN_MAX]; /* descriptor + 1; 0: free. The place is the handle that adopt returns. */
} self;

/* A handle is what the rest of the library holds: descriptors may move under it. */
static int handle_of(int fd)
{
    int end = __atomic_load_n(&self.handle_end, __ATOMIC_ACQUIRE);
    for (int handle = 0; handle < end; handle++)
        if (__atomic_load_n(&self.handles[handle], __ATOMIC_RELAXED) == fd + 1)
            return handle;
    return -1;
}

static int high_copy(int fd)
{
    struct rlimit limit = {1024, 1024};
    col_arch_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0);
    long low = limit.rlim_cur > HIGH_ENOUGH ? HIGH_ENOUGH : (long)limit.rlim_cur / 4 * 3;
    long copy = col_arch_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, low, 0, 0, 0);
    return (int)copy;
}

int col_descriptors_adopt(int fd)
{
    int copy = high_copy(fd);
    col_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    if (copy < 0)
        return copy;
    for (int handle = 0; handle < OWN_MAX; handle++) {
        int nobody = 0;
        if (!__atomic_compare_exchange_n(&self.handles[handle], &nobody, copy + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        int end = __atomic_load_n(&self.handle_end, __ATOMIC_RELAXED);
        while (end <= handle && !__atomic_compare_exchange_n(&self.handle_end, &end, handle + 1, false,
                                                             __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        return handle;
    }
    col_arch_syscall(SYS_close, copy, 0, 0, 0, 0, 0);
    return -EMFILE;
}

int col_descriptors_current(int handle)
{
    return handle < 0 || handle >= OWN_MAX ? -1 : __atomic_load_n(&self.handles[handle], __ATOMIC_RELAXED) - 1;
}

void col_descriptors_close(int handle)
{
    int fd = handle < 0 || handle >= OWN_MAX ? 0 : __atomic_exchange_n(&self.handles[handle], 0, __ATOMIC_ACQ_REL);
    if (fd != 0)
        col_arch_syscall(SYS_close, fd - 1, 0, 0, 0, 0, 0);
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
        copy = high_copy(fd);
    __atomic_store_n(&self.handles[handle], copy < 0 ? 0 : (int)copy + 1, __ATOMIC_RELEASE);
    col_arch_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

int col_descriptors_next(int fd)
{
    int next = -1, end = __atomic_load_n(&self.handle_end, __ATOMIC_ACQUIRE);
    for (int handle = 0; handle < end; handle++) {
        int own = __atomic_load_n(&self.handles[handle], __ATOMIC_RELAXED) - 1;
        if (own >= fd && (next < 0 || own < next))
            next = own;
    }
    return next;
}

void col_descriptors_close_all(void)
{
    for (int handle = 0; handle < self.handle_end; handle++)
        col_descriptors_close(handle);
}
