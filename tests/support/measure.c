#define _DEFAULT_SOURCE /* getrusage */
#include "tests/support/measure.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static double wall_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double cpu_now(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

void measure_begin(struct measure *measure)
{
    measure->wall = wall_now();
    measure->cpu = cpu_now(RUSAGE_SELF);
    measure->cpu_children = cpu_now(RUSAGE_CHILDREN);
}

void measure_end(struct measure *measure)
{
    measure->wall = wall_now() - measure->wall;
    measure->cpu = cpu_now(RUSAGE_SELF) - measure->cpu;
    measure->cpu_children = cpu_now(RUSAGE_CHILDREN) - measure->cpu_children;
}

size_t measure_resident_bytes(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file) {
        if (fscanf(file, "%*u %lu", &pages) != 1)
            pages = 0;
        fclose(file);
    }
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* proc(5): the name is in parentheses; user and system time are fields 14 and 15. */
static int read_thread(const char *id, char *name, size_t size, double *cpu)
{
    char path[300];
    char text[512];
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", id);
    FILE *file = fopen(path, "r");
    if (!file)
        return -1;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    char *open = strchr(text, '(');
    char *close = strrchr(text, ')');
    unsigned long user, system;
    if (!open || !close ||
        sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) !=
            2)
        return -1;
    *close = '\0';
    snprintf(name, size, "%s", open + 1);
    *cpu = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
    return 0;
}

void measure_threads(struct measure_threads *threads)
{
    DIR *folder = opendir("/proc/self/task");
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        long id = strtol(entry->d_name, NULL, 10);
        int i = 0;
        while (i < threads->count && threads->threads[i].id != id)
            i++;
        if (id <= 0 || i == MEASURE_THREADS)
            continue;
        if (read_thread(entry->d_name, threads->threads[i].name, sizeof threads->threads[i].name,
                        &threads->threads[i].cpu) < 0)
            continue;
        threads->threads[i].id = id;
        threads->count = i == threads->count ? i + 1 : threads->count;
    }
    if (folder)
        closedir(folder);
}
