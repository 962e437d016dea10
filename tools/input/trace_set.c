#include "tools/input/trace_set.h"

#include "formats/base/saturating.h"
#include "tools/common/words.h"
#include "tools/input/captures.h"
#include "tools/input/trace_rings.h"
#include "tools/input/trace_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the file has a capture's id. */
static bool has_identity(const struct trace_file *file)
{
    return file->opened && capture_info_has_id(&file->info);
}

/* Files with an id first: those of captures, then derived ones; by capture, then number, then path.
 */
static int compare_files(const void *left, const void *right)
{
    const struct trace_file *a = left;
    const struct trace_file *b = right;
    if (has_identity(a) != has_identity(b))
        return has_identity(a) ? -1 : 1;
    if (a->info.derived != b->info.derived)
        return a->info.derived ? 1 : -1;
    int by_identity = memcmp(a->info.id, b->info.id, sizeof a->info.id);
    if (by_identity != 0)
        return by_identity;
    if (a->info.file_number != b->info.file_number)
        return a->info.file_number < b->info.file_number ? -1 : 1;
    return strcmp(a->path, b->path);
}

int trace_set_read(struct trace_set *set, const struct input_paths *paths,
                   const struct input_trace_settings *settings, struct input_report *report,
                   struct tally *tally, struct bt_error *error)
{
    memset(set, 0, sizeof *set);
    for (int i = 0; i < paths->count; i++) {
        int result = trace_check(set, paths->paths[i], settings, report, tally, error);
        if (result < 0)
            return result;
    }
    trace_set_sort(set);
    return 0;
}

void trace_set_sort(struct trace_set *set)
{
    if (set->count > 0)
        qsort(set->files, set->count, sizeof *set->files, compare_files);
    trace_rings_count(set);
}

void trace_set_free(struct trace_set *set)
{
    free(set->files);
}

size_t trace_set_capture(const struct trace_set *set, size_t first)
{
    if (first >= set->count)
        return 0;
    const struct trace_file *files = set->files;
    size_t end = first + 1;
    while (end < set->count && capture_info_same_capture(&files[end].info, &files[first].info))
        end++;
    return end - first;
}

/* Sets the reason; only the first one counts. */
__attribute__((format(printf, 2, 3))) static void incomplete(struct trace_verdict *verdict,
                                                             const char *format, ...)
{
    if (!verdict->complete)
        return;
    verdict->complete = false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->why, sizeof verdict->why, format, arguments);
    va_end(arguments);
}

static void add_file(struct trace_verdict *verdict, const struct trace_file *file)
{
    if (file->records > 0) {
        if (verdict->records == 0 || file->first_tick < verdict->first_tick)
            verdict->first_tick = file->first_tick;
        if (verdict->records == 0 || file->last_tick > verdict->last_tick)
            verdict->last_tick = file->last_tick;
    }
    verdict->records += file->records;
    for (int stage = 0; stage < LOSS_STAGES; stage++)
        verdict->lost[stage] = saturating_add(verdict->lost[stage], file->lost.count[stage]);
    verdict->gaps += file->gaps;
    verdict->gap_ms = saturating_add(verdict->gap_ms, file->gap_ms);
    verdict->chosen_gaps += file->chosen_gaps;
    verdict->bytes += file->bytes;
}

/* Checks one file, without its neighbours. */
static void judge_file(struct trace_verdict *verdict, const struct trace_file *file)
{
    const char *path = file->path;
    if (!file->opened)
        incomplete(verdict, "%.100s could not be opened", path);
    else if (file->empty)
        incomplete(verdict, "%.100s is empty", path);
    else if (file->contradictions > 0)
        incomplete(verdict, "%.100s: %s", path, file->contradiction);
    else if (file->missing > 0)
        incomplete(verdict, "%.100s lacks %" PRIu64 " requests", path, file->missing);
    else if (file->damaged > 0 && (file->closed || file->kind != TRACE_CAPTURE))
        incomplete(verdict, "%.100s is damaged", path);
    else if (file->misplaced > 0)
        incomplete(verdict, "%.100s has blocks in the wrong order", path);
    else if (file->foreign && file->notes > 0)
        incomplete(verdict, "references in %.100s are left out or changed, as reported", path);
    else if (file->kind != TRACE_CAPTURE && file->notes > 0)
        incomplete(verdict, "%.100s has extra bytes after its records", path);
    else if (file->kind == TRACE_CAPTURE && !has_identity(file))
        incomplete(verdict, "%.100s has no header", path);
    else if (file->kind == TRACE_CAPTURE && !file->closed)
        incomplete(verdict, "%.100s has no closing block", path);
    else if (file->uncounted_gaps > 0)
        incomplete(verdict, "requests lost during a gap are not counted in %.100s", path);
    else if (file->closed && file->records != file->totals.file_records)
        incomplete(verdict,
                   "the closing block of %.100s counts %" PRIu64 " records; the file has %" PRIu64,
                   path, file->totals.file_records, file->records);
}

/* A file and the next one; order is that of all files up to it. */
static void judge_seam(struct trace_verdict *verdict, const struct trace_file *file,
                       const struct trace_order *order, const struct trace_file *next)
{
    struct bt_error error;
    uint32_t number = file->info.file_number;
    uint32_t next_number = next->info.file_number;
    char missing[CAPTURES_MISSING_BYTES];
    if (next_number <= number && strcmp(file->path, next->path) == 0)
        incomplete(verdict, "%.60s holds file %" PRIu32 " twice or out of order", file->path,
                   next_number);
    else if (next_number <= number)
        incomplete(verdict, "%.60s and %.60s both hold file %" PRIu32, file->path, next->path,
                   next_number);
    else if (captures_missing(missing, number + 1, next_number))
        incomplete(verdict, "%s", missing);
    else if (file->closed && next->info.first_index != file->totals.end_index)
        incomplete(verdict, "%.60s ends at request %" PRIu64 ", %.60s begins with request %" PRIu64,
                   file->path, file->totals.end_index, next->path, next->info.first_index);
    else if (file->closed && file->totals.final)
        incomplete(verdict, "%.60s says it is the last file, and %.60s follows", file->path,
                   next->path);
    else if (trace_rules_seam(file, order, next, &error) < 0)
        incomplete(verdict, "%.100s: offset %" PRIu64 ": %.190s", next->path, next->offset,
                   error.message);
}

/* Checks the files missing before the first: only a ring may have removed them, its own or that of
 * a later capture to the same prefix. */
static void judge_beginning(struct trace_verdict *verdict, const struct trace_file *files,
                            size_t count)
{
    const struct trace_file *first = &files[0];
    uint32_t number = first->info.file_number;
    if (number <= 1)
        return;
    uint64_t present = files[count - 1].info.file_number - number + 1 + first->later_files;
    uint32_t keep = first->info.keep;
    if (keep == 0 || (first->later_keep != 0 && first->later_keep < keep))
        keep = first->later_keep;
    if (keep == 0 || present < keep) {
        char missing[CAPTURES_MISSING_BYTES];
        if (captures_missing(missing, 1, number))
            incomplete(verdict,
                       keep ? "%s, and a ring of %" PRIu32 " has room for more; if later "
                              "captures to the prefix filled it, give their files too"
                            : "%s",
                       missing, keep);
        return;
    }
    verdict->ring = keep;
    verdict->removed_files = number - 1;
    verdict->removed = first->info.first_index;
}

/* Checks the totals of the capture in the last file. */
static void judge_totals(struct trace_verdict *verdict, const struct trace_file *last)
{
    const struct capture_totals *totals = &last->totals;
    if (!last->closed || !totals->final) {
        const char *why = !last->closed                          ? "was cut off"
                          : totals->end == CAPTURE_END_RECOVERED ? "was recovered without it"
                                                                 : "continues in another file";
        incomplete(verdict, "the end of the capture is missing: %.100s %s", last->path, why);
        return;
    }
    verdict->last = last;
    uint64_t lost = words_lost(totals->capture_lost);
    uint64_t captured = saturating_add(totals->capture_records, lost);
    uint64_t here = saturating_add(verdict->records, words_lost(verdict->lost));
    if (verdict->removed_files > 0 && lost > words_lost(verdict->lost))
        verdict->removed_lost = lost - words_lost(verdict->lost);
    if (captured != saturating_add(here, verdict->removed))
        incomplete(verdict,
                   "the capture counted %" PRIu64 " requests, %" PRIu64 " are in its files",
                   captured, saturating_add(here, verdict->removed));
    verdict->boardless = verdict->complete && !totals->source.known && last->info.derived &&
                         last->info.bus[0] == '\0';
    if (!totals->source.known)
        incomplete(verdict, "the board did not say how many requests it saw%s%.150s",
                   totals->message[0] ? ": " : "", totals->message);
    else if (totals->after_stop > UINT64_MAX - captured ||
             captured + totals->after_stop != totals->source.accepted)
        incomplete(verdict,
                   "the board accepted %" PRIu64 " requests, %" PRIu64 " are accounted for",
                   totals->source.accepted, saturating_add(captured, totals->after_stop));
}

void trace_set_judge(struct trace_verdict *verdict, const struct trace_file *files, size_t count)
{
    memset(verdict, 0, sizeof *verdict);
    verdict->complete = true;
    verdict->files = count;
    struct trace_order order = files[0].order;
    bool capture = has_identity(&files[0]);
    if (capture)
        judge_beginning(verdict, files, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            judge_seam(verdict, &files[i - 1], &order, &files[i]);
            trace_rules_advance(&order, &files[i]);
        }
        add_file(verdict, &files[i]);
        judge_file(verdict, &files[i]);
    }
    if (capture)
        judge_totals(verdict, &files[count - 1]);
}
