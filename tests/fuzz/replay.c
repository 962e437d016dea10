/*
 * Runs a fuzz target on every given file and on every file of every given folder. This makes its
 * corpus a test for any compiler.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define INPUT_BYTES_MAX ((size_t)16 << 20)

/* Returns 1 if the input was run, else 0. */
static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    uint8_t *data = NULL;
    int done = 0;
    if (!file || fstat(fileno(file), &status) != 0) {
        fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
        goto out;
    }
    if (status.st_size < 0 || (uint64_t)status.st_size > INPUT_BYTES_MAX) {
        fprintf(stderr, "replay: %s: too large for an input\n", path);
        goto out;
    }
    /* exactly the size of the file, so that the sanitizer sees a read past its end */
    size_t size = (size_t)status.st_size;
    data = malloc(size ? size : 1);
    if (!data || fread(data, 1, size, file) != size) {
        fprintf(stderr, "replay: %s: cannot be read\n", path);
        goto out;
    }
    LLVMFuzzerTestOneInput(data, size);
    done = 1;
out:
    free(data);
    if (file)
        fclose(file);
    return done;
}

/* Counts the inputs that ran and those that should have, of a folder or a single file. */
static void replay(const char *path, unsigned *wanted, unsigned *done)
{
    DIR *folder = opendir(path);
    if (!folder) {
        (*wanted)++;
        *done += (unsigned)replay_file(path);
        return;
    }
    for (const struct dirent *entry; (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        char name[4096];
        int length = snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        (*wanted)++;
        if (length > 0 && (size_t)length < sizeof name)
            *done += (unsigned)replay_file(name);
    }
    closedir(folder);
}

int main(int argc, char **argv)
{
    unsigned wanted = 0;
    unsigned done = 0;
    for (int i = 1; i < argc; i++)
        replay(argv[i], &wanted, &done);
    printf("%u of %u inputs\n", done, wanted);
    return done == wanted && done > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
