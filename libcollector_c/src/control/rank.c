/* rank.c -- which rank of a parallel job this process is, as its launcher told it */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/rank.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/event.h"

#define MOST_DIGITS 9

/* The nearest launcher first: an mpirun may run below srun. The same are in collector/capture/rank.py. */
static const char *const of_job[] = {"PMIX_RANK",           "OMPI_COMM_WORLD_RANK", "PMI_RANK",    "PMI_ID",
                                     "MV2_COMM_WORLD_RANK", "MPI_RANKID",           "PALS_RANKID", NULL};
static const char *const of_node[] = {"PMIX_LOCAL_RANK",           "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                      "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID",          NULL};

static struct col_rank self = {COL_EVENT_UNKNOWN, COL_EVENT_UNKNOWN};

static uint64_t number_of(const char *name)
{
    const char *text = getenv(name);
    uint64_t number = 0;
    size_t digits = 0;
    for (; text != NULL && text[digits] >= '0' && text[digits] <= '9' && digits < MOST_DIGITS; digits++)
        number = number * 10 + (uint64_t)(text[digits] - '0');
    return digits > 0 && text[digits] == '\0' ? number : COL_EVENT_UNKNOWN;
}

static uint64_t first_of(const char *const *names)
{
    uint64_t number = COL_EVENT_UNKNOWN;
    for (; *names != NULL && number == COL_EVENT_UNKNOWN; names++)
        number = number_of(*names);
    return number;
}

void col_rank_read(void)
{
    /* A SLURM batch script has the variables of rank 0, but is no step of the job. */
    uint64_t slurm = getenv("SLURM_STEP_ID") != NULL ? number_of("SLURM_PROCID") : COL_EVENT_UNKNOWN;
    self.rank = first_of(of_job);
    if (self.rank == COL_EVENT_UNKNOWN)
        self.rank = slurm;
    if (self.rank != COL_EVENT_UNKNOWN)
        self.local_rank = first_of(of_node);
    if (self.local_rank == COL_EVENT_UNKNOWN && slurm != COL_EVENT_UNKNOWN && self.rank == slurm)
        self.local_rank = number_of("SLURM_LOCALID");
}

struct col_rank col_rank(void)
{
    return self;
}

/* The digits at *text as a number, or `otherwise` if there are none. */
static uint64_t take_number(const char **text, uint64_t otherwise)
{
    uint64_t number = 0;
    const char *start = *text;
    for (; **text >= '0' && **text <= '9'; ++*text)
        number = number * 10 + (uint64_t)(**text - '0');
    return *text > start ? number : otherwise;
}

bool col_rank_is_among(const char *ranges)
{
    if (ranges == NULL || self.rank == COL_EVENT_UNKNOWN)
        return true;
    for (const char *text = ranges; *text != '\0' && *text != ',' && *text != ':';
         text += strcspn(text, "+,:"), text += *text == '+') {
        uint64_t first = take_number(&text, 0), last = first, step = 1;
        if (*text == '-') {
            text++;
            last = take_number(&text, UINT64_MAX);
        }
        if (*text == '/') {
            text++;
            step = take_number(&text, 1);
        }
        if (self.rank >= first && self.rank <= last && step > 0 && (self.rank - first) % step == 0)
            return true;
    }
    return false;
}

uint64_t col_rank_number(const char *lists, uint64_t otherwise)
{
    bool is_more = lists != NULL && self.rank != COL_EVENT_UNKNOWN;
    while (is_more) {
        const char *number = lists + strcspn(lists, ":,");
        bool is_ours = *number == ':' && col_rank_is_among(lists);
        number += *number == ':';
        uint64_t value = take_number(&number, otherwise);
        otherwise = is_ours ? value : otherwise;
        is_more = *number == ';';
        lists = number + 1;
    }
    return otherwise;
}
