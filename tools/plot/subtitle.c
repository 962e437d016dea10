#include "tools/plot/subtitle.h"

#include <stdio.h>
#include <string.h>

/* The last blank of a line that is too long, or the first one after it; NULL: none. */
static char *find_blank(char *line, unsigned characters)
{
    char *found = NULL;
    for (char *at = strchr(line, ' '); at && (!found || at <= line + characters);
         at = strchr(at + 1, ' '))
        found = at;
    return found;
}

void subtitle_break(struct subtitle *subtitle, const char *text, unsigned characters)
{
    subtitle->count = 0;
    snprintf(subtitle->text, sizeof subtitle->text, "%s", text ? text : "");
    for (char *line = subtitle->text; line && *line;) {
        char *blank = subtitle->count + 1 < SUBTITLE_LINES && strlen(line) > characters
                          ? find_blank(line, characters)
                          : NULL;
        subtitle->lines[subtitle->count++] = line;
        if (blank)
            *blank++ = '\0';
        line = blank;
    }
}
