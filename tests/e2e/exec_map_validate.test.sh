#!/bin/bash
# mmap with MAP_SHARED_VALIDATE: the native results and errors for files and memory, at a hint, at a fixed address and
# over other mappings, with flags that validation rejects.
set -eu -o pipefail

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
cat >validate.c <<'END'
#define _GNU_SOURCE /* memfd_create, MAP_ANONYMOUS */
#include <errno.h>
#include <fcntl.h>
#include <linux/mman.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BYTES ((size_t)8192)

static char *place; /* of two pages with room around them */

/* Maps a file (-1: memory), prints the result, and whether a write is seen through the file. */
static void try(const char *what, void *at, int file, int flags)
{
    char seen = 0;
    errno = 0;
    char *made = mmap(at, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | flags, file, 0);
    if (made == MAP_FAILED) {
        printf("%s: errno %d\n", what, errno);
        return;
    }
    made[BYTES - 1]++;
    if (file >= 0)
        (void)!pread(file, &seen, 1, (off_t)BYTES - 1);
    printf("%s: mapped%s, %d %d\n", what, made == at ? " there" : "", made[BYTES - 1], seen);
    munmap(made, BYTES);
}

static void try_each(const char *name, int file)
{
    printf("%s\n", name);
    try("anywhere", NULL, file, 0);
    try("hint", place, file, 0);
    try("fixed", place, file, MAP_FIXED);
    try("fixed, not replacing", place, file, MAP_FIXED_NOREPLACE);
    try("populated", place, file, MAP_POPULATE | MAP_NORESERVE);
    try("below 2 GiB", NULL, file, MAP_32BIT);
    try("synchronous", NULL, file, MAP_SYNC);
    try("unknown", NULL, file, 0x400000);
    try("unknown, fixed", place, file, MAP_FIXED | 0x400000);
    char *old = mmap(place + BYTES / 2, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    try("fixed, over a part", place, file, MAP_FIXED);
    try("fixed, not replacing a part", place, file, MAP_FIXED_NOREPLACE);
    munmap(old, BYTES);
    try("growing", NULL, file, MAP_GROWSDOWN);
}

int main(void)
{
    place = (char *)mmap(NULL, 8 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 2 * BYTES;
    munmap(place - 2 * BYTES, 8 * BYTES);
    int memory = memfd_create("memory", 0), file = open("validated", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int reading = open("validated", O_RDONLY);
    if (ftruncate(memory, BYTES) != 0 || ftruncate(file, BYTES) != 0)
        return 9;
    try_each("memory of a name", memory);
    try_each("file", file);
    try_each("file open for reading", reading);
    try_each("closed", 99);
    printf("anonymous\n");
    try("anonymous", NULL, -1, MAP_ANONYMOUS);
    try("anonymous, with a hint", place, -1, MAP_ANONYMOUS);
    return 0;
}
END
gcc -O1 -w -o validate validate.c
./validate >wanted
[ "$(grep -c mapped wanted)" -ge 12 ]
for way in 'exec --append -o out' 'profile -o report' 'rondo -p bimodal -d 0 -o report' 'depend -o report' 'wet -o out.wet'; do
    # shellcheck disable=SC2086 # split into words
    timeout 120 bustap $way -- ./validate >got 2>messages || { echo "bustap $way: status $?"; cat messages; exit 1; }
    diff wanted got || { echo "bustap $way"; exit 1; }
done
