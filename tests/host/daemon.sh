# For the tests of bustapd: starts daemons, waits for what they do. To be sourced.

fail() {
    echo "$*" >&2
    [ ! -f log ] || sed 's/^/log: /' log >&2
    exit 1
}

# Waits until a command succeeds: 100 seconds at least, which no machine should need.
await() {
    for _ in $(seq 1000); do
        if "$@" >/dev/null 2>&1; then
            return 0
        fi
        sleep 0.1
    done
    fail "waited in vain for: $*"
}

# Adds a capture to the configuration "conf": of an endless virtual board into out/NAME. Further arguments are
# lines of its section; "board = ..." and "output = ..." take the place of these.
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

# Sends the daemon a signal, and leaves its exit status in $ended.
end_daemon() {
    ended=0
    kill "-${1:-TERM}" "$daemon"
    wait "$daemon" 2>/dev/null || ended=$?
}

# Ends it with a signal, after which it must exit with 0.
stop_daemon() {
    end_daemon "$@"
    [ "$ended" -eq 0 ] || fail "bustapd ended with $ended"
}

# Files must be complete captures, without losses that are not accounted for.
verify_files() {
    bustap verify "$@" >verdict || fail "not complete: $(tail -n 1 verdict)"
}

ctl() {
    bustap ctl --socket socket "$@"
}

# What jq makes of a status answer.
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

# Says the bytes on standard input to the socket, hears up to "seconds", prints what came.
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
