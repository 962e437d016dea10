#!/bin/bash
# Programs under exec, profile and rondo with SIGCHLD ignored or standard streams closed, inherited from bustap's
# parent: they end as natively and inherit the same state.
set -eu
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

# same COMMAND...: natively and under bustap
ignoring() {
    timeout -k 5 100 env --ignore-signal=CHLD "$@"
}
same() {
    local wanted=0 got=0 way
    ignoring "$@" >wanted || wanted=$?
    for way in 'exec --append' 'exec --append --follow' 'exec --append --virtual-board' 'exec --append --split-threads' profile rondo; do
        got=0
        # shellcheck disable=SC2086 # split into words
        ignoring bustap $way -o out -- "$@" >got 2>messages || got=$?
        [ "$wanted" = "$got" ] || { echo "$way $*: status $got, wanted $wanted"; cat messages; exit 1; }
        cmp wanted got || { echo "$way $*"; cat got; exit 1; }
    done
}
same true
same sh -c 'exit 7'
same grep SigIgn /proc/self/status
same sh -c 'grep SigIgn /proc/self/status; (exit 3); echo $?'

# prints which standard streams are closed
cat >streams.c <<'END'
#include <fcntl.h>
int main(void)
{
    int closed = 0;
    for (int stream = 0; stream < 3; stream++)
        closed |= (fcntl(stream, F_GETFD) < 0) << stream;
    return closed | (open("streams.c", O_RDONLY) << 4);
}
END
gcc -o streams streams.c
for closed in '' '<&-' '>&-' '<&- >&-'; do
    for program in ./streams 'sh -c "exec ./streams"' 'sh -c "./streams; exit \$?"'; do
        wanted=0
        eval "$program 2>messages 3>&- 4>&- 5>&- 6>&- $closed" || wanted=$?
        for way in 'exec --append' 'exec --append --follow' 'exec --append --split-threads' profile rondo; do
            got=0
            eval "bustap $way -o out -- $program 2>messages 3>&- 4>&- 5>&- 6>&- $closed" || got=$?
            [ "$wanted" = "$got" ] || { echo "$way $program $closed: status $got, wanted $wanted"; cat messages; exit 1; }
        done
    done
done
for file in out*.byu.gz; do
    bustap verify "$file" >verdict || { cat verdict; exit 1; }
done
