/*
 * Files of dependences: CSV, JSON and traces. A check ends, and each failure has a message; a
 * second check finds the same. What has no failures is written again without failures, also
 * grouped, and twice to the same bytes; a trace is written as it was.
 */
#include "formats/dependences/dependence_trace.h"
#include "formats/dependences/dependences_read.h"
#include "formats/dependences/dependences_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAILURES 20u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct dependences_failures *new_failures(void)
{
    struct bt_error error;
    struct dependences_failures *failures = dependences_failures_new(FAILURES, &error);
    if (!failures)
        abort();
    return failures;
}

static struct text_reader *open_text(const void *text, size_t size)
{
    struct bt_error error;
    struct text_reader *reader = text_reader_from_memory(text, size, "input", &error);
    if (!reader)
        abort();
    return reader;
}

/* Returns the number of failures; UINT64_MAX for a file that cannot be read. */
static uint64_t check(const void *text, size_t size, struct dependences_summary *summary)
{
    struct dependences_failures *failures = new_failures();
    struct text_reader *reader = open_text(text, size);
    struct bt_error error = {0};
    size_t kept;
    int result = dependences_check(reader, failures, summary, &error);
    uint64_t total = dependences_failures_total(failures);
    const struct dependences_failure *list = dependences_failures_kept(failures, &kept);
    if (result < 0 && ((result != BT_IO && result != BT_MEMORY) || error.message[0] == '\0'))
        abort();
    if (kept != (total < FAILURES ? total : FAILURES))
        abort();
    for (size_t i = 0; i < kept; i++)
        if (list[i].rule >= DEPENDENCES_RULES || list[i].message[0] == '\0')
            abort();
    text_reader_close(reader);
    dependences_failures_free(failures);
    return result < 0 ? UINT64_MAX : total;
}

static char *write_text(const struct dependences *dependences, enum dependences_file file,
                        size_t *size)
{
    char *text = NULL;
    struct bt_error error;
    FILE *out = open_memstream(&text, size);
    if (!out)
        abort();
    if (dependences_write(dependences,
                          file == DEPENDENCES_FILE_CSV ? DEPENDENCES_CSV : DEPENDENCES_JSON, out,
                          &error) < 0)
        abort();
    if (fclose(out) != 0)
        abort();
    return text;
}

static void discard(const struct dependences *dependences)
{
    char *text = NULL;
    size_t size;
    struct bt_error error;
    FILE *out = open_memstream(&text, &size);
    if (!out || dependences_write(dependences, DEPENDENCES_TEXT, out, &error) < 0 ||
        dependences_write(dependences, DEPENDENCES_DOT, out, &error) < 0)
        abort();
    fclose(out);
    free(text);
}

static struct dependences *read_text(const void *text, size_t size, enum dependences_file file)
{
    struct dependences_failures *failures = new_failures();
    struct text_reader *reader = open_text(text, size);
    struct bt_error error;
    struct dependences *dependences = file == DEPENDENCES_FILE_CSV
                                          ? dependences_read_csv(reader, failures, &error)
                                          : dependences_read_json(reader, failures, &error);
    if (!dependences)
        abort();
    text_reader_close(reader);
    dependences_failures_free(failures);
    return dependences;
}

/* Writes, checks and reads what has no failures. */
static void write_again(const struct dependences *dependences, enum dependences_file file)
{
    struct dependences_summary summary;
    size_t size, size_again;
    char *text = write_text(dependences, file, &size);
    if (check(text, size, &summary) != 0 || summary.file != file)
        abort();
    struct dependences *read = read_text(text, size, file);
    char *again = write_text(read, file, &size_again);
    if (size != size_again || memcmp(text, again, size) != 0)
        abort();
    dependences_free(read);
    free(text);
    free(again);
}

static void try_dependences(const void *text, size_t size, enum dependences_file file)
{
    struct dependences *dependences = read_text(text, size, file);
    struct bt_error error;
    for (unsigned by = 0; by < DEPENDENCES_BYS; by++) {
        struct dependences *grouped =
            dependences_group(dependences, (enum dependences_by)by, by == 1 ? 2 : SIZE_MAX, &error);
        if (!grouped)
            abort();
        write_again(grouped, DEPENDENCES_FILE_CSV);
        if (file == DEPENDENCES_FILE_JSON) /* CSV does not say how often loops iterate */
            write_again(grouped, DEPENDENCES_FILE_JSON);
        discard(grouped);
        dependences_free(grouped);
    }
    dependences_free(dependences);
}

static void try_trace(const void *text, size_t size)
{
    struct text_reader *reader = open_text(text, size);
    struct bt_error error;
    struct dependence_trace_reader *trace = dependence_trace_reader_new(reader, &error);
    struct dependence_event event;
    char *again = NULL;
    size_t size_again;
    FILE *out = open_memstream(&again, &size_again);
    if (!trace || !out)
        abort();
    while (dependence_trace_reader_next(trace, &event, &error) > 0)
        dependence_trace_put(&event, out);
    fclose(out);
    const unsigned char *bytes = text;
    const bool is_compressed =
        size > 1 && (bytes[0] == 0x1f || bytes[0] == 'B' || bytes[0] == 0xfd);
    if (!is_compressed && (size != size_again || memcmp(text, again, size) != 0))
        abort();
    free(again);
    dependence_trace_reader_free(trace);
    text_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dependences_summary summary = {.file = DEPENDENCES_FILE_TRACE}, again;
    const uint64_t failures = check(data, size, &summary);
    if (check(data, size, &again) != failures)
        abort();
    if (failures > 0)
        return 0;
    if (summary.file == DEPENDENCES_FILE_TRACE)
        try_trace(data, size);
    else
        try_dependences(data, size, summary.file);
    return 0;
}
