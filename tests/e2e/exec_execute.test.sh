#!/bin/bash
# Programs that execute others: each execve has its native result, and with --follow each new program is captured or
# reported.
set -eu -o pipefail

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
gcc -O1 -w -o executes "$TOP/tests/e2e/programs/executes.c"
chmod 755 .

# natively NAME ARGUMENT... : its output, in a separate folder, and its status
natively() {
    mkdir -p work && rm -rf work/*
    status=0
    (cd work && exec "${@:2}") >"$1" </dev/null || status=$?
}

# check that a file has a line
has() {
    grep -q -- "$2" "$1" || { echo "no line: $2"; cat "$1"; exit 1; }
}

# --- calls that fail ---

natively wanted ../executes fail
[ "$status" = 0 ]
[ "$(grep -c 'E[A-Z0-9]*$' wanted)" -gt 60 ]
for way in 'exec -q --follow -o ../out/fail' 'exec -q -o ../out/alone' 'profile -o ../report' \
    'rondo -p bimodal -d 0 -o ../report'; do
    # shellcheck disable=SC2086 # split into words
    natively got timeout 300 bustap $way -- ../executes fail 2>messages
    diff wanted got || { echo "bustap $way"; exit 1; }
    [ "$status" = 0 ] || { echo "bustap $way: status $status"; cat messages; exit 1; }
    [ ! -s messages ] || { echo "bustap $way:"; cat messages; exit 1; }
done
[ "$(ls out/*.byu.gz | wc -l)" = 2 ] || { ls out; exit 1; }
bustap verify out/*.byu.gz >verdict

# --- ways to execute a program, each with a separate capture ---

for name in fexecve open path folder name memory script script_descriptor itself vfork spawn nothing length; do
    natively wanted ../executes $name
    wanted=$status
    natively got timeout 300 bustap exec -q --follow -o ../out/$name -- ../executes $name 2>messages
    diff wanted got || { echo "$name"; exit 1; }
    [ "$status" = "$wanted" ] || { echo "$name: status $status, wanted $wanted"; cat messages; exit 1; }
    [ ! -s messages ] || { echo "$name:"; cat messages; exit 1; }
    [ "$(ls out/"$name"[_-]*.byu.gz | wc -l)" = 2 ] || { echo "$name"; ls out; exit 1; }
    bustap verify out/"$name"[_-]*.byu.gz >verdict || { cat verdict; exit 1; }
done

# --- programs that cannot be captured are reported on bustap's standard error ---

# missed WORDS ARGUMENT... : one program is not captured; it has run, and the status is 1
missed() {
    local status=0 words=$1
    shift
    rm -rf out
    timeout 300 bustap exec --follow -o out/missed -- "$@" >got 2>messages || status=$?
    [ "$status" = 1 ] || { echo "$*: status $status"; cat messages; exit 1; }
    [ ! -s err ] || { echo "$*: a line for the program"; cat err; exit 1; }
    has messages "^bustap: not captured: .*$words"
    has messages '^bustap: 1 process or program was not captured$'
    has got '^ran$'
    bustap verify out/missed*.byu.gz >verdict
}
cat >say.c <<'END'
#include <unistd.h>
int main(void)
{
    return write(1, "ran\n", 4) != 4;
}
END
gcc -static -o static say.c
if findmnt -no OPTIONS -T . | grep -qw nosuid; then
    echo "without set-id programs: this file system has none"
elif [ "$(id -u)" = 0 ]; then
    cp static setid && chown 1234 setid && chmod 4755 setid
    missed 'setid: runs with the rights of another user' sh -c './setid 2>err; true'
    missed 'setid: runs with the rights of another user' sh -c 'exec ./setid 2>err'
else
    missed 'su: runs with the rights of another user' sh -c '/bin/su --version >/dev/null 2>err; echo ran'
fi
cp static only && chmod 111 only
unread='only: .*: Permission denied'
if [ "$(id -u)" = 0 ]; then
    missed "$unread" setpriv --reuid 1234 --clear-groups --inh-caps=-all ./only
else
    missed "$unread" sh -c './only 2>err; true'
fi
# a 32-bit program, if the kernel supports them
printf '.globl _start\n_start: mov $4, %%eax\nmov $1, %%ebx\nmov $text, %%ecx\nmov $4, %%edx\nint $0x80
mov $1, %%eax\nmov $0, %%ebx\nint $0x80\ntext: .ascii "ran\\n"\n' >narrow.s
if as --32 -o narrow.o narrow.s && ld -m elf_i386 -o narrow narrow.o && ./narrow >got 2>/dev/null; then
    missed 'narrow: is a 32-bit program' sh -c './narrow 2>err; true'
fi
# bustap itself has to start there
mkdir -p root && cp static root/
if unshare -r chroot root /static >got 2>/dev/null; then
    missed 'static: bustap itself cannot be executed there' unshare -r chroot root /static
fi

# --- without --follow: the program itself is captured through each execve, its children are not ---

# captured PREFIX COMMAND... : the command lines of the captures, in the order of their prefixes, which are complete
captured() {
    local prefix=$1 command number=0 file
    shift
    for command in "$@"; do
        file=$(ls "$prefix$([ $number = 0 ] || echo -p$number)"_00001_*.byu.gz) || { ls out; exit 1; }
        bustap info "$file" | grep -qx "program  *$command" || { bustap info "$file"; echo "wanted: $command"; exit 1; }
        bustap verify "$file" >verdict || { cat verdict; exit 1; }
        [ -s "$prefix$([ $number = 0 ] || echo -p$number)".modules ] || { ls out; exit 1; }
        number=$((number + 1))
    done
    [ "$(ls "$prefix"[_-]*.byu.gz | wc -l)" = $number ] || { ls out; exit 1; }
}
cat >wrapper <<'END'
#!/usr/bin/env sh
(exec ./static) | cat
exec 3>kept
exec ./last "$@"
END
chmod 755 wrapper
cp static last
rm -rf out
bustap exec -q -o out/wrapped -- ./wrapper argument >got 2>messages
captured out/wrapped './wrapper argument' 'sh ./wrapper argument' './last argument'
printf 'ran\nran\n' | diff - got
printf 'bustap: the program executes %s in its place, which is captured in out/wrapped-p%d\n' \
    'sh ./wrapper argument' 1 './last argument' 2 | diff - messages
grep -q '/last@' out/wrapped-p2.modules || { cat out/wrapped-p2.modules; exit 1; }

# each way of execve, once and in turn; a child that shares memory or not does not take the program's place
for name in fexecve open path folder name memory script script_descriptor itself nothing length; do
    natively wanted ../executes $name
    wanted=$status
    natively got timeout 300 bustap exec -q -o ../out/$name -- ../executes $name 2>messages
    diff wanted got || { echo "$name"; exit 1; }
    [ "$status" = "$wanted" ] || { echo "$name: status $status, wanted $wanted"; cat messages; exit 1; }
    [ "$(grep -c 'in its place, which is captured in ../out/.*-p1$' messages)" = 1 ] || { cat messages; exit 1; }
    [ "$(ls out/"$name"[_-]*.byu.gz | wc -l)" = 2 ] || { echo "$name"; ls out; exit 1; }
done
for name in vfork spawn; do
    natively got timeout 300 bustap exec -q -o ../out/$name -- ../executes $name 2>messages
    [ ! -s messages ] || { echo "$name:"; cat messages; exit 1; }
    [ "$(ls out/"$name"[_-]*.byu.gz | wc -l)" = 1 ] || { echo "$name"; ls out; exit 1; }
done

# the options start again in each program, which may be the first to have the place
for options in '--split-threads' '--virtual-board' '--engine blocks' '--count 100' '--sample 100/900' '--only-data'; do
    rm -rf out
    # shellcheck disable=SC2086 # split into words
    bustap exec -q $options -o out/x -- sh -c 'exec ./static' >got 2>messages || { cat messages; exit 1; }
    has got '^ran$'
    bustap verify out/x*.by* >verdict || { echo "$options"; cat verdict; exit 1; }
    [ "$(grep -c '^complete: [1-9]' verdict)" = 2 ] || { echo "$options"; cat verdict; exit 1; }
done
rm -rf out
bustap exec -q --start-at write -o out/x -- sh -c 'exec ./static' >got 2>messages
bustap verify out/x-p1_*.byu.gz | grep -q '^complete: [1-9]' || { cat messages; exit 1; }

# where --exit ends the program, there is no execve; names that the others would have are taken
rm -rf out
bustap exec -q --count 100 --exit -o out/x -- sh -c 'exec ./static' >got 2>messages
[ ! -s got ]
[ "$(ls out/x*.byu.gz | wc -l)" = 1 ]
mv out/x_00001_* out/x-p1_00001_20200101T000000Z.byu.gz
status=0
bustap exec -q -o out/x -- ./static >got 2>messages || status=$?
[ "$status" = 2 ]
has messages 'x-p1_00001.* is a file of another capture'

# a program that cannot be captured runs natively in its place, and the status is 1; what it executes is not followed
rm -rf out
cp static only2 && chmod 111 only2
if [ "$(id -u)" = 0 ]; then
    lacking=(setpriv --reuid 1234 --clear-groups --inh-caps=-all ./only2)
else
    lacking=(sh -c 'exec ./only2')
fi
status=0
bustap exec -q -o out/x -- "${lacking[@]}" >got 2>messages || status=$?
[ "$status" = 1 ] || { echo "status $status"; cat messages; exit 1; }
has got '^ran$'
has messages '^bustap: not captured: .*only2: .*Permission denied'
