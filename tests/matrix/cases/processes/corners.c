/* corners.c -- processes that are made from narrow places, and fail to become others */
#include "matrix.h"
#include <grp.h>
#include <sched.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/ipc.h>
#include <sys/random.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <dlfcn.h>

extern char **environ;

/* ---- exec fails, late, beside threads that work ---- */

static volatile bool is_over;
static void *work_on(void *unused)
{
    (void)unused;
    long *blocks[16] = {0};
    for (int i = 0; !is_over; i++) {
        free(blocks[i % 16]);
        blocks[i % 16] = malloc(64 + i % 1000);
        spin(2000);
    }
    return NULL;
}

static void write_program(const char *path, const char *text)
{
    int file = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0755);
    if (write(file, text, strlen(text)) < 0)
        _exit(98);
    close(file);
}

CASE(exec_fails_beside_threads, 0, "60 execs that the kernel refuses late, from a thread that is not the first, while two others work")
{
    pthread_t threads[2];
    char *const arguments[] = {"x", NULL};
    write_program("empty", "no program at all\n");
    write_program("lost", "#!/nowhere/interpreter\n");
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work_on, NULL);
    int errors[200] = {0};
    for (int i = 0; i < 30; i++) {
        execve("./empty", arguments, environ);
        errors[errno]++;
        execve("./lost", arguments, environ);
        errors[errno]++;
        spin(300000);
    }
    is_over = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    say("ENOEXEC %d ENOENT %d", errors[ENOEXEC], errors[ENOENT]);
    unlink("empty");
    unlink("lost");
}

/* ---- programs are run on small stacks ---- */

#define SMALL 16384
static unsigned char around[3 * SMALL] __attribute__((aligned(4096)));
static ucontext_t back, small;
static char *many[1400];

static void fill_many(unsigned count)
{
    static char texts[1400][16];
    for (unsigned i = 0; i < count; i++) {
        sprintf(texts[i], "V%u=%u", i, i);
        many[i] = texts[i];
    }
    many[count] = NULL;
}

static void tell_around(void)
{
    int changed = 0;
    for (int i = 0; i < SMALL; i++)
        changed += around[i] != 0xa5;
    say("%s", changed ? "memory below the stack was changed" : "memory below the stack is as it was");
}

static void spawn_small(void)
{
    pid_t pid;
    char *const arguments[] = {"sh", "-c", "echo $V7 $V1099", NULL};
    int error = posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, many);
    say_end(pid);
    say("spawn: %d", error);
    error = posix_spawnp(&pid, "sh", NULL, NULL, arguments, many);
    say_end(pid);
    say("spawnp: %d", error);
    swapcontext(&small, &back);
}

CASE(spawns_on_coroutine, 1, "a coroutine on 16 KiB of the heap runs programs with 1,100 variables; the memory below its stack stays")
{
    fill_many(1100);
    memset(around, 0xa5, sizeof around);
    getcontext(&small);
    small.uc_stack.ss_sp = around + SMALL;
    small.uc_stack.ss_size = SMALL;
    makecontext(&small, spawn_small, 0);
    swapcontext(&back, &small);
    tell_around();
    burn();
}

static int exec_small(void *unused)
{
    char *const arguments[] = {"sh", "-c", "echo $V7 $V299", NULL};
    execvpe("sh", arguments, many);
    _exit(9);
}

CASE(clones_small_stack, 1, "children that share memory (clone with CLONE_VM and CLONE_VFORK) run programs from 8 KiB of stack; the memory below stays")
{
    fill_many(300);
    memset(around, 0xa5, sizeof around);
    for (int i = 0; i < 3; i++)
        say_end(clone(exec_small, around + SMALL + 8192, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL));
    tell_around();
    burn();
}

PART(count_variables)
{
    int count = 0;
    for (char **entry = environ; *entry != NULL; entry++)
        count += strncmp(*entry, "V", 1) == 0;
    say("%d variables", count);
    burn();
}

CASE(huge_environment, 1, "execve with 30,000 variables")
{
    static char texts[30000][16];
    static char *all[30001];
    for (int i = 0; i < 30000; i++) {
        sprintf(texts[i], "V%d=%d", i, i);
        all[i] = texts[i];
    }
    char *const words[] = {"x", "count_variables", NULL};
    execve("/proc/self/exe", words, all);
}

CASE(odd_environment, 1, "execve with variables that are empty, without a sign, twice, or of LD_PRELOAD twice")
{
    char *const all[] = {"", "=", "NOSIGN", "V1=1", "V1=2", "LD_PRELOAD=", "LD_PRELOAD=/nowhere.so", "V2", "=V3", NULL};
    char *const words[] = {"x", "count_variables", NULL};
    execve("/proc/self/exe", words, all);
}

/* ---- another root that has the C library, but not the recorder ---- */

CASE(chroots_and_runs, 1, "chroot into a root of its own with a shell and the C library, and runs that: by fork, vfork and posix_spawn")
{
    mkdir("root", 0755);
    if (unshare(CLONE_NEWNS) != 0) {
        puts("no namespaces here");
        fflush(stdout);
        _exit(77);
    }
    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    const char *names[] = {"bin", "lib", "lib64", "usr"};
    mount("none", "root", "tmpfs", 0, NULL);
    for (int i = 0; i < 4; i++) {
        char from[20], to[20];
        sprintf(from, "/%s", names[i]);
        sprintf(to, "root/%s", names[i]);
        mkdir(to, 0755);
        mount(from, to, NULL, MS_BIND | MS_REC, NULL);
    }
    pid_t pid = fork();
    if (pid == 0) {
        if (chroot("root") != 0 || chdir("/") != 0)
            _exit(8);
        say("%d", system("echo by system; ls -d /usr"));
        pid_t other = vfork();
        if (other == 0) {
            execl("/bin/sh", "sh", "-c", "echo by vfork", NULL);
            _exit(9);
        }
        say_end(other);
        char *const words[] = {"sh", "-c", "echo by spawn; /bin/echo and a child", NULL};
        posix_spawn(&other, "/bin/sh", NULL, NULL, words, environ);
        say_end(other);
        FILE *stream = popen("/bin/echo by popen", "r");
        char line[80] = "";
        fgets(line, sizeof line, stream);
        say("%s%d", line, pclose(stream));
        _exit(0);
    }
    say_end(pid);
    pid = vfork();
    if (pid == 0) {
        if (chroot("root") != 0)
            _exit(8);
        execl("/bin/sh", "sh", "-c", "echo from outside; ls -d /usr", NULL);
        _exit(9);
    }
    say_end(pid);
    umount2("root", MNT_DETACH);
    rmdir("root");
    burn();
}

/* ---- transfers ---- */

static void *drain(void *file)
{
    static char space[65536];
    long sum = 0;
    for (ssize_t got; (got = read((int)(intptr_t)file, space, sizeof space)) > 0;) {
        sum += got;
        spin(20000);
    }
    return (void *)sum;
}

CASE(whole_transfers, 0, "writes of 1 MiB into a pipe and a socket, sendfile, splice, getrandom and copy_file_range by a thread that works: none is short, none is interrupted")
{
    static char space[1 << 20];
    int ends[2], shorts = 0, errors = 0;
    pthread_t thread;
    for (int round = 0; round < 2; round++) {
        if (round ? socketpair(AF_UNIX, SOCK_STREAM, 0, ends) : (pipe(ends), 0))
            return;
        if (round) { int swap = ends[0]; ends[0] = ends[1]; ends[1] = swap; }
        pthread_create(&thread, NULL, drain, (void *)(intptr_t)ends[0]);
        for (int i = 0; i < 40; i++) {
            spin(300000);
            ssize_t got = write(ends[1], space, sizeof space);
            errors += got < 0;
            shorts += got >= 0 && got != sizeof space;
        }
        close(ends[1]);
        void *sum;
        pthread_join(thread, &sum);
        say("%ld bytes", (long)sum);
        close(ends[0]);
    }
    for (int i = 0; i < 10; i++) {
        ssize_t got = getrandom(space, sizeof space, 0);
        errors += got < 0;
        shorts += got >= 0 && got != sizeof space;
    }
    int from = open("from", O_CREAT | O_RDWR, 0600), to = open("to", O_CREAT | O_RDWR, 0600);
    for (int i = 0; i < 32; i++)
        if (write(from, space, sizeof space) != sizeof space)
            shorts++;
    for (int i = 0; i < 8; i++) {
        off_t offset = 0;
        lseek(to, 0, SEEK_SET);
        ssize_t got = sendfile(to, from, &offset, 32 << 20);
        errors += got < 0;
        shorts += got >= 0 && got != 32 << 20;
        lseek(from, 0, SEEK_SET), lseek(to, 0, SEEK_SET);
        got = copy_file_range(from, NULL, to, NULL, 32 << 20, 0);
        errors += got < 0;
        shorts += got >= 0 && got != 32 << 20;
        lseek(from, 0, SEEK_SET);
        got = read(from, malloc(32 << 20), 32 << 20);
        shorts += got != 32 << 20;
    }
    unlink("from"), unlink("to");
    say("short %d, interrupted %d", shorts, errors);
}

static int queue;
static void *answer_all(void *unused)
{
    struct { long type; char text[100]; } message;
    for (int i = 0; i < 2000; i++) {
        if (msgrcv(queue, &message, 100, 1, 0) < 0)
            say("msgrcv: %s", strerrorname_np(errno));
        spin(10000);
        message.type = 2;
        if (msgsnd(queue, &message, 100, 0) < 0)
            say("msgsnd: %s", strerrorname_np(errno));
    }
    return NULL;
}

CASE(old_messages, 0, "2,000 round trips over a System V message queue by threads that work, and 2,000 over semaphores: none is interrupted")
{
    queue = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
    pthread_t thread;
    pthread_create(&thread, NULL, answer_all, NULL);
    struct { long type; char text[100]; } message = {1, ""};
    int bad = 0;
    for (int i = 0; i < 2000; i++) {
        message.type = 1;
        bad += msgsnd(queue, &message, 100, 0) < 0;
        spin(10000);
        bad += msgrcv(queue, &message, 100, 2, 0) < 0;
    }
    pthread_join(thread, NULL);
    msgctl(queue, IPC_RMID, NULL);
    int semaphore = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
    struct timespec time = {0, 300000};
    for (int i = 0; i < 300; i++) {
        spin(100000);
        struct sembuf down = {0, -1, 0};
        int got = semtimedop(semaphore, &down, 1, &time);
        bad += got == 0 || errno != EAGAIN;
    }
    semctl(semaphore, 0, IPC_RMID);
    say("bad %d", bad);
}

/* ---- cancellation ---- */

static void *in_system(void *unused) { (void)unused; return (void *)(long)system("sleep 1"); }
static void *in_suspend(void *unused) { sigset_t none; sigemptyset(&none); sigsuspend(&none); return unused; }
static void *in_wait(void *unused) { sigset_t one; int got; sigemptyset(&one); sigaddset(&one, SIGTRAP); sigwait(&one, &got); return unused; }
static void *in_select(void *unused) { sigset_t none; sigemptyset(&none); pselect(0, NULL, NULL, NULL, NULL, &none); return unused; }
static void *in_work(void *unused) { pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL); for (;;) spin(1000); return unused; }

CASE(cancelled_everywhere, 1, "threads are cancelled in system, sigsuspend, sigwait, pselect and amid their work; the mask and children are as they were")
{
    void *(*bodies[])(void *) = {in_suspend, in_wait, in_select, in_work, in_system};
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        void *result;
        pthread_create(&thread, NULL, bodies[i], NULL);
        usleep(100000);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        say("%d: %s", i, result == PTHREAD_CANCELED ? "cancelled" : "ended");
    }
    TELL(waitpid(-1, NULL, WNOHANG | __WALL));
    TELL(waitpid(-1, NULL, __WCLONE));
    burn();
}

/* ---- limits of nothing ---- */

PART(limited)
{
    say("begun");
    spin(3000000);
    pid_t pid = fork();
    if (pid == 0)
        _exit(3);
    say(pid > 0 ? "forked" : "not forked");
    if (pid > 0)
        say_end(pid);
}

static void limit_and_exec(int which, rlim_t value)
{
    char *const words[] = {"x", "limited", NULL};
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit limit = {value, value};
        TELL(setrlimit(which, &limit));
        execv("/proc/self/exe", words);
        say("exec: %s", strerrorname_np(errno));
        _exit(9);
    }
    say_end(pid);
}

CASE(limits_of_nothing, 0, "programs run with limits of nothing, each in turn, and tiny ones")
{
    int kinds[] = {RLIMIT_CORE, RLIMIT_MEMLOCK, RLIMIT_MSGQUEUE, RLIMIT_NICE, RLIMIT_RTPRIO, RLIMIT_SIGPENDING, RLIMIT_LOCKS, RLIMIT_RSS, RLIMIT_FSIZE};
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        say("kind %d", kinds[i]);
        limit_and_exec(kinds[i], 0);
    }
    say("stack");
    limit_and_exec(RLIMIT_STACK, 64 << 10);
    limit_and_exec(RLIMIT_STACK, 32 << 10);
    limit_and_exec(RLIMIT_STACK, 20 << 10);
    say("files");
    for (int i = 4; i < 8; i++)
        limit_and_exec(RLIMIT_NOFILE, i);
    say("time");
    limit_and_exec(RLIMIT_CPU, 1);
}

CASE(limited_from_outside, 2, "its parent limits a child that works: descriptors, address space, file size and pending signals of nothing")
{
    int ends[2], back[2];
    char word = 'x';
    pipe(ends);
    pipe(back);
    pid_t pid = fork();
    if (pid == 0) {
        write(back[1], &word, 1);
        burn();
        read(ends[0], &word, 1);
        burn();
        pthread_t thread;
        say("thread: %d", pthread_create(&thread, NULL, work_on, NULL));
        say("open: %d", open("/dev/null", O_RDONLY));
        pid = fork();
        if (pid == 0)
            _exit(4);
        say_end(pid);
        _exit(7);
    }
    read(back[0], &word, 1);
    int kinds[] = {RLIMIT_NOFILE, RLIMIT_AS, RLIMIT_FSIZE, RLIMIT_SIGPENDING};
    struct rlimit nothing = {0, 0};
    for (int i = 0; i < 4; i++)
        TELL(prlimit(pid, kinds[i], &nothing, NULL));
    write(ends[1], &word, 1);
    say_end(pid);
}
