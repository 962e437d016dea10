#include "host/journal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct journal journal_standard_error(void)
{
    /* the journal says which stream is its own; a redirection in a shell script is not */
    const char *told = getenv("JOURNAL_STREAM");
    struct stat status;
    char here[64] = "";
    if (told && fstat(fileno(stderr), &status) == 0)
        snprintf(here, sizeof here, "%llu:%llu", (unsigned long long)status.st_dev,
                 (unsigned long long)status.st_ino);
    return (struct journal){.stream = stderr, .priorities = told && strcmp(told, here) == 0};
}

void journal_write(const struct journal *journal, enum journal_level level, const char *format, ...)
{
    /* one call, one line: threads do not cut into each other's */
    char text[6000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (journal->priorities)
        fprintf(journal->stream, "<%d>%s\n", (int)level, text);
    else
        fprintf(journal->stream, "bustapd: %s\n", text);
}
