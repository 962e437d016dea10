/* A job of `bustap mrc`: studies of several line sizes over the same traces. Threads, and in a
 * cluster processes, each process a part of the records. */
#ifndef TOOLS_MRC_JOB_H
#define TOOLS_MRC_JOB_H

#include "tools/common/cluster.h"
#include "tools/input/record_input.h"
#include "tools/mrc/mrc_study.h"

#define JOB_LINES_MAX   16u
#define JOB_THREADS_MAX 256u

struct mrc_job {
    int path_count;
    char **paths;
    struct record_input_settings input; /* the job sets first and count */
    struct cluster *cluster;
    unsigned threads;                   /* 0: as many as are worthwhile */
    struct mrc_study_settings settings; /* of all studies, except for the line size */
    int64_t window_ns; /* length of windows, replaces settings.window; 0: not given */
    uint32_t line_bytes[JOB_LINES_MAX];
    unsigned line_count;
    unsigned points; /* sizes per power of two of simulated caches */

    /* results of job_run */
    struct mrc_study *studies[JOB_LINES_MAX]; /* in process 0: of all records; free with job_free */
    struct mrc_window window;                 /* the window in use */
    uint64_t clock_hz;                        /* of the first trace; 0: unknown */
    bool started;                             /* a trace was read; clock and window are valid */
    int status;                               /* exit status: 1 if a trace was corrupt */
};

/* Runs the job. 0 or a negative code. */
int job_run(struct mrc_job *job, struct bt_error *error);
void job_free(struct mrc_job *job);

#endif
