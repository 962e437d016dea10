#!/bin/bash
# Control characters in names and strings from files, servers and command lines do not reach the terminal: each source
# of text holds some, and the output of commands holds none but newlines.
set -eu
PATH="$BUILD/tests/e2e:$PATH"

fail() {
    echo "$*" | cat -v >&2
    exit 1
}

# an escape sequence, DEL, CSI as UTF-8 and raw, an unusual end of line
hostile=$'x\033[31m\177\302\233\233\ny'

# No control characters in "out" and "err", but the printable part of the name.
clean() {
    perl -0777 -ne '
        s/\t//g;
        s/[\xc3-\xdf][\x80-\xbf]|\xc2[\xa0-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}//g;
        exit 1 if /[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]/ || /^y/m' "$1"
}
check() {
    local status=0
    "$@" >out 2>err </dev/null || status=$?
    [ "$status" -lt 124 ] || fail "$* ended with $status"
    clean out || fail "standard output of $*: $(cat -v out | head -5)"
    clean err || fail "standard error of $*: $(cat -v err | head -5)"
    if [ -n "${shown-}" ]; then
        cat out err | grep -qF "$shown" || fail "$* does not show it: $(cat -v out err | head -5)"
    fi
}

# --- command lines, and names of files ---
for command in info verify dump recover cache convert plot mrc; do
    check bustap "$command" "$hostile"
    check bustap "$command" "--$hostile"
done
check bustap "$hostile"
check bustap -- "$hostile"
check bustap info a "$hostile"
check bustap cache --size "$hostile" a
check bustap mrc --window "$hostile" a
check bustap plot "$hostile" a
check bustap convert --from "$hostile" a b
check bustap convert --to "$hostile" a b
check bustap convert a "$hostile/b"
check bustap dump --filter "$hostile" a
for command in build check expand blocks annotate loops paths diff dot callgrind "$hostile"; do
    check bustap dcfg "$command" "$hostile" "$hostile"
    check bustap dcfg "$command" "--$hostile"
done
check bustap exec "$hostile"
check bustap exec --start-at "$hostile" true
check bustap exec -o "$hostile/z" true
check bustap profile "$hostile"
check bustap profile --by "$hostile" true
check bustap rondo "$hostile"
check bustap rondo --predictor "$hostile" true
check bustap capture --board "$hostile" -o a
check bustap capture --board "virtual:replay=$hostile" -o a
check bustap capture --board "ftdi:serial=$hostile" -o a
check bustap capture --board virtual:smp=2,requests=10 -o "$hostile/a" --filter "$hostile"
check bustap capture --board virtual:smp=2,requests=10 -o a "$hostile"
check bustap ctl "$hostile"
check bustap ctl status "$hostile" "$hostile"
check bustap ctl --socket "$hostile" status
check bustap boards --test "$hostile"
check bustap doctor "$hostile"
check bustapd "$hostile"
check bustapd -c "$hostile"
check bustapd "--$hostile"
rm -rf a a_* "$hostile"

make_capture seed=3 good
cp good_1.byu.gz "$hostile.byu.gz"
cp good_1.byu.gz "damaged$hostile.byu.gz"
printf 'stray' >>"damaged$hostile.byu.gz"
{ head -c 700 good_1.byu.gz; printf 'hole'; tail -c +720 good_1.byu.gz; } >"hole$hostile.byu.gz"
for file in "$hostile.byu.gz" "damaged$hostile.byu.gz" "hole$hostile.byu.gz"; do
    for command in info verify dump cache mrc 'plot addresses' 'dump --csv' 'info --json' 'verify --json' 'cache --json' \
        'cache --csv' 'mrc --json' 'mrc --csv' 'recover --list' 'dcfg build'; do
        # shellcheck disable=SC2086
        check bustap $command "$file"
    done
    check bustap recover --force "$file" -o "recovered$hostile.byu.gz"
    check bustap convert "$file" "converted$hostile.din"
    rm -f "recovered$hostile"* "converted$hostile"*
done

# --- a capture's header and its last message ---
make_capture hostile=1 files=2 removed=1 keep=1 gap_ms=5 bus=3 h
shown='x?[31m?'
check bustap info h_2.byu.gz
check bustap info --json h_2.byu.gz
shown=
for command in verify 'verify --json' dump cache mrc 'mrc --json' 'plot mix'; do
    # shellcheck disable=SC2086
    check bustap $command h_2.byu.gz
done
make_capture hostile=1 seed=9 other
check bustap info h_2.byu.gz other_1.byu.gz
check bustap mrc h_2.byu.gz other_1.byu.gz

# --- a program: its name, its arguments, its symbols ---
echo 'int again(int x); int again(int x) { return x ? again(x - 1) + 1 : 0; } int main(void) { return again(50) - 50; }' >p.c
gcc -O1 -fno-optimize-sibling-calls -fno-inline -g0 -o p p.c
# /proc/PID/maps escapes ends of lines
hostile=$'x\033[31m\177\302\233\233y'
objcopy --redefine-sym again="$hostile" p "$hostile"
run_program() {
    shown='x?[31m?'
    for by in function module; do
        check bustap profile --by "$by" "./$hostile"
        check bustap profile --by "$by" --csv "./$hostile"
    done
    shown=
    check bustap profile --json "./$hostile"
    check bustap rondo "./$hostile"
    check bustap exec -o run "./$hostile" "$hostile"
    check bustap exec -o each --split-threads "./$hostile" "$hostile"
    check bustap info run_*.byu.gz
    check bustap info --json run_*.byu.gz
    check bustap exec --start-at "$hostile" -o from "./$hostile"
    check bustap dcfg build run_*.byu.gz --image "$hostile" -o built.json
    check bustap dcfg build run_*.byu.gz --image "$hostile"
}
# AddressSanitizer's shadow occupies the addresses of programs
case $BUILD in *sanitize*) ;; *) run_program ;; esac

# --- a graph's names ---
make_dcfg g.json
sed 's/"main"/"x\\u001b[31m\\u007f\\u009b\\u000ay"/g; s/"\([^"]*\)\.c"/"x\\u001b[31m\\u009b\1.c"/g' g.json >evil.json
! cmp -s g.json evil.json || fail "the graph has no such names"
for command in check blocks loops paths dot callgrind 'blocks --csv' 'loops --csv' 'paths --csv' 'blocks --json' 'loops --json' 'paths --json' 'check --json' \
    annotate 'annotate --csv' 'annotate --json'; do
    # shellcheck disable=SC2086
    check bustap dcfg $command evil.json
done
check bustap dcfg diff g.json evil.json
check bustap dcfg diff --json g.json evil.json
sed 's/"COMPRESSED_DCFG"\|"MAJOR_VERSION"/"x\\u001b[31m\\u009b"/' evil.json >worse.json
check bustap dcfg check worse.json
cp evil.json "$hostile.json"
for command in check blocks annotate loops paths dot callgrind; do
    check bustap dcfg "$command" "$hostile.json"
done
check bustap dcfg diff "$hostile.json" g.json

# --- a server ---
serve() {
    rm -f socket
    perl -MIO::Socket::UNIX -e '
        my $server = IO::Socket::UNIX->new(Local => "socket", Listen => 5) or die;
        while (my $client = $server->accept) { <$client>; print $client $ARGV[0], "\n"; close $client }' "$1" &
    server=$!
    for _ in $(seq 500); do
        [ ! -S socket ] || break
        sleep 0.02
    done
}
trap 'kill $server 2>/dev/null || true' EXIT
escaped='x\u001b[31m\u007f\u009b\u000ay'
for answer in \
    "{\"ok\":true,\"captures\":[{\"name\":\"$escaped\",\"state\":\"$escaped\",\"output\":\"$escaped\",\"error\":\"$escaped\"}]}" \
    "{\"ok\":false,\"error\":\"$escaped\"}" \
    "{\"ok\":true,\"captures\":[{\"name\":\"x"$'\177\302\233'"y\",\"error\":\"\",\"status\":{\"absent\":\"$escaped\"}}]}" \
    "{\"ok\":false,\"$escaped\":1,\"error\":\"a"$'\302\233'"\"}" \
    $'no JSON \033[31m \302\233'; do
    serve "$answer"
    check bustap ctl --socket socket status
    check bustap ctl --socket socket --json status
    kill "$server"
    wait "$server" 2>/dev/null || true
done

# --- a configuration ---
printf '[capture one]\nboard = virtual:replay=a\302\233b\233\noutput = out/a\302\233b\nretry = 1h\n' >conf
check bustapd -c conf --check
bustapd -c conf --socket daemon 2>err &
server=$!
for _ in $(seq 500); do
    ! grep -q 'capture one' err || break
    sleep 0.02
done
clean err || fail "the log: $(cat -v err)"
grep -q 'a??b?' err || fail "the log does not show it: $(cat -v err)"
check bustap ctl --socket daemon status
check bustap ctl --socket daemon --json status
kill "$server"
wait "$server" || fail "bustapd ended with $?"
for line in "[$hostile]" "[capture $hostile]" "$hostile" "$hostile = 1" "board = $hostile" $'[daemon]\nsocket = \302\233\nx\302\233 = 1'; do
    printf '%s\n' "$line" >conf
    check bustapd -c conf
    check bustapd -c conf --check
done
