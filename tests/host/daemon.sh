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

# Starts bustapd on the configuration "conf" and the socket "socket"; its messages go to "log".
start_daemon() {
    bustapd -c conf --socket socket 2>>log &
    daemon=$!
    await ctl status
}

# Ends it with a signal and sees that it ends well.
stop_daemon() {
    kill "-${1:-TERM}" "$daemon"
    wait "$daemon" || fail "bustapd ended with $?"
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
