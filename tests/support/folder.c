#define _DEFAULT_SOURCE /* mkdtemp is XSI */
#include "tests/support/folder.h"

#include "formats/base/suffix.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *usual_place(void)
{
    const char *chosen = getenv("TMPDIR");
    return chosen && chosen[0] ? chosen : P_tmpdir;
}

static void make(char path[FOLDER_PATH_BYTES], const char *place)
{
    snprintf(path, FOLDER_PATH_BYTES, "%.200s/bustap-test-XXXXXX", place);
    if (!mkdtemp(path)) {
        perror(path);
        abort();
    }
}

/* Memory first: captures sync every file, which takes a disk milliseconds and tests nothing
 * here. */
void folder_make(char path[FOLDER_PATH_BYTES])
{
    make(path, access("/dev/shm", W_OK) == 0 ? "/dev/shm" : usual_place());
}

void folder_make_for_programs(char path[FOLDER_PATH_BYTES])
{
    make(path, usual_place());
}

void folder_remove(const char *path)
{
    struct folder_list list = folder_list(path, "");
    for (size_t i = 0; i < list.count; i++) {
        char inner[FOLDER_PATH_BYTES * 2];
        snprintf(inner, sizeof inner, "%s/%.250s", path, list.names[i]);
        if (unlink(inner) < 0)
            folder_remove(inner);
    }
    folder_list_free(&list);
    rmdir(path);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

struct folder_list folder_list(const char *path, const char *ending)
{
    struct folder_list list = {NULL, 0};
    DIR *folder = opendir(path);
    if (!folder)
        return list;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            !suffix_is(entry->d_name, ending, strncmp))
            continue;
        char **names = realloc(list.names, (list.count + 1) * sizeof *names);
        if (!names)
            abort();
        list.names = names;
        list.names[list.count++] = strdup(entry->d_name);
    }
    closedir(folder);
    if (list.count > 0)
        qsort(list.names, list.count, sizeof *list.names, compare);
    return list;
}

void folder_list_free(struct folder_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->names[i]);
    free(list->names);
    list->names = NULL;
    list->count = 0;
}
