#include "host/journal.h"

#include "formats/base/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* File names are the longest part of a message. */
#define LINE_BYTES 6000u

int journal_open(struct journal *journal, struct bt_error *error)
{
    /* $JOURNAL_STREAM identifies the journal's stream; a redirection in a shell script is another
     * one */
    const char *stream = getenv("JOURNAL_STREAM");
    struct stat status;
    char here[64] = "";
    if (stream && fstat(STDERR_FILENO, &status) == 0)
        snprintf(here, sizeof here, "%llu:%llu", (unsigned long long)status.st_dev,
                 (unsigned long long)status.st_ino);
    journal->priorities = stream && strcmp(stream, here) == 0;
    journal->lines =
        line_queue_new(STDERR_FILENO, journal->priorities ? "<4>" : "bustapd: ", error);
    return journal->lines ? 0 : BT_MEMORY;
}

void journal_flush(const struct journal *journal, int timeout_ms)
{
    if (journal->lines)
        (void)line_queue_wait(journal->lines, timeout_ms);
}

void journal_close(struct journal *journal, int timeout_ms)
{
    line_queue_free(journal->lines, timeout_ms);
    journal->lines = NULL;
}

void journal_write(const struct journal *journal, enum journal_level level, const char *format, ...)
{
    char line[LINE_BYTES];
    if (!journal->lines)
        return;
    size_t head = (size_t)(journal->priorities ? snprintf(line, sizeof line, "<%d>", (int)level)
                                               : snprintf(line, sizeof line, "bustapd: "));
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line + head, sizeof line - head - 1, format, arguments);
    va_end(arguments);
    printable_make(line + head);
    size_t size = strlen(line);
    line[size] = '\n';
    line_queue_put(journal->lines, line, size + 1);
}

uint64_t journal_dropped(const struct journal *journal)
{
    return journal->lines ? line_queue_dropped(journal->lines) : 0;
}
