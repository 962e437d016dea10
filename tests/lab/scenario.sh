# Runs one scenario in the guest, in an empty folder, and defines the functions of scenarios
# (tests/lab/README.md).
#
# usage: sh scenario.sh NAME

fail() {
    echo "FAILED: $*" >&2
    trap - EXIT
    [ ! -f daemon.log ] || { echo '--- daemon.log'; tail -n 40 daemon.log; } >&2
    model counters 2>/dev/null && echo "model: $answer" >&2
    exit 1
}

# The scenario has no result: the arguments say why.
not_measured() {
    measured "$*"
    exit "$NOT_MEASURED"
}

# --- the boards (the model listens at descriptor 3) ----------------------------------------------------

# Sends the model a command; its answer, "name=value ...", is then in $answer. A subshell without children reads it:
# busybox's read discards a partial line when a child ends or stops.
model() {
    echo "$*" >&3
    answer=$(read -r line <&3; echo "${line-}")
    case $answer in
    ok*) answer=${answer#ok } ;;
    *) echo "model $*: $answer" >&2; exit 1 ;;
    esac
}

# Discards answers that an earlier scenario did not read: answers come in order.
synchronise() {
    echo "sync $1" >&3
    while read -r answer <&3; do
        [ "$answer" != "ok $1" ] || return 0
    done
}

# One value of an answer: "value lost 'records=1 lost=2'" is 2.
value() {
    echo " $2" | sed -n "s/.* $1=\([^ ]*\).*/\1/p"
}

# A counter of a board, now: "counter accepted", "counter 1 accepted".
counter() {
    if [ $# -gt 1 ]; then
        model "$1" counters
        shift
    else
        model counters
    fi
    value "$1" "$answer"
}

# --- waiting -------------------------------------------------------------------------------------------

uptime_seconds() {
    read -r seconds _ </proc/uptime
    echo "${seconds%.*}"
}

# Waits until a command succeeds, for at most $WAIT_SECONDS (200).
await() {
    until_second=$(($(uptime_seconds) + ${WAIT_SECONDS:-200}))
    until "$@" >/dev/null 2>&1; do
        [ "$(uptime_seconds)" -le $until_second ] || fail "timed out waiting for: $*"
        sleep 0.05
    done
}

# "counter_is [BOARD] NAME TEST NUMBER", such as: await counter_is sent -ge 1000
counter_is() {
    if [ $# -gt 3 ]; then
        [ "$(counter "$1" "$2")" "$3" "$4" ]
    else
        [ "$(counter "$1")" "$2" "$3" ]
    fi
}

device_is_present() {
    cat /sys/bus/usb/devices/*/serial 2>/dev/null | grep -qx "${1:-BT0001}"
}

# Plugs a board in and waits until the kernel and udev have finished with it.
plug() {
    model ${1:+"$1"} plug
    await device_is_present "BT000$((${1:-0} + 1))"
    udevadm settle
}

unplug() {
    model ${1:+"$1"} unplug
}

# --- the daemon ----------------------------------------------------------------------------------------

# Writes "conf" with one capture, "lab", of the board with serial number BT0001 into the folder "out";
# arguments are further lines of it.
configure() {
    {
        echo '[daemon]'
        echo 'socket = socket'
        echo '[capture lab]'
        echo "board = ${BOARD:-ftdi:serial=BT0001}"
        echo 'output = out/lab'
        echo 'packing = plain'
        echo "retry = ${RETRY:-1s}"
        printf '%s\n' "$@"
    } >conf
    mkdir -p out
}

# Starts bustapd with "conf", at the priority $NICE; its messages go to daemon.log.
start_daemon() {
    sh -c "${NICE:+renice -n $NICE -p \$\$ >/dev/null;} exec bustapd -c conf --socket socket" \
        >>daemon.log 2>&1 3>&- &
    daemon=$!
    await ctl status
}

stop_daemon() {
    kill "-${1:-TERM}" "$daemon"
    ended=0
    wait "$daemon" || ended=$?
    [ "$ended" -eq 0 ] || fail "bustapd ended with $ended"
    daemon=
}

ctl() {
    bustap ctl --socket socket "$@" 3>&-
}

# The first member of that name in a capture's status: "status records", "status -c front records".
status() {
    capture=lab
    if [ "$1" = -c ]; then
        capture=$2
        shift 2
    fi
    ctl --json status | awk -v name="$capture" -v member="$1" '{
        from = index($0, "{\"name\":\"" name "\"")
        rest = substr($0, from)
        rest = substr(rest, index(rest, "\"" member "\":") + length(member) + 3)
        if (substr(rest, 1, 1) == "\"") {
            rest = substr(rest, 2)
            sub(/".*/, "", rest)
        } else
            sub(/[,}].*/, "", rest)
        print rest
    }'
}

state_is() {
    [ "$(status state)" = "$1" ]
}

has_records() {
    [ "$(status records)" -ge "${1:-1}" ]
}

daemon_says() {
    grep -q -e "$1" daemon.log
}

# Runs a command as another user: "user" without groups, or "capture" of the group plugdev.
as() {
    user=$1
    shift
    su -s /bin/sh "$user" -c "PATH=/bin $*"
}

# --- judging -------------------------------------------------------------------------------------------

# Checks a capture's files with lab_check, whose counts are then in $counts, and with bustap verify, whose
# output is in verify.txt.
check_capture() {
    prefix=${1:-out/lab}
    # shellcheck disable=SC2086 # an option, or none
    counts=$(lab_check ${LAB_CHECK-} "$prefix"_*.byu.gz) || fail "lab_check: $counts"
    verified=0
    bustap verify "$prefix"_*.byu.gz >verify.txt 2>&1 || verified=$?
    [ $verified -eq "${VERIFY:-0}" ] || { cat verify.txt; fail "bustap verify: exit status $verified"; }
}

verify_says() {
    grep -q -e "$1" verify.txt || { cat verify.txt; fail "bustap verify does not print: $1"; }
}

# The command must fail with a message that matches the pattern: "refused PATTERN COMMAND..."
refused() {
    pattern=$1
    shift
    ! "$@" >refused.txt 2>&1 || { cat refused.txt; fail "the command succeeded: $*"; }
    grep -q -e "$pattern" refused.txt || { cat refused.txt; fail "the command does not print '$pattern': $*"; }
}

# Captures $1 requests of a bus with rate $2, and checks the capture.
capture_all() {
    model requests "$1"
    model rate "$2"
    [ -n "$daemon" ] || start_daemon
    await counter_is sent -eq "$1"
    await state_is finished
    stop_daemon
    check_capture
}

# Fails unless two numbers are equal: "same WHAT FOUND EXPECTED".
same() {
    [ "$2" = "$3" ] || fail "$1: $2, expected $3 ($counts; $answer)"
}

# Captured and lost requests add up to those that the board accepted. Arguments: the losses by stage, as in
# "bus=0 link=340"; "any" is a number above 0, and the default is 0.
account() {
    model counters
    accepted=$(value accepted "$answer")
    captured=$(value records "$counts")
    for stage in bus link queue disk; do
        lost=$(value $stage "$counts")
        expected=$(value $stage "$*")
        if [ "$expected" = any ]; then
            [ "$lost" -gt 0 ] || fail "nothing was lost at stage $stage ($counts; $answer)"
        else
            same "lost at stage $stage" "$lost" "${expected:-0}"
        fi
        captured=$((captured + lost))
    done
    same "captured and lost" $((captured + $(value after "$counts"))) "$accepted"
}

stop_capture() {
    ctl stop lab >/dev/null
    await state_is stopped
}

# Stops the capture and the daemon, and checks the capture.
finish_capture() {
    stop_capture
    stop_daemon
    check_capture
}

# Puts the gateware in the firmware's place.
use_gateware() {
    echo 'gateware on' >&3
    answer=$(read -r line <&3; echo "${line-}")
    case $answer in
    ok*) ;;
    *without\ verilator*) not_measured 'verilator was not there when the model was built' ;;
    *) fail "gateware on: $answer" ;;
    esac
}

# The same as account for the gateware, after a stop. The last requests, up to $1 (100), came between STOP and END, and
# are not the session's.
account_stopped() {
    model counters
    sent=$(value sent "$answer")
    seen=0
    for stage in records bus link queue disk; do
        seen=$((seen + $(value $stage "$counts")))
    done
    if [ "$seen" -gt "$sent" ] || [ "$seen" -lt $((sent - ${1:-100})) ]; then
        fail "captured and lost: $seen of $sent ($counts)"
    fi
}

# --- a bus that the board may stall -------------------------------------------------------------------

# Waits until the bus has been stalled for $1 ticks without a request.
await_standstill() {
    standstill=$1
    await stands_still
}

stands_still() {
    before=$(counter sent)
    from=$(counter stalled)
    await counter_is stalled -ge $((from + standstill))
    [ "$(counter sent)" -eq "$before" ]
}

# Ends the daemon after a capture that had stalls, whose counts are then in $stalls, and checks the capture.
check_stalled() {
    stalls="stalls=$(status stalls) stalled=$(status stalled)"
    stop_daemon
    check_capture
    model counters
    [ "$(value stalls "$stalls")" -gt 0 ] || fail "no stalls are reported"
    # BNR# acts some clocks later
    difference=$(($(value stalled "$stalls") - $(value stalled "$answer")))
    [ "${difference#-}" -le $((4 * $(value stalls "$stalls"))) ] || fail "$stalls differ from the bus's: $answer"
    [ "$(value delay "$counts")" -le "$(value stalled "$answer")" ] || fail "later than stalled: $counts; $answer"
}

# Waits until the bus has sent $1 more requests.
send_more() {
    sent=$(counter sent)
    await counter_is sent -ge $((sent + $1))
}

# --- the speed of a bus --------------------------------------------------------------------------------

SUSTAINED=65600000    # requests: 20 s of 40 MB/s of plain frames
WARM_REQUESTS=1640000 # before them, in 2 s: QEMU translates code at its first execution
YARDSTICK=6           # times that lab_yardstick reads each byte: a quarter more work than bustap's fastest mode

# Waits until the bus has sent $1 requests, and logs each second's losses of the board. The speed of the bus does not
# depend on its reader.
follow_board() {
    end=$(($(uptime_seconds) + 200))
    until model counters && [ "$(value sent "$answer")" -eq "$1" ]; do
        [ "$(uptime_seconds)" -le $end ] || not_measured "this machine's bus takes more than 200 s for 20 s"
        echo "$(cut -d ' ' -f 1 /proc/uptime) s: sent=$(value sent "$answer") waiting=$(value waiting "$answer")" \
            "lost=$(value lost "$answer")"
        sleep 1
    done
}

# 40 MB/s of plain frames for 20 s into files.
sustain() {
    plug
    configure 'rotate = size=64M'
    model rate 10MB
    model requests $((WARM_REQUESTS + SUSTAINED))
    start_daemon
    await counter_is sent -ge $WARM_REQUESTS
    model rate 40MB
    follow_board $((WARM_REQUESTS + SUSTAINED))
    WAIT_SECONDS=200 await state_is finished
    stop_daemon
}

# Checks every record, without bustap verify, which would take as long again and checks all the other captures. Sets
# $missed to the losses of the board, the only ones that a slow machine can cause.
check_sustained() {
    counts=$(lab_check -1 out/lab_*.byu.gz) || fail "lab_check: $counts"
    missed=$(value bus "$counts")
    account bus="$missed"
    same "lost by the board" "$missed" "$(value lost "$answer")"
}

# Reads the same bus with a program that shares no code with bustap and does more work. Sets $yardstick_missed to the
# losses of the board.
measure_machine() {
    model requests $SUSTAINED
    model rate 40MB
    work=$(sh -c "${NICE:+renice -n $NICE -p \$\$ >/dev/null;} exec lab_yardstick $YARDSTICK" 2>&1 3>&-) ||
        fail "lab_yardstick: $work"
    model counters
    accepted=$(value accepted "$answer")
    [ "$accepted" -eq 0 ] || [ "$accepted" -ge $SUSTAINED ] ||
        not_measured "this machine's bus paused for so long that lab_yardstick stopped"
    same "requests of lab_yardstick" "$accepted" $SUSTAINED
    yardstick_missed=$(value lost "$answer")
}

device_is_missing() {
    if device_is_present; then return 1; fi
}

# Requires that bustap keeps up with the bus; runs $1 before and $2 after each measurement. After losses of bustap,
# lab_yardstick and then bustap are measured again, because a machine's speed varies. The scenario fails if bustap
# loses requests five times while lab_yardstick never does.
keep_up() {
    for attempt in 1 2 3 4 5; do
        $1
        sustain
        $2
        check_sustained
        [ "$missed" -gt 0 ] || return 0
        rm -r out
        $1
        measure_machine
        $2
        echo "bustap lost $missed, lab_yardstick $yardstick_missed ($work)"
        if [ "$yardstick_missed" -gt 0 ]; then
            not_measured "of 40 MB/s bustap lost $missed requests, lab_yardstick $yardstick_missed"
        fi
        model reset
        await device_is_missing
    done
    exit "$LOST"
}

# Sets the text after the scenario's name in the results.
measured() {
    echo "$*" >measured
}

# --- the scenario --------------------------------------------------------------------------------------

# exit statuses for init: bustap lost requests although lab_yardstick did not; no result
LOST=76 NOT_MEASURED=77

set -u
counts='' answer='' daemon=''
synchronise $$
for board in 0 1; do
    model $board reset
done
set -e
name=$1
. "/lab/scenarios/$name.sh"
