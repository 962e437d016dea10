#!/bin/bash
# Captures are the same, byte for byte, without translations on disk, and with none, new, old, corrupt and
# foreign ones; code that has changed is translated again.
set -eu
export XDG_CACHE_HOME=$PWD/cache

cat >library.c <<'END_C'
int answer(int a)
{
    int sum = VERSION;
    for (int i = 0; i < a; i++)
        sum = sum * 3 + i;
    return sum;
}
END_C
cat >program.c <<'END_C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* Code of the program's file that is changed while it runs. */
__attribute__((noinline, aligned(4096))) static int constant(void)
{
    return 0x11223344;
}

__attribute__((noinline, aligned(4096))) static int after(void)
{
    return 5;
}

static void change(int value)
{
    uint8_t *code = (uint8_t *)(uintptr_t)constant;
    const int old = constant();
    while (memcmp(code, &old, 4) != 0)
        code++;
    mprotect((void *)(uintptr_t)constant, 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(code, &value, 4);
    mprotect((void *)(uintptr_t)constant, 4096, PROT_READ | PROT_EXEC);
}

int main(void)
{
    int (*volatile call)(void) = constant;
    void *library = dlopen("./library.so", RTLD_NOW);
    int (*answer)(int) = (int (*)(int))dlsym(library, "answer");
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        printf("%d %x\n", answer(10 + i), call());
        change(0x1000 + i);
        sum += after();
    }
    dlclose(library);
    printf("%d\n", sum);
    return 7;
}
END_C
gcc -O1 -o program program.c -ldl
gcc -O1 -shared -fPIC -DVERSION=1 -o library.so library.c
gcc -O1 -shared -fPIC -DVERSION=2 -o other.so library.c

# run NAME OPTION...: captures a run; its output and records are in NAME.*
run() {
    local name=$1 status=0
    shift
    bustap exec -q -o "$name" "$@" -- ./program >"$name.output" 2>"$name.messages" || status=$?
    [ "$status" = 7 ] || { echo "$name: status $status"; cat "$name.messages"; exit 1; }
    zcat "$name"_*.byu.gz >"$name.byu"
    rm "$name"_*.byu.gz
}

same() {
    cmp "$1.output" "$2.output"
    cmp "$1.byu" "$2.byu"
    cmp "$1.messages" "$2.messages"
}

status=0
./program >native || status=$?
[ "$status" = 7 ]

run plain --no-cache
cmp native plain.output
[ ! -e cache ] || { echo "--no-cache keeps translations"; exit 1; }

mkdir cache
run empty
same plain empty
kept=$(echo cache/bustap/*.blocks)
[ -s "$kept" ]
[ "$(stat -c %a cache/bustap "$kept" | tr '\n' ' ')" = '700 600 ' ]
was=$(stat -c '%i %Y' "$kept")
run warm
same plain warm
[ "$was" = "$(stat -c '%i %Y' "$kept")" ] || { echo "a warm run writes translations"; exit 1; }
run fetches --only-fetch
run again --only-fetch
same fetches again
run plain_fetches --only-fetch --no-cache
same fetches plain_fetches
run skipped --skip 50K --count 1M
run skipped_again --skip 50K --count 1M
run skipped_plain --skip 50K --count 1M --no-cache
same skipped skipped_again
same skipped skipped_plain

# corrupt, truncated and foreign files
cp "$kept" good
for seed in 1 2 3 4; do
    python3 -c '
import random, sys
random.seed(int(sys.argv[2]))
data = bytearray(open("good", "rb").read())
for i in range(2000):
    data[random.randrange(280, len(data))] ^= random.randrange(1, 256)
open(sys.argv[1], "wb").write(data)' "$kept" "$seed"
    run corrupt
    same plain corrupt
done
head -c 30000 good >"$kept"
run truncated
same plain truncated
echo junk >"$kept"
run junk
same plain junk
[ "$(stat -c %s "$kept")" -gt 10000 ] || { echo "a foreign file is not replaced"; exit 1; }
: >"$kept"
run nothing
same plain nothing

# two at once, with an empty cache
rm -r cache/bustap
run first &
run second
wait $!
same plain first
same plain second
run third
same plain third

# a library of the same path
mv other.so library.so
status=0
./program >native2 || status=$?
cmp -s native native2 && exit 1
run replaced
cmp native2 replaced.output
run replaced_again
run replaced_plain --no-cache
same replaced replaced_again
same replaced replaced_plain

# no place for a cache is no failure; a folder of others is refused once (the environment is in the records)
XDG_CACHE_HOME=/proc run nowhere
cmp replaced.output nowhere.output
mkdir -p shared/bustap
chmod 777 shared/bustap
XDG_CACHE_HOME=$PWD/shared run refused
cmp replaced.output refused.output
XDG_CACHE_HOME=$PWD/shared bustap exec -o said -- ./program >output 2>messages || true
[ "$(grep -c 'others may write to' messages)" = 1 ] || { cat messages; exit 1; }
# one note, with the reason, where none can be kept
said() {
    local note=$1 status=0
    shift
    bustap "$@" -- ./program >output 2>messages || status=$?
    [ "$status" = 7 ] || { echo "status $status"; cat messages; exit 1; }
    [ "$(grep -c "$note" messages)" = 1 ] || { cat messages; exit 1; }
    rm -f nowhere*
}
for command in 'exec -o nowhere' 'profile -o nowhere' 'wet -o nowhere' 'depend -o nowhere'; do
    # shellcheck disable=SC2086 # separate words
    XDG_CACHE_HOME=/proc said 'no translations are kept .*/proc/bustap cannot be used: No such' $command
done
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    mkdir full
    export -f said
    cat >inside <<'END'
set -eu
mount -t tmpfs -o size=8k none full || { echo "no file system can be mounted here"; exit 77; }
XDG_CACHE_HOME=$PWD/full said 'no new translations are kept in .*/full/bustap: No space left' exec -o nowhere
END
    unshare -m bash inside || [ $? -eq 77 ]
fi
(
    unset XDG_CACHE_HOME HOME
    run homeless
)
cmp replaced.output homeless.output

# the other commands
bustap profile --csv --by function -o profile1 -- ./program >output || true
bustap profile --csv --by function -o profile2 -- ./program >output || true
bustap profile --csv --by function -o profile3 --no-cache -- ./program >output || true
cmp profile1 profile2
cmp profile1 profile3
for option in '' '' --no-cache; do
    # shellcheck disable=SC2086 # no option, or one
    bustap wet --no-values $option -o trace.wet -- ./program >output || true
    bustap wet print -o text trace.wet
    md5sum <text >>texts
done
[ "$(sort -u texts | wc -l)" = 1 ]
