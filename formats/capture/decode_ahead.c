#include "formats/capture/decode_ahead.h"

#include "formats/base/grow.h"
#include "formats/base/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Enough that a thread always finds a member while the reader delivers the batches of others. */
#define JOBS_A_THREAD 4u
/* Members that are larger than a writer's default need more memory: fewer are in work then. */
#define RECORDS_A_THREAD (JOBS_A_THREAD * CAPTURE_BLOCK_RECORDS)
/* Handing over takes some microseconds; a thread decompresses 60 records in one. */
#define RECORDS_MIN  2048u
#define WINDOW_BYTES (256u << 10) /* no less than most members have */

enum job_state { JOB_QUEUED, JOB_BUSY, JOB_DONE, JOB_FAILED };

struct job {
    enum job_state state;
    uint64_t offset;
    struct capture_member member;
    uint8_t *bytes;
    size_t bytes_capacity;
    struct record *records;
    size_t records_capacity;
    bool by_blocks; /* instead of records: */
    struct block_executions executions;
};

struct decoding_thread {
    struct decode_ahead *ahead;
    struct record_decoder *decoder;
    pthread_t thread;
};

struct decode_ahead {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool ending;
    bool by_blocks; /* members offered from now on */
    unsigned threads, job_count;
    struct decoding_thread *decoders;
    struct job *jobs;
    struct job **order; /* the first `used` are offered, in order, and neither taken nor forgotten;
                           the others are free, those last used first */
    unsigned used;
    size_t records;   /* of those offered */
    uint64_t offered; /* offset up to which members have been offered */
};

/* The first job not begun; NULL if there is none. Locked. */
static struct job *queued_job(struct decode_ahead *ahead)
{
    for (unsigned i = 0; i < ahead->used; i++)
        if (ahead->order[i]->state == JOB_QUEUED)
            return ahead->order[i];
    return NULL;
}

/* Decompresses a queued job. Locked before and after. */
static void decode(struct decode_ahead *ahead, struct job *job, struct record_decoder *decoder)
{
    job->state = JOB_BUSY;
    pthread_mutex_unlock(&ahead->mutex);
    const int result =
        job->by_blocks
            ? capture_get_executions(decoder, &job->member, job->bytes, &job->executions, NULL)
            : capture_get_records(decoder, &job->member, job->bytes, job->records, NULL);
    pthread_mutex_lock(&ahead->mutex);
    job->state = result == 0 ? JOB_DONE : JOB_FAILED;
    pthread_cond_broadcast(&ahead->changed);
}

static void *run(void *argument)
{
    const struct decoding_thread *thread = argument;
    struct decode_ahead *ahead = thread->ahead;
    thread_set_name("decode");
    pthread_mutex_lock(&ahead->mutex);
    while (!ahead->ending) {
        struct job *job = queued_job(ahead);
        if (job)
            decode(ahead, job, thread->decoder);
        else
            pthread_cond_wait(&ahead->changed, &ahead->mutex);
    }
    pthread_mutex_unlock(&ahead->mutex);
    return NULL;
}

/* Waits until no thread uses the first job, and frees it for reuse. Locked. */
static void drop_first(struct decode_ahead *ahead)
{
    struct job *job = ahead->order[0];
    while (job->state == JOB_BUSY)
        pthread_cond_wait(&ahead->changed, &ahead->mutex);
    ahead->used--;
    ahead->records -= job->member.batch.count;
    memmove(ahead->order, ahead->order + 1, ahead->used * sizeof(struct job *));
    ahead->order[ahead->used] = job;
}

static bool start_thread(struct decode_ahead *ahead, struct decoding_thread *thread)
{
    thread->ahead = ahead;
    thread->decoder = record_decoder_new(NULL);
    if (!thread->decoder)
        return false;
    const bool started = thread_start_without_signals(&thread->thread, run, thread) == 0;
    if (!started)
        record_decoder_free(thread->decoder);
    return started;
}

struct decode_ahead *decode_ahead_new(unsigned threads)
{
    struct decode_ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead)
        return NULL;
    pthread_mutex_init(&ahead->mutex, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    ahead->job_count = JOBS_A_THREAD * threads;
    ahead->jobs = calloc(ahead->job_count, sizeof *ahead->jobs);
    ahead->order = calloc(ahead->job_count, sizeof(struct job *));
    ahead->decoders = calloc(threads, sizeof *ahead->decoders);
    const bool complete = ahead->jobs && ahead->order && ahead->decoders;
    for (unsigned i = 0; complete && i < ahead->job_count; i++)
        ahead->order[i] = &ahead->jobs[i];
    while (complete && ahead->threads < threads &&
           start_thread(ahead, &ahead->decoders[ahead->threads]))
        ahead->threads++;
    if (ahead->threads == 0) {
        decode_ahead_free(ahead);
        return NULL;
    }
    return ahead;
}

void decode_ahead_free(struct decode_ahead *ahead)
{
    if (!ahead)
        return;
    pthread_mutex_lock(&ahead->mutex);
    ahead->ending = true;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    for (unsigned i = 0; i < ahead->threads; i++) {
        pthread_join(ahead->decoders[i].thread, NULL);
        record_decoder_free(ahead->decoders[i].decoder);
    }
    for (unsigned i = 0; ahead->jobs && i < ahead->job_count; i++) {
        free(ahead->jobs[i].bytes);
        free(ahead->jobs[i].records);
        block_executions_free(&ahead->jobs[i].executions);
    }
    free(ahead->jobs);
    free(ahead->order);
    free(ahead->decoders);
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->mutex);
    free(ahead);
}

static bool pays_off(const struct capture_member *member)
{
    return member->kind == CAPTURE_MEMBER_DATA && member->batch.count >= RECORDS_MIN;
}

/* Whether another member of this size may be offered: each thread can have one, and the reader. */
static bool has_room(const struct decode_ahead *ahead, size_t count)
{
    const size_t fair = count > RECORDS_A_THREAD ? count : RECORDS_A_THREAD;
    return ahead->used < ahead->job_count && ahead->records + count <= (ahead->threads + 1) * fair;
}

/* Makes room in a job for a member, compressed and not; as much as readers' batches have, for which
 * the buffer may be exchanged. */
static bool make_room(struct job *job, const struct capture_member *member)
{
    uint8_t *bytes = grow_array(job->bytes, &job->bytes_capacity, member->member_bytes, 1);
    if (bytes)
        job->bytes = bytes;
    if (job->by_blocks)
        return bytes != NULL;
    const size_t room =
        member->batch.count > CAPTURE_BLOCK_RECORDS ? member->batch.count : CAPTURE_BLOCK_RECORDS;
    struct record *records =
        grow_array(job->records, &job->records_capacity, room, sizeof *job->records);
    if (records)
        job->records = records;
    return bytes && records;
}

/* Queues the member at offset, whose bytes are copied. False: no memory. */
static bool add_job(struct decode_ahead *ahead, uint64_t offset,
                    const struct capture_member *member, const uint8_t *bytes)
{
    /* no thread looks at this job before it is in use */
    struct job *job = ahead->order[ahead->used];
    job->by_blocks = ahead->by_blocks && capture_has_executions(member);
    if (!make_room(job, member))
        return false;
    memcpy(job->bytes, bytes, member->member_bytes);
    job->member = *member;
    job->offset = offset;
    pthread_mutex_lock(&ahead->mutex);
    job->state = JOB_QUEUED;
    ahead->used++;
    ahead->records += member->batch.count;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->mutex);
    return true;
}

/* Describes the member that begins `at` bytes ahead; false: it is missing, or incomplete. An error
 * of reading returns when the reader gets there. */
static bool find_member(const struct decode_ahead *ahead, struct trace_input *input, size_t at,
                        struct capture_member *member)
{
    const size_t available = trace_input_available(input);
    if (at >= available ||
        capture_get_member(member, trace_input_bytes(input) + at, available - at, NULL) != 1)
        return false;
    if (member->member_bytes > available - at && has_room(ahead, member->batch.count))
        (void)trace_input_fill_present(input, at + member->member_bytes, NULL);
    return member->member_bytes <= trace_input_available(input) - at;
}

void decode_ahead_offer(struct decode_ahead *ahead, struct trace_input *input, size_t from)
{
    struct capture_member member;
    const uint64_t start = trace_input_offset(input);
    size_t at = ahead->offered > start + from ? (size_t)(ahead->offered - start) : from;
    if (has_room(ahead, RECORDS_MIN))
        (void)trace_input_fill_present(input, ahead->job_count * WINDOW_BYTES, NULL);
    while (find_member(ahead, input, at, &member)) {
        if (pays_off(&member) &&
            (!has_room(ahead, member.batch.count) ||
             !add_job(ahead, start + at, &member, trace_input_bytes(input) + at)))
            break;
        at += member.member_bytes;
    }
    ahead->offered = start + at;
}

void decode_ahead_by_blocks(struct decode_ahead *ahead, bool by_blocks)
{
    ahead->by_blocks = by_blocks;
}

/* Moves what a job has made to the reader. The reader alone uses a finished job. */
static void move(struct job *job, struct batch *batch, struct block_executions *executions)
{
    if (executions) {
        const struct block_executions other = *executions;
        *executions = job->executions;
        job->executions = other;
    } else if (batch->exchangeable && job->records_capacity >= batch->capacity) {
        struct record *const records = batch->records;
        const size_t capacity = batch->exchangeable;
        batch->records = job->records;
        batch->exchangeable = job->records_capacity;
        job->records = records;
        job->records_capacity = capacity;
    } else {
        memcpy(batch->records, job->records, job->member.batch.count * sizeof *batch->records);
    }
}

bool decode_ahead_take(struct decode_ahead *ahead, uint64_t offset, struct record_decoder *decoder,
                       struct batch *batch, struct block_executions *executions)
{
    pthread_mutex_lock(&ahead->mutex);
    while (ahead->used > 0 && ahead->order[0]->offset < offset)
        drop_first(ahead);
    struct job *job = ahead->order[0];
    if (ahead->used == 0 || job->offset != offset) {
        pthread_mutex_unlock(&ahead->mutex);
        return false;
    }
    while (job->state == JOB_BUSY) {
        struct job *other = queued_job(ahead);
        if (other)
            decode(ahead, other, decoder);
        else
            pthread_cond_wait(&ahead->changed, &ahead->mutex);
    }
    const bool done = job->state == JOB_DONE && job->by_blocks == (executions != NULL);
    drop_first(ahead);
    pthread_mutex_unlock(&ahead->mutex);
    if (done)
        move(job, batch, executions);
    return done;
}

void decode_ahead_forget(struct decode_ahead *ahead)
{
    pthread_mutex_lock(&ahead->mutex);
    while (ahead->used > 0)
        drop_first(ahead);
    ahead->offered = 0;
    pthread_mutex_unlock(&ahead->mutex);
}
