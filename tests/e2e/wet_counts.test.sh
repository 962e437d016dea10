#!/bin/bash
# Instances in the text of a WET trace are those that bustap profile counts in the same run; an instruction that always
# defines a value has one for each of them.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
[ -x /usr/bin/python3 ] || { echo "/usr/bin/python3 is missing"; exit 77; }

# counted ARGUMENT...: ./program
counted() {
    local executed
    bustap profile --by block --json -o profile.json -- ./program "$@" >out
    bustap wet -o file.wet -- ./program "$@" 2>messages | cmp - out
    bustap wet check --json file.wet >check.json
    executed=$(sed -n 's/^  "instructions": \([0-9]*\).*/\1/p' profile.json)
    grep -q "^  \"instructions\": $executed,\$" check.json ||
        { echo "not $executed instructions"; cat check.json; exit 1; }
    bustap wet print file.wet >text
    objdump -d --insn-width=16 program >disassembly
    python3 "$TOP/tests/e2e/wet_counts.py" text profile.json disassembly "$module"
}

cat >many.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int numbers[60];
static char text[300] = "text", other[300];
static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
static void copy(char *to, const char *from, unsigned long size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size)::"memory");
}
static unsigned long largest(unsigned long a, unsigned long b)
{
    __asm__("cmp %1, %0\n\tcmovb %1, %0" : "+r"(a) : "r"(b) : "cc");
    return a;
}
static unsigned long lowest(unsigned long bits)
{
    unsigned long bit = 77;
    __asm__("bsf %1, %0" : "+r"(bit) : "r"(bits) : "cc");
    return bit;
}
int main(int count, char **arguments)
{
    unsigned long sum = 0;
    double real = 1;
    long double wide = 2;
    for (int i = 0; i < 60; i++) {
        numbers[i] = i * 7919 % 101;
        copy(other, text, (unsigned long)(i % 3) * 10);
        sum += largest((unsigned long)i, 20) + lowest((unsigned long)(i & 6));
        real += i / 3.0;
        wide *= 1.25L;
    }
    qsort(numbers, 60, sizeof *numbers, compare);
    memset(text, 'x', (size_t)numbers[count]);
    printf("%s %lu %f %Lf %d %s\n", arguments[count - 1], sum, real, wide, numbers[5], text);
    return 0;
}
C
module=$(readlink -f .)/program
for options in "-O0 -static" "-O2 -static" "-O3 -static -march=x86-64-v2" -O0 -O2; do
    # shellcheck disable=SC2086 # a list
    gcc -g -no-pie $options -o program many.c
    counted one two
done
