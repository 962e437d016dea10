#!/bin/bash
# No command overwrites, truncates or removes a file that it did not create, follows a link, or blocks at a FIFO, under
# names that it derives from its arguments: each command runs while files, links, FIFOs or folders have these names, and
# leaves them unchanged.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

# --- sentinels ---

kinds='file link dangling fifo folder'

put() { # NAME...
    local name
    case $kind in
    file) echo "somebody's" | tee "$@" >/dev/null ;;
    link) for name in "$@"; do ln -s "$inputs/victim" "$name"; done ;;
    dangling) for name in "$@"; do ln -s "$inputs/nowhere" "$name"; done ;;
    fifo) mkfifo "$@" ;;
    folder) mkdir "$@" ;;
    esac
}

# Temporary and accompanying names of a file.
put_around() { # NAME...
    local name
    for name in "$@"; do
        put "$name".{part,part-1,part-2,tmp,lock,gz,bak,svg,json} ".$name".{part,tmp,swp} "$name~"
    done
}

# Names of the first file of a capture to each prefix, complete or part, for the next half minute.
put_files() { # PREFIX...
    local prefix
    for prefix in "$@"; do
        put_around "$prefix"
        # shellcheck disable=SC2046 # split into names
        put $(printf "${prefix}_00001_%s.byu.gz\n" $seconds $(printf '%s.byu.gz.part ' $seconds) | sed 's/part\.byu\.gz$/part/')
    done
}

state() {
    find "$PWD" "$inputs" -mindepth 1 -printf '%p %y %i %s %T@ %l\n' | sort
    cat "$inputs/victim"
}

fail() {
    echo "$kind: $*"
    cat "$own/messages"
    exit 1
}

# --- running a command among them ---

# try STATUS NEW COMMAND...: with this status (a pattern), and with new files whose names are the extended regular
# expression NEW, unless that is "none"; nothing else has changed
try() {
    local wanted=$1 new=$2 status=0
    shift 2
    state >"$own/before"
    timeout -k 5 100 "$@" >"$own/got" 2>"$own/messages" </dev/null || status=$?
    state >"$own/after"
    # shellcheck disable=SC2254 # a pattern, not a string
    case $status in
    $wanted) ;;
    *) fail "$*: exit status $status, wanted $wanted" ;;
    esac
    diff "$own/before" "$own/after" | sed -n 's/^[<>] //p' >"$own/changed" || true
    ! grep -vE "^$PWD/($new) f " "$own/changed" || fail "$*: has changed these"
    [ "$new" = none ] || [ -s "$own/changed" ] || fail "$*: nothing was written"
}

said() { # WORDS
    grep -q -e "$1" "$own/messages" || fail "no message about $1"
}

# Each command runs in a separate folder.
fresh() {
    cd "$top_folder"
    rm -rf work
    mkdir work
    cd work
}

file='_[0-9]{5}_[0-9TZ]*\.byu\.gz'

capture() { bustap capture -q --board virtual:smp=1,requests=2000 --append "$@"; }
export -f capture

captures() {
    fresh && put_files out && put .out.x && try 0 "out$file" bash -c 'capture -o out'
    fresh && put_files out && try 0 "out$file" bash -c 'capture -o out --rotate size=4K --keep 2'
    # an error names a lock that is not one
    fresh && put .out.lock && try 3 none bash -c 'capture -o out'
    said '\.out\.lock exists and is not a lock'
    # files of other captures, and other files
    fresh && put_files out
    try 2 none bustap capture -q --board virtual:smp=1,requests=2000 -o out
    said '--append'
}

programs() {
    [ -z "$NO_EXEC" ] || return 0
    fresh && put_files out && try 0 "out($file|\\.modules)" bustap exec -q --append -o out true
    # a file of that name which is no list of modules stays
    fresh && put out.modules && try 0 "out$file" bustap exec -q --append -o out true
    fresh && put_files out out-t0 && try 0 "out(-t0$file|\\.modules)" bustap exec -q --append --split-threads -o out true
    fresh && put_files out out-p1
    try 0 "out((-p1)?$file|(-p[12])?\\.modules)" bustap exec -q --append --follow -o out sh -c 'true; /bin/true; true'
    fresh && put .out-t0.lock && try '*' none bustap exec -q --append --split-threads -o out true
    fresh && put_around out out2
    try 0 "out2?|x$file" bustap exec -q -o x --modules out --summary out2 true
    fresh && put_around out out2 && try 0 "out2?" bustap profile -o out --callgrind out2 true
    fresh && put_around out out2 && try 0 "out2?" bustap rondo -o out --wrong-path out2 true
}

converters() {
    local out
    for out in out.din out.din.gz out.csv.bz2 out.npy out.byu.gz; do
        fresh && put_around "$out" && try 0 "$out" bustap convert "$inputs/t.byu.gz" -o "$out"
    done
    fresh && put_around out && try '[01]' "out" bustap recover "$inputs/cut.part" -o out
    fresh && put_around out && echo old >out
    try '[01]' "out" bustap recover --force "$inputs/cut.part" -o out
    fresh && put out && try 3 none bustap recover "$inputs/cut.part" -o out
    [ $kind = file ] || [ $kind = link ] || try 3 none bustap recover --force "$inputs/cut.part" -o out
}

graphs() {
    local view
    fresh && put_around out out2 && try '[01]' "out2?" bustap dcfg build "$inputs/t.byu.gz" -o out --trace out2
    for view in blocks loops paths check dot callgrind expand; do
        fresh && put_around g t && try '*' none bustap dcfg $view "$inputs/g.dcfg.json"
    done
    fresh && put_around g && try '*' none bustap dcfg diff "$inputs/g.dcfg.json" "$inputs/g.dcfg.json"
    if command -v gnuplot >/dev/null; then
        fresh && put_around out.svg && try 0 "out.svg" bustap plot -o out.svg "$inputs/t.byu.gz"
        fresh && put_around out.png && try 0 "out.png" bustap mrc --plot out.png "$inputs/t.byu.gz"
    fi
}

# These commands derive no names, in particular not from their input.
readers() {
    local command
    for command in dump info verify cache mrc; do
        fresh && cp "$inputs/t.byu.gz" . && put_around t.byu.gz t
        set -- "$command"
        [ "$command" != cache ] || set -- cache --l1 4K
        try 0 none bustap "$@" t.byu.gz
    done
    fresh && put_around s && try 3 none bustap ctl --socket s status
    for command in boards doctor; do
        fresh && put_around out && try '*' none bustap "$command"
    done
}

daemons() {
    fresh && put s && echo >conf && put_around s
    try 3 none bustapd -c conf --socket s
    fresh && put .s.lock && echo >conf
    try 3 none bustapd -c conf --socket s
    said '\.s\.lock exists and is not a lock'
    fresh && put_around s && put_files out
    printf '[capture a]\nboard = virtual:smp=1,requests=2000\noutput = out\n' >conf
    # shellcheck disable=SC2016 # they are the other shell's
    try 0 "out$file" bash -c 'bustapd -c conf --socket s & daemon=$!
        until grep -q "wrote out" "$1"; do sleep 0.05; done
        kill "$daemon" && wait "$daemon"' bash "$own/messages"
}

top_folder=$PWD
inputs=$PWD/inputs own=$PWD/own
mkdir inputs own
echo "the victim" >inputs/victim
bustap capture -q --board virtual:smp=2,requests=3000 --block 200 -o t && mv t_*.byu.gz inputs/t.byu.gz
head -c 9000 inputs/t.byu.gz >inputs/cut.part
bustap dcfg build inputs/t.byu.gz -o inputs/g.dcfg.json >own/got 2>&1 || [ $? -eq 1 ]
for kind in $kinds; do
    now=$(date +%s)
    seconds=$(for n in $(seq 0 30); do date -u -d "@$((now + n))" +%Y%m%dT%H%M%SZ; done)
    captures
    programs
    converters
    graphs
    readers
    daemons
done
