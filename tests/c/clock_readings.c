/* clock_readings.c -- prints every clock the recorder has, read while this thread burns 30 ms of CPU and another one 20 ms */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os.h"

static uint32_t other_id;
static pthread_barrier_t done, read_all;

static void burn(uint64_t ns)
{
    for (uint64_t begin = col_clock_thread_cpu(); col_clock_thread_cpu() - begin < ns;)
        continue;
}

static void *other(void *argument)
{
    (void)argument;
    other_id = col_os_thread_id();
    burn(20000000);
    pthread_barrier_wait(&done);
    pthread_barrier_wait(&read_all);
    return NULL;
}

/* By a system call: clock_gettime may be somebody's who lies. */
static unsigned long process_cpu(void)
{
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &now);
    return (unsigned long)now.tv_sec * 1000000000ul + (unsigned long)now.tv_nsec;
}

int main(void)
{
    pthread_t thread;
    uint64_t user_ns, system_ns, thread_user_ns, thread_system_ns;
    char name[16];
    pthread_barrier_init(&done, NULL, 2);
    pthread_barrier_init(&read_all, NULL, 2);
    pthread_create(&thread, NULL, other, NULL);
    pthread_setname_np(thread, "other one");
    burn(30000000);
    pthread_barrier_wait(&done);
    col_clock_process_times(&user_ns, &system_ns);
    col_clock_thread_times(&thread_user_ns, &thread_system_ns);
    col_os_thread_name(other_id, name, sizeof name);
    printf("%lu %lu %lu %lu %lu %lu %lu %s\n", (unsigned long)col_clock_now(), (unsigned long)col_clock_wall(), (unsigned long)col_clock_thread_cpu(),
        (unsigned long)col_clock_cpu_of(other_id), process_cpu(), (unsigned long)(user_ns + system_ns),
        (unsigned long)(thread_user_ns + thread_system_ns), name);
    pthread_barrier_wait(&read_all);
    pthread_join(thread, NULL);
    while (syscall(SYS_tgkill, getpid(), other_id, 0) == 0) /* joined a moment before the kernel has forgotten it */
        sched_yield();
    printf("%lu [%s]\n", (unsigned long)col_clock_cpu_of(other_id), (col_os_thread_name(other_id, name, sizeof name), name));
    return 0;
}
