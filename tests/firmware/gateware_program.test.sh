#!/bin/bash
# The simulated board in logic as board program:COMMAND: the records of the virtual board, plain and packed, with and
# without pauses of the link; losses are counted; what is wrong is reported. GATEWARE_ALL=1: a million requests.
set -eu
gateware=$TOP/build/gateware/bustap-gateware
[ -x "$gateware" ] || {
    echo "build/gateware/bustap-gateware is not built: that needs verilator"
    exit 77
}
requests=${GATEWARE_ALL:+1000000}
requests=${requests:-50000}
# The first record's time begins with the last sign of the bus before ARM.
times() { zcat "$@" | tail -c +13; }
records() { zcat "$@" | head -c 8; }

bustap capture --quiet --board virtual:smp=4,requests="$requests" -o expected
replay=$(echo expected_*.byu.gz)
i=0
for options in 'delta bus=33M' 'plain bus=8M' 'delta bus=33M seed=1' 'plain bus=8M seed=2' 'delta bus=20M seed=3 core=60M'; do
    i=$((i + 1)) board="program:$gateware replay=$replay ${options#* }"
    [ "$i" -eq 1 ] || board="$board requests=20000"
    bustap capture --quiet --packing "${options%% *}" --board "$board" -o "got$i"
    bustap verify got${i}_* >verified || { cat verified; exit 1; }
    bytes=$(times got${i}_*.byu.gz | wc -c)
    cmp <(times got${i}_*.byu.gz) <(times "$replay" | head -c "$bytes")
    cmp <(records got${i}_*.byu.gz) <(records "$replay")
    [ "$i" -eq 1 ] || [ "$bytes" -eq $((19999 * 12)) ]
done
[ "$(times got1_*.byu.gz | wc -c)" -eq $(((requests - 1) * 12)) ]
bustap info --json got1_* | jq -es '.[0] | .board == "bustap-p6 0000000000000000" and .clock_hz == 33000000' >/dev/null

# The workload is the virtual board's, and a host can stop it.
bustap capture --quiet --board "program:$gateware smp=4" --stop records=3000 -o stopped
bustap verify stopped_* >/dev/null
bytes=$(times stopped_*.byu.gz | wc -c)
cmp <(times stopped_*.byu.gz) <(times "$replay" | head -c "$bytes")

# A slow link loses requests, and the board counts them.
bustap capture --quiet --board "program:$gateware smp=8 link=1M requests=20000" -o slow 2>/dev/null || [ $? -eq 1 ]
bustap verify slow_* >verified
grep -q '^accounted for: [0-9]* records, [0-9]* lost (bus [0-9]*)$' verified
bustap info --json slow_* | jq -es '.[0] | .lost > 1000 and .records + .lost == 20000' >/dev/null

# A trace that cannot be replayed further: its number, after the requests before it.
{ zcat "$replay" | head -c 1200; printf '\000\000\000\000\377\000\000\000\000\000\000\000'; } >bad.byu
status=0
bustap capture --quiet --board "program:$gateware replay=bad.byu" -o bad 2>message || status=$?
cat message
[ "$status" -eq 1 ]
grep -q 'record 100 of bad.byu cannot be a P6 request' message
[ "$(zcat bad_*.byu.gz | wc -c)" -eq 1200 ]

# All signals in a file, and nothing but frames on standard output.
bustap capture --quiet --board "program:$gateware smp=1 requests=10 vcd=signals" -o signals
grep -q bclk signals
"$gateware" smp=1 vcd=signals </dev/null >out
[ ! -s out ]

# Several sessions; the end of standard input.
python3 "$TOP/tests/firmware/gateware_sessions.py" "$gateware" "$replay"

# Invalid options: the exit status and one line.
refused() {
    local line=$1 status=0
    shift
    "$gateware" "$@" </dev/null >out 2>message || status=$?
    cat message
    [ "$status" -eq 2 ]
    [ ! -s out ]
    [ "$(cat message)" = "bustap-gateware: $line, see 'bustap-gateware --help'" ]
}
refused 'what is on the bus? Give replay=FILE or smp=N'
refused 'replay=FILE and smp=N exclude each other' replay=x smp=1
refused "no option 'bsu=66M', did you mean 'bus'?" smp=1 bsu=66M
refused 'smp=9: 1 to 8 are allowed' smp=9

# What fails later, too. A closed stream is not replaced by a file that is opened.
fails() {
    local expected=$1 line=$2 status=0
    shift 2
    "$gateware" "$@" 2>message || status=$?
    cat message >&2
    [ "$status" -eq "$expected" ]
    [ "$(cat message)" = "bustap-gateware: $line" ]
}
printf '\245\015\307\074\001\001\000\000\001\000\000\000\105\317\052\160\000\000\000\000' >identify
fails 3 'cannot open none: No such file or directory' replay=none </dev/null
fails 3 'cannot write none/x: No such file or directory' smp=1 vcd=none/x </dev/null
fails 3 'cannot write /dev/full: No space left on device' smp=1 vcd=/dev/full </dev/null
fails 3 'cannot write standard output: No space left on device' smp=1 <identify >/dev/full
fails 3 'cannot write standard output: No space left on device' --help >/dev/full
fails 3 'cannot write standard output: Bad file descriptor' smp=1 vcd=signals <identify >&-
fails 3 'cannot read standard input: Bad file descriptor' "replay=$replay" <&-
cp "$replay" copy
fails 2 './copy is replayed: vcd= needs another name' replay=copy vcd=./copy </dev/null
cmp copy "$replay"
bustap capture --quiet --board virtual:smp=1,requests=10,clock=10G -o fast
fast=$(echo fast_*)
fails 2 "$fast has a clock of 10000000000 Hz: give bus=HZ" "replay=$fast" </dev/null
"$gateware" "replay=$fast" bus=10M </dev/null
"$gateware" --help | grep -q '^usage: bustap-gateware replay=FILE|smp=N'
"$gateware" smp=1 </dev/null
