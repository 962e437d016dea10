/*
 * Cutting and merging, on any bytes. The first three bytes choose a part and the place where the
 * first capture ends and the second one begins. What is made of captures without contradictions is
 * verified, cut again without a change, and merged with itself.
 */
#define _GNU_SOURCE /* memfd_create */
#include "formats/base/bytes.h"
#include "formats/base/crc32c.h"
#include "tests/support/files.h"
#include "tools/cut/cut.h"
#include "tools/cut/merge.h"
#include "tools/input/trace_set.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAD         3u
#define MEMBER_START 16u /* bytes before the payload of a member */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A new file in memory, with its path. */
struct output {
    int file;
    char path[64];
};

static struct output new_output(void)
{
    struct output output = {.file = memfd_create("bustap-fuzz", MFD_CLOEXEC)};
    if (output.file < 0)
        abort();
    snprintf(output.path, sizeof output.path, "/proc/self/fd/%d", output.file);
    return output;
}

static void require(bool condition, const char *what)
{
    if (condition)
        return;
    printf("fuzz_cut: %s\n", what);
    fflush(stdout);
    abort();
}

/* Whether a file contradicts itself, or lacks requests that it does not count as lost. */
static bool contradicts(const char *path, char *why, size_t size)
{
    char *paths[] = {(char *)(uintptr_t)path};
    const struct input_trace_settings settings = {.byu_only = true};
    struct input_paths input;
    struct input_report report;
    struct trace_set set;
    struct bt_error error;
    bool found = false;
    input_paths_take(&input, 1, paths);
    input_report_begin(&report, true);
    if (trace_set_read(&set, &input, &settings, &report, NULL, &error) < 0)
        abort();
    for (size_t i = 0; i < set.count && !found; i++) {
        const struct trace_file *file = &set.files[i];
        found = file->contradictions > 0 || file->missing > 0 || file->misplaced > 0;
        snprintf(why, size, "%s", found ? file->contradiction : "");
    }
    trace_set_free(&set);
    input_report_end(&report);
    return found;
}

static struct record_input_settings get_settings(const uint8_t *data)
{
    static const char *const times[] = {"20ticks..", "..300ticks", "40ticks..2000ticks"};
    static const char *const filters[] = {"type=FETCH", "processor=1 or size=4", "not index<7"};
    struct record_input_settings settings = {.count = UINT64_MAX};
    if (data[0] & 1)
        settings.first = data[0] >> 4;
    if (data[0] & 2)
        settings.count = 1 + (data[0] >> 3);
    if ((data[0] & 4) && time_range_parse(&settings.time, times[(data[0] >> 3) % 3], NULL) < 0)
        abort();
    if (data[0] & 8)
        settings.filter = filters[(data[0] >> 4) % 3];
    return settings;
}

static bool cut(const char *path, const struct record_input_settings *input, struct output *output)
{
    struct input_report report;
    struct derived_counts counts;
    struct bt_error error;
    const struct cut_settings settings = {.input = *input, .report = &report};
    char *paths[] = {(char *)(uintptr_t)path};
    *output = new_output();
    input_report_begin(&report, true);
    const int result = cut_run(&counts, output->file, "out", 1, paths, &settings, &error);
    input_report_end(&report);
    return result == 0;
}

static bool merge(const char *first, const char *second, struct output *output)
{
    struct input_report report;
    struct derived_counts counts;
    struct bt_error error;
    char *paths[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second};
    struct merge_file_offset offsets[2];
    for (int i = 0; i < 2; i++)
        offsets[i] = (struct merge_file_offset){
            paths[i], strlen(paths[i]), {.given = true, .is_ticks = true}};
    const struct merge_settings settings = {
        .offsets = offsets, .offset_count = 2, .clock_hz = 1000, .report = &report};
    *output = new_output();
    input_report_begin(&report, true);
    const int result = merge_run(&counts, output->file, "out", 2, paths, &settings, &error);
    input_report_end(&report);
    return result == 0;
}

static void check(const struct output *output, const char *what)
{
    char why[256];
    const bool found = contradicts(output->path, why, sizeof why);
    if (found)
        printf("fuzz_cut: %s: %s\n", what, why);
    require(!found, "the output contradicts itself");
}

/* Cutting all of a file that was cut changes nothing. */
static void check_again(const struct output *output)
{
    const struct record_input_settings whole = {.count = UINT64_MAX};
    struct output again;
    struct output merged;
    require(cut(output->path, &whole, &again), "the output is not cut again");
    const off_t size = lseek(output->file, 0, SEEK_END);
    require(size == lseek(again.file, 0, SEEK_END), "another size after a second cut");
    close(again.file);
    if (merge(output->path, output->path, &merged))
        check(&merged, "merged with itself");
    close(merged.file);
}

static void run(const uint8_t *data, const char *first, const char *second)
{
    const struct record_input_settings settings = get_settings(data);
    char why[256];
    struct output part, merged;
    const bool sound = !contradicts(first, why, sizeof why);
    if (cut(first, &settings, &part) && sound) {
        check(&part, "cut");
        check_again(&part);
    }
    if (merge(first, second, &merged) && sound && !contradicts(second, why, sizeof why))
        check(&merged, "merge");
    close(part.file);
    close(merged.file);
}

/* Makes the checksums of all member headers right, so that any value in them is read. */
static void seal(uint8_t *bytes, size_t size)
{
    static const uint8_t start[] = {0x1f, 0x8b, 8, 4};
    for (size_t at = 0; at + MEMBER_START <= size; at++) {
        const size_t payload = bytes_get16(bytes + at + MEMBER_START - 2);
        if (memcmp(bytes + at, start, sizeof start) != 0 || payload < 8 ||
            payload > size - at - MEMBER_START)
            continue;
        uint8_t *sum = bytes + at + MEMBER_START + payload - 4;
        bytes_put32(sum, crc32c(0, bytes + at, (size_t)(sum - bytes) - at));
    }
}

static void run_sealed(const uint8_t *data, const uint8_t *bytes, size_t size)
{
    const size_t half = bytes_get16(data + 1) < size ? bytes_get16(data + 1) : size;
    struct test_path *first = test_path_file(bytes, half);
    struct test_path *second = test_path_file(bytes + half, size - half);
    run(data, test_path_name(first), test_path_name(second));
    test_path_free(first);
    test_path_free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *bytes = size > HEAD ? malloc(size - HEAD) : NULL;
    if (!bytes)
        return 0;
    memcpy(bytes, data + HEAD, size - HEAD);
    seal(bytes, size - HEAD);
    /* messages about the input */
    const int standard_error = dup(STDERR_FILENO);
    const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(null, STDERR_FILENO);
    run_sealed(data, bytes, size - HEAD);
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    close(null);
    free(bytes);
    return 0;
}
