#!/bin/bash
# Every command reports a full output disk and ends with status 3, and waits for a reader if its output is
# non-blocking.
set -eu
. "$TOP/tests/host/daemon.sh"
PATH="$BUILD/tests/e2e:$PATH"

make_capture files=2 file_records=4000 block_records=1000 p
head -c 30000 p_1.byu.gz >damaged.gz
bustap dcfg build p_?.byu.gz -o g.json --trace t.json 2>/dev/null
cat >conf <<END
[capture one]
board = virtual:smp=2,rate=200000
output = daemon/one
END
start_daemon
failed=0

full() { # COMMAND...: with a full standard output
    local status=0
    "$@" >/dev/full 2>errors || status=$?
    if [ "$status" -eq 3 ] && grep -Eq '^bustapd?: .*cannot .*: No space left on device' errors; then
        return
    fi
    echo "$* >/dev/full: exit status $status, $(cat errors)"
    failed=1
}

commands=$(bustap -h | sed -n 's/^  \([a-z]*\)  .*/\1/p')
graphs=$(bustap dcfg -h | sed -n 's/^  \([a-z]*\)  .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 16 ] && [ "$(echo "$graphs" | wc -w)" -ge 8 ] || fail "the list of commands is not read"
full bustap -h
full bustap --help
full bustap --version
full b2a -h
for command in $commands; do
    full bustap "$command" -h
done
for command in $graphs; do
    full bustap dcfg "$command" -h
done
full bustapd --help
full bustapd --version
full bustapd --check -c conf

full b2a p_1.byu.gz
for form in '' --csv --json; do
    full bustap dump $form p_?.byu.gz
    full bustap cache $form --l1 4K p_?.byu.gz
    full bustap mrc $form p_?.byu.gz
    for command in blocks loops paths; do
        full bustap dcfg $command $form g.json
    done
    full bustap dcfg expand $form g.json --trace t.json
    full bustap dcfg diff $form g.json g.json
done
for form in '' --json; do
    full bustap info $form p_?.byu.gz
    full bustap verify $form p_?.byu.gz
    full bustap boards $form
    full bustap boards $form --self-test virtual:smp=2
    full bustap doctor $form --no-self-test virtual:smp=2
    full bustap dcfg check $form g.json
    full bustap ctl --socket socket $form status
done
full bustap plot --csv p_?.byu.gz
full bustap plot --json p_?.byu.gz
if command -v gnuplot >/dev/null; then
    full bustap plot --plot-format svg -o - p_?.byu.gz
    full bustap plot --plot-format png -o /dev/full p_?.byu.gz
    full bustap mrc --plot-format svg --plot /dev/full p_?.byu.gz
fi
for format in byu byu-lp64 csv npy din lackey champsim gem5 oracle libcachesim-csv; do
    full bustap convert --to $format -o - p_1.byu.gz
    full bustap convert --to $format -o /dev/full p_1.byu.gz
done
full bustap recover damaged.gz -o -
full bustap cut p_?.byu.gz -o -
full bustap cut p_?.byu.gz -o part --json
full bustap merge part p_?.byu.gz -o -
full bustap merge part p_?.byu.gz -o both --json
full bustap dcfg build p_?.byu.gz -o -
full bustap dcfg build p_?.byu.gz -o /dev/full
full bustap dcfg build p_?.byu.gz -o g2.json --trace /dev/full
full bustap dcfg build p_?.byu.gz -o g2.json --json
full bustap dcfg dot g.json
full bustap dcfg callgrind g.json
if [ -z "$NO_EXEC" ]; then
    for form in '' --json; do
        full bustap profile $form -o /dev/full true
        full bustap rondo $form -o /dev/full true
    done
    full bustap profile --callgrind /dev/full -o report true
    full bustap exec -q -o one --summary /dev/full true
    full bustap exec -q -o two --modules /dev/full true
fi
full bustap capture -q --board virtual:smp=2,requests=1000 -o three --json
full bustap capture -q --board virtual:smp=2,requests=1000 -o four --print-names
stop_daemon

# A full pipe of the smallest size, with a late reader: no output is missing.
late() { # COMMAND...
    perl -e '
        use Fcntl;
        pipe(my $out, my $in) or die;
        fcntl($in, 1031, 4096);                             # F_SETPIPE_SZ
        fcntl($in, F_SETFL, O_NONBLOCK | O_WRONLY) or die;
        my $filled = 0;
        while (my $n = syswrite($in, "x" x 4096)) { $filled += $n }
        my $child = fork();
        if ($child == 0) { open(STDOUT, ">&", $in); close($out); close($in); exec(@ARGV) or die }
        close($in);
        select(undef, undef, undef, 0.2);
        my $got;
        read($out, $got, $filled) == $filled or die;
        while (read($out, $got, 10000)) { print $got }
        waitpid($child, 0);
        exit($? >> 8);' "$@"
}
for command in 'bustap -h' 'bustap cache -h' 'b2a p_1.byu.gz' 'bustap info --json p_1.byu.gz p_2.byu.gz' \
    'bustap convert -q --to csv -o - p_1.byu.gz' 'bustap dcfg blocks --csv g.json' 'bustap recover p_1.byu.gz -o -' \
    'bustap dcfg expand --csv g.json --trace t.json' 'bustap mrc --csv p_1.byu.gz' 'bustap cut -q p_1.byu.gz -o -' \
    'bustap merge -q part p_1.byu.gz -o -'; do
    $command >expected 2>/dev/null || true
    status=0
    late $command >got 2>errors || status=$?
    cmp -s expected got && [ ! -s errors -o "$command" != "${command#*recover}" ] || {
        echo "late $command: exit status $status, $(wc -c <got) bytes of $(wc -c <expected), $(cat errors)"
        failed=1
    }
done
exit "$failed"
