/* os_signal.c -- the system calls about signals, past the C library */
#include "base/os_signal.h"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/arch.h"
#include "base/os.h"
#include "base/status_file.h"

#define SET_BYTES sizeof(uint64_t)

uint64_t col_os_change_mask(int how, uint64_t set)
{
    uint64_t before = 0;
    col_arch_syscall(SYS_rt_sigprocmask, how, (long)&set, (long)&before, SET_BYTES, 0, 0);
    return before;
}

int col_os_queue_to_process(int signo, const siginfo_t *info)
{
    return (int)col_arch_syscall(SYS_rt_sigqueueinfo, col_os_process_id(), signo, (long)info, 0, 0, 0);
}

int col_os_queue_to_thread(int signo, const siginfo_t *info)
{
    return (int)col_arch_syscall(SYS_rt_tgsigqueueinfo, col_os_process_id(), (long)col_os_thread_id(), signo,
                                 (long)info, 0, 0);
}

int col_os_take_signal(uint64_t set, siginfo_t *info)
{
    struct timespec at_once = {0, 0};
    return (int)col_arch_syscall(SYS_rt_sigtimedwait, (long)&set, (long)info, (long)&at_once, SET_BYTES, 0, 0);
}

static uint64_t hexadecimal(const char *text)
{
    uint64_t number = 0;
    for (; (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f'); text++)
        number = number * 16 + (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    return number;
}

uint64_t col_os_signals_at_hand(void)
{
    uint64_t pending = 0;
    col_arch_syscall(SYS_rt_sigpending, (long)&pending, SET_BYTES, 0, 0, 0, 0);
    return pending;
}

uint64_t col_os_pending_signals(bool of_process)
{
    char status[COL_STATUS_BYTES];
    col_status_file_read(COL_STATUS_OF_THREAD, status);
    const char *line = strstr(status, of_process ? "ShdPnd:\t" : "SigPnd:\t");
    if (line != NULL)
        return hexadecimal(line + strlen("ShdPnd:\t"));
    return col_os_signals_at_hand();
}
