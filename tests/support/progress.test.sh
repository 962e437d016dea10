#!/bin/bash
# tests/run reports its progress: in a file while tests run, and as one rewritten line on a terminal.
set -eu

fail() {
    echo "$*"
    exit 1
}

# A project with two tests: `slow` waits until it has been observed, `wrong` fails.
mkdir -p project/tests/e2e project/build
cp "$TOP/tests/run" project/tests/
cat >project/tests/e2e/slow.test.sh <<'END'
#!/bin/sh
echo started >"$TOP/started"
while [ ! -e "$TOP/seen" ]; do sleep 0.05; done
END
printf '#!/bin/sh\nexit 1\n' >project/tests/e2e/wrong.test.sh
chmod +x project/tests/e2e/*.test.sh
unset results
export BUILD=$PWD/project/build
progress=$BUILD/tests/progress

TEST_JOBS=2 project/tests/run >out 2>&1 &
runner=$!
for _ in $(seq 2000); do
    grep -q '^running 1/2 tests, 1 failed, [0-9]* s$' "$progress" 2>/dev/null && break
    sleep 0.05
done
grep -q '^running 1/2 tests, 1 failed, [0-9]* s$' "$progress" || fail "while one test runs: $(cat "$progress")"
touch project/seen
! wait "$runner" || fail "a failed test, and exit status 0"
grep -q '^finished 2/2 tests, 1 failed, [0-9]* s$' "$progress" || fail "at the end: $(cat "$progress")"
grep -qx '1 passed, 1 failed, 0 skipped' out || fail "summary: $(cat out)"
if grep -q -e tests, -e $'\r' out; then fail "a progress line in a file: $(cat -v out)"; fi

# `script` runs a command on a terminal.
script -qec 'project/tests/run slow' /dev/null </dev/null >terminal 2>&1
tr '\r' '\n' <terminal | grep -q 'running 0/1 tests, 0 failed' || fail "terminal: $(cat -v terminal)"
tr '\r' '\n' <terminal | grep -q 'running 1/1 tests, 0 failed' || fail "terminal: $(cat -v terminal)"
tr -d '\r' <terminal | tail -n 1 | grep -q '1 passed, 0 failed, 0 skipped$' || fail "terminal: $(cat -v terminal)"
