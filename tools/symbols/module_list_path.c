#include "tools/symbols/module_list_path.h"

#include "tools/common/module_list_text.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TIME_BYTES   17u /* "20261126T042907Z" */
#define WAIT_SECONDS 3   /* file names are at most so far in the future */
#define POLL_NS      20000000

/* --- names ----------------------------------------------------------------------------------- */

/* Whether text begins with a time as in the names of capture files. */
static bool is_time(const char *text)
{
    static const char form[] = "dddddddd"
                               "Tdddddd"
                               "Z";
    for (size_t i = 0; i + 1 < sizeof form; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

/* The last time in a name, after a `_`; "" if it has none. */
static void find_time(char time[TIME_BYTES], const char *name)
{
    time[0] = '\0';
    for (const char *at = strrchr(name, '_'); at && !time[0]; at = NULL)
        if (is_time(at + 1))
            snprintf(time, TIME_BYTES, "%s", at + 1);
}

/* The beginning of the last component of a path, `length` bytes long. */
static size_t folder_length(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length;
}

/* The folder of a path. NULL: it cannot be read. */
static DIR *open_folder(const char *path, size_t length)
{
    char folder[PATH_MAX];
    const int bytes = snprintf(folder, sizeof folder, "%.*s", (int)length, path);
    return bytes >= 0 && (size_t)bytes < sizeof folder ? opendir(length > 0 ? folder : ".") : NULL;
}

/* The length of a prefix without the "-t2" of a thread, whose process has one list. */
static size_t without_thread(const char *prefix, size_t length)
{
    size_t digits = length;
    while (digits > 0 && prefix[digits - 1] >= '0' && prefix[digits - 1] <= '9')
        digits--;
    return digits < length && digits >= 2 && prefix[digits - 1] == 't' && prefix[digits - 2] == '-'
               ? digits - 2
               : length;
}

/* --- finding a list -------------------------------------------------------------------------- */

/* Finds the list of the captures to the prefix before the first append after that time. */
static bool find_aside(char path[PATH_MAX], const char *prefix, size_t length, const char *time)
{
    const size_t folder = folder_length(prefix, length);
    const size_t base = length - folder;
    char best[TIME_BYTES] = "";
    DIR *entries = time[0] ? open_folder(prefix, folder) : NULL;
    for (const struct dirent *entry; entries && (entry = readdir(entries));) {
        const char *rest = entry->d_name + base;
        if (strncmp(entry->d_name, prefix + folder, base) != 0 || rest[0] != '_' ||
            !is_time(rest + 1) || strcmp(rest + TIME_BYTES, MODULE_LIST_SUFFIX) != 0 ||
            strncmp(rest + 1, time, TIME_BYTES - 1) <= 0)
            continue;
        if (!best[0] || strncmp(rest + 1, best, TIME_BYTES - 1) < 0)
            snprintf(best, sizeof best, "%s", rest + 1);
    }
    if (entries)
        closedir(entries);
    return best[0] && snprintf(path, PATH_MAX, "%.*s_%s" MODULE_LIST_SUFFIX, (int)length, prefix,
                               best) < PATH_MAX;
}

static bool find_list(char path[PATH_MAX], const char *prefix, size_t length, const char *time)
{
    if (find_aside(path, prefix, length, time))
        return true;
    const int bytes = snprintf(path, PATH_MAX, "%.*s" MODULE_LIST_SUFFIX, (int)length, prefix);
    struct stat status; /* a pipe of this name is no list, and waits for its writer */
    return bytes < PATH_MAX && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           access(path, R_OK) == 0;
}

char *module_list_beside(const char *capture)
{
    char path[PATH_MAX];
    char time[TIME_BYTES];
    size_t length = strlen(capture);
    const size_t folder = folder_length(capture, length);
    if (length >= PATH_MAX || strcmp(capture, "-") == 0)
        return NULL;
    find_time(time, capture + folder);
    for (;;) {
        const size_t process = without_thread(capture, length);
        if (find_list(path, capture, length, time) ||
            (process < length && find_list(path, capture, process, time)))
            return strdup(path);
        /* what follows the prefix of a capture file begins with _ and may have more of them */
        while (length > folder && capture[length - 1] != '_')
            length--;
        if (length <= folder + 1)
            return NULL;
        length--;
    }
}

bool module_list_may_write(const char *path)
{
    struct stat status;
    if (lstat(path, &status) < 0)
        return errno == ENOENT;
    return S_ISREG(status.st_mode) && (status.st_size == 0 || module_list_is(path));
}

/* --- setting lists aside --------------------------------------------------------------------- */

/* Whether a name is that of a list of the prefix, or of one of its processes. */
static bool is_list(const char *name, const char *base)
{
    const size_t length = strlen(base);
    if (strncmp(name, base, length) != 0)
        return false;
    const char *rest = name + length;
    if (strncmp(rest, "-p", 2) == 0 && strspn(rest + 2, "0123456789") > 0)
        rest += 2 + strspn(rest + 2, "0123456789");
    return strcmp(rest, MODULE_LIST_SUFFIX) == 0;
}

/* The latest time in the names of the prefix's files. Returns whether there is a list. */
static bool look_for_lists(DIR *entries, const char *base, char latest[TIME_BYTES])
{
    bool any = false;
    rewinddir(entries);
    for (const struct dirent *entry; (entry = readdir(entries));) {
        char time[TIME_BYTES];
        if (strncmp(entry->d_name, base, strlen(base)) != 0)
            continue;
        any = any || is_list(entry->d_name, base);
        find_time(time, entry->d_name);
        if (strcmp(time, latest) > 0)
            memcpy(latest, time, TIME_BYTES);
    }
    return any;
}

static void tell_time(char text[TIME_BYTES])
{
    struct tm parts;
    const time_t now = time(NULL);
    strftime(text, TIME_BYTES, "%Y%m%dT%H%M%SZ", gmtime_r(&now, &parts));
}

/* Waits until the time is after the latest one of a file. */
static void wait_until_after(const char latest[TIME_BYTES], char now[TIME_BYTES])
{
    const struct timespec moment = {.tv_nsec = POLL_NS};
    const long polls = WAIT_SECONDS * (1000000000L / POLL_NS);
    tell_time(now);
    for (long i = 0; i < polls && strcmp(now, latest) <= 0; i++) {
        nanosleep(&moment, NULL);
        tell_time(now);
    }
}

/* Renames a list, unless it is something else. 0 or BT_IO. */
static int set_one_aside(const char *path, const char *now, struct bt_error *error)
{
    char aside[PATH_MAX];
    const int bytes = snprintf(aside, sizeof aside, "%.*s_%s" MODULE_LIST_SUFFIX,
                               (int)(strlen(path) - strlen(MODULE_LIST_SUFFIX)), path, now);
    if (!module_list_may_write(path))
        return 0;
    if (bytes < 0 || (size_t)bytes >= sizeof aside)
        return bt_fail(error, BT_IO, "the name %.60s... is too long", path);
    return rename(path, aside) == 0 ? 0
                                    : bt_fail_errno(error, "cannot rename %s to %s", path, aside);
}

int module_list_set_aside(const char *prefix, struct bt_error *error)
{
    const size_t folder = folder_length(prefix, strlen(prefix));
    const char *base = prefix + folder;
    char latest[TIME_BYTES] = "";
    char now[TIME_BYTES];
    char path[PATH_MAX];
    int result = 0;
    DIR *entries = open_folder(prefix, folder);
    if (!entries) /* no folder, no list */
        return 0;
    if (look_for_lists(entries, base, latest)) {
        wait_until_after(latest, now);
        rewinddir(entries);
        for (const struct dirent *entry; result == 0 && (entry = readdir(entries));)
            if (is_list(entry->d_name, base) && snprintf(path, sizeof path, "%.*s%s", (int)folder,
                                                         prefix, entry->d_name) < (int)sizeof path)
                result = set_one_aside(path, now, error);
    }
    closedir(entries);
    return result;
}
