#!/bin/bash
# Real programs, translated and with emulated system calls, print the same output as natively:
# without a trace, and with all references.
set -eu
translated=$BUILD/tests/e2e/exec_translated

status=0
"$translated" /bin/true || status=$?
[ "$status" = 0 ] || { echo "not even true: $status"; exit 1; }

same() {
    local wanted=0 got trace
    env -u _ "$@" >wanted 2>wanted.err || wanted=$?
    for trace in --none --all; do
        got=0
        [ "$trace" != --none ] || trace=
        env -u _ "$translated" $trace "$@" >got 2>got.err 9>count || got=$?
        [ "$wanted" = "$got" ] || { echo "$* $trace: status $got, wanted $wanted"; cat got.err; exit 1; }
        cmp wanted got
        cmp wanted.err got.err
        [ -z "$trace" ] || [ "$(tail -n 1 count)" -gt 10000 ]
    done
}

seq 1000 | sort -R --random-source=<(yes) >lines
mkdir -p listed/folder
touch -d 2020-01-01 listed/{a..z} listed/folder/{1..9}
same /bin/ls -lnR listed
same /usr/bin/sort -n lines
same /bin/gzip -9 -c lines
same /bin/cat /proc/self/cmdline
same /bin/bash -c 'echo $(seq 5 | sort -r); (exit 3); echo $?; exec 5>five; echo x >&5; cat five'
if command -v sqlite3 >/dev/null; then
    same "$(command -v sqlite3)" :memory: \
        'create table t(a,b); with recursive n(i) as (select 1 union all select i+1 from n where i<999)
         insert into t select i, i*i%97 from n; select b, count(*), sum(a) from t group by b order by b limit 9;'
fi
if [ -x /usr/bin/python3 ]; then
    same /usr/bin/python3 -S -c '
import os, subprocess, hashlib, math
print(os.readlink("/proc/self/exe"), open("/proc/self/cmdline").read().count("\0"))
print(hashlib.sha256(b"x" * 10000).hexdigest(), math.sin(1e10), sorted(str(i) for i in range(50)))
print(subprocess.run(["/bin/echo", "child"], capture_output=True).stdout)'
fi
echo 'int f(int x) { int s = 0; for (int i = 0; i < x; i++) s += i * i; return s; }' >f.c
compiler=$(gcc -print-prog-name=cc1)
same "$compiler" -quiet -O2 f.c -o -

# code that is written, executed, and written again: in place, alternately, by the kernel, and mapped again
cat >generate.c <<'END'
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void put(unsigned char *code, uint32_t number)
{
    code[0] = 0xb8; /* mov eax, number; ret */
    memcpy(code + 1, &number, 4);
    code[5] = 0xc3;
}

int main(void)
{
    uint64_t sum = 0;
    int ends[2];
    unsigned char bytes[6];
    unsigned char *code = mmap(0, 8192, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int (*function)(void) = (int (*)(void))(void *)(code + 4094); /* across the pages' edge */
    for (int i = 0; i < 300; i++) {
        put(code + 4094, i);
        sum = sum * 3 + function();
    }
    printf("%lx\n", sum);
    for (int i = 0; i < 300; i++) {
        mprotect(code, 8192, PROT_READ | PROT_WRITE);
        put(code + 4094, i);
        mprotect(code, 8192, PROT_READ | PROT_EXEC);
        sum = sum * 3 + function();
    }
    printf("%lx\n", sum);
    mprotect(code, 8192, 7);
    if (pipe(ends))
        return 1;
    for (int i = 0; i < 300; i++) {
        put(bytes, i);
        if (write(ends[1], bytes, 6) != 6 || read(ends[0], code + 4094, 6) != 6)
            return 1;
        sum = sum * 3 + function();
    }
    printf("%lx\n", sum);
    for (int i = 0; i < 300; i++) {
        if (mmap(code, 8192, 7, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != code)
            return 1;
        put(code + 4094, i);
        sum = sum * 3 + function();
        unsigned char *other = mmap(0, 8192, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        put(other + 4094, i + 5);
        if (mremap(other, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, code) != code)
            return 1;
        sum = sum * 3 + function();
    }
    printf("%lx\n", sum);
    return 0;
}
END
for kind in -static -pie; do
    gcc -O1 -w "$kind" -o generate generate.c
    same ./generate
done
