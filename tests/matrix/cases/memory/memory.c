/* memory.c -- address spaces that are scarce, locked, full of holes, or looked at closely */
#include "matrix.h"
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/shm.h>

static void limit(int what, rlim_t value) { struct rlimit now = {value, value}; TELL(setrlimit(what, &now)); }
PART(image) { burn(); say("image"); }

CASE(limit_as, 2, "RLIMIT_AS just above what it uses, and an exec under it") { burn(); limit(RLIMIT_AS, 64 << 20); TELL(malloc(128 << 20) == NULL); execl("/proc/self/exe", "memory", "image", NULL); }
CASE(limit_as_tight, 1, "RLIMIT_AS below what it has: nothing can be mapped any more") { limit(RLIMIT_AS, 1 << 20); burn(); TELL(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED); }
static void *works(void *unused) { burn(); return unused; }
CASE(limit_as_thread, 2, "a thread under an RLIMIT_AS that has room for its stack and little more") { limit(RLIMIT_AS, 48 << 20); pthread_t thread; say("create %d", pthread_create(&thread, NULL, works, NULL)); pthread_join(thread, NULL); burn(); }
CASE(limit_data, 1, "RLIMIT_DATA 0") { limit(RLIMIT_DATA, 0); burn(); TELL(sbrk(1 << 20) == (void *)-1); }
CASE(limit_data_exec, 1, "RLIMIT_DATA of 1 MiB over exec") { limit(RLIMIT_DATA, 1 << 20); burn(); execl("/proc/self/exe", "memory", "image", NULL); }
CASE(limit_stack, 2, "RLIMIT_STACK of 256 KiB over exec") { limit(RLIMIT_STACK, 256 << 10); burn(); execl("/proc/self/exe", "memory", "image", NULL); }
CASE(limit_stack_unlimited, 2, "RLIMIT_STACK unlimited over exec: the legacy layout of memory") { limit(RLIMIT_STACK, RLIM_INFINITY); burn(); execl("/proc/self/exe", "memory", "image", NULL); }
CASE(limit_memlock, 1, "RLIMIT_MEMLOCK 0 and mlock") { limit(RLIMIT_MEMLOCK, 0); char page[4096]; int result = mlock(page, sizeof page); say("locked or not permitted %d", result == 0 || errno == EPERM || errno == ENOMEM); burn(); }
CASE(limit_nproc, 1, "RLIMIT_NPROC 0 for another user: fork fails") { limit(RLIMIT_NPROC, 0); if (setuid(65534)) exit(77); burn(); pid_t pid = fork(); if (pid == 0) _exit(0); say("fork %d", pid > 0); }
CASE(limit_sigpending, 1, "RLIMIT_SIGPENDING 0") { limit(RLIMIT_SIGPENDING, 0); burn(); signal(SIGUSR1, SIG_IGN); TELL(raise(SIGUSR1)); TELL(sigqueue(getpid(), SIGRTMIN, (union sigval){0})); }
CASE(limit_cpu, 0, "RLIMIT_CPU 1: SIGXCPU comes after a second and not before")
{
    limit(RLIMIT_CPU, 1);
    signal(SIGXCPU, SIG_DFL);
    while (thread_cpu_ns() < 1400000000) spin(100000);
    say("unexpected");
}
CASE(locks_all, 1, "mlockall of what is and what comes") { say("locked %d", mlockall(MCL_CURRENT | MCL_FUTURE) == 0 || errno == ENOMEM || errno == EPERM); burn(); }
CASE(mdwe, 1, "PR_SET_MDWE: no memory becomes executable") { prctl(65, 1, 0, 0, 0); burn(); void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); say("made executable %d", mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0); }
CASE(exhausts_maps, 1, "as many mappings as the system allows")
{
    long count = 0;
    char *room = mmap(NULL, 1L << 32, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    burn();
    while (mprotect(room + count * 8192, 4096, PROT_READ) == 0) count++;
    say("many %d", count > 20000);
    munmap(room, 1L << 32);
}
CASE(holes, 1, "10,000 pages mapped, every other one unmapped, while it works")
{
    char *room = mmap(NULL, 10000 * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < 10000; i += 2) munmap(room + i * 4096, 4096);
    burn();
    say("done");
}
CASE(fixed_everywhere, 1, "MAP_FIXED_NOREPLACE at low, odd and high addresses")
{
    static const uintptr_t places[] = {0x10000, 0x12345000, 0x7000000000, 0x200000000000};
    burn();
    for (int i = 0; i < 4; i++) say("%d", mmap((void *)places[i], 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == (void *)places[i]);
}
CASE(unmaps_own_file, 1, "maps its own program a second time and unmaps it while it works")
{
    int file = open("/proc/self/exe", O_RDONLY);
    for (int i = 0; i < 200; i++) { void *at = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0); munmap(at, 8192); }
    burn();
    say("done");
}
CASE(unmaps_vdso, 0, "unmaps the vdso")
{
    unsigned long start = 0, end = 0;
    char line[256];
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file)) if (strstr(line, "[vdso]")) sscanf(line, "%lx-%lx", &start, &end);
    spin(10000000);
    TELL(munmap((void *)start, end - start));
    spin(40000000);
    write(1, "still here\n", 11);
    _exit(0);
}
CASE(maps_walker, 1, "walks /proc/self/maps: every mapping can be parsed, and no file of it has gone")
{
    char line[4096];
    int gone = 0, wild = 0;
    burn();
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file)) { gone += strstr(line, "(deleted)") != NULL; wild += strstr(line, "rwxp") != NULL; }
    say("deleted %d, writable code %d", gone, wild);
}
CASE(maps_names, 1, "prints the files of /proc/self/maps")
{
    char line[4096];
    FILE *file = fopen("/proc/self/maps", "r");
    burn();
    while (fgets(line, sizeof line, file)) { char *name = strchr(line, '/'); if (name && strstr(line, " r-xp ")) { line[strcspn(line, "\n")] = 0; say("%s", name); } }
}
NATURE(maps_names, stdout, "The library is mapped into the program, and so /proc/self/maps shows it.")
CASE(conservative_scan, 1, "reads every readable byte of itself, as a conservative collector does")
{
    char line[4096];
    unsigned long sum = 0;
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file)) {
        unsigned long start, end;
        char mode[5];
        if (sscanf(line, "%lx-%lx %4s", &start, &end, mode) != 3 || mode[0] != 'r' || strstr(line, "[v") || strchr(line, '/')) continue;
        if (end - start > 64 << 20) continue;
        for (unsigned long at = start; at < end; at += 4096) sum += *(volatile unsigned char *)at;
    }
    burn();
    say("scanned");
}
CASE(dont_fork, 2, "madvise(MADV_DONTFORK) of the program's pages, then fork") { char *room = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); TELL(madvise(room, 65536, MADV_DONTFORK)); pid_t pid = fork(); if (pid == 0) { burn(); _exit(1); } burn(); say_end(pid); }
CASE(dont_fork_all, 2, "MADV_DONTFORK of every shared mapping, then fork")
{
    char line[4096];
    FILE *file = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, file)) {
        unsigned long start, end;
        char mode[5];
        if (sscanf(line, "%lx-%lx %4s", &start, &end, mode) == 3 && mode[3] == 's') madvise((void *)start, end - start, MADV_DONTFORK);
    }
    fclose(file);
    pid_t pid = fork();
    if (pid == 0) { burn(); _exit(1); }
    burn();
    say_end(pid);
}
CASE(wipe_on_fork, 2, "MADV_WIPEONFORK") { char *room = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); room[0] = 9; TELL(madvise(room, 4096, MADV_WIPEONFORK)); pid_t pid = fork(); if (pid == 0) { burn(); _exit(room[0]); } burn(); say_end(pid); }
CASE(userfault, 1, "userfaultfd serves a page from another thread")
{
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (fd < 0) { say("this system has no userfaultfd"); exit(77); }
    struct uffdio_api api = {.api = UFFD_API};
    ioctl(fd, UFFDIO_API, &api);
    char *room = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct uffdio_register area = {{(uintptr_t)room, 4096}, UFFDIO_REGISTER_MODE_MISSING, 0};
    TELL(ioctl(fd, UFFDIO_REGISTER, &area));
    pthread_t thread;
    void *serve(void *unused)
    {
        static char page[4096] __attribute__((aligned(4096)));
        struct uffd_msg message;
        page[0] = 55;
        if (read(fd, &message, sizeof message) > 0) {
            burn();
            struct uffdio_copy copy = {(uintptr_t)room, (uintptr_t)page, 4096, 0, 0};
            ioctl(fd, UFFDIO_COPY, &copy);
        }
        return unused;
    }
    pthread_create(&thread, NULL, serve, NULL);
    say("byte %d", room[0]);
    pthread_join(thread, NULL);
}
static sig_atomic_t volatile faults;
static char *guarded;
static void opens_page(int signo, siginfo_t *info, void *context) { (void)signo, (void)context; faults++; mprotect((void *)((uintptr_t)info->si_addr & ~4095UL), 4096, PROT_READ | PROT_WRITE); }
CASE(guard_pages, 1, "a collector's write barrier: 2,000 faults, each opened by the handler")
{
    struct sigaction action = {.sa_sigaction = opens_page, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGSEGV, &action, NULL);
    guarded = mmap(NULL, 2000 * 4096L, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < 2000; i++) guarded[i * 4096] = 1;
    burn();
    say("faults %d", (int)faults);
}
CASE(grows_stack, 1, "4 MiB of stack are touched from above while samples are taken") { volatile char room[4 << 20]; for (int i = 0; i < (int)sizeof room; i += 512) room[sizeof room - 1 - (size_t)i] = 1; burn(); say("%d", room[0] * 0); }
CASE(huge, 1, "transparent huge pages, mremap and MADV_DONTNEED") { char *room = mmap(NULL, 8 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); madvise(room, 8 << 20, MADV_HUGEPAGE); memset(room, 1, 8 << 20); room = mremap(room, 8 << 20, 16 << 20, MREMAP_MAYMOVE); burn(); TELL(madvise(room, 8 << 20, MADV_DONTNEED)); say("%d", room[0]); }
CASE(shared_memory, 2, "System V and POSIX shared memory with a child")
{
    int id = shmget(IPC_PRIVATE, 4096, 0600);
    volatile int *room = shmat(id, NULL, 0);
    shmctl(id, IPC_RMID, NULL);
    pid_t pid = fork();
    if (pid == 0) { room[0] = 31; burn(); _exit(0); }
    burn();
    say_end(pid);
    say("%d", room[0]);
}
CASE(pkeys, 1, "memory protection keys: all of them taken") { int count = 0; while (syscall(SYS_pkey_alloc, 0, 0) >= 0) count++; say("some or none %d", count <= 15); burn(); }
CASE(break_moves, 1, "sbrk up and down") { burn(); for (int i = 0; i < 100; i++) sbrk(65536); say("%d", sbrk(-100 * 65536) != (void *)-1); }
CASE(malloc_hooks, 1, "mallopt and malloc_trim, 200,000 blocks") { static void *blocks[1000]; for (int i = 0; i < 200000; i++) { free(blocks[i % 1000]); blocks[i % 1000] = malloc((size_t)(i * 7919 % 3000)); } burn(); say("done"); }
