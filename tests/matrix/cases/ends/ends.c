/* ends.c -- every way to end: what the parent sees and what was written before is the same
 *
 * Each works for 40 ms first, so that there is something to lose.
 */
#include "matrix.h"
#include <setjmp.h>
#include <ucontext.h>

static void says_bye(void) { say("an exit handler"); }
static void burns_late(void) { burn(); }

CASE(returns, 1, "returns from main") { burn(); }
CASE(exits, 1, "exit(3) with exit handlers") { atexit(says_bye); burn(); exit(3); }
CASE(underscore_exit, 1, "_exit(4): no handler runs") { atexit(says_bye); burn(); _exit(4); }
CASE(raw_exit_group, 1, "the raw system call exit_group") { burn(); syscall(SYS_exit_group, 5); }
CASE(raw_exit, 1, "the raw system call exit, of the only thread") { burn(); syscall(SYS_exit, 6); }
CASE(quick_exits, 1, "quick_exit with at_quick_exit handlers, not those of exit") { atexit(burns_late); at_quick_exit(says_bye); burn(); quick_exit(7); }
CASE(works_in_quick_exit_handler, 2, "works in a handler of quick_exit") { at_quick_exit(burns_late); burn(); quick_exit(8); }
CASE(works_in_exit_handler, 2, "works in an exit handler") { atexit(burns_late); burn(); exit(8); }
CASE(aborts, 1, "abort") { burn(); abort(); }

static void handles_abort(int signo) { say("SIGABRT %d", signo); }
CASE(aborts_handled, 1, "abort with a handler for SIGABRT that returns") { signal(SIGABRT, handles_abort); burn(); abort(); }

static jmp_buf place;
static void leaves(int signo) { (void)signo; siglongjmp(place, 1); }
CASE(aborts_jumped, 2, "abort whose handler leaves by siglongjmp")
{
    signal(SIGABRT, leaves);
    burn();
    if (!sigsetjmp(place, 1))
        abort();
    burn();
    say("still here");
}

static void exits_again(void) { say("exits again"); _exit(9); }
CASE(exit_in_handler, 1, "an exit handler calls _exit") { atexit(exits_again); burn(); exit(1); }

static void jumps(void) { longjmp(place, 1); }
CASE(longjmp_from_exit, 2, "an exit handler leaves exit by longjmp, and the program goes on")
{
    atexit(jumps);
    burn();
    if (!setjmp(place))
        exit(1);
    burn();
    say("back from exit");
    _exit(10);
}

static void *exits_thread(void *unused) { (void)unused; burn(); exit(11); }
CASE(exit_in_thread, 1, "another thread calls exit while main waits")
{
    pthread_t thread;
    pthread_create(&thread, NULL, exits_thread, NULL);
    for (;;)
        pause();
}

static void *ends_itself(void *unused) { burn(); say("the thread ends last"); return unused; }
CASE(main_leaves_first, 2, "main calls pthread_exit, the last thread ends the process")
{
    pthread_t thread;
    burn();
    pthread_create(&thread, NULL, ends_itself, NULL);
    pthread_exit(NULL);
}

static void *raw_exits(void *unused) { burn(); say("thread gone"); syscall(SYS_exit, 0); return unused; }
CASE(thread_raw_exit, 2, "a detached thread leaves by the raw system call exit")
{
    pthread_t thread;
    pthread_create(&thread, NULL, raw_exits, NULL);
    pthread_detach(thread);
    burn();
    while (!access("/proc/self/task", X_OK)) {
        struct stat about;
        if (stat("/proc/self/task", &about) == 0 && about.st_nlink == 3)
            break;
        usleep(1000);
    }
    say("alone");
}

static void is_killed_by(int signo) { burn(); raise(signo); say("survived %d", signo); }
CASE(killed_hup, 1, "is killed by SIGHUP") { is_killed_by(SIGHUP); }
CASE(killed_int, 1, "is killed by SIGINT") { is_killed_by(SIGINT); }
CASE(killed_quit, 1, "is killed by SIGQUIT") { is_killed_by(SIGQUIT); }
CASE(killed_kill, 1, "is killed by SIGKILL") { is_killed_by(SIGKILL); }
CASE(killed_pipe, 1, "is killed by SIGPIPE") { is_killed_by(SIGPIPE); }
CASE(killed_alarm, 1, "is killed by SIGALRM") { is_killed_by(SIGALRM); }
CASE(killed_term, 1, "is killed by SIGTERM") { is_killed_by(SIGTERM); }
CASE(killed_prof, 1, "is killed by SIGPROF") { is_killed_by(SIGPROF); }
CASE(killed_vtalrm, 1, "is killed by SIGVTALRM") { is_killed_by(SIGVTALRM); }
CASE(killed_io, 1, "is killed by SIGIO") { is_killed_by(SIGIO); }
CASE(killed_stkflt, 1, "is killed by SIGSTKFLT") { is_killed_by(SIGSTKFLT); }
CASE(killed_trap, 1, "is killed by SIGTRAP") { is_killed_by(SIGTRAP); }
CASE(killed_sys, 1, "is killed by SIGSYS") { is_killed_by(SIGSYS); }
CASE(killed_xcpu, 1, "is killed by SIGXCPU") { is_killed_by(SIGXCPU); }
CASE(killed_rtmin, 1, "is killed by SIGRTMIN") { is_killed_by(SIGRTMIN); }
CASE(killed_rtmax, 1, "is killed by SIGRTMAX") { is_killed_by(SIGRTMAX); }

CASE(null_read, 1, "reads address 0") { burn(); *(volatile int *)0; }
CASE(illegal, 1, "executes an illegal instruction") { burn(); __asm__ volatile("ud2"); }
CASE(breakpoint, 1, "executes int3 without a handler") { burn(); __asm__ volatile("int3"); say("unexpected"); }
CASE(divides, 1, "divides by 0") { burn(); volatile int zero = 0; say("%d", 1 / zero); }
CASE(bus, 1, "reads behind the end of a mapped file")
{
    int file = open("short", O_RDWR | O_CREAT, 0600);
    volatile char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
    burn();
    say("%d", bytes[0]);
}
CASE(jumps_to_nowhere, 1, "calls address 16") { burn(); ((void (*)(void))16)(); }

static char other_stack[65536];
static void exits_on_fault(int signo, siginfo_t *info, void *context)
{
    (void)context;
    say("signal %d code %d", signo, info->si_code);
    burn();
    _exit(12);
}

static void on_other_stack(int signo)
{
    stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    struct sigaction action = {.sa_sigaction = exits_on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(signo, &action, NULL);
}

CASE(fault_handled, 2, "a SIGSEGV handler works and exits") { on_other_stack(SIGSEGV); burn(); *(volatile int *)0 = 1; }

__attribute__((noinline)) static int grows(int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return grows(depth + 1) + room[0];
}
CASE(stack_overflow, 2, "overflows its stack; the handler on another stack works and exits") { on_other_stack(SIGSEGV); burn(); say("%d", grows(0)); }
CASE(stack_overflow_fatal, 1, "overflows its stack without a handler") { burn(); say("%d", grows(0)); }

PART(image) { burn(); say("the last image"); exit(13); }
CASE(exec_at_the_end, 2, "ends in an exec") { burn(); execl("/proc/self/exe", "ends", "image", NULL); }
static void execs(void) { execl("/proc/self/exe", "ends", "image", NULL); }
CASE(exec_in_exit, 2, "an exit handler execs") { atexit(execs); burn(); exit(1); }

CASE(kills_group, 2, "a child of an own group kills its whole group by SIGKILL")
{
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        burn();
        kill(0, SIGKILL);
    }
    burn();
    say_end(pid);
}

CASE(child_dies_every_way, 8, "children end by _exit, exit, abort, kill -9, SIGSEGV, raw exit, exec and quick_exit")
{
    for (int way = 0; way < 8; way++) {
        pid_t pid = fork();
        if (pid == 0) {
            if (way != 6)
                burn();
            switch (way) {
            case 0: _exit(1);
            case 1: exit(2);
            case 2: abort();
            case 3: kill(getpid(), SIGKILL);
            case 4: *(volatile int *)0 = 1;
            case 5: syscall(SYS_exit, 3);
            case 6: execl("/proc/self/exe", "ends", "image", NULL);
            case 7: quick_exit(4);
            }
        }
        say_end(pid);
    }
}
