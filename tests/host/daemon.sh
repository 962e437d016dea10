# Functions for tests of bustapd, to be sourced: start daemons, wait for their actions.

fail() {
    echo "$*" >&2
    [ ! -f log ] || sed 's/^/log: /' log >&2
    exit 1
}

# Waits until a command succeeds, for at least 100 seconds.
await() {
    for _ in $(seq 1000); do
        if "$@" >/dev/null 2>&1; then
            return 0
        fi
        sleep 0.1
    done
    fail "timed out waiting for: $*"
}

# Whether process PID has a thread for signals, and whether no signal to it is pending.
takes_signals() { grep -q signals /proc/"$1"/task/*/comm; }
took_signals() { ! grep -q '^ShdPnd:.*[1-9a-f]' /proc/"$1"/status; }

# Adds a capture of an endless virtual board into out/NAME to the configuration "conf". Further arguments are
# lines of its section; "board = ..." and "output = ..." replace the defaults.
add_capture() {
    local name=$1 board='board = virtual:smp=2,rate=200000' output="output = out/$1" line
    shift
    for line in "$@"; do
        case $line in
        'board ='*) board= ;;
        'output ='*) output= ;;
        esac
    done
    printf '%s\n' "[capture $name]" ${board:+"$board"} ${output:+"$output"} "$@" >>conf
}

# Starts bustapd on "conf" and the socket "socket"; its messages are appended to $log ("log" unless set). Arguments:
# a command that executes it, as env does.
start_daemon() {
    "$@" bustapd -c conf --socket socket 2>>"${log:-log}" &
    daemon=$!
    await ctl status
}

# Sends the daemon a signal, and sets $ended to its exit status.
end_daemon() {
    ended=0
    kill "-${1:-TERM}" "$daemon"
    wait "$daemon" 2>/dev/null || ended=$?
}

# Signals process $1 by $2 (TERM) until it ends, and sets $ended to its exit status: signals that come within half a
# second of the first one belong to the same request.
insist() {
    ended=0
    while kill "-${2:-TERM}" "$1" 2>/dev/null; do
        sleep 0.1
    done
    wait "$1" 2>/dev/null || ended=$?
}

# Ends the daemon with a signal; it must exit with 0.
stop_daemon() {
    end_daemon "$@"
    [ "$ended" -eq 0 ] || fail "bustapd ended with $ended"
}

# Files must be complete captures, with all losses counted.
verify_files() {
    bustap verify "$@" >verdict || fail "not complete: $(tail -n 1 verdict)"
}

ctl() {
    bustap ctl --socket socket "$@"
}

# Prints the result of a jq filter on the status.
status() {
    ctl --json status | jq -r "$1"
}

state_of() {
    status ".captures[] | select(.name == \"$1\") | .state"
}

is_state() {
    [ "$(state_of "$1")" = "$2" ]
}

has_records() {
    [ "$(status ".captures[] | select(.name == \"$1\") | .status.records // 0")" -gt "${2:-0}" ]
}

# Sends standard input to the socket and prints the answer, for up to $1 seconds (5).
talk() {
    perl -MIO::Socket::UNIX -e '
        my $s = IO::Socket::UNIX->new(Peer => "socket") or die "connect: $!\n";
        $SIG{PIPE} = "IGNORE";
        $SIG{ALRM} = sub { exit 0 };
        $| = 1;
        local $/;
        print $s scalar <STDIN>;
        $s->flush;
        shutdown($s, 1) unless $ARGV[1];
        alarm $ARGV[0];
        while (sysread($s, my $text, 65536)) { print $text }' "${1:-5}" "${2-}"
}
