/*
 * Runs a program an instruction at a time and writes its instruction fetches as a capture: a record
 * for each, the address of the instruction, its size, the thread as the processor, one tick after
 * the one before. Nothing of bustap's own reading of programs is in it, so that its counts check
 * that (step/stepper.h says what is counted how). The program should be static and at low
 * addresses: gcc -static -no-pie.
 *
 * usage: single_step [OPTIONS] PROGRAM [ARGUMENT]...
 *   --output FILE    the capture; without it nothing is written
 *   --raw            just the records, 12 bytes each
 *   --counts FILE    "ADDRESS SIZE COUNT KIND" of each instruction
 *   --totals FILE    "NAME COUNT" of all
 *   --max N          ends the program after N instructions (100 million)
 *
 * Exits as the program does, with 128 and the signal's number if one killed it; with 125 for what
 * goes wrong here, and 124 where single-stepping is not possible.
 */
#include "formats/capture_writer.h"
#include "tests/e2e/step/stepper.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_NOT_POSSIBLE = 124, STATUS_FAILED = 125, STATUS_SIGNAL = 128 };

struct options {
    const char *output;
    const char *counts;
    const char *totals;
    uint64_t max;
    bool raw;
};

/* Where the fetches go. */
struct output {
    int fd; /* -1: nowhere */
    bool raw;
    uint64_t max;
    uint64_t taken;
    struct batch batch;
    uint8_t *bytes;
    struct deflate_encoder *encoder;
    struct capture_writer *writer;
};

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int open_output(struct output *output, const struct options *options, struct bt_error *error)
{
    struct capture_info info = {.board = "ptrace", .bus = "single steps", .file_number = 1};
    *output = (struct output){.fd = -1, .raw = options->raw, .max = options->max};
    if (!options->output)
        return 0;
    output->fd = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output->fd < 0)
        return bt_fail_errno(error, "%s", options->output);
    output->batch.capacity = CAPTURE_BLOCK_RECORDS;
    output->batch.records = malloc(CAPTURE_BLOCK_RECORDS * sizeof(struct record));
    output->bytes = malloc(capture_data_member_bound(CAPTURE_BLOCK_RECORDS));
    if (!output->batch.records || !output->bytes)
        return bt_fail(error, BT_MEMORY, "no memory for records");
    if (output->raw)
        return 0;
    info.started_ns = info.file_started_ns = now_ns();
    bytes_put64(info.id, (uint64_t)info.started_ns);
    bytes_put64(info.id + 8, (uint64_t)getpid());
    output->encoder = deflate_encoder_new(DEFLATE_BEST, -1, error);
    if (output->encoder)
        output->writer = capture_writer_new(output->fd, &info, error);
    return output->writer ? 0 : error->code;
}

static int write_raw(struct output *output, struct bt_error *error)
{
    size_t size = output->batch.count * RECORD_BYTES;
    records_put(output->bytes, output->batch.records, output->batch.count);
    for (size_t at = 0; at < size;) {
        ssize_t written = write(output->fd, output->bytes + at, size - at);
        if (written < 0 && errno != EINTR)
            return bt_fail_errno(error, "writing records");
        at += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

/* Writes the records that are there; record number n is at tick n. */
static int flush_output(struct output *output, struct bt_error *error)
{
    struct batch *batch = &output->batch;
    size_t size;
    int result = 0;
    if (batch->count == 0)
        return 0;
    batch->first_index = output->taken - batch->count;
    batch->first_tick = batch->first_index;
    batch->last_tick = output->taken - 1;
    batch->lost.first_tick = batch->lost.last_tick = batch->first_tick;
    batch->host_time_ns = now_ns();
    if (output->raw)
        result = write_raw(output, error);
    else
        result = capture_put_data_member(output->encoder, batch, output->bytes,
                                         capture_data_member_bound(batch->capacity), &size, error);
    if (result == 0 && !output->raw)
        result = capture_writer_put(output->writer, output->bytes, size, batch, error);
    batch->count = 0;
    return result;
}

static int put_step(void *context, const struct step *step, struct bt_error *error)
{
    struct output *output = context;
    if (output->taken == output->max)
        return bt_fail(error, BT_USAGE, "more than %" PRIu64 " instructions (--max)", output->max);
    output->taken++;
    if (output->fd < 0)
        return 0;
    struct batch *batch = &output->batch;
    batch->records[batch->count++] = (struct record){.address = step->address,
                                                     .type = REQUEST_FETCH,
                                                     .size = step->size,
                                                     .attribute = ATTRIBUTE_WRITE_BACK,
                                                     .processor = step->thread,
                                                     .time = output->taken > 1};
    return batch->count == batch->capacity ? flush_output(output, error) : 0;
}

static int close_output(struct output *output, const struct stepper_totals *steps,
                        struct bt_error *error)
{
    int result = output->fd >= 0 ? flush_output(output, error) : 0;
    if (result != 0 || !output->writer)
        return result;
    struct capture_totals totals = {
        .end = CAPTURE_END_SOURCE,
        .final = true,
        .capture_records = output->taken,
        .last_tick = output->taken > 0 ? output->taken - 1 : 0,
        .source = {.known = true,
                   .seen = steps->instructions + steps->outside,
                   .accepted = steps->instructions,
                   .above_4gib = steps->outside},
        .ended_ns = now_ns(),
    };
    return capture_writer_close(output->writer, &totals, error);
}

static void free_output(struct output *output)
{
    capture_writer_free(output->writer);
    deflate_encoder_free(output->encoder);
    free(output->batch.records);
    free(output->bytes);
    if (output->fd >= 0)
        close(output->fd);
}

static void print_totals(const struct stepper_totals *totals, const struct counts *counts,
                         FILE *file)
{
    fprintf(file, "instructions %" PRIu64 "\naddresses %zu\noutside %" PRIu64 "\n",
            totals->instructions, counts->used, totals->outside);
    fprintf(file, "signals %" PRIu64 "\n", totals->signals);
    for (int kind = 0; kind < CODE_KINDS; kind++)
        fprintf(file, "%s %" PRIu64 "\n", code_kind_name(kind), totals->by_kind[kind]);
    for (unsigned i = 0; i < totals->threads; i++)
        fprintf(file, "thread_%u %" PRIu64 "\n", i, totals->by_thread[i]);
}

/* Writes the texts that were asked for. */
static int print(const struct options *options, const struct stepper_totals *totals,
                 const struct counts *counts, struct bt_error *error)
{
    const char *const paths[] = {options->counts, options->totals};
    for (int i = 0; i < 2; i++) {
        FILE *file = paths[i] ? fopen(paths[i], "we") : NULL;
        if (!paths[i])
            continue;
        if (!file)
            return bt_fail_errno(error, "%s", paths[i]);
        int result = 0;
        if (i == 0)
            result = counts_print(counts, file);
        else
            print_totals(totals, counts, file);
        result |= ferror(file);
        if ((fclose(file) | result) != 0)
            return bt_fail(error, BT_IO, "%s could not be written", paths[i]);
    }
    return 0;
}

static bool parse(int argc, char **argv, struct options *options)
{
    enum { OUTPUT = 1, RAW, COUNTS, TOTALS, MAX };
    static const struct option names[] = {
        {"output", required_argument, NULL, OUTPUT}, {"raw", no_argument, NULL, RAW},
        {"counts", required_argument, NULL, COUNTS}, {"totals", required_argument, NULL, TOTALS},
        {"max", required_argument, NULL, MAX},       {NULL, 0, NULL, 0}};
    int name;
    *options = (struct options){.max = 100000000};
    while ((name = getopt_long(argc, argv, "+", names, NULL)) != -1) {
        if (name == OUTPUT)
            options->output = optarg;
        else if (name == RAW)
            options->raw = true;
        else if (name == COUNTS)
            options->counts = optarg;
        else if (name == TOTALS)
            options->totals = optarg;
        else if (name == MAX)
            options->max = strtoull(optarg, NULL, 0);
        else
            return false;
    }
    return optind < argc;
}

int main(int argc, char **argv)
{
    struct options options;
    struct output output;
    struct counts counts = {.slots = NULL};
    static struct stepper_totals totals;
    struct bt_error error = {.code = 0};
    if (!parse(argc, argv, &options)) {
        fputs("usage: single_step [OPTIONS] PROGRAM [ARGUMENT]...\n", stderr);
        return STATUS_FAILED;
    }
    int result = open_output(&output, &options, &error);
    if (result == 0)
        result = stepper_run(argv + optind, &counts, put_step, &output, &totals, &error);
    if (result == 0)
        result = close_output(&output, &totals, &error);
    if (result == 0)
        result = print(&options, &totals, &counts, &error);
    free_output(&output);
    counts_clear(&counts);
    if (result != 0) {
        fprintf(stderr, "single_step: %s\n", error.message);
        return result == BT_DEVICE ? STATUS_NOT_POSSIBLE : STATUS_FAILED;
    }
    return WIFSIGNALED(totals.status) ? STATUS_SIGNAL + WTERMSIG(totals.status)
                                      : WEXITSTATUS(totals.status);
}
