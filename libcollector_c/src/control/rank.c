/* rank.c -- which rank of a parallel job this process is, as its launcher told it */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "control/rank.h"

#include <stddef.h>
#include <stdlib.h>

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
