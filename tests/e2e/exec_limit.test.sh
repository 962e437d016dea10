#!/bin/bash
# Memory beyond the 4 GiB of addresses of programs: the failure is reported once, with advice, if this is its only
# reason. Sanitized programs are refused.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

cat >ask.c <<'END_OF_C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define GIB ((size_t)1 << 30)

static const int anywhere = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

static void *ask(void *at, size_t size, int flags)
{
    return mmap(at, size, PROT_READ | PROT_WRITE, anywhere | flags, -1, 0);
}

/* Asks for what the argument says, three times; ends with 0 if it got it at last. */
int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "";
    void *got = MAP_FAILED;
    if (strcmp(what, "silent") == 0) {
        int file = open("silent.txt", O_WRONLY | O_CREAT, 0666);
        dup2(file, 2);
        what = "much";
    }
    for (int i = 0; i < 3; i++) {
        if (strcmp(what, "much") == 0)
            got = ask(NULL, 6 * GIB, 0);
        else if (strcmp(what, "high") == 0)
            got = ask((void *)0x600000000000, GIB, MAP_FIXED);
        else if (strcmp(what, "shadow") == 0)
            got = ask((void *)0x7fff7000, (size_t)0x10007fff8000 - 0x7fff7000, MAP_FIXED);
        else if (strcmp(what, "grow") == 0)
            got = mremap(ask(NULL, GIB / 1024, 0), GIB / 1024, 6 * GIB, MREMAP_MAYMOVE);
        else if (strcmp(what, "hint") == 0)
            got = ask((void *)0xc000000000, GIB / 16, 0);
        else if (strcmp(what, "senseless") == 0)
            got = ask(NULL, (size_t)1 << 50, 0);
        else if (strcmp(what, "low") == 0)
            got = ask(NULL, 3 * GIB, MAP_32BIT);
    }
    return got == MAP_FAILED;
}
END_OF_C
gcc -O1 -w -o ask ask.c

# says COMMAND... STATUS LINE: the program's status, and nothing on standard error but a line
says() {
    local status=0
    "${@:1:$#-2}" 2>messages || status=$?
    [ "$status" = "${*: -2:1}" ] || { echo "$*: status $status"; cat messages; exit 1; }
    if [ -z "${*: -1}" ]; then
        [ ! -s messages ] || { echo "$*"; cat messages; exit 1; }
    else
        [ "$(wc -l <messages)" = 1 ] && grep -q -- "${*: -1}" messages || { echo "$*"; cat messages; exit 1; }
    fi
    rm -f x_*
}

run=(bustap exec -q --only-fetch --count 1 -o x)
much='^bustap: the program requested 6144 MiB of memory .* less than 4 GiB .*; limit the memory of ask by its options'
high='^bustap: the program requested 1024 MiB of memory at 0x600000000000 .* above 4 GiB; .*-fsanitize'
says "${run[@]}" ./ask much 1 "$much"
says "${run[@]}" ./ask grow 1 "$much"
says "${run[@]}" ./ask high 1 "$high"
says "${run[@]}" ./ask shadow 1 'MiB of memory at 0x7fff7000'
says "${run[@]}" ./ask hint 0 ''
says "${run[@]}" ./ask senseless 1 '' # fails natively, too
says "${run[@]}" ./ask low 1 ''
says "${run[@]}" ./ask silent 1 "$much"
[ ! -s silent.txt ]
says bustap profile -o x_profile ./ask much 1 "$much"
says bustap rondo -o x_rondo ./ask much 1 "$much"

# the advice is for the program that asks
while read -r name advice; do
    cp ask "$name"
    says "${run[@]}" "./$name" much 1 "less than 4 GiB of addresses; limit its memory: $advice"
done <<'END'
java java -Xmx300m
node node --max-old-space-size=300
mariadbd mariadbd --innodb-buffer-pool-size=128M
mysqld mysqld --innodb-buffer-pool-size=128M
redis-server redis-server --maxmemory 300mb
END

# --- reservations above 4 GiB again and again ---

cat >reserve.c <<'END_OF_C'
/* Reserves addresses at hints above 4 GiB until it gets some there, or as often as the argument says; between two
 * attempts it does what the second argument says. Ends with 0 if it has finished. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    const size_t step = (size_t)1 << 20;
    size_t size = ((size_t)1 << 38) + step;
    long attempts = atol(arguments[1]);
    const char *what = count > 2 ? arguments[2] : "";
    const int protection = strcmp(what, "readable") == 0 ? PROT_READ : PROT_NONE;
    for (uintptr_t hint = (uintptr_t)66 << 32; attempts != 0; hint += step, attempts--) {
        char *got = mmap((void *)hint, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (got == MAP_FAILED) {
            size -= size / 8;
            continue;
        }
        if ((uintptr_t)got >> 33 != 0)
            return 0;
        /* cut to its alignment first */
        size_t before = -(uintptr_t)got & (step - 1);
        if (before != 0)
            munmap(got, before);
        if (strcmp(what, "used") == 0)
            mprotect(got + before, step, PROT_READ | PROT_WRITE), memset(got + before, 1, step);
        munmap(got + before, size - before);
    }
    return 0;
}
END_OF_C
gcc -O1 -w -o reserve reserve.c
./reserve -1
vain='^bustap: .*the program reserves memory above 4 GiB again and again.*--disable-large-address-space'
for way in "${run[*]}" 'bustap profile -o x_profile' 'bustap rondo -o x_rondo' 'bustap depend -o x_depend' 'bustap wet -o x_wet'; do
    status=0
    # shellcheck disable=SC2086 # split into words
    timeout 60 $way ./reserve -1 2>messages || status=$?
    [ "$status" = 2 ] && grep -q "$vain" messages || { echo "$way: status $status"; cat messages; exit 1; }
    rm -f x_*
done
# the hints of Go are 128; what is used, or may be read, is no reservation in vain
for arguments in 200 '2000 used' '2000 readable'; do
    status=0
    # shellcheck disable=SC2086 # split into words
    timeout 60 "${run[@]}" ./reserve $arguments 2>messages || status=$?
    [ "$status" = 0 ] || { echo "reserve $arguments: status $status"; cat messages; exit 1; }
    rm -f x_*
done

if command -v java >/dev/null && java -Xmx300m -version 2>/dev/null; then
    says "${run[@]}" java -Xms5g -version 1 ' MiB of memory .*java -Xmx300m' >/dev/null
fi

# --- sanitizers ---

echo 'int main(void) { return 0; }' >main.c
n=0
for compiler in gcc clang; do
    for sanitizer in address thread memory leak; do
        for option in '' "-static-lib${sanitizer:0:1}san"; do
            # shellcheck disable=SC2086 # none, or one
            "$compiler" -O1 -fsanitize=$sanitizer $option -o sanitized main.c 2>/dev/null || continue
            n=$((n + 1))
            status=0
            "${run[@]}" ./sanitized 2>messages || status=$?
            [ "$status" = 2 ] || { echo "$compiler $sanitizer $option: status $status"; cat messages; exit 1; }
            [ "$(cat messages)" = "bustap: ./sanitized: is built with -fsanitize=$sanitizer, which needs addresses above\
 4 GiB; build it without" ] || { cat messages; exit 1; }
        done
    done
done
# without the compilers' libraries: by its symbol
echo 'void __tsan_init(void) {} int main(void) { return 0; }' | gcc -O1 -o sanitized -x c -
says "${run[@]}" ./sanitized 2 'sanitized: is built with -fsanitize=thread'
echo 'void my__tsan_init(void) {} void __tsan_init2(void) {} int main(void) { return 0; }' | gcc -O1 -o named -x c -
says "${run[@]}" ./named 0 ''
# without symbols it is recognised by its memory request
if gcc -O1 -fsanitize=thread -static-libtsan -s -o stripped main.c 2>/dev/null; then
    status=0
    "${run[@]}" ./stripped >out 2>messages || status=$?
    [ "$status" != 0 ]
    grep -q '^bustap: the program requested .* above 4 GiB' messages || { cat messages; exit 1; }
fi
echo "$n sanitized programs"
