/* namespaces.c -- other users, roots and namespaces; for root only */
#include "matrix.h"
#include <sched.h>
#include <sys/mount.h>

static void need_root(void) { if (geteuid()) { say("this system does not let this user do it"); exit(77); } }
static void forks(void) { pid_t pid = fork(); if (pid == 0) { burn(); _exit(1); } burn(); say_end(pid); }

CASE(user_namespace, 2, "unshare(CLONE_NEWUSER): only a program of one thread may") { TELL(unshare(CLONE_NEWUSER)); forks(); }
CASE(all_namespaces, 2, "unshare of user, mount, net, ipc and uts") { TELL(unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS)); forks(); }
CASE(pid_namespace, 2, "unshare(CLONE_NEWPID): the child is process 1") { need_root(); TELL(unshare(CLONE_NEWPID)); pid_t pid = fork(); if (pid == 0) { burn(); say("I am %d", getpid()); _exit(1); } burn(); say_end(pid); }
CASE(pid_namespace_tree, 3, "three children in a new pid namespace, which ends with its first")
{
    need_root();
    TELL(unshare(CLONE_NEWPID));
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 2; i++) { pid_t child = fork(); if (child == 0) { burn(); _exit(1); } say("%d", child); }
        while (wait(NULL) > 0) {}
        _exit(2);
    }
    burn();
    say_end(pid);
}
CASE(rejoins, 1, "setns into its own namespaces") { need_root(); burn(); TELL(setns(open("/proc/self/ns/uts", O_RDONLY), 0)); TELL(setns(open("/proc/self/ns/mnt", O_RDONLY), 0)); }
CASE(chroots, 2, "chroot into an empty directory and fork") { need_root(); mkdir("root", 0755); TELL(chroot("root")); TELL(chdir("/")); forks(); }
CASE(pivots, 2, "pivot_root into a new mount and fork")
{
    need_root();
    TELL(unshare(CLONE_NEWNS));
    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    mkdir("root", 0755);
    TELL(mount("none", "root", "tmpfs", 0, NULL));
    TELL(chdir("root"));
    TELL(syscall(SYS_pivot_root, ".", "."));
    TELL(umount2(".", MNT_DETACH));
    forks();
}
static void become_nobody(void) { need_root(); TELL(setgid(65534)); TELL(setuid(65534)); }
CASE(drops_user, 2, "setuid to nobody and fork") { become_nobody(); forks(); }
CASE(drops_user_exec, 2, "setuid to nobody and exec") { become_nobody(); burn(); execl("/proc/self/exe", "namespaces", "image", NULL); }
PART(image) { burn(); say("user %d", (int)geteuid()); }
static void *works(void *unused) { burn(); return unused; }
CASE(drops_user_threads, 3, "setuid with two threads: glibc changes them all") { need_root(); pthread_t threads[2]; for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, works, NULL); TELL(setuid(65534)); burn(); for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL); say("user %d", (int)getuid()); }
CASE(effective_user, 3, "seteuid back and forth") { need_root(); TELL(seteuid(65534)); burn(); TELL(seteuid(0)); forks(); }
