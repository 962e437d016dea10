#define _DEFAULT_SOURCE /* timegm */
#include "formats/capture/capture_name.h"

#include "formats/base/suffix.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SUFFIX        ".byu.gz"
#define CODED_SUFFIX  ".byb"
#define PART_SUFFIX   ".part"
#define DATE_BYTES    16u /* 20261120T224500Z */
#define NUMBER_DIGITS 10u /* of the longest number */

void capture_name_put(char ending[CAPTURE_NAME_ENDING_BYTES], const struct capture_name *name)
{
    time_t second = (time_t)name->second;
    struct tm utc = {0};
    char date[32];
    gmtime_r(&second, &utc);
    strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &utc);
    snprintf(ending, CAPTURE_NAME_ENDING_BYTES, "_%05u_%s%s%s", (unsigned)name->number, date,
             name->coded ? CODED_SUFFIX : SUFFIX, name->part ? PART_SUFFIX : "");
}

bool capture_name_asks_coded(const char *path)
{
    size_t size = strlen(path);
    return suffix_take(path, &size, CODED_SUFFIX, strncmp);
}

char *capture_name_coded(const char *path)
{
    size_t size = strlen(path);
    char *name = malloc(size + sizeof CODED_SUFFIX);
    if (!name)
        return NULL;
    if (!suffix_take(path, &size, SUFFIX, strncmp) && !suffix_take(path, &size, ".gz", strncmp))
        (void)suffix_take(path, &size, CODED_SUFFIX, strncmp);
    memcpy(name, path, size);
    memcpy(name + size, CODED_SUFFIX, sizeof CODED_SUFFIX);
    return name;
}

static bool get_date(int64_t *second, const char *text)
{
    struct tm utc = {0};
    int read = 0;
    if (sscanf(text, "%4d%2d%2dT%2d%2d%2dZ%n", &utc.tm_year, &utc.tm_mon, &utc.tm_mday,
               &utc.tm_hour, &utc.tm_min, &utc.tm_sec, &read) != 6 ||
        read != (int)DATE_BYTES)
        return false;
    utc.tm_year -= 1900;
    utc.tm_mon -= 1;
    *second = timegm(&utc);
    return true;
}

bool capture_name_get(struct capture_name *name, const char *path)
{
    char ending[CAPTURE_NAME_ENDING_BYTES];
    size_t size = strlen(path), digits = 0;
    name->part = suffix_take(path, &size, PART_SUFFIX, strncmp);
    name->coded = suffix_take(path, &size, CODED_SUFFIX, strncmp);
    if ((!name->coded && !suffix_take(path, &size, SUFFIX, strncmp)) || size < DATE_BYTES + 3 ||
        !get_date(&name->second, path + size - DATE_BYTES))
        return false;
    size -= DATE_BYTES + 1; /* the end of the number */
    while (digits < size && path[size - digits - 1] >= '0' && path[size - digits - 1] <= '9')
        digits++;
    if (digits == 0 || digits > NUMBER_DIGITS || digits == size)
        return false;
    name->number = (uint32_t)strtoul(path + size - digits, NULL, 10);
    name->prefix_bytes = size - digits - 1;
    /* rejects names that are parsed but would be written differently */
    capture_name_put(ending, name);
    return strcmp(ending, path + name->prefix_bytes) == 0;
}
