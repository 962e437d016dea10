/* The second reading of a job whose curves are simulated size by size. */
#ifndef TOOLS_MRC_JOB_SIMULATION_H
#define TOOLS_MRC_JOB_SIMULATION_H

#include "tools/mrc/job.h"

/* After job_run has counted the references: simulates the caches of job->settings.replacement, in
 * as many threads as the job has, and gives their misses to the job's studies. 0 or a negative
 * code. */
int job_simulate(struct mrc_job *job, struct bt_error *error);

#endif
