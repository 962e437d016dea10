#!/bin/bash
# A signal that ends tests/run also ends the running tests and their daemons.
set -eu
. "$TOP/tests/host/daemon.sh"

# a tree with one test, which starts a daemon and never ends
mkdir -p tree/tests/layer build
cp "$TOP/tests/run" tree/tests/
cat >tree/tests/layer/endless.test.sh <<'END'
#!/bin/bash
. "$DAEMON"
add_capture one
start_daemon
sleep 1000
END
chmod +x tree/tests/layer/endless.test.sh
ln -s "$BUILD"/bustap* build/

# Processes of the inner run: they have its BUILD in their environment.
inner() {
    grep -lzxF "BUILD=$PWD/build" /proc/[0-9]*/environ 2>/dev/null
}
has_daemon() {
    # shellcheck disable=SC2046 # one word each
    grep -qx bustapd $(inner | sed 's/environ$/comm/')
}
is_empty() {
    [ -z "$(inner)" ]
}

export DAEMON=$TOP/tests/host/daemon.sh
for signal in TERM INT; do
    env --default-signal BUILD="$PWD/build" tree/tests/run >messages 2>&1 &
    run=$!
    await has_daemon
    kill "-$signal" "$run"
    status=0
    wait "$run" || status=$?
    [ "$status" -eq $((128 + $(kill -l "$signal"))) ] || fail "SIG$signal: exit status $status: $(cat messages)"
    await is_empty
    [ -z "$(ls -d build/results.* 2>/dev/null)" ] || fail "SIG$signal: files left: $(ls build)"
done
