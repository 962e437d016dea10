#include "tools/mrc/mrc_options.h"

#include "formats/base/extent.h"
#include "formats/base/power.h"
#include "formats/base/quantity.h"
#include "tools/input/captures.h"
#include "tools/mrc/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES 32u

/*
 * Copies the next word of a comma-separated list. Returns the rest of the list, or NULL at its end.
 */
static const char *next_word(char word[WORD_BYTES], const char *text)
{
    const size_t size = strcspn(text, ",");
    const size_t some = size < WORD_BYTES ? size : WORD_BYTES - 1;
    memcpy(word, text, some);
    word[some] = 0;
    return text[size] ? text + size + 1 : NULL;
}

int mrc_options_lines(struct mrc_job *job, const char *text, struct bt_error *error)
{
    job->line_count = 0;
    for (const char *rest = text; rest;) {
        char word[WORD_BYTES];
        uint64_t bytes = 0;
        rest = next_word(word, rest);
        if (quantity_bytes(&bytes, word, error) < 0)
            return error->code;
        if (bytes > MRC_LINE_BYTES_MAX || !power_is(bytes))
            return bt_fail(error, BT_USAGE,
                           "%s is not a line size: use a power of two from 1 to 1G", word);
        for (unsigned i = 0; i < job->line_count; i++)
            if (job->line_bytes[i] == bytes)
                return bt_fail(error, BT_USAGE, "%s is given twice", word);
        if (job->line_count == JOB_LINES_MAX)
            return bt_fail(error, BT_USAGE, "at most %u sizes", JOB_LINES_MAX);
        job->line_bytes[job->line_count++] = (uint32_t)bytes;
    }
    return 0;
}

int mrc_options_window(struct mrc_job *job, const char *text, struct bt_error *error)
{
    struct extent extent;
    if (extent_parse(&extent, text, error) < 0)
        return error->code;
    const bool time = extent.unit == EXTENT_TIME;
    job->window_ns = time ? (int64_t)extent.length : 0;
    job->settings.window =
        (struct mrc_window){.unit = extent.unit == EXTENT_TICKS ? WINDOW_TICKS : WINDOW_REQUESTS,
                            .length = time ? 0 : extent.length};
    return 0;
}

int mrc_options_by(struct mrc_study_settings *settings, const char *text, struct bt_error *error)
{
    for (const char *rest = text; rest;) {
        char word[WORD_BYTES];
        rest = next_word(word, rest);
        if (strcmp(word, "processor") == 0)
            settings->by_processor = true;
        else if (strcmp(word, "kind") == 0)
            settings->by_kind = true;
        else
            return bt_fail(error, BT_USAGE, "'%s' is neither processor nor kind", word);
    }
    return 0;
}

int mrc_options_sample(struct mrc_study_settings *settings, const char *text,
                       struct bt_error *error)
{
    char *end = NULL;
    double rate = strtod(text, &end);
    if (*end == '/') {
        const double divisor = strtod(end + 1, &end);
        rate = divisor > 0 ? rate / divisor : 0;
    } else if (*end == '%') {
        rate /= 100;
        end++;
    }
    const double limit = rate * (double)SAMPLE_ALL;
    if (end == text || *end || !isfinite(limit) || limit < 1 || limit > (double)SAMPLE_ALL)
        return bt_fail(error, BT_USAGE,
                       "'%.40s' is not a share of the lines: use 0.01, 1%% or 1/100", text);
    settings->sample = (uint64_t)limit;
    return 0;
}

/* Checks a job whose curves are simulated. */
static int check_simulated(const struct mrc_job *job, bool windows, struct bt_error *error)
{
    const struct mrc_study_settings *settings = &job->settings;
    if (windows || settings->kind != BANK_DISTANCES || settings->sample_lines > 0)
        return bt_fail(error, BT_USAGE,
                       "--replacement is for miss ratios of whole traces: not with --window, "
                       "--working-set, --reuse-time or --sample-size");
    if (settings->replacement == CACHE_PLRU && (job->points > 1 || settings->sample < SAMPLE_ALL))
        return bt_fail(error, BT_USAGE,
                       "plru can have 1, 2, 4 ... ways: not with --points or --sample-rate");
    int result =
        job->path_count > 0 ? 0 : captures_check_readable_again("-", "--replacement", error);
    for (int i = 0; i < job->path_count && result == 0; i++)
        result = captures_check_readable_again(job->paths[i], "--replacement", error);
    return result;
}

int mrc_options_check(const struct mrc_job *job, struct bt_error *error)
{
    const struct mrc_study_settings *settings = &job->settings;
    const uint32_t sets = settings->sets;
    const bool windows = settings->window.unit != WINDOW_NONE || job->window_ns > 0;
    if (sets > BANK_SETS_MAX || !power_is(sets))
        return bt_fail(error, BT_USAGE,
                       "--sets: the number of sets is %u, not a power of two up to %u", sets,
                       BANK_SETS_MAX);
    if (sets > 1 && settings->kind != BANK_DISTANCES)
        return bt_fail(error, BT_USAGE,
                       "--sets is for miss ratios, not for --working-set nor --reuse-time");
    if (settings->sample_lines > 0 &&
        (settings->sample < SAMPLE_ALL || settings->by_processor || settings->by_kind ||
         settings->split || settings->kind != BANK_DISTANCES || sets > 1 || windows))
        return bt_fail(error, BT_USAGE,
                       "--sample-size is for one curve of a whole trace and a fully associative "
                       "cache: not with --sample-rate, --by, --split, --sets, --window, "
                       "--working-set or --reuse-time");
    if (settings->replacement != CACHE_LRU && check_simulated(job, windows, error) < 0)
        return error->code;
    if (settings->sample_lines > 0 && job->threads > 1)
        return bt_fail(error, BT_USAGE,
                       "the lines of a sample of fixed size depend on all earlier ones: one thread "
                       "of one process reads them; --sample-rate has no such limit");
    if (settings->sample < SAMPLE_ALL && (settings->kind != BANK_DISTANCES || sets > 1 || windows))
        return bt_fail(
            error, BT_USAGE,
            "--sample-rate is for miss ratios of whole traces and fully associative caches: "
            "not with --sets, --window, --working-set or --reuse-time");
    return 0;
}
