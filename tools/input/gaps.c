#include "tools/input/gaps.h"

#include "formats/base/saturating.h"
#include "tools/common/words.h"

#include <inttypes.h>
#include <stdio.h>

char *gaps_length(char *text, uint64_t milliseconds)
{
    double seconds = (double)milliseconds / 1000;
    if (milliseconds < 1000)
        snprintf(text, GAPS_LENGTH_BYTES, "%" PRIu64 " ms", milliseconds);
    else if (seconds < 600)
        snprintf(text, GAPS_LENGTH_BYTES, "%.1f s", seconds);
    else if (seconds < 2 * 3600)
        snprintf(text, GAPS_LENGTH_BYTES, "%.1f min", seconds / 60);
    else
        snprintf(text, GAPS_LENGTH_BYTES, "%.1f h", seconds / 3600);
    return text;
}

/* A length at the maximum of its field is a lower bound. */
static const char *at_least(const struct gap *gap)
{
    return gap->milliseconds == GAP_MILLISECONDS_MAX ? "at least " : "";
}

char *gaps_sentence(char *text, const struct trace_gap *place)
{
    char length[GAPS_LENGTH_BYTES];
    char lost[48] = "nothing lost";
    gaps_length(length, place->gap.milliseconds);
    if (place->lost > 0)
        snprintf(lost, sizeof lost, "%" PRIu64 " requests lost, counted", place->lost);
    if (place->gap.uncounted)
        snprintf(text, GAPS_SENTENCE_BYTES,
                 "gap of %s%s at tick %" PRIu64 ", its losses are not counted: the board restarted",
                 at_least(&place->gap), length, place->tick);
    else
        snprintf(text, GAPS_SENTENCE_BYTES, "gap of %s%s at tick %" PRIu64 " (%s)",
                 at_least(&place->gap), length, place->tick, lost);
    return text;
}

static size_t places(const struct trace_file *file)
{
    return file->gaps < TRACE_GAPS_MAX ? (size_t)file->gaps : TRACE_GAPS_MAX;
}

void gaps_print(const struct trace_file *file, const char *indentation, bool dated)
{
    size_t count = places(file);
    for (size_t i = 0; i < count; i++) {
        const struct trace_gap *place = &file->gap_places[i];
        char text[GAPS_SENTENCE_BYTES];
        char time[WORDS_TIME_BYTES];
        bool date = dated && place->host_time_ns != 0;
        printf("%s%s%s%s\n", indentation, date ? words_time(time, place->host_time_ns) : "",
               date ? ": " : "", gaps_sentence(text, place));
    }
    if (file->gaps > count)
        printf("%s%" PRIu64 " more gaps\n", indentation, file->gaps - count);
}

static void json_place(struct json_put *json, const struct trace_file *file,
                       const struct trace_gap *place)
{
    json_put_object(json);
    json_text(json, "path", file->path);
    json_count(json, "milliseconds", place->gap.milliseconds);
    json_bool(json, "uncounted", place->gap.uncounted);
    json_count(json, "tick", place->tick);
    json_count(json, "lost", place->lost);
    json_time(json, "heard_again", place->host_time_ns);
    json_put_object_end(json);
}

void gaps_json(struct json_put *json, const struct trace_file *files, size_t count)
{
    uint64_t gaps = 0, milliseconds = 0, uncounted = 0, chosen = 0;
    for (size_t i = 0; i < count; i++) {
        gaps += files[i].gaps;
        milliseconds = saturating_add(milliseconds, files[i].gap_ms);
        uncounted += files[i].uncounted_gaps;
        chosen += files[i].chosen_gaps;
    }
    json_count(json, "gaps", gaps);
    json_seconds(json, "gap_s", (double)milliseconds / 1000);
    json_count(json, "uncounted_gaps", uncounted);
    json_count(json, "chosen_gaps", chosen);
    json_array(json, "gap_places");
    for (size_t i = 0; i < count; i++)
        for (size_t place = 0; place < places(&files[i]); place++)
            json_place(json, &files[i], &files[i].gap_places[place]);
    json_put_array_end(json);
}
