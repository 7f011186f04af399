/*
 * unwind_own_restorer.c -- handlers return through the program's own trampoline, which no unwind table describes
 *
 * Truth: main > interrupted > on_signal > case_spin. The trampoline stands directly behind `before`, which has a table
 * and which nobody calls; other C libraries are built like that. Each instruction from the handler's end to the
 * trampoline's last is sampled, too, by the CPU's trap flag.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "unwind_case.h"

void trampoline(void);

__asm__(".text\n"
        ".globl before, trampoline\n"
        ".type before, @function\n"
        "before: .cfi_startproc\n"
        "sub $72, %rsp\n"
        ".cfi_def_cfa_offset 80\n"
        "ud2\n"
        ".cfi_endproc\n"
        ".size before, . - before\n"
        ".type trampoline, @function\n"
        "trampoline: mov $15, %rax\n"
        "syscall\n"
        ".size trampoline, . - trampoline\n");

CASE_FRAME void on_signal(int signal_number)
{
    (void)signal_number;
    for (int i = 0; i < 3000; i++)
        case_spin();
    enum { TRAP_FLAG = 0x100 };
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
}

CASE_FRAME void interrupted(void)
{
    syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
    CASE_NO_TAIL_CALL;
}

int main(void)
{
    enum { HAS_RESTORER = 0x04000000 };
    struct {
        void (*handler)(int);
        unsigned long flags;
        void (*restorer)(void);
        unsigned long mask;
    } action = {on_signal, HAS_RESTORER, trampoline, 0};
    if (syscall(SYS_rt_sigaction, SIGUSR1, &action, NULL, 8L) != 0)
        return 2;
    case_begin();
    struct sigaction sample;
    if (sigaction(SIGPROF, NULL, &sample) != 0 || sigaction(SIGTRAP, &sample, NULL) != 0)
        return 2;
    while (!case_is_over())
        interrupted();
    case_print();
    return 0;
}
