/*
 * How fast `b2a FILE >/dev/null` is, against the classic way: one fread and three fprintf calls a
 * record. Both read the same file of records from memory-backed storage where there is some.
 *
 * usage: bench_b2a [MILLION_RECORDS]     (8); BUILD is the folder of the programs
 */
#define _DEFAULT_SOURCE /* wait4: the time the program took of the processor */

#include "formats/record/record.h"
#include "tests/support/folder.h"
#include "tests/support/random.h"
#include "tests/support/records.h"
#include "tests/support/yardstick.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PIECE 65536u
#define RUNS  5

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A file of records such as a bus makes. */
static int write_trace(const char *path, size_t count)
{
    static struct record records[PIECE];
    uint64_t random = random_seed(1);
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    for (size_t done = 0; done < count; done += PIECE) {
        size_t piece = count - done < PIECE ? count - done : PIECE;
        records_fill_like_a_bus(records, piece, &random);
        fwrite(records, sizeof *records, piece, file);
    }
    return fclose(file);
}

/* The program, start and end included; seconds, or -1. *processor: what it used of the processor.
 */
static double program(const char *b2a, const char *path, double *processor)
{
    double started = now();
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execl(b2a, "b2a", path, (char *)NULL);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0)
        return -1;
    *processor = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                 (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    return now() - started;
}

/* The best of some runs of each, taken in turns so that a busy machine hurts both. */
static int compare(const char *b2a, const char *path, double records)
{
    double slow = 1e9;
    double fast = 1e9;
    double used = 0;
    for (int run = 0; run < RUNS; run++) {
        double processor = 0;
        double seconds = run < 3 ? yardstick_b2a_seconds(path) : slow;
        if (seconds < 0)
            return -1;
        slow = seconds < slow ? seconds : slow;
        seconds = program(b2a, path, &processor);
        if (seconds < 0)
            return -1;
        if (seconds < fast) {
            fast = seconds;
            used = processor;
        }
    }
    printf("b2a: %.0f million records from a file to /dev/null, the best of some runs\n",
           records / 1e6);
    printf("  fread and fprintf   %8.2f million records/s\n", records / slow / 1e6);
    printf("  b2a                 %8.2f million records/s, %.2f processors\n", records / fast / 1e6,
           used / fast);
    printf("  b2a is %.1f times as fast\n", slow / fast);
    return 0;
}

int main(int argc, char **argv)
{
    char folder[FOLDER_PATH_BYTES];
    char path[FOLDER_PATH_BYTES + 16];
    char b2a[4096];
    const char *build = getenv("BUILD");
    size_t count = (argc > 1 ? strtoul(argv[1], NULL, 10) : 8) * 1000000;
    snprintf(b2a, sizeof b2a, "%s/b2a", build ? build : "build");
    folder_make(folder);
    snprintf(path, sizeof path, "%s/trace.byu", folder);
    int result = count > 0 ? write_trace(path, count) : -1;
    if (result == 0)
        result = compare(b2a, path, (double)count);
    if (result != 0)
        fprintf(stderr, "bench_b2a: could not run %s\n", b2a);
    folder_remove(folder);
    return result == 0 ? 0 : 3;
}
