#!/bin/bash
# Places a capture cannot write to, and prefixes that are taken: one clear sentence, exit status 3.
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

# a folder that does not let us
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

# missing folders are made
capture -o a/b/c/t
bustap verify a/b/c/t_*.byu.gz >/dev/null

# a prefix that another capture has
bustap capture --board virtual:smp=1,rate=1000 -o out/t --quiet &
first=$!
until [ -s out/t.lock ]; do sleep 0.02; done
expect "process $first is capturing to out/t" 3 capture -o out/t
capture -o out/other
kill -INT $first
wait $first
[ ! -e out/t.lock ]
bustap verify out/t_*.byu.gz >/dev/null
capture -o out/t
[ "$(ls out/t_*.byu.gz | wc -l)" -eq 2 ]
