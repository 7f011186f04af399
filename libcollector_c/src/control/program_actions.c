/* program_actions.c -- the actions that the program set for signals that we handle in its place */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/program_actions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/os.h"
#include "base/sparse.h"

#define CHILDREN 8 /* entries of children of vfork that changed something, at a time */

static struct {
    pid_t pid;
    struct child {
        pid_t pid; /* 0 or negative: free */
        int signo;
        struct sigaction action;
    } children[CHILDREN];
} self;

/* In the order in which we took the signals, so that most processes touch one page of them; the first is that of all others, the default. */
static struct sigaction actions[_NSIG] COL_SPARSE;
static uint8_t places[_NSIG], last_place;

void col_program_actions_adopt(void)
{
    self.pid = col_os_process_id();
    memset(self.children, 0, sizeof self.children);
}

void col_program_actions_take(int signo, const struct sigaction *before)
{
    col_program_actions_adopt();
    if (places[signo] == 0)
        places[signo] = ++last_place;
    actions[places[signo]] = *before;
}

bool col_program_actions_are_own(void)
{
    return col_os_process_id() == self.pid;
}

static struct child *find(pid_t pid, int signo)
{
    for (unsigned i = 0; i < CHILDREN; i++)
        if (__atomic_load_n(&self.children[i].pid, __ATOMIC_ACQUIRE) == pid && self.children[i].signo == signo)
            return &self.children[i];
    return NULL;
}

static struct child *claim(pid_t pid)
{
    for (unsigned i = 0; i < CHILDREN; i++) {
        pid_t before = __atomic_load_n(&self.children[i].pid, __ATOMIC_RELAXED);
        if (before <= 0 &&
            __atomic_compare_exchange_n(&self.children[i].pid, &before, pid, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return &self.children[i];
    }
    return NULL;
}

struct sigaction col_program_actions_get(int signo)
{
    pid_t pid = col_os_process_id();
    struct child *child = pid == self.pid ? NULL : find(pid, signo);
    return child != NULL ? child->action : actions[places[signo]];
}

static void put_for_child(pid_t pid, int signo, const struct sigaction *action)
{
    struct child *child = find(pid, signo);
    bool is_same = action->sa_handler == SIG_DFL &&
                   actions[places[signo]].sa_handler == SIG_DFL; /* many children reset all signals */
    if (child == NULL && !is_same)
        child = claim(pid);
    if (child == NULL)
        return;
    child->action = *action;
    child->signo = signo;
}

void col_program_actions_put(int signo, const struct sigaction *action)
{
    pid_t pid = col_os_process_id();
    if (pid == self.pid)
        actions[places[signo]] = *action;
    else
        put_for_child(pid, signo, action);
}

static void rename_entries(pid_t from, pid_t to)
{
    for (unsigned i = 0; i < CHILDREN; i++) {
        pid_t expected = from;
        __atomic_compare_exchange_n(&self.children[i].pid, &expected, to, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    }
}

void col_program_actions_leave(void)
{
    pid_t pid = col_os_process_id();
    if (pid != self.pid)
        rename_entries(pid, -pid);
}

void col_program_actions_return(void)
{
    pid_t pid = col_os_process_id();
    if (pid != self.pid)
        rename_entries(-pid, pid);
}
