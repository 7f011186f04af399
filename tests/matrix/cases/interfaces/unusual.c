/* unusual.c -- interfaces of the kernel that few programs use
 *
 * build: -pthread -lutil
 */
#include "matrix.h"
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <pty.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <ucontext.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static volatile int stops;
static volatile long watched;
static void on_stop(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)context;
    stops += info->si_code == 6; /* TRAP_PERF */
}

CASE(hardware_breakpoint, 1, "SIGTRAP for each write of a variable, by a debug register of its own")
{
    struct sigaction action = {.sa_sigaction = on_stop, .sa_flags = SA_SIGINFO};
    struct perf_event_attr attr = {.size = sizeof attr, .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W, .bp_addr = (uintptr_t)&watched, .bp_len = 8, .sample_period = 1, .sigtrap = 1, .remove_on_exec = 1, .exclude_kernel = 1};
    sigaction(SIGTRAP, &action, NULL);
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) {
        say("this system has no breakpoints");
        exit(77);
    }
    for (int i = 0; i < 1000; i++) {
        watched = i;
        spin(20000);
    }
    say("stops %d", stops);
    close(fd);
    burn();
}

static void *burns(void *unused)
{
    burn();
    return unused;
}

CASE(disables_events, 3, "switches all perf events off that its task has made, and makes a thread (PR_TASK_PERF_EVENTS_DISABLE)")
{
    pthread_t thread;
    prctl(PR_TASK_PERF_EVENTS_DISABLE);
    burn();
    burn();
    pthread_create(&thread, NULL, burns, NULL);
    pthread_join(thread, NULL);
    prctl(PR_TASK_PERF_EVENTS_ENABLE);
}

CASE(seals_everything, 2, "seals every mapping it has (mseal), and forks")
{
    enum { MOST = 1000 };
    static unsigned long lows[MOST], highs[MOST];
    char line[512];
    int count = 0, sealed = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (count < MOST && fgets(line, sizeof line, maps))
        count += sscanf(line, "%lx-%lx", &lows[count], &highs[count]) == 2;
    fclose(maps);
    for (int i = 0; i < count; i++)
        sealed += syscall(462, lows[i], highs[i] - lows[i], 0) == 0;
    say("sealed %d", sealed > 0);
    burn();
    pid_t child = fork();
    if (child == 0) {
        burn();
        exit(3);
    }
    say_end(child);
}

/* Its pages come from another thread, one by one. */
static int faults;
static void *serve(void *unused)
{
    struct uffd_msg message;
    while (read(faults, &message, sizeof message) == sizeof message) {
        struct uffdio_zeropage page = {{message.arg.pagefault.address & ~4095ul, 4096}, 0, 0};
        spin(100000);
        ioctl(faults, UFFDIO_ZEROPAGE, &page);
    }
    return unused;
}
static ucontext_t first, second;
static void use_stack(int depth)
{
    volatile char room[3000];
    room[0] = (char)depth;
    spin(200000);
    if (depth > 0)
        use_stack(depth - 1);
    room[1] = room[0];
}
static void use_and_burn(void)
{
    use_stack(40);
    burn();
}

CASE(stack_by_userfault, 1, "a stack whose pages another thread serves while it grows (userfaultfd)")
{
    enum { BYTES = 1 << 18 };
    struct uffdio_api api = {.api = UFFD_API};
    faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (faults < 0 || ioctl(faults, UFFDIO_API, &api) < 0) {
        say("this system has no userfaultfd for the kernel's own faults");
        exit(77);
    }
    char *stack = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register range = {{(uintptr_t)stack, BYTES}, UFFDIO_REGISTER_MODE_MISSING, 0};
    TELL(ioctl(faults, UFFDIO_REGISTER, &range));
    pthread_t thread;
    pthread_create(&thread, NULL, serve, NULL);
    getcontext(&second);
    second.uc_stack.ss_sp = stack;
    second.uc_stack.ss_size = BYTES;
    second.uc_link = &first;
    makecontext(&second, use_and_burn, 0);
    swapcontext(&first, &second);
    say("back");
}

static void stop_by_terminal(void)
{
    char byte;
    setpgid(0, 0);
    signal(SIGTTIN, SIG_DFL);
    _exit(read(0, &byte, 1) == 1 ? 3 : 4);
}

CASE(terminal_session, 1, "a session on a terminal of its own, a job in the background that reads and is stopped, an interrupt")
{
    int terminal, status;
    char text[100];
    pid_t leader = forkpty(&terminal, NULL, NULL, NULL);
    if (leader == 0) {
        burn();
        pid_t job = fork();
        if (job == 0)
            stop_by_terminal();
        waitpid(job, &status, WUNTRACED);
        say_status("job", status);
        kill(job, SIGKILL);
        waitpid(job, NULL, 0);
        raise(SIGINT);
        _exit(1);
    }
    ssize_t length = read(terminal, text, sizeof text - 1);
    say("%.*s", (int)(length > 0 ? length : 0), text);
    waitpid(leader, &status, 0);
    say_status("leader", status);
}

CASE(other_time, 2, "makes a namespace in which the monotonic clock is 27,777 hours ahead, and a child there")
{
    static const char offset[] = "monotonic 100000000 0\n";
    if (unshare(CLONE_NEWTIME) != 0) {
        say("this system has no time namespaces");
        exit(77);
    }
    int fd = open("/proc/self/timens_offsets", O_WRONLY);
    say("wrote %zd", write(fd, offset, sizeof offset - 1));
    close(fd);
    burn();
    burn_in_child(4);
}
