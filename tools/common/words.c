#include "tools/common/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

char *words_time(char *text, int64_t realtime_ns)
{
    int64_t nanoseconds = realtime_ns % 1000000000;
    time_t seconds = (time_t)(realtime_ns / 1000000000);
    if (nanoseconds < 0) {
        nanoseconds += 1000000000;
        seconds--;
    }
    struct tm utc;
    char day[24] = "?";
    if (gmtime_r(&seconds, &utc))
        strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(text, WORDS_TIME_BYTES, "%s.%03dZ", day, (int)(nanoseconds / 1000000));
    return text;
}

char *words_size(char *text, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof units[0]) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, WORDS_SIZE_BYTES, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
    return text;
}

const char *words_file_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

void words_command(char *text, size_t size, const char *const *arguments)
{
    size_t used = 0;
    text[0] = '\0';
    for (; *arguments && used < size; arguments++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", *arguments);
}

const char *words_next(const char *words, char *word, size_t size)
{
    size_t length = strcspn(words, ",");
    if (length >= size)
        return NULL;
    memcpy(word, words, length);
    word[length] = '\0';
    return words + length + (words[length] == ',');
}

double words_ratio(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

uint64_t words_lost(const uint64_t lost[LOSS_STAGES])
{
    struct loss loss = {.count = {0}};
    memcpy(loss.count, lost, sizeof loss.count);
    return loss_total(&loss);
}
