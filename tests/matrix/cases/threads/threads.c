/* threads.c -- threads that are short, many, cancelled, bare or tiny */
#include "matrix.h"
#include <linux/futex.h>
#include <sched.h>
#include <semaphore.h>
#include <threads.h>

static void *works(void *unused) { burn(); return unused; }
static void *nothing(void *unused) { return unused; }
static pthread_t start(void *(*run)(void *)) { pthread_t thread; if (pthread_create(&thread, NULL, run, NULL)) say("cannot start"); return thread; }

CASE(four, 5, "four threads beside main") { pthread_t threads[4]; for (int i = 0; i < 4; i++) threads[i] = start(works); burn(); for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL); say("joined"); }
CASE(thirty, 30, "30 threads at a time") { pthread_t threads[30]; for (int i = 0; i < 30; i++) threads[i] = start(works); for (int i = 0; i < 30; i++) pthread_join(threads[i], NULL); say("joined"); }
NATURE(short_ones, time, "A thread that ends before its first sample is shown under its start function, with the time that its start in the kernel took.")
CASE(short_ones, 1, "2,000 threads that do nothing") { for (int i = 0; i < 2000; i++) pthread_join(start(nothing), NULL); burn(); say("joined"); }
static int detached_count;
static void *counts(void *unused) { __atomic_add_fetch(&detached_count, 1, __ATOMIC_SEQ_CST); return unused; }
NATURE(detached, time, "A thread that ends before its first sample is shown under its start function, with the time that its start in the kernel took.")
CASE(detached, 1, "500 detached threads") { for (int i = 0; i < 500; i++) pthread_detach(start(counts)); while (__atomic_load_n(&detached_count, __ATOMIC_SEQ_CST) < 500) usleep(1000); burn(); say("all ran"); }
static void *raw_exit(void *unused) { syscall(SYS_exit, 0); return unused; }
CASE(raw_exits, 1, "50 joined threads that leave by the raw system call exit") { for (int i = 0; i < 50; i++) pthread_join(start(raw_exit), NULL); burn(); say("joined"); }
NATURE(cancelled_at_birth, time, "A thread that ends before its first sample is shown under its start function, with the time that its start in the kernel took.")
CASE(cancelled_at_birth, 1, "1,000 threads cancelled at once")
{
    int cancelled = 0, others = 0;
    for (int i = 0; i < 1000; i++) {
        void *result;
        pthread_t thread = start(nothing);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result == PTHREAD_CANCELED || result == NULL) cancelled++; else others++;
    }
    burn();
    say("%d ended, %d otherwise", cancelled, others);
}
static void *burns_till_cancelled(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) spin(10000);
    return unused;
}
CASE(async_cancel, 0, "20 threads cancelled asynchronously while they compute")
{
    int count = 0;
    for (int i = 0; i < 20; i++) {
        void *result = NULL;
        pthread_t thread = start(burns_till_cancelled);
        usleep(3000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        count += result == PTHREAD_CANCELED;
    }
    say("cancelled %d", count);
}
static void cleans(void *unused) { (void)unused; burn(); say("cleaned"); }
static void *waits_with_cleanup(void *unused) { pthread_cleanup_push(cleans, NULL); for (;;) pause(); pthread_cleanup_pop(0); return unused; }
CASE(cancel_cleanup, 1, "a cleanup handler that works") { pthread_t thread = start(waits_with_cleanup); usleep(1000); pthread_cancel(thread); pthread_join(thread, NULL); }
static void *exits_early(void *unused) { burn(); pthread_exit((void *)5); return unused; }
CASE(exits_by_itself, 1, "pthread_exit in a thread") { void *result; pthread_join(start(exits_early), &result); say("%ld", (long)result); }
static int c11(void *unused) { (void)unused; burn(); return 6; }
CASE(c11_threads, 2, "thrd_create of C11") { thrd_t thread; int result; thrd_create(&thread, c11, NULL); burn(); thrd_join(thread, &result); say("%d", result); }

static char stack[65536] __attribute__((aligned(16)));
static volatile int bare_done;
static int bare(void *unused) { (void)unused; spin(20000000); bare_done = 1; syscall(SYS_exit, 0); return 0; }
#define BARE (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)
CASE(bare_clone, 1, "a thread made by clone alone, with the TLS of its maker") { clone(bare, stack + sizeof stack, BARE, NULL); while (!bare_done) usleep(1000); burn(); say("done"); }
static char bare_tls[4096] __attribute__((aligned(64)));
static int writes_tls(void *unused) { (void)unused; spin(60000000); bare_done = 1; syscall(SYS_exit, 0); return 0; }
CASE(bare_clone_tls, 1, "a thread made by clone with a TLS block of its own, whose bytes stay as they are")
{
    memset(bare_tls, 0x33, sizeof bare_tls);
    *(void **)(bare_tls + 2048) = bare_tls + 2048;
    *(void **)(bare_tls + 2064) = bare_tls + 2048;
    *(uint64_t *)(bare_tls + 2088) = 0x1234;
    char before[4096];
    memcpy(before, bare_tls, sizeof before);
    clone(writes_tls, stack + sizeof stack, BARE | CLONE_SETTLS, bare_tls + 2048, NULL, bare_tls + 2048, NULL);
    while (!bare_done) usleep(1000);
    burn();
    int changed = 0;
    for (size_t i = 0; i < sizeof before; i++) changed += before[i] != bare_tls[i];
    say("%d bytes changed", changed);
}

static pthread_key_t keys[2000];
CASE(keys_exhausted, 2, "every key of thread-specific data is taken by the program")
{
    int count = 0;
    while (count < 2000 && pthread_key_create(&keys[count], NULL) == 0) count++;
    burn();
    say("keys %d", count);
    pthread_join(start(works), NULL);
}
static void destroys(void *value) { say("destroyed %ld", (long)value); burn(); }
static pthread_key_t key;
static void *sets_key(void *unused) { pthread_setspecific(key, (void *)3); burn(); return unused; }
CASE(key_destructor, 2, "a destructor of thread-specific data works") { pthread_key_create(&key, destroys); pthread_join(start(sets_key), NULL); }
static void again(void *value) { if ((long)value < 5) pthread_setspecific(key, (char *)value + 1); say("round %ld", (long)value); }
static void *sets_again(void *unused) { pthread_setspecific(key, (void *)1); burn(); return unused; }
CASE(key_again, 1, "a destructor that sets its value again, for PTHREAD_DESTRUCTOR_ITERATIONS rounds") { pthread_key_create(&key, again); pthread_join(start(sets_again), NULL); }

static void with_stack(size_t bytes, void *(*run)(void *))
{
    pthread_attr_t wish;
    pthread_t thread;
    pthread_attr_init(&wish);
    say("stack %d", pthread_attr_setstacksize(&wish, bytes));
    int result = pthread_create(&thread, &wish, run, NULL);
    say("create %d", result);
    if (!result) pthread_join(thread, NULL);
}
static void *tiny(void *unused) { spin(40000000); return unused; }
CASE(tiny_stack, 0, "a thread with the smallest stack there is") { with_stack(16384, tiny); }
CASE(small_stack, 1, "a thread with a stack of 32 KiB") { with_stack(32768, works); }
CASE(own_stack, 1, "a thread on memory of the program, with a pattern around it that stays")
{
    pthread_attr_t wish;
    pthread_t thread;
    char *room = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(room, 0x77, 1 << 20);
    pthread_attr_init(&wish);
    say("stack %d", pthread_attr_setstack(&wish, room + (256 << 10), 256 << 10));
    int result = pthread_create(&thread, &wish, works, NULL);
    say("create %d", result);
    if (result == 0)
        pthread_join(thread, NULL);
    int touched = 0;
    for (int i = 0; i < 256 << 10; i++) touched += room[i] != 0x77;
    say("%d bytes below it changed", touched);
}
static void *uses_depth(void *unused) { volatile char room[9000]; memset((char *)room, 1, sizeof room); burn(); return unused; }
CASE(nearly_full_stack, 1, "a thread of 24 KiB that uses 9 KiB of it") { with_stack(24576, uses_depth); }

static pthread_mutex_t robust;
static void *dies_holding(void *unused) { pthread_mutex_lock(&robust); burn(); return unused; }
CASE(robust_mutex, 1, "a thread that ends with a robust mutex") { pthread_mutexattr_t wish; pthread_mutexattr_init(&wish); pthread_mutexattr_setrobust(&wish, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&robust, &wish); pthread_join(start(dies_holding), NULL); say("dead %d", pthread_mutex_lock(&robust) == EOWNERDEAD); say("%d", pthread_mutex_consistent(&robust)); }
CASE(robust_process, 1, "a child that is killed with a robust mutex in shared memory")
{
    pthread_mutex_t *mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t wish;
    pthread_mutexattr_init(&wish);
    pthread_mutexattr_setrobust(&wish, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&wish, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(mutex, &wish);
    pid_t pid = fork();
    if (pid == 0) { pthread_mutex_lock(mutex); burn(); kill(getpid(), SIGKILL); }
    say_end(pid);
    say("dead %d", pthread_mutex_lock(mutex) == EOWNERDEAD);
}
static pthread_barrier_t barrier;
static int rounds;
static void *meets(void *unused) { for (int i = 0; i < 2000; i++) if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) rounds++; return unused; }
CASE(barrier, 1, "2,000 rounds of a barrier of three") { pthread_barrier_init(&barrier, NULL, 3); pthread_t first = start(meets), second = start(meets); meets(NULL); pthread_join(first, NULL); pthread_join(second, NULL); burn(); say("rounds %d", rounds); }
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void *adds(void *unused) { for (int i = 0; i < 100000; i++) { pthread_mutex_lock(&mutex); total++; pthread_mutex_unlock(&mutex); } return unused; }
CASE(contended, 1, "four threads and one mutex") { pthread_t threads[4]; for (int i = 0; i < 4; i++) threads[i] = start(adds); for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL); burn(); say("total %ld", total); }
CASE(cpu_clock, 1, "pthread_getcpuclockid gives what the thread used") { clockid_t clock; struct timespec now; pthread_getcpuclockid(pthread_self(), &clock); burn(); clock_gettime(clock, &now); say("between 39 and 90 ms: %d", now.tv_sec == 0 && now.tv_nsec > 39000000 && now.tv_nsec < 90000000); }
CASE(scheduling, 2, "affinity, SCHED_BATCH, nice and a real-time policy")
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    TELL(sched_setaffinity(0, sizeof set, &set));
    struct sched_param zero = {0}, one = {1};
    TELL(sched_setscheduler(0, SCHED_BATCH, &zero));
    burn();
    TELL(nice(3));
    say("policy %d", sched_setscheduler(0, SCHED_RR, &one) == 0 || errno == EPERM);
    burn();
}
static void *names(void *unused) { char name[16]; pthread_setname_np(pthread_self(), "worker \xc3\xa4"); burn(); pthread_getname_np(pthread_self(), name, sizeof name); say("%s", name); return unused; }
CASE(names_threads, 1, "a thread with a name of its own") { pthread_join(start(names), NULL); }
CASE(out_of_threads, 1, "pthread_create fails because stacks do not fit into the address space")
{
    struct rlimit limit = {256 << 20, 256 << 20};
    TELL(setrlimit(RLIMIT_AS, &limit));
    pthread_attr_t wish;
    pthread_t thread;
    pthread_attr_init(&wish);
    pthread_attr_setstacksize(&wish, 512 << 20);
    say("create %s", strerrorname_np(pthread_create(&thread, &wish, nothing, NULL)));
    burn();
}
