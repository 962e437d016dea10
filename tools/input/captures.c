#include "tools/input/captures.h"

#include "formats/capture/trace_reader.h"
#include "tools/common/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAMED_MAX  3   /* traces that an error message names */
#define PATH_SHOWN 48u /* bytes of a path, from its end */

/* A file with its sort keys. */
struct file {
    const char *path;
    struct capture_info info; /* zero: no header */
    int capture;              /* index of the first file of the same capture */
    int given;                /* index of the file */
    bool unseen;              /* a pipe, whose header is not read here */
};

bool captures_is_pipe(const char *path)
{
    struct stat status;
    return strcmp(path, "-") == 0 || (stat(path, &status) == 0 && S_ISFIFO(status.st_mode));
}

int captures_check_readable_again(const char *path, const char *again, struct bt_error *error)
{
    if (captures_is_pipe(path))
        return bt_fail(error, BT_USAGE,
                       "%s needs the capture twice, and %s can be read once: save it to a file "
                       "first",
                       again, strcmp(path, "-") == 0 ? "standard input" : path);
    return 0;
}

int captures_read_header(struct capture_info *info, const char *path, struct bt_error *error)
{
    struct trace_reader *reader;
    *info = (struct capture_info){.clock_hz = 0};
    if (captures_is_pipe(path))
        return 0; /* reading from a pipe consumes it */
    /* TRACE_INSIST: record_input checks later whether it is a trace */
    int result = trace_reader_open(&reader, path, TRACE_INSIST, error);
    if (result != 0)
        return result;
    const struct capture_info *header = source_info(trace_reader_source(reader));
    if (header)
        *info = *header;
    source_close(trace_reader_source(reader));
    return 0;
}

static int compare(const void *left, const void *right)
{
    const struct file *a = left;
    const struct file *b = right;
    if (a->capture != b->capture)
        return a->capture < b->capture ? -1 : 1;
    if (a->info.file_number != b->info.file_number)
        return a->info.file_number < b->info.file_number ? -1 : 1;
    return a->given < b->given ? -1 : a->given > b->given;
}

static int order(struct file *files, int count, char **paths,
                 const struct captures_settings *settings, struct bt_error *error)
{
    for (int i = 0; i < count; i++) {
        files[i] = (struct file){.path = paths[i], .capture = i, .given = i};
        if (settings->as_given)
            continue;
        files[i].unseen = captures_is_pipe(paths[i]);
        int result =
            settings->again ? captures_check_readable_again(paths[i], settings->again, error) : 0;
        if (result == 0)
            result = captures_read_header(&files[i].info, files[i].path, error);
        if (result != 0)
            return result;
        for (int j = 0; j < i && files[i].capture == i; j++)
            if (capture_info_same_capture(&files[i].info, &files[j].info))
                files[i].capture = files[j].capture;
    }
    qsort(files, (size_t)count, sizeof *files, compare);
    return 0;
}

/* --- one study, one trace --- */

/* "trace_00001.byu.gz and 2 more (virtual, started 2026-11-20T22:45:00.000Z, id 0f3a9c21)". */
char *captures_name(char *text, size_t size, const char *path, const struct capture_info *info,
                    uint64_t files)
{
    char started[WORDS_TIME_BYTES];
    char more[32] = "";
    size_t length = strlen(path);
    const char *shown = length > PATH_SHOWN ? path + length - PATH_SHOWN : path;
    if (files > 1)
        snprintf(more, sizeof more, " and %" PRIu64 " more", files - 1);
    if (capture_info_has_id(info))
        snprintf(text, size, "%s%s (%.24s, started %s, id %02x%02x%02x%02x)", shown, more,
                 info->board, words_time(started, info->started_ns), info->id[0], info->id[1],
                 info->id[2], info->id[3]);
    else
        snprintf(text, size, "%s (no header)", shown);
    return text;
}

static int refuse(const struct file *files, int count, int traces, struct bt_error *error)
{
    char names[400] = "";
    int named = 0;
    for (int i = 0, next; i < count && named < NAMED_MAX; i = next, named++) {
        char name[CAPTURES_NAME_BYTES];
        for (next = i + 1; next < count && files[next].capture == files[i].capture;)
            next++;
        captures_name(name, sizeof name, files[i].path, &files[i].info, (uint64_t)(next - i));
        strncat(names, named > 0 ? ", " : "", sizeof names - strlen(names) - 1);
        strncat(names, name, sizeof names - strlen(names) - 1);
    }
    if (traces > named)
        snprintf(names + strlen(names), sizeof names - strlen(names), ", %d more", traces - named);
    return bt_fail(error, BT_USAGE, "%d traces are given (--concatenate studies them as one): %s",
                   traces, names);
}

/* Sorted files of a capture must have different numbers. 0 or BT_USAGE. */
static int check_distinct(const struct file *files, int count, struct bt_error *error)
{
    for (int i = 1; i < count; i++)
        if (files[i].capture == files[i - 1].capture &&
            files[i].info.file_number == files[i - 1].info.file_number)
            return bt_fail(error, BT_USAGE,
                           "%.200s and %.200s both hold file %" PRIu32 " of a capture: give one",
                           files[i - 1].path, files[i].path, files[i].info.file_number);
    return 0;
}

/* Files whose headers are known must be of one trace. 0 or BT_USAGE. */
static int check_one(const struct file *files, int count, struct bt_error *error)
{
    int traces = 0;
    for (int i = 0; i < count; i++)
        traces += !files[i].unseen && (i == 0 || files[i].capture != files[i - 1].capture);
    return traces > 1 ? refuse(files, count, traces, error) : 0;
}

int captures_order(struct captures *captures, int count, char **paths,
                   const struct captures_settings *settings, struct bt_error *error)
{
    struct file *files = calloc((size_t)count + 1, sizeof *files);
    *captures = (struct captures){.paths = calloc((size_t)count + 1, sizeof *captures->paths),
                                  .count = count};
    int result;
    if (files && captures->paths)
        result = order(files, count, paths, settings, error);
    else
        result = bt_fail(error, BT_MEMORY, "no memory for %d files", count);
    if (result == 0 && !settings->concatenate && !settings->as_given)
        result = check_one(files, count, error);
    if (result == 0 && settings->distinct)
        result = check_distinct(files, count, error);
    for (int i = 0; i < count && result == 0; i++)
        captures->paths[i] = files[i].path;
    free(files);
    return result;
}

void captures_free(struct captures *captures)
{
    free(captures->paths);
}

int captures_join(struct captures_seam *seam, const struct capture_info *info, const char *path,
                  bool concatenate, struct bt_error *error)
{
    static const struct capture_info none = {.clock_hz = 0};
    info = info ? info : &none;
    bool same = seam->path && capture_info_same_capture(info, &seam->info);
    /* a header without an id, seen both when its file is opened and when it is read */
    same = same || (seam->path == path && memcmp(info, &seam->info, sizeof *info) == 0);
    if (seam->path && !same && !concatenate) {
        char name[CAPTURES_NAME_BYTES];
        captures_name(name, sizeof name, strcmp(path, "-") == 0 ? "standard input" : path, info, 1);
        return bt_fail(error, BT_USAGE,
                       "another trace begins here (--concatenate studies them as one): %s", name);
    }
    *seam = (struct captures_seam){.path = path, .info = *info};
    return same;
}

bool captures_missing(char *text, uint32_t first, uint32_t next)
{
    if (next <= first)
        return false;
    if (next - first == 1)
        snprintf(text, CAPTURES_MISSING_BYTES, "file %" PRIu32 " is missing", first);
    else
        snprintf(text, CAPTURES_MISSING_BYTES, "files %" PRIu32 " to %" PRIu32 " are missing",
                 first, next - 1);
    return true;
}

int captures_check_numbers(const struct captures_seam *before, const struct captures_seam *next,
                           struct bt_error *error)
{
    char missing[CAPTURES_MISSING_BYTES];
    if (!before->path || !capture_info_same_capture(&before->info, &next->info))
        return 0;
    /* equal pointers: the same file, joined both when it is opened and when its header is read */
    if (before->path != next->path && before->info.file_number == next->info.file_number)
        return bt_fail(error, BT_DATA, "%.200s and %.200s both hold file %" PRIu32, before->path,
                       next->path, next->info.file_number);
    if (!captures_missing(missing, before->info.file_number + 1, next->info.file_number))
        return 0;
    if (strcmp(before->path, next->path) == 0)
        return bt_fail(error, BT_DATA, "%.400s: %s", next->path, missing);
    return bt_fail(error, BT_DATA, "%s between %.200s and %.200s", missing, before->path,
                   next->path);
}
