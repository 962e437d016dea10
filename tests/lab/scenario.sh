# Runs one scenario in the guest, in an empty folder, and has what scenarios use. tests/lab/README.md
# describes it.
#
# usage: sh scenario.sh NAME

fail() {
    echo "FAILED: $*" >&2
    trap - EXIT
    [ ! -f daemon.log ] || { echo '--- daemon.log'; tail -n 40 daemon.log; } >&2
    model counters 2>/dev/null && echo "model: $answer" >&2
    exit 1
}

# The scenario says nothing of bustap: why.
not_measured() {
    measured "$*"
    exit "$NOT_MEASURED"
}

# --- the boards (the model listens at descriptor 3) ----------------------------------------------------

# Tells the model something; its answer, "name=value ...", is then in $answer. A subshell reads it, which has no
# children: busybox's read forgets what it has of a line when one ends or stops meanwhile.
model() {
    echo "$*" >&3
    answer=$(read -r line <&3; echo "${line-}")
    case $answer in
    ok*) answer=${answer#ok } ;;
    *) echo "model $*: $answer" >&2; exit 1 ;;
    esac
}

# Reads away what an earlier scenario did not: answers come in order.
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

# Waits until a command succeeds, for $WAIT_SECONDS (200) at the most.
await() {
    until_second=$(($(uptime_seconds) + ${WAIT_SECONDS:-200}))
    until "$@" >/dev/null 2>&1; do
        [ "$(uptime_seconds)" -le $until_second ] || fail "waited in vain for: $*"
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

device_is_there() {
    cat /sys/bus/usb/devices/*/serial 2>/dev/null | grep -qx "${1:-BT0001}"
}

# Plugs a board in and waits until the kernel and udev have finished with it.
plug() {
    model ${1:+"$1"} plug
    await device_is_there "BT000$((${1:-0} + 1))"
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

# Runs a command as another user: "user", who is in no group that matters, or "capture" of the group plugdev.
as() {
    user=$1
    shift
    su -s /bin/sh "$user" -c "PATH=/bin $*"
}

# --- judging -------------------------------------------------------------------------------------------

# Has lab_check look at a capture's files, and bustap verify too, whose words are then in verify.txt; the
# counts are in $counts.
check_capture() {
    prefix=${1:-out/lab}
    counts=$(lab_check "$prefix"_*.byu.gz) || fail "lab_check: $counts"
    verified=0
    bustap verify "$prefix"_*.byu.gz >verify.txt 2>&1 || verified=$?
    [ $verified -eq "${VERIFY:-0}" ] || { cat verify.txt; fail "bustap verify: exit status $verified"; }
}

verify_says() {
    grep -q -e "$1" verify.txt || { cat verify.txt; fail "bustap verify does not say: $1"; }
}

# A command that must fail, and say why: "refused 'a pattern' COMMAND..."
refused() {
    pattern=$1
    shift
    ! "$@" >refused.txt 2>&1 || { cat refused.txt; fail "this should have failed: $*"; }
    grep -q -e "$pattern" refused.txt || { cat refused.txt; fail "this does not say '$pattern': $*"; }
}

# A whole capture: the bus sends so many requests at that rate, then all is checked.
capture_all() {
    model requests "$1"
    model rate "$2"
    [ -n "$daemon" ] || start_daemon
    await counter_is sent -eq "$1"
    await state_is finished
    stop_daemon
    check_capture
}

# The same number, or the scenario has failed: "same WHAT FOUND EXPECTED".
same() {
    [ "$2" = "$3" ] || fail "$1: $2, not $3 ($counts; $answer)"
}

# Captured and lost is what the board accepted, to the last request. Arguments: "bus=0 link=340", what was
# lost where; a stage that is not named lost nothing.
# "any" stands for more than nothing.
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

# Stops the capture and the daemon, and has it checked.
finish_capture() {
    ctl stop lab >/dev/null
    await state_is stopped
    stop_daemon
    check_capture
}

# Waits until the bus has sent so many requests more.
send_more() {
    sent=$(counter sent)
    await counter_is sent -ge $((sent + $1))
}

# --- the speed of a bus --------------------------------------------------------------------------------

SUSTAINED=65600000    # requests: 20 s of 40 MB/s of plain frames
WARM_REQUESTS=1640000 # before them, in 2 s: QEMU translates what is run for the first time
YARDSTICK=6           # times that lab_yardstick looks at each byte: a quarter more work than bustap at its quickest

# Waits until the bus has sent so many requests; the log then shows when the board lost some. What a bus sends does not
# depend on who reads it.
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

# Every record of it; bustap verify would take as long again, and looks at all the other captures. What the board
# could not keep is in $missed, and is the only loss that this machine may be to blame for.
check_sustained() {
    counts=$(lab_check -1 out/lab_*.byu.gz) || fail "lab_check: $counts"
    missed=$(value bus "$counts")
    account bus="$missed"
    same "lost by the board" "$missed" "$(value lost "$answer")"
}

# The same bus in front of a program that has nothing of bustap and more to do; what the board lost is in
# $yardstick_missed.
measure_machine() {
    model requests $SUSTAINED
    model rate 40MB
    work=$(sh -c "${NICE:+renice -n $NICE -p \$\$ >/dev/null;} exec lab_yardstick $YARDSTICK" 2>&1 3>&-) ||
        fail "lab_yardstick: $work"
    model counters
    accepted=$(value accepted "$answer")
    [ "$accepted" -eq 0 ] || [ "$accepted" -ge $SUSTAINED ] ||
        not_measured "this machine's bus paused for so long that lab_yardstick took that for its end"
    same "requests of lab_yardstick" "$accepted" $SUSTAINED
    yardstick_missed=$(value lost "$answer")
}

device_is_gone() {
    if device_is_there; then return 1; fi
}

# Has bustap keep up with the bus; $1 and $2 are run before and behind what wants the machine's speed. When bustap
# lost requests it is lab_yardstick's turn, and then bustap's again, so that a machine whose speed comes and goes is
# not taken for a slow bustap. It is one that loses some five times, while lab_yardstick never does.
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
            not_measured "of 40 MB/s bustap lost $missed requests and lab_yardstick, too, $yardstick_missed"
        fi
        model reset
        await device_is_gone
    done
    exit "$LOST"
}

# The line that stands behind the scenario's name.
measured() {
    echo "$*" >measured
}

# --- the scenario --------------------------------------------------------------------------------------

# exit statuses that init knows: requests are lost that the machine can keep; it cannot
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
