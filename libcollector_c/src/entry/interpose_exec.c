/* interpose_exec.c -- a process changes its program, or begins another one */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "entry/interpose.h"

#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/real.h"
#include "base/safe_read.h"
#include "control/child_environment.h"
#include "control/child_program.h"
#include "control/dispositions.h"
#include "control/session.h"
#include "control/silence.h"
#include "entry/program_memory.h"

#define MOST_STACK (8u << 20)
#define STACK_FOR_THE_REST 8192u /* of what is called meanwhile */

extern void *__libc_stack_end __attribute__((weak)); /* where the main thread's stack begins */

/*
 * Whether so much more of the stack is there. That of a thread ends in a page that cannot be read, below which may lie another's memory; the kernel lets the
 * first one grow. A child of vfork may be on either.
 */
static bool has_stack_for(size_t bytes)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > MOST_STACK)
        limit.rlim_cur = MOST_STACK;
    bool is_first = &__libc_stack_end == NULL || (uintptr_t)__libc_stack_end - here < limit.rlim_cur / 2;
    bool has_page = true;
    for (uintptr_t page = here - bytes - STACK_FOR_THE_REST; !is_first && has_page && page < here;
         page += COL_PAGE_BYTES)
        has_page = col_safe_read_probe(page);
    return has_page;
}

/*
 * The list itself; what is in it is read as the C library would read it. Where nothing of ours is to be passed on it is not asked for: Valgrind reports the question.
 */
static bool is_there(char *const *environment)
{
    char *first;
    return col_child_environment_library() != NULL &&
           (environment == NULL || col_entry_read_program(environment, &first, sizeof first));
}

/*
 * The child's environment, on the caller's stack: a child of vfork runs in its parent's memory and may leave nothing behind. A macro, because what
 * alloca gives ends with the function that called it. An environment too large for a stack is passed on as it is.
 */
#define LARGEST_ENVIRONMENT 16384
#define CHILD_ENVIRONMENT(environment, kind)                                                                           \
    ({                                                                                                                 \
        char *const *given_ = (environment);                                                                           \
        enum col_child_kind kind_ = (kind);                                                                            \
        size_t text_bytes_ = 0, count_ = 0;                                                                            \
        if (is_there(given_))                                                                                          \
            count_ = col_child_environment_measure(given_, kind_, &text_bytes_);                                       \
        if (count_ != 0 && count_ < LARGEST_ENVIRONMENT && text_bytes_ < LARGEST_ENVIRONMENT &&                        \
            has_stack_for(count_ * sizeof(char *) + text_bytes_)) {                                                    \
            char **entries_ = alloca(count_ * sizeof *entries_);                                                       \
            col_child_environment_fill(given_, kind_, entries_, alloca(text_bytes_));                                  \
            given_ = entries_;                                                                                         \
        }                                                                                                              \
        given_;                                                                                                        \
    })

/* What there is to know of a program before it is run. Shells try one directory of their PATH after the other: only what can be run is worth closing a log for. */
struct next {
    const char *path;
    bool can_run;
    const char *obstacle; /* why it cannot be recorded; NULL: it can */
    bool is_anothers;     /* another recording has it */
};

/* Under a filter that forbids our calls nothing is looked at, and the next program gets an environment without us. */
static bool is_mute(void)
{
    return col_silence_withholds() || col_silence_is_on();
}

/* Nothing is looked at where it could not be told. */
static bool is_blind(void)
{
    return is_mute() || col_session_is_terminated();
}

static struct next look_at(int directory, const char *path, int flags)
{
    if (is_blind())
        return (struct next){.path = path, .obstacle = ""};
    bool can_run = path != NULL && faccessat(directory, path, X_OK, flags & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)) == 0;
    const char *obstacle = can_run ? col_child_program_obstacle(directory, path) : NULL;
    return (struct next){.path = path, .can_run = can_run, .obstacle = obstacle};
}

static struct next look_at_name(const char *file)
{
    if (is_blind())
        return (struct next){.path = file, .obstacle = ""};
    bool can_run = file != NULL && (strchr(file, '/') == NULL || faccessat(AT_FDCWD, file, X_OK, 0) == 0);
    const char *obstacle = can_run ? col_child_program_obstacle_of_name(file) : NULL;
    return (struct next){.path = file, .can_run = can_run, .obstacle = obstacle};
}

static bool is_anothers(const struct next *next, char *const *environment)
{
    return next->can_run && next->obstacle == NULL && is_there(environment) &&
           col_child_environment_is_of_another_recording(environment);
}

static void note_unrecorded(pid_t pid, const struct next *next)
{
    const char *reason = next->is_anothers ? "another recording has it" : next->obstacle;
    if (reason != NULL)
        col_session_note_unrecorded(pid, next->path, reason);
}

/* Closes this process's own log, if there is one to close: a vfork child runs in its parent's memory and leaves it alone. */
static bool leave_for(const struct next *next)
{
    if (!next->can_run || !col_session_is_open())
        return false;
    pid_t pid = getpid();
    note_unrecorded(pid, next);
    if (pid != col_session_pid() && !col_session_is_stranger())
        return false;
    col_session_exec_leave(next->path);
    return true;
}

/* The new image inherits what the program believes of its signals. */
static void uncover(bool is_exec)
{
    if (!is_mute())
        col_dispositions_uncover(is_exec);
}

static void cover(void)
{
    if (!is_mute())
        col_dispositions_cover();
}

static int come_back(bool has_left, int result)
{
    int error = errno;
    col_dispositions_cover();
    if (has_left)
        col_session_exec_revive();
    errno = error;
    return result;
}

/* The arguments and what we add to the environment are more than the kernel takes: the program runs without us rather than not at all. */
static bool is_crowded_out(struct next *next, int error, char *const *arguments, char *const *environment)
{
    bool is_so = error == E2BIG && next->can_run && next->path != NULL &&
                 col_child_environment_would_fit(next->path, arguments, environment);
    if (is_so)
        next->obstacle = "its arguments leave no room for the recorder's environment variables";
    return is_so;
}

static enum col_child_kind kind_for(const struct next *next)
{
    return next->obstacle == NULL ? COL_CHILD_RECORDED : COL_CHILD_UNRECORDED;
}

/* `call` runs the program with the environment `ours`. */
#define EXEC_ONCE(next, environment, kind, call)                                                                       \
    ({                                                                                                                 \
        char *const *ours = CHILD_ENVIRONMENT(environment, kind);                                                      \
        (next).is_anothers = is_anothers(&(next), ours);                                                               \
        bool has_left_ = leave_for(&(next));                                                                           \
        uncover(true);                                                                                                 \
        come_back(has_left_, call);                                                                                    \
    })

#define EXEC(next, arguments, environment, call)                                                                       \
    ({                                                                                                                 \
        int result_ = EXEC_ONCE(next, environment, kind_for(&(next)), call);                                           \
        if (is_crowded_out(&(next), errno, arguments, environment))                                                    \
            result_ = EXEC_ONCE(next, environment, COL_CHILD_BARE, call);                                              \
        result_;                                                                                                       \
    })

COL_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
    struct next next = look_at(AT_FDCWD, path, 0);
    return EXEC(next, arguments, environment, COL_REAL(execve)(path, arguments, ours));
}

COL_EXPORT int execv(const char *path, char *const arguments[])
{
    return execve(path, arguments, environ);
}

COL_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
    struct next next = look_at_name(file);
    return EXEC(next, arguments, environment, COL_REAL(execvpe)(file, arguments, ours));
}

COL_EXPORT int execvp(const char *file, char *const arguments[])
{
    return execvpe(file, arguments, environ);
}

COL_EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
    struct next next = look_at(fd, "", AT_EMPTY_PATH);
    return EXEC(next, arguments, environment, COL_REAL(fexecve)(fd, arguments, ours));
}

COL_EXPORT int execveat(int directory, const char *path, char *const arguments[], char *const environment[], int flags)
{
    struct next next = look_at(directory, path, flags);
    return EXEC(next, arguments, environment, COL_REAL(execveat)(directory, path, arguments, ours, flags));
}

/* The list forms: the arguments become an array. */
#define ARGUMENT_ARRAY(arguments, first, list)                                                                         \
    va_list list;                                                                                                      \
    size_t count_ = 1;                                                                                                 \
    va_start(list, first);                                                                                             \
    while (va_arg(list, char *) != NULL)                                                                               \
        count_++;                                                                                                      \
    va_end(list);                                                                                                      \
    char **arguments = alloca((count_ + 1) * sizeof *arguments);                                                       \
    va_start(list, first);                                                                                             \
    arguments[0] = (char *)(uintptr_t)first;                                                                           \
    for (size_t i_ = 1; i_ <= count_; i_++)                                                                            \
    arguments[i_] = va_arg(list, char *)

COL_EXPORT int execl(const char *path, const char *first, ...)
{
    ARGUMENT_ARRAY(arguments, first, list);
    va_end(list);
    return execve(path, arguments, environ);
}

COL_EXPORT int execlp(const char *file, const char *first, ...)
{
    ARGUMENT_ARRAY(arguments, first, list);
    va_end(list);
    return execvpe(file, arguments, environ);
}

COL_EXPORT int execle(const char *path, const char *first, ...)
{
    ARGUMENT_ARRAY(arguments, first, list);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, arguments, environment);
}

/* ---- spawn ---- */

#define SPAWN_ONCE(environment, kind, call)                                                                            \
    ({                                                                                                                 \
        char *const *ours = CHILD_ENVIRONMENT(environment, kind);                                                      \
        uncover(false);                                                                                                \
        int code_ = call;                                                                                              \
        cover();                                                                                                       \
        code_;                                                                                                         \
    })

#define SPAWN(next, child, arguments, environment, call)                                                               \
    ({                                                                                                                 \
        int error_ = SPAWN_ONCE(environment, kind_for(&(next)), call);                                                 \
        if (is_crowded_out(&(next), error_, arguments, environment))                                                   \
            error_ = SPAWN_ONCE(environment, COL_CHILD_BARE, call);                                                    \
        (next).is_anothers = is_anothers(&(next), environment);                                                        \
        if (error_ == 0)                                                                                               \
            note_unrecorded(*(child), &(next));                                                                        \
        error_;                                                                                                        \
    })

COL_EXPORT int posix_spawn(pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
                           char *const environment[restrict])
{
    pid_t own_pid, *child = pid != NULL ? pid : &own_pid;
    struct next next = look_at(AT_FDCWD, path, 0);
    return SPAWN(next, child, arguments, environment,
                 COL_REAL(posix_spawn)(child, path, actions, attributes, arguments, ours));
}

COL_EXPORT int posix_spawnp(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
                            char *const environment[restrict])
{
    pid_t own_pid, *child = pid != NULL ? pid : &own_pid;
    struct next next = look_at_name(file);
    return SPAWN(next, child, arguments, environment,
                 COL_REAL(posix_spawnp)(child, file, actions, attributes, arguments, ours));
}
