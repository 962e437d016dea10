/*
 * Single-steps a program and writes its instruction fetches as a capture: one record for each, with
 * the instruction's address and size, the thread as the processor, and one tick between records. It
 * shares no code with bustap's executor, so that its counts check that (step/stepper.h defines the
 * counts). The program should be static and at low
 * addresses: gcc -static -no-pie.
 *
 * usage: single_step [OPTIONS] PROGRAM [ARGUMENT]...
 *   --output FILE    the capture; without it nothing is written
 *   --raw            just the records, 12 bytes each
 *   --bus SIZE       fetches as on a bus instead of instructions: aligned chunks of SIZE bytes,
 *                    fetched again after each taken jump
 *   --ahead N        with --bus: fetches N more chunks than are needed
 *   --counts FILE    "ADDRESS SIZE COUNT KIND" of each instruction
 *   --totals FILE    "NAME COUNT" of all
 *   --max N          ends the program after N instructions (100 million)
 *
 * Exits as the program does, with 128 and the signal's number if one killed it; with 125 for what
 * goes wrong here, and 124 where single-stepping is not possible.
 */
#include "tests/e2e/step/record_file.h"
#include "tests/e2e/step/stepper.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { STATUS_NOT_POSSIBLE = 124, STATUS_FAILED = 125, STATUS_SIGNAL = 128 };

struct options {
    const char *output;
    const char *counts;
    const char *totals;
    uint64_t max;
    unsigned bus; /* bytes of a chunk; 0: instructions */
    unsigned ahead;
    bool raw;
};

/* State of the output. */
struct steps {
    const struct options *options;
    struct record_file *file; /* NULL: no file */
    uint64_t taken;
    struct {
        uint64_t at;      /* the instruction executed last, */
        uint64_t end;     /* address after the last instruction */
        uint64_t fetched; /* address after the last chunk fetched for it */
    } threads[STEPPER_THREADS];
};

static int put_fetch(struct steps *steps, uint64_t address, unsigned size, uint8_t thread,
                     struct bt_error *error)
{
    return record_file_put(steps->file,
                           (struct record){.address = (uint32_t)address,
                                           .type = REQUEST_FETCH,
                                           .size = (uint8_t)size,
                                           .attribute = ATTRIBUTE_WRITE_BACK,
                                           .processor = thread},
                           error);
}

/* Fetches the missing chunks of an instruction. */
static int put_chunks(struct steps *steps, const struct step *step, struct bt_error *error)
{
    unsigned bus = steps->options->bus;
    uint64_t end = (uint64_t)step->address + step->size;
    uint64_t wanted = end + (uint64_t)steps->options->ahead * bus;
    bool repeats = steps->threads[step->thread].at == step->address;
    if (!repeats && steps->threads[step->thread].end != step->address)
        steps->threads[step->thread].fetched = step->address / bus * bus;
    steps->threads[step->thread].at = step->address;
    steps->threads[step->thread].end = end;
    while (steps->threads[step->thread].fetched < wanted) {
        uint64_t chunk = steps->threads[step->thread].fetched;
        int result = chunk <= UINT32_MAX ? put_fetch(steps, chunk, bus, step->thread, error) : 0;
        if (result != 0)
            return result;
        steps->threads[step->thread].fetched += bus;
    }
    return 0;
}

static int put_step(void *context, const struct step *step, struct bt_error *error)
{
    struct steps *steps = context;
    if (steps->taken == steps->options->max)
        return bt_fail(error, BT_USAGE, "more than %" PRIu64 " instructions (--max)", steps->taken);
    steps->taken++;
    if (!steps->file)
        return 0;
    if (steps->options->bus != 0)
        return put_chunks(steps, step, error);
    return put_fetch(steps, step->address, step->size, step->thread, error);
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

/* Writes the requested texts. */
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
    enum { OUTPUT = 1, RAW, BUS, AHEAD, COUNTS, TOTALS, MAX };
    static const struct option names[] = {
        {"output", required_argument, NULL, OUTPUT}, {"raw", no_argument, NULL, RAW},
        {"bus", required_argument, NULL, BUS},       {"ahead", required_argument, NULL, AHEAD},
        {"counts", required_argument, NULL, COUNTS}, {"totals", required_argument, NULL, TOTALS},
        {"max", required_argument, NULL, MAX},       {NULL, 0, NULL, 0}};
    int name;
    *options = (struct options){.max = 100000000};
    while ((name = getopt_long(argc, argv, "+", names, NULL)) != -1) {
        if (name == OUTPUT)
            options->output = optarg;
        else if (name == RAW)
            options->raw = true;
        else if (name == BUS)
            options->bus = (unsigned)strtoul(optarg, NULL, 0);
        else if (name == AHEAD)
            options->ahead = (unsigned)strtoul(optarg, NULL, 0);
        else if (name == COUNTS)
            options->counts = optarg;
        else if (name == TOTALS)
            options->totals = optarg;
        else if (name == MAX)
            options->max = strtoull(optarg, NULL, 0);
        else
            return false;
    }
    return optind < argc && options->bus <= UINT8_MAX;
}

static int run(const struct options *options, char **arguments, struct stepper_totals *totals,
               struct bt_error *error)
{
    static struct steps steps;
    struct counts counts = {.slots = NULL};
    steps.options = options;
    if (options->output)
        steps.file = record_file_new(options->output, options->raw, error);
    int result = options->output && !steps.file ? error->code : 0;
    if (result == 0)
        result = stepper_run(arguments, &counts, put_step, &steps, totals, error);
    if (result == 0 && steps.file)
        result = record_file_close(steps.file, totals->outside, error);
    if (result == 0)
        result = print(options, totals, &counts, error);
    record_file_free(steps.file);
    counts_clear(&counts);
    return result;
}

int main(int argc, char **argv)
{
    static struct stepper_totals totals;
    struct options options;
    struct bt_error error = {.code = 0};
    if (!parse(argc, argv, &options)) {
        fputs("usage: single_step [OPTIONS] PROGRAM [ARGUMENT]...\n", stderr);
        return STATUS_FAILED;
    }
    int result = run(&options, argv + optind, &totals, &error);
    if (result != 0) {
        fprintf(stderr, "single_step: %s\n", error.message);
        return result == BT_DEVICE ? STATUS_NOT_POSSIBLE : STATUS_FAILED;
    }
    return WIFSIGNALED(totals.status) ? STATUS_SIGNAL + WTERMSIG(totals.status)
                                      : WEXITSTATUS(totals.status);
}
