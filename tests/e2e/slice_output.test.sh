#!/bin/bash
# What a user sees of a slice: few lines, the program's own first, each library in one; chains lead through data, not
# through the stack pointer, return addresses or the lazy binder. Counts of libraries are those of their version: N.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

# same NAME: standard input is what the file NAME has
same() { diff - "$1" || { echo "$1 is different"; exit 1; }; }

cat >mean.c <<'C'
#include <stdio.h>
#include <stdlib.h>

static double total;
static int count;

static void add(double value)
{
    total += value;
    count++;
}

static double mean(void) { return total / count; }

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        add(atof(argv[i]));
    printf("%f\n", mean());
    return 0;
}
C
gcc -g -O0 -fno-pie -no-pie -Wl,-z,lazy -fcf-protection=none -fno-stack-protector -o mean mean.c
bustap wet -o mean.wet -- ./mean 1 2 6 >answer 2>messages
[ "$(cat answer)" = 3.000000 ] || { cat answer; exit 1; }

# --- lines: the source's first, then that of _start, then libraries, each once ---
bustap slice mean.wet mean.c:13 >lines
sed '1s/[0-9][0-9]* /N /g; 2,$s/^ *[0-9]* /N /; s/  *$//' lines | grep -v ' _start()' >masked
sed 's/[^ ]*\.so[.0-9]*$/LIBRARY/' masked | uniq >shown
same shown <<'TEXT' || exit 1
mean.c:13: it depends on N instances of N instructions
N  mean.c:8              {
N  mean.c:9              total += value;
N  mean.c:10             count++;
N  mean.c:13             static double mean(void) { return total / count; }
N  mean.c:16             {
N  mean.c:17             for (int i = 1; i < argc; i++)
N  mean.c:18             add(atof(argv[i]));
N  mean.c:19             printf("%f\n", mean());
N  LIBRARY
TEXT
[ "$(sort masked | uniq -d | wc -l)" -eq 0 ] || { cat masked; exit 1; }
count() { sed -n '1s/.* \([0-9]*\) instances of .*/\1/p' "$1"; }
bustap slice --all mean.wet mean.c:13 >all
[ "$(($(count lines) * 10))" -lt "$(count all)" ] || { head -n 1 lines all; exit 1; }
grep -q '^ *[0-9]*  mean\.c:8 ' <(sed -n 2p all) || { head all; exit 1; }

# --- a chain: no stack pointer, no return address, no step of the linker; xmm0 as the code says; the library folded ---
bustap slice mean.wet mean.c:13 --data --why mean.c:17 >why
sed '1s/by [0-9]* /by N /; s/#[0-9]* of [0-9a-f]* //; s/[0-9]* steps/N steps/; s/[^ ]*\.so[.0-9]*$/LIBRARY/' why |
    grep -v '^r[a-z0-9]* ' | uniq >shown
same shown <<'TEXT' || exit 1
mean.c:13 depends on mean.c:17 by N dependences
          mean mean.c:13
memory    add mean.c:9
xmm0      add mean.c:9
memory    add mean.c:8
xmm0      main mean.c:18
xmm0      N steps in LIBRARY
memory    main mean.c:17
TEXT
! grep -E '^(rsp|rbp) |zmm|ld-' why || exit 1

# --- variables and functions; a name that also is a number ---
bustap slice mean.wet total --depth 0 >lines
sed 's/^ *[0-9]* /N /' lines | same /dev/fd/3 3<<'TEXT' || exit 1
total: it depends on 1 instance of 1 instruction, at most 0 dependences away
N  mean.c:9  total += value;
TEXT
bustap slice mean.wet count --data >lines
grep -q ' mean\.c:10 ' lines || { cat lines; exit 1; }
! grep -E ' mean\.c:(9|17|18) |\.so' lines || exit 1
bustap slice mean.wet add --depth 0 >lines
[ "$(sed '1d; s/^ *[0-9]* *//; s/ .*//' lines | paste -sd ' ')" = "mean.c:8 mean.c:9 mean.c:10 mean.c:11" ] ||
    { cat lines; exit 1; }
bustap slice mean.wet total --data --why 'add#0' | grep -q ' #0 of [0-9a-f]* add mean\.c:9$' || exit 1
status=0
bustap slice mean.wet maen 2>messages || status=$?
[ "$status" = 2 ] && grep -q "'maen' is no executed function and no variable; .* 'm\(ai\|ea\)n'" messages ||
    { cat messages; exit 1; }

# --- each row's module, in JSON ---
bustap slice mean.wet mean.c:13 >lines
bustap slice --json mean.wet mean.c:13 >rows.json
[ "$(jq -r '.lines[0].module' rows.json)" = "$PWD/mean" ] || { head -n 20 rows.json; exit 1; }
jq -r '.lines[].module' rows.json | uniq >modules
[ "$(sort modules | uniq -d | wc -l)" -eq 0 ] || { cat modules; exit 1; }
[ "$(jq '[.lines[].count] | add' rows.json)" = "$(count lines)" ] || exit 1

# --- a file that names no modules: all is the program's ---
PATH="$BUILD/tests/e2e:$PATH"
make_wet 5 2 | bustap slice - end --json >rows.json
[ "$(jq -r '.lines[].module' rows.json | uniq)" = null ] || exit 1
