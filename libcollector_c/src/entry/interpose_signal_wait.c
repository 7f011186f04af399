/* interpose_signal_wait.c -- the program waits for signals: for those others send, not for our ticks */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os_signal.h"
#include "base/real.h"
#include "control/dispositions.h"
#include "control/signals.h"
#include "control/surrogate.h"
#include "entry/program_memory.h"
#include "sample/clock_source.h"

#define S_NS 1000000000u
#define SENT_ON_WITHIN_NS 50000000 /* a few turns of the processor on a busy machine */

static bool is_hidden(void)
{
    return col_dispositions_has_taken(COL_CLOCK_EVENT_SIGNAL);
}

/* A set of the program's as the kernel would read it. */
static bool read_set(const sigset_t *set, sigset_t *copy)
{
    memset(copy, 0, sizeof *copy);
    return col_entry_read_program(set, copy, sizeof(uint64_t));
}

/* ---- a signal is taken ---- */

/* What is left of a wait. */
static struct timespec rest_until(uint64_t end_ns)
{
    uint64_t now_ns = col_clock_now(), rest_ns = end_ns > now_ns ? end_ns - now_ns : 0;
    return (struct timespec){(time_t)(rest_ns / S_NS), (long)(rest_ns % S_NS)};
}

/*
 * Our handler may have interrupted the wait to send on what the program blocks. If that is what it waits for, it is there now; if not, the wait goes on.
 * Or the handler runs in another thread, which was quicker to take what both were woken for: then it is there soon.
 */
static int wait_on(const sigset_t *set, uint64_t asked, siginfo_t *info, const struct timespec *timeout)
{
    uint64_t within_ns = col_surrogate_to_kernel(asked) != asked ? SENT_ON_WITHIN_NS : 0;
    uint64_t end_ns =
        timeout != NULL ? col_clock_now() + (uint64_t)timeout->tv_sec * S_NS + (uint64_t)timeout->tv_nsec : 0;
    struct timespec rest;
    for (;;) {
        uint32_t count = col_signals_forward_count();
        int got = col_surrogate_take_kept(asked, info);
        if (got == 0)
            got = COL_REAL(sigtimedwait)(set, info, timeout);
        if (got != -1 || errno != EINTR)
            return got;
        uint64_t soon_ns = col_clock_now() + within_ns;
        rest = rest_until(timeout != NULL && end_ns < soon_ns ? end_ns : soon_ns);
        got = COL_REAL(sigtimedwait)(set, info, &rest);
        if (got == -1)
            errno = EINTR;
        if (got != -1 || count == col_signals_forward_count())
            return got;
        if (timeout != NULL) {
            rest = rest_until(end_ns);
            timeout = &rest;
        }
    }
}

static int wait_for(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    siginfo_t found;
    sigset_t asked, ours;
    struct timespec copy;
    if (!is_hidden() || !read_set(set, &asked) ||
        (timeout != NULL && !col_entry_read_program(timeout, &copy, sizeof copy)))
        return COL_REAL(sigtimedwait)(set, info, timeout);
    ours = asked;
    col_dispositions_set_to_kernel(&ours);
    int got = wait_on(&ours, col_surrogate_word(&asked), &found, timeout != NULL ? &copy : NULL);
    if (got > 0) {
        got = col_surrogate_reveal(got, &found);
        if (found.si_code == SI_TKILL)
            found.si_code = SI_USER; /* as the C library says it */
        if (info != NULL)
            *info = found;
    }
    return got;
}

COL_EXPORT int sigwait(const sigset_t *restrict set, int *restrict signo)
{
    int got;
    do
        got = wait_for(set, NULL, NULL);
    while (got == -1 && errno == EINTR); /* sigwait does not end for a handler */
    if (got == -1)
        return errno;
    *signo = got;
    return 0;
}

COL_EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
    return wait_for(set, info, NULL);
}

COL_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                            const struct timespec *restrict timeout)
{
    return wait_for(set, info, timeout);
}

/* ---- a signal is read ---- */

static struct {
    bool has_signalfd;
} self;

COL_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
    sigset_t ours;
    if (!is_hidden() || !read_set(set, &ours))
        return COL_REAL(signalfd)(fd, set, flags);
    col_dispositions_set_to_kernel(&ours);
    self.has_signalfd = true;
    return COL_REAL(signalfd)(fd, &ours, flags);
}

static bool is_signalfd(int fd)
{
    char path[32] = "/proc/self/fd/", name[32], digits[12];
    size_t count = 0, length = strlen(path);
    for (unsigned rest = (unsigned)fd; count == 0 || rest != 0; rest /= 10)
        digits[count++] = (char)('0' + rest % 10);
    while (count > 0)
        path[length++] = digits[--count];
    path[length] = '\0';
    ssize_t got = readlink(path, name, sizeof name);
    return got == (ssize_t)strlen("anon_inode:[signalfd]") && memcmp(name, "anon_inode:[signalfd]", (size_t)got) == 0;
}

/* The kernel writes the surrogates' numbers. Whether it was a signalfd is asked last: that takes longer than the read. */
static void rename_signals(int fd, struct signalfd_siginfo *infos, size_t count)
{
    bool is_known = false;
    for (size_t i = 0; i < count; i++) {
        int owner = col_surrogate_owner((int)infos[i].ssi_signo);
        if (owner == 0)
            continue;
        is_known = is_known || is_signalfd(fd);
        if (!is_known)
            return;
        infos[i].ssi_signo = (uint32_t)owner;
    }
}

COL_EXPORT ssize_t read(int fd, void *data, size_t bytes)
{
    if (__builtin_expect(!self.has_signalfd, 1))
        return COL_REAL(read)(fd, data, bytes);
    ssize_t got = COL_REAL(read)(fd, data, bytes);
    int error = errno;
    if (got > 0 && (size_t)got % sizeof(struct signalfd_siginfo) == 0)
        rename_signals(fd, data, (size_t)got / sizeof(struct signalfd_siginfo));
    errno = error;
    return got;
}

COL_SECOND_NAME(__read, read);

/* What read is to a compiler that knows how much room there is. */
COL_EXPORT ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room)
{
    return bytes <= room ? read(fd, data, bytes) : COL_REAL(__read_chk)(fd, data, bytes, room);
}

/* ---- a handler runs while the program waits for something else ---- */

struct wait {
    sigset_t ours;
    const sigset_t *mask; /* as the kernel is to have it: the program's, or `ours` */
    uint32_t handled_count;
};

static struct wait wait_with(const sigset_t *set)
{
    return (struct wait){.mask = set, .handled_count = col_signals_handled_count()};
}

static const sigset_t *mask_of(struct wait *wait)
{
    if (wait->mask == NULL || !is_hidden() || !read_set(wait->mask, &wait->ours))
        return wait->mask;
    col_dispositions_set_to_kernel(&wait->ours);
    return wait->mask = &wait->ours;
}

/* Does the wait let in what the thread blocks otherwise, and another thread may so have to send on? */
static bool lets_in_forwarded(const struct wait *wait)
{
    uint64_t clocks = col_os_signal_bit(COL_CLOCK_EVENT_SIGNAL) | col_os_signal_bit(COL_CLOCK_SIGNAL);
    uint64_t opened = col_os_change_mask(SIG_BLOCK, 0) & ~col_surrogate_word(wait->mask);
    return (col_surrogate_to_program(opened, 0) & clocks) != 0;
}

/*
 * Our handler has interrupted the wait and sent on what came, but when it returned the wait's own mask was no longer in force: what that mask lets through comes
 * now, as it would have before the call returned. A tick that comes first puts it off in the same way. Or a tick has ended the wait that a signal had woken, and another
 * thread was quicker to take that and sends it on: then it is there soon.
 */
static int let_in(struct wait *wait, int result)
{
    if (result != -1 || errno != EINTR || wait->mask != &wait->ours)
        return result;
    uint64_t end_ns = col_clock_now();
    if (wait->handled_count != col_signals_handled_count() && lets_in_forwarded(wait))
        end_ns += SENT_ON_WITHIN_NS;
    uint32_t count;
    do {
        struct timespec rest = rest_until(end_ns);
        count = col_signals_handled_count();
        COL_REAL(ppoll)(NULL, 0, &rest, wait->mask);
    } while (count != col_signals_handled_count());
    errno = EINTR;
    return result;
}

COL_EXPORT int sigsuspend(const sigset_t *set)
{
    struct wait wait = wait_with(set);
    return let_in(&wait, COL_REAL(sigsuspend)(mask_of(&wait)));
}

COL_SECOND_NAME(__sigsuspend, sigsuspend);

COL_EXPORT int ppoll(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *set)
{
    struct wait wait = wait_with(set);
    return let_in(&wait, COL_REAL(ppoll)(files, count, timeout, mask_of(&wait)));
}

COL_EXPORT int __ppoll_chk(struct pollfd *files, nfds_t count, const struct timespec *timeout, const sigset_t *set,
                           size_t room)
{
    return count <= room / sizeof *files ? ppoll(files, count, timeout, set)
                                         : COL_REAL(__ppoll_chk)(files, count, timeout, set, room);
}

COL_EXPORT int pselect(int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict other,
                       const struct timespec *restrict timeout, const sigset_t *restrict set)
{
    struct wait wait = wait_with(set);
    return let_in(&wait, COL_REAL(pselect)(count, in, out, other, timeout, mask_of(&wait)));
}

COL_EXPORT int epoll_pwait(int epoll, struct epoll_event *events, int count, int timeout, const sigset_t *set)
{
    struct wait wait = wait_with(set);
    return let_in(&wait, COL_REAL(epoll_pwait)(epoll, events, count, timeout, mask_of(&wait)));
}

COL_EXPORT int epoll_pwait2(int epoll, struct epoll_event *events, int count, const struct timespec *timeout,
                            const sigset_t *set)
{
    struct wait wait = wait_with(set);
    return let_in(&wait, COL_REAL(epoll_pwait2)(epoll, events, count, timeout, mask_of(&wait)));
}
