/* A whole job of bustap mrc: studies of several line sizes over the same traces, by threads and, in
 * a cluster, by processes, each of which works on its part of the records. */
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
    struct record_input_settings input; /* first and count are the job's to set */
    struct cluster *cluster;
    unsigned threads;                   /* 0: as many as pay */
    struct mrc_study_settings settings; /* of all studies but for their lines' size */
    int64_t window_ns; /* windows of so long, in place of settings.window; 0: not */
    uint32_t line_bytes[JOB_LINES_MAX];
    unsigned line_count;

    /* filled in by job_run */
    struct mrc_study
        *studies[JOB_LINES_MAX]; /* process 0's: of the whole; free them with job_free */
    struct mrc_window window;    /* as it was used */
    uint64_t clock_hz;           /* of the first trace; 0: not known */
    bool started;                /* there is a trace that these two are of */
    int status;                  /* exit status: 1 where a trace was damaged */
};

/* Does it. 0 or a negative code. */
int job_run(struct mrc_job *job, struct bt_error *error);
void job_free(struct mrc_job *job);

#endif
