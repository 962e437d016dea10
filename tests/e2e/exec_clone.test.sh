#!/bin/bash
# Children by clone and clone3, with all flags and in separate namespaces, run as natively.
set -eu -o pipefail

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
gcc -O1 -w -o clones "$TOP/tests/e2e/programs/clones.c"

# alike ARGUMENT... : ./clones, natively and in all ways
alike() {
    local way
    rm -rf work && mkdir work
    (cd work && timeout 120 ../clones "$@") >wanted
    for way in 'exec -q -o ../alone' 'exec -q --follow -o ../follow' 'profile -o ../report' \
        'rondo -p bimodal -d 0 -o ../report'; do
        rm -rf work alone* follow* report && mkdir work
        # shellcheck disable=SC2086 # split into words
        (cd work && timeout 300 bustap $way -- ../clones "$@") >got 2>messages || { echo "bustap $way"; cat messages; exit 1; }
        diff wanted got || { echo "bustap $way $*"; exit 1; }
        [ ! -s messages ] || { echo "bustap $way $*"; cat messages; exit 1; }
        ls -- *.byu.gz >files 2>/dev/null || { [ -s report ] && continue; echo "bustap $way $*: nothing"; exit 1; }
        # shellcheck disable=SC2046
        bustap verify $(cat files) >verdict || { cat verdict; exit 1; }
    done
}
alike
if ! unshare -r true 2>/dev/null; then
    echo "without namespaces: they need rights that this user lacks"
    exit 0
fi
alike namespaces

# a process that is killed in a separate PID namespace: its capture ends
timeout 120 bustap exec -q --follow -o killed -- unshare -r --pid --fork --mount-proc sh -c 'sh -c "kill -KILL \$\$"; echo $?' >got 2>messages ||
    { echo "killed:"; cat got messages; exit 1; }
[ "$(cat got)" = 137 ]
[ "$(ls killed*.byu.gz | wc -l)" = 4 ]
bustap verify killed*.byu.gz >verdict || { cat verdict; exit 1; }
# a process whose records are not read for a while waits there, too
mkfifo gate
bustap exec -q --follow -o stopped unshare -r --pid --fork --mount-proc sh -c \
    'echo ready; read go; i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; echo end' <gate >got 2>messages &
bustap=$!
exec 3>gate
until grep -q ready got; do sleep 0.02; done
kill -STOP $bustap
echo go >&3
sleep 3
kill -CONT $bustap
wait $bustap
grep -q end got
bustap verify stopped*.byu.gz >verdict || { cat verdict; exit 1; }
records=$(for file in stopped*.byu.gz; do bustap info --json "$file" | jq .records; done | sort -n | tail -n 1)
[ "$records" -gt 1000000 ] || { echo "$records records alone"; exit 1; }

# bubblewrap, if installed
command -v bwrap >/dev/null || { echo "without bwrap: '.ci/packages check' installs it"; exit 0; }
boxed=(bwrap --ro-bind / / --proc /proc --dev /dev --unshare-all --die-with-parent sh -c 'echo boxed $$; ls / | head -n 1')
"${boxed[@]}" >wanted 2>/dev/null || { echo "without bwrap: it cannot run here"; exit 0; }
for way in 'exec -q -o alone' 'exec -q --follow -o follow'; do
    rm -f alone* follow*
    # shellcheck disable=SC2086
    timeout 300 bustap $way -- "${boxed[@]}" >got 2>messages || { echo "$way bwrap"; cat messages; exit 1; }
    diff wanted got
    [ ! -s messages ] || { cat messages; exit 1; }
    bustap verify -- *_*.byu.gz >verdict || { cat verdict; exit 1; }
done
for program in 'sh -c echo' 'ls /' 'head -n 1'; do
    grep -q "^program  *$program" <(for file in follow*.byu.gz; do bustap info "$file"; done) ||
        { echo "no capture of $program"; exit 1; }
done
