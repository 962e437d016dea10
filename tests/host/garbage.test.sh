#!/bin/bash
# Garbage on the control socket affects neither the captures nor other clients.
set -eu
. "$TOP/tests/host/daemon.sh"

add_capture one
start_daemon
await has_records one 1

head -c 200000 /dev/urandom | talk 60 >answer || true
printf 'status\n{"command":"halt"}\n{"command":"status","capture":"x"}\n{"command":"status"}' |
    talk 60 >answer
[ "$(wc -l <answer)" -eq 4 ] || fail "answers: $(cat answer)"
sed -n 1p answer | jq -es '.[0] | .ok == false and (.error | startswith("the request: (line 1, offset "))' >/dev/null
sed -n 2p answer | jq -es '.[0] | .ok == false' >/dev/null
sed -n 3p answer | jq -es '.[0] | .error | test("no capture x")' >/dev/null
sed -n 4p answer | jq -es '.[0] | .ok and .captures[0].name == "one"' >/dev/null

head -c 70000 /dev/zero | tr '\0' ' ' | talk 60 >answer
jq -e '.error == "the request is too long"' answer >/dev/null

# the maximum number of clients, all silent: the next is refused. One of them may be refused, too, while an earlier
# client has not yet left: another replaces it.
perl -MIO::Socket::UNIX -e '
    my @places;
    while (@places < 400) {
        push @places, IO::Socket::UNIX->new(Peer => "socket") || die "connect: $!\n";
        select undef, undef, undef, 0.1 if @places > 16;
    }' &
crowd=$!
await sh -c 'bustap ctl --socket socket status 2>&1 | grep -q "too many clients"'
kill $crowd
wait $crowd || true
await ctl status

# endless requests whose answers are not read
yes '{"command":"status"}' | perl -MIO::Socket::UNIX -e '
    my $s = IO::Socket::UNIX->new(Peer => "socket") or die;
    print $s $_ while <STDIN>;' &
flood=$!
before=$(status '.captures[0].status.records')
sleep 0.5
ctl status >/dev/null || fail "no answer during the flood"
await has_records one "$before"
kill -0 $flood || fail "the flood has ended: the test has no effect"
kill $flood
wait $flood || true

is_state one running
stop_daemon
verify_files out/one_*.byu.gz
