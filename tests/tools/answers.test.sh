#!/bin/bash
# bustap ctl with invalid answers: no JSON, duplicate keys.
set -eu -o pipefail

answer() { # TEXT: passes the answer to ctl: out, err, $status
    rm -f socket
    perl -MIO::Socket::UNIX -e '
        my $listener = IO::Socket::UNIX->new(Local => "socket", Listen => 1) or die;
        my $client = $listener->accept;
        my $request = <$client>;
        print $client "$ARGV[0]\n";' "$1" &
    for _ in $(seq 1000); do
        [ ! -S socket ] || break
        sleep 0.01
    done
    status=0
    bustap ctl --socket socket status >out 2>err || status=$?
    wait $! || true
}

answer '{"ok":true,"captures":[]}'
[ $status = 0 ]
answer '{"ok":false,"ok":true,"captures":[]}'
[ $status = 3 ]
grep -qx "bustap: bustapd's answer cannot be understood: bustapd's answer: ok (line 1, offset 16): duplicate key \"ok\"" err
answer '{"ok":true,"captures":[{"name":"a","state":"failed","state":"running"}]}'
[ $status = 3 ]
grep -q 'captures\[0\].state (.*): duplicate key "state"' err
answer 'hello'
[ $status = 3 ]
grep -q "cannot be understood" err
[ ! -s out ]

# a table of captures: 64-bit counts; unknown members, missing ones, and ones of a wrong type
answer '{"log_lines_dropped":7,"captures":[{"status":{"records":18446744073709551615,"lost":{"bus":1,"total":12},"files":3,"x":[{"name":"q"}],"records_per_s":2500000.5,"absent":"silent"},"name":"a","state":"running","output":"/d\u001b"},{"name":"b","state":"failed","error":"why","status":null}],"ok":true}'
[ $status = 0 ]
diff out - <<END
NAME             STATE            RECORDS       LOST     M/s  FILES  OUTPUT
a                running   18446744073709551615         12    2.50      3  /d?: silent
b                failed                 0          0    0.00      0  : why
7 lines of the log were dropped: its reader stalled
END
answer '{"ok":true,"captures":[{"status":{"records":1.5}}]}'
[ $status = 3 ]
[ ! -s out ]
grep -q 'captures\[0\].status.records' err
