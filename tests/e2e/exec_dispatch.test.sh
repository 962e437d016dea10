#!/bin/bash
# Programs whose system calls are all emulated print the same output as natively, see themselves in
# /proc, and have all their memory below 4 GiB.
set -eu
dispatch=$BUILD/tests/e2e/exec_dispatch

status=0
"$dispatch" /bin/true || status=$?
if [ "$status" = 126 ]; then
    echo "this kernel does not hand over system calls"
    exit 77
fi
[ "$status" = 0 ]

same() {
    local wanted=0 got=0
    env -u _ "$@" >wanted 2>wanted.err || wanted=$?
    env -u _ "$dispatch" "$@" >got 2>got.err || got=$?
    [ "$wanted" = "$got" ] || { echo "$*: status $got, wanted $wanted"; cat got.err; exit 1; }
    cmp wanted got
    cmp wanted.err got.err
}

seq 20000 | sort -R --random-source=<(yes) >lines
mkdir -p listed/folder
touch -d 2020-01-01 listed/{a..z} listed/folder/{1..9}
same /bin/ls -lnR listed
same /usr/bin/sort lines
same /usr/bin/sort --parallel=1 -n lines
same /bin/gzip -9 -c lines
same /usr/bin/readlink /proc/thread-self/exe
same /bin/cat /proc/self/cmdline
same /usr/bin/env X=1 cat /proc/self/environ
same /bin/cat "/proc/self/nothing"
same /bin/dd if=lines bs=1000 count=7 status=none
same /bin/bash -c 'echo $(seq 5 | sort -r); (exit 3); echo $?; trap "echo term" TERM; kill $$; echo after; wait'
same /bin/bash -c 'exec 5>five; echo x >&5; exec 5>&-; cat five; ulimit -s; kill -SEGV $$'
if command -v sqlite3 >/dev/null; then
    same "$(command -v sqlite3)" :memory: \
        'create table t(a,b); with recursive n(i) as (select 1 union all select i+1 from n where i<9999)
         insert into t select i, i*i%97 from n; select b, count(*), sum(a) from t group by b order by b limit 9;'
fi
if [ -x /usr/bin/python3 ]; then
    same /usr/bin/python3 -S -c '
import os, subprocess, mmap, hashlib, zlib
print(os.readlink("/proc/self/exe"), os.stat("/proc/self/exe").st_size)
print(open("/proc/self/cmdline").read().count("\0"))
memory = mmap.mmap(-1, 1 << 22, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
memory.resize(1 << 24)
memory[1 << 23] = 7
print(len(memory), memory[1 << 23], hashlib.sha256(memory).hexdigest())
blocks = [bytes([i % 256]) * (i * 1000) for i in range(300)]
print(zlib.crc32(b"".join(blocks)))
print(subprocess.run(["/bin/echo", "child"], capture_output=True).stdout)'
fi

cat >where.c <<'END'
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Everything a program can get or ask for lies below 4 GiB. */
int main(int argc, char **argv)
{
    uint64_t all = (uintptr_t)main | (uintptr_t)&argc | (uintptr_t)malloc(10) | (uintptr_t)malloc(1 << 26) |
        (uintptr_t)printf | getauxval(AT_BASE) | (uintptr_t)sbrk(0) | (uintptr_t)strdup(argv[0]);
    char *map = mmap((void *)0x7f0000000000, 1 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(map, 1, 1 << 20);
    all |= (uintptr_t)map;
    map = mremap(map, 1 << 20, 1 << 28, MREMAP_MAYMOVE);
    printf("%d %d\n", map[5], map[1 << 20]);
    all |= (uintptr_t)map;
    printf("%s\n", all >> 32 ? "above" : "below");
    void *above = mmap((void *)0x7f0000000000, 4096, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    printf("fixed %s\n", above == MAP_FAILED ? strerror(errno) : "there");
    unsigned long fs = 0, self = 0;
    syscall(SYS_arch_prctl, ARCH_GET_FS, &fs);
    __asm__("mov %%fs:0, %0" : "=r"(self));
    printf("fs %d\n", fs == self);
    pthread_attr_t attributes;
    void *stack;
    size_t size;
    printf("attributes %d\n", pthread_getattr_np(pthread_self(), &attributes));
    pthread_attr_getstack(&attributes, &stack, &size);
    printf("stack %d\n", (char *)&size > (char *)stack && (char *)&size < (char *)stack + size);
    long result = syscall(SYS_rseq, 0, 32, 0, 0);
    printf("rseq %ld %d\n", result, errno);
    if (argc > 1)
        syscall(SYS_arch_prctl, ARCH_SET_GS, 4096);
    return 0;
}
END
for kind in -static -pie -no-pie; do
    gcc -O1 -w "$kind" -o where where.c
    "$dispatch" ./where >got
    diff got - <<'END'
1 0
below
fixed Cannot allocate memory
fs 1
attributes 0
stack 1
rseq -1 38
END
done
status=0
"$dispatch" ./where gs >got 2>err || status=$?
[ "$status" = 125 ]
[ "$(cat err)" = 'the program sets the gs base, which the translator uses itself' ]

"$dispatch" /bin/cat /proc/self/maps >got
grep -q '^10000000-1000.000 r--p 00000000 .* /.*/cat$' got
grep -q ' rw-p 00000000 00:00 0  *\[heap\]$' got
grep -q ' rw-p 00000000 00:00 0  *\[stack\]$' got
grep -q ' r-xp .*/libc.so.6$' got
awk -F- 'length($1) != 8 || index($0, "exec_dispatch") { print "not below: " $0; exit 1 }' got
