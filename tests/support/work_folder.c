#include "tests/support/work_folder.h"

#include "tests/support/random.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LISTED     60
#define TEXT_BYTES 20000

static void must(bool true_here, const char *what)
{
    if (!true_here) {
        perror(what);
        abort();
    }
}

static void make_listed(void)
{
    static const struct timespec times[2] = {{.tv_sec = 1600000000}, {.tv_sec = 1600000000}};
    char name[32];
    must(mkdir("listed", 0700) == 0, "listed");
    for (int i = 0; i < LISTED; i++) {
        snprintf(name, sizeof name, "listed/%c%d", 'a' + i * 7 % 26, i);
        if (i % 10 == 3) {
            must(mkdir(name, 0755) == 0, name);
        } else if (i % 10 == 7) {
            must(symlink("a0", name) == 0, name);
        } else {
            int file = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
            must(file >= 0 && close(file) == 0, name);
        }
        must(utimensat(AT_FDCWD, name, times, AT_SYMLINK_NOFOLLOW) == 0, name);
    }
}

static void make_text(void)
{
    uint64_t random = random_seed(1);
    long written = 0;
    FILE *text = fopen("text", "w");
    must(text, "text");
    while (written < TEXT_BYTES) {
        int bytes =
            fprintf(text, "%u in line %ld\n", (unsigned)random_below(&random, 5000), written);
        must(bytes > 0, "text");
        written += bytes;
    }
    must(fclose(text) == 0, "text");
}

void work_folder_enter(struct work_folder *folder)
{
    folder->former = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    folder_make(folder->path);
    must(folder->former >= 0 && chdir(folder->path) == 0, folder->path);
    make_listed();
    make_text();
}

void work_folder_leave(struct work_folder *folder)
{
    must(fchdir(folder->former) == 0, "the former folder");
    close(folder->former);
    folder_remove(folder->path);
}
