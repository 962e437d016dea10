#!/bin/bash
# Outputs that cannot be written, and prefixes in use: one clear sentence, exit status 3.
set -eu

expect() { # WORDS STATUS COMMAND...
    local words=$1 wanted=$2 status=0
    shift 2
    "$@" >output 2>errors || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -q -- "$words" errors || [ "$(wc -l <errors)" -ne 1 ]; then
        echo "$*: exit status $status (not $wanted), or not one line with '$words':"
        cat errors
        exit 1
    fi
}

capture() { bustap capture --board virtual:smp=1,requests=100 --quiet "$@"; }

# a folder without write permission
mkdir shut
if [ "$(id -u)" -eq 0 ]; then
    expect 'cannot write in the folder /proc' 3 capture -o /proc/t
    expect 'cannot make the folder /sys/bustap: \(Operation not permitted\|Read-only file system\)' 3 \
        capture -o /sys/bustap/t
else
    chmod 555 shut
    expect 'cannot write in the folder shut' 3 capture -o shut/t
    expect 'cannot make the folder shut/inner: Permission denied' 3 capture -o shut/inner/t
    chmod 755 shut
fi
: >file
expect 'the folder file: Not a directory' 3 capture -o file/t

# a device is no prefix: files with its name and a number would be made beside it
expect 'the prefix "/dev/null" is a device' 2 capture -o /dev/null
[ -n "$NO_EXEC" ] || expect 'the prefix "/dev/null" is a device' 2 bustap exec -q -o /dev/null true

# missing folders are created
capture -o a/b/c/t
bustap verify a/b/c/t_*.byu.gz >/dev/null

# a prefix of a running capture
bustap capture --board virtual:smp=1,rate=1000 -o out/t --quiet &
first=$!
until [ -s out/.t.lock ]; do sleep 0.02; done
expect "process $first is capturing to out/t" 3 capture -o out/t
capture -o out/other
kill -INT $first
wait $first
[ ! -e out/.t.lock ]
bustap verify out/t_*.byu.gz >/dev/null

# a capture joins a prefix that has files only with --append
expect 'out/t_00001_.*byu.gz is a file of another capture: .* --append' 2 capture -o out/t
[ "$(ls -A out | grep -c '^\.\?t[_.]')" -eq 1 ]
capture -o out/t --append
[ "$(ls out/t_*.byu.gz | wc -l)" -eq 2 ]
touch out/u_00001_20261120T224500Z.byu.gz.part out/u-p1_00001_20261120T224500Z.byu.gz out/v_1.byu.gz
expect 'out/u_00001_20261120T224500Z.byu.gz.part is a file of another' 2 capture -o out/u
capture -o out/v
capture -o out/u-p2
expect 'out/w-p12-t3_00001_.*byu.gz is a file of another capture' 2 sh -c '
    touch out/w-p12-t3_00001_20261120T224500Z.byu.gz
    exec bustap exec -q -o out/w --follow touch ran'
expect 'out/x-t3_00001_.*byu.gz is a file of another capture' 2 sh -c '
    touch out/x-t3_00001_20261120T224500Z.byu.gz
    exec bustap exec -q -o out/x --split-threads touch ran'
[ ! -e ran ]

# captures are files: the error names the alternative
for prefix in - out/ . ..; do
    words='is a folder'
    [ "$prefix" != - ] || words='follow PREFIX'
    [ "$prefix" = - ] || expect "$words" 2 capture -o "$prefix" # - is standard output
    expect "$words" 2 bustap exec -q -o "$prefix" true
    printf '[capture a]\nboard = virtual:smp=1\noutput = %s\n' "$prefix" >conf
    expect "$words" 2 bustapd -c conf --check
done
[ ! -e - ]

# devices are no beginnings of names: nothing is made in /dev
ln -s /dev devices
for prefix in /dev/null "/dev/bustap-$$" "devices/bustap-$$"; do
    expect 'files in /dev: give one in a folder' 2 capture -o "$prefix"
    expect 'files in /dev: give one in a folder' 2 bustap exec -q -o "$prefix" true
    printf '[capture a]\nboard = virtual:smp=1\noutput = %s\n' "$prefix" >conf
    expect 'files in /dev: give one in a folder' 2 bustapd -c conf --check
done
[ -z "$(ls -A /dev | grep "bustap-$$")" ]
