#!/bin/bash
# Programs of all kinds are loaded below 4 GiB with stack, arguments, environment and auxiliary vector,
# and run as natively. For programs that cannot run, one sentence says why.
set -eu
native=$BUILD/tests/e2e/exec_native

cat >tell.c <<'END'
/* Prints the program's arguments and environment, and its addresses if requested. */
#include <fenv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <elf.h>

extern char **environ;
static char zeros[100000];
static int numbers[5000] = {1, 2, 3};
static __thread int local = 42;
static __thread int local_zero;

int main(int argc, char **argv)
{
    uint64_t low = 0;
    for (int i = 0; i <= argc; i++)
        printf("argument %s\n", argv[i] ? argv[i] : "end");
    for (char **at = environ; *at; at++)
        printf("environment %s\n", *at);
    for (size_t i = 0; i < sizeof zeros; i++)
        low += zeros[i] != 0;
    printf("zeros %d, numbers %d %d, local %d %d\n", (int)low, numbers[2], numbers[4999], local, local_zero);
    static const unsigned long same[] = {AT_PHENT, AT_PHNUM, AT_PAGESZ, AT_UID, AT_EUID, AT_GID, AT_EGID,
        AT_SECURE, AT_HWCAP, AT_HWCAP2, AT_CLKTCK, AT_FLAGS};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        printf("auxiliary %lu: %lu\n", same[i], getauxval(same[i]));
    printf("name %s, platform %s\n", (char *)getauxval(AT_EXECFN), (char *)getauxval(AT_PLATFORM));
    Elf64_Phdr *headers = (Elf64_Phdr *)getauxval(AT_PHDR);
    printf("header %u %lx\n", headers[0].p_type, (unsigned long)headers[getauxval(AT_PHNUM) - 1].p_vaddr);
    printf("rounding %d, stack aligned %d\n", fegetround(), (int)((uintptr_t)__builtin_frame_address(0) % 16));
    char *heap = malloc(100000);
    memset(heap, 1, 100000);
    printf("division %.17g\n", 1.0 / argc);
    if (argc > 1 && strcmp(argv[1], "--where") == 0) {
        uint64_t all = (uint64_t)(uintptr_t)&argc | (uint64_t)(uintptr_t)zeros | (uint64_t)(uintptr_t)main |
            getauxval(AT_ENTRY) | getauxval(AT_RANDOM) | getauxval(AT_BASE) | (uint64_t)(uintptr_t)sbrk(0) * 0;
        fprintf(stderr, "%s %s\n", all >> 32 ? "above" : "below", getauxval(AT_SYSINFO_EHDR) ? "vdso" : "none");
    }
    return 7;
}
END
kinds="static static-pie no-pie pie"
gcc -O1 -static -o static tell.c -lm
gcc -O1 -static-pie -o static-pie tell.c -lm
gcc -O1 -no-pie -o no-pie tell.c -lm
gcc -O1 -fPIE -pie -o pie tell.c -lm

# runs natively and loaded by us, and compares output and status
same() {
    local wanted=0 got=0
    env -u _ "$@" >wanted 2>wanted.err || wanted=$?
    env -u _ "$native" "$@" >got 2>got.err || got=$?
    [ "$wanted" = "$got" ] || { echo "$*: status $got, wanted $wanted"; cat got.err; exit 1; }
    cmp wanted got
    cmp wanted.err got.err
}

export ODD=$'a\nb' EMPTY= LONG
LONG=$(head -c 100000 /dev/zero | tr '\0' x)
for kind in $kinds; do
    same ./"$kind"
    same ./"$kind" one '' 'three words' "$LONG" 5 6 7 8
    env -i "$native" ./"$kind" --where >/dev/null 2>where || [ $? = 7 ]
    [ "$(cat where)" = 'below none' ] || { echo "$kind: $(cat where)"; exit 1; }
done
unset ODD EMPTY LONG

seq 3000 | sort -R --random-source=/dev/zero >lines
mkdir -p listed/folder
touch -d 2020-01-01 listed/{a..z} listed/folder/{1..9}
same /bin/ls -lnR listed
same /usr/bin/sort -n lines
same /bin/bash -c 'for i in 1 2 3; do echo $i; (exit $i); echo $?; done; echo "$0" "$@" | tr a-z A-Z' name a b
same /lib64/ld-linux-x86-64.so.2 ./pie loaded by hand
same /bin/sh -c 'kill -9 $$'

# scripts, as the kernel runs them
printf '#!/bin/cat\nfrom a script\n' >plain
printf '#! /bin/echo  two words \t \nrest\n' >spaced
printf '#!./spaced\n' >nested
printf '#!/bin/echo' >endless
chmod +x plain spaced nested endless
for script in plain spaced nested endless; do
    same ./"$script"
    same ./"$script" more '' arguments
done

# addresses: in the requested range, code readable and not executable
"$native" --show --stack=1000000 ./no-pie >shown
grep -q '^program 400000-' shown
grep -q '^path /.*/no-pie$' shown
grep -q '^00400000-' shown
grep -q ' rw- stack$' shown
"$native" --show ./pie >shown
grep -q '^program 10000000-' shown
high=$(sed -n 's/^program .*-\(.*\) entry.*/\1/p' shown)
grep -q "^break $high\$" shown

# --- programs that cannot run ---
refused() {
    local sentence=$1 status=0
    shift
    "$native" "$@" >out 2>err || status=$?
    [ "$status" = 125 ] || { echo "$*: status $status, nothing refused"; exit 1; }
    [ ! -s out ]
    [ "$(wc -l <err)" = 1 ]
    grep -q -- "$sentence" err || { echo "$*: $(cat err); wanted: $sentence"; exit 1; }
}
# writes octets (printf's escapes) at an offset of a copy
patched() {
    cp "$1" "$2"
    printf "$4" | dd of="$2" bs=1 seek="$3" conv=notrunc status=none
}

gcc -c -o object.o tell.c
chmod +x object.o
refused './object.o: is not a program but an object file' ./object.o
echo 'int f(int x) { return x; }' | gcc -x c -shared -nostdlib -fPIC -o library.so -
refused 'is a shared library' ./library.so
patched pie narrow 4 '\001'
refused 'is an x32 program' ./narrow
patched narrow narrow2 18 '\003\000'
refused 'is a 32-bit program; build it for x86-64' ./narrow2
patched pie arm 18 '\267\000'
refused 'is a program for ARM64' ./arm
patched pie big 5 '\002'
refused 'is a program for another processor' ./big
head -c 40 pie >short
chmod +x short
refused 'is truncated within its first 64 bytes' ./short
head -c 9000 static >cut
chmod +x cut
refused 'is truncated' ./cut
echo 'void _start(void) { for (;;); }' |
    gcc -x c -nostdlib -static -Wl,-Ttext-segment=0x200000000 -o high -
refused 'at 0x200000000, above 4 GiB.*link it position-independent (-pie) or lower' ./high
gcc -O1 -Wl,--dynamic-linker=/no/such/loader -o lonely tell.c -lm
refused '^./lonely: its loader: /no/such/loader: cannot be opened: No such file' ./lonely
gcc -O1 -Wl,--dynamic-linker="$PWD/lines" -o odd tell.c -lm
chmod +x lines
refused 'its loader: .*/lines: is neither an ELF program nor' ./odd
printf '#!\n' >nameless
printf '#!/no/such/interpreter\n' >missing
printf '#!./loop\n' >loop
chmod +x nameless missing loop
refused './nameless: names no interpreter' ./nameless
refused '/no/such/interpreter: cannot be opened' ./missing
refused './loop: is a script that needs more than 5 nested interpreters' ./loop
refused 'is a folder, not a program' .
refused 'cannot be opened: No such file' ./nothing
refused 'is neither an ELF program nor a script' ./lines
cp pie unset
chmod -x unset
refused 'may not be executed' ./unset
refused 'arguments and environment are too long' --stack=200000 ./pie "$(seq 16000)" "$(seq 16000)"

# corrupt headers: mapped or refused
RANDOM=6
for i in $(seq 150); do
    octet=$(printf '\\%03o' $((RANDOM % 256)))
    patched pie damaged $((RANDOM % 700)) "$octet"
    status=0
    "$native" --show ./damaged >out 2>err || status=$?
    [ "$status" = 0 ] || [ "$status" = 125 ] || { echo "patch $i: status $status"; exit 1; }
done
