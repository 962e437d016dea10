#!/bin/bash
# bustap top: the counts that awk makes of dump's records; names of a program's addresses; the live screen.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

# --- counts ---

make_trace --types all 30000 >trace.byu
bustap dump --csv trace.byu | sed 1d >records
# columns of records: 3 address, 4 type, 7 processor
check() { # BY AWK_KEY
    awk -F , "\$4 ~ /^(FETCH|MEMREAD|MEMREADINV|MEMWRITE)\$/ || $3 { n[$2]++ } END { for (k in n) print n[k] }" records |
        sort -rn >expected
    bustap top --by "$1" --count 1M --csv trace.byu | awk -F , -v c="$4" 'NR > 1 { print $c }' >printed
    cmp expected printed || { echo "--by $1"; exit 1; }
}
check address '$3' 0 2
check processor '$7' 1 2
check type,processor '$4 "," $7' 1 3
check processor,address '$7 "," $3' 0 3

# other inputs: a capture, another format, several files, standard input
make_capture files=3 file_records=5000 block_records=700 capture
bustap top --csv capture_*.byu.gz >expected
cat capture_1.byu.gz capture_2.byu.gz capture_3.byu.gz | bustap top --csv - | cmp - expected
bustap convert --to csv -o capture.csv capture_*.byu.gz 2>/dev/null
bustap top --csv capture.csv | cmp - expected
bustap top --csv --max-memory 100M capture_*.byu.gz | sed 's/count,error/count/; s/^\([^,]*,[0-9]*\),0/\1/' | cmp - expected

# --- names ---

if [ -z "$NO_EXEC" ]; then
    cat >program.c <<'END'
int near[2], far;
__attribute__((noinline)) void add(int n)
{
    for (int i = 0; i < n; i++)
        ((volatile int *)near)[0] += i;
}
int main(void) { add(50000); far = 1; return 0; }
END
    gcc -g -O1 -o program program.c
    bustap exec -o run --modules modules -- ./program 2>/dev/null
    bustap top --modules modules --by symbol -n 2 --csv run_*.byu.gz | cut -d , -f 1,5,6 >out
    grep -q '^add,0,0$' out
    bustap top --modules modules --by symbol -n 3 --csv run_*.byu.gz >out
    grep -q '^near,100000,.*,50000,50000,0,' out
    bustap top --modules modules --by source,symbol -n 9 --csv run_*.byu.gz >out
    grep -q 'program.c:5,near,100000,' out
    bustap top --modules modules --by source,symbol -n 9 --json run_*.byu.gz >out
    jq -r '.rows[] | select(.symbol == "near") | .source' out | grep -q '/program.c:5$'
    bustap top --modules modules --by address -n 40 --json run_*.byu.gz >out
    jq -r '.rows[].name' out | grep '^add+0x[0-9a-f]*$' >names
    bustap top --modules modules --by address -n 40 --csv run_*.byu.gz | sed 1d >rows
    [ "$(jq -r '.rows[].name // ""' out)" = "$(awk -F , '{ print $NF }' rows)" ]
    for by in instruction,symbol address,symbol page,symbol line,function; do
        bustap top --modules modules --by $by -n 1 run_*.byu.gz | sed -n '/ COUNT /{s/   */\n/gp;q}' | sort | uniq -d >out
        [ ! -s out ] || { echo "--by $by: headings twice:"; cat out; exit 1; }
    done
    bustap top --modules modules --by function -n 1 run_*.byu.gz >out
    grep -q '^add ' out
    bustap top --modules modules --by address -n 9 run_*.byu.gz >out
    grep -q ' near$' out
fi

# --- live ---

# at least one table before the end of a stream that takes a while, and the last one
{ cat trace.byu; until grep -q '^30000 requests$' out; do sleep 0.05; done; cat trace.byu; } |
    bustap top --delay 100ms --by processor -n 1 >out
[ "$(grep -c '^30000 requests$' out)" -ge 1 ]
[ "$(grep -c '^60000 requests$' out)" -ge 1 ]
[ "$(tail -n 5 out | head -n 1)" = "60000 requests" ]

# a running capture, from before its first file to its end; afterwards by its prefix
mkdir run
bustap top --delay 100ms --by line,type --csv run/t >live &
job=$!
bustap capture -q --board virtual:smp=2,requests=60000 -o run/t --rotate size=100K --flush 10ms
wait $job
bustap top --by line,type --csv run/t_*.byu.gz >expected
tail -n 21 live | cut -d , -f 1-3 | cmp - <(cut -d , -f 1-3 expected)
[ "$(ls run/t_*.byu.gz | wc -l)" -ge 2 ]
bustap top --by line,type --csv run/t | tail -n 21 | cut -d , -f 1-3 | cmp - <(cut -d , -f 1-3 expected)
status=0
bustap top -f type=FETCH run/t 2>err || status=$?
[ $status = 2 ] && grep -q 'counted whole' err || exit 1

# a closed reader ends it
{ cat trace.byu; sleep 2; cat trace.byu; } | bustap top --delay 50ms 2>err | head -n 3 >out || true
[ "$(wc -l <out)" = 3 ] && [ ! -s err ] || { cat err; exit 1; }

command -v python3 >/dev/null || { echo "the screen: python3 is missing"; exit 77; }
cat >screen.py <<'END'
"""Runs bustap top on a terminal of its own; usage: screen.py KEYS_OR_SIGNAL TRACE"""
import fcntl, os, pty, select, signal, struct, subprocess, sys, termios, time

how, trace = sys.argv[1:]
main, other = pty.openpty()
fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack('HHHH', 12, 60, 0, 0))
before = termios.tcgetattr(other)
feed_out, feed_in = os.pipe()

def own():
    os.setsid()
    fcntl.ioctl(1, termios.TIOCSCTTY, 0)

top = subprocess.Popen(['bustap', 'top', '--follow', '--by', 'page'], stdin=feed_out, stdout=other, stderr=other,
                       preexec_fn=own, close_fds=True)
os.close(feed_out)
os.write(feed_in, open(trace, 'rb').read(48000))
seen, total = b'', 4000

def wait_until(shown, what):
    global seen
    end = time.time() + 60
    while not shown():
        if time.time() > end:
            sys.exit('not shown: %r in %r' % (what, seen))
        if select.select([main], [], [], 1)[0]:
            seen += os.read(main, 65536)

def wait_for(what):
    wait_until(lambda: what in seen, what)

wait_for(b'\x1b[?1049h')
wait_for(b'4000 requests')
screen = seen[seen.rindex(b'\x1b[H'):]
for line in screen.split(b'\x1b[K\r\r\n'):
    assert len(line.replace(b'\x1b[H', b'').replace(b'\x1b[J', b'')) <= 60, line
assert screen.count(b'\n') <= 11, screen
assert not termios.tcgetattr(other)[3] & termios.ECHO
fcntl.ioctl(main, termios.TIOCSWINSZ, struct.pack('HHHH', 30, 100, 0, 0))
os.kill(top.pid, signal.SIGWINCH)
wait_for(b'CUMULATIVE')
def paused(order):
    """The totals of the last whole screen, which has to be paused and in this order."""
    screens = [screen for screen in seen.split(b'\x1b[H') if b'\x1b[J' in screen]
    if screens and b'by ' + order + b', paused;' in screens[-1]:
        return screens[-1].split(b'\x1b[K')[0]

if how == 'paused':
    os.write(main, b'p')
    wait_until(lambda: paused(b'count'), 'paused')
    heading = paused(b'count')
    os.write(feed_in, open(trace, 'rb').read(96000)[48000:])
    while struct.unpack('i', fcntl.ioctl(feed_in, termios.FIONREAD, b'\0' * 4))[0] > 0:
        time.sleep(0.01)
    for order in b'requests per second', b'count':
        os.write(main, b'r')
        wait_until(lambda: paused(order), order)
        assert paused(order) == heading, (heading, paused(order))
    os.write(main, b'p')
    wait_for(b'8000 requests')
    how, total = 'q', 8000
if how.startswith('SIG'):
    os.kill(top.pid, getattr(signal, how))
else:
    for key in how:
        os.write(main, key.encode())
wait_for(b'\x1b[?1049l')
status = top.wait(60)
assert termios.tcgetattr(other) == before, 'the terminal is not restored'
wanted = -getattr(signal, how) if how in ('SIGTERM', 'SIGHUP') else 0
assert status == wanted, status
seen = seen[seen.rindex(b'\x1b[?1049l'):]
if wanted == 0: # the last report
    wait_for(b'\x1b[?1049l%d requests, ' % total)
END
for how in q rrppq paused SIGINT SIGTERM SIGHUP; do
    python3 screen.py $how trace.byu || { echo "the screen, $how"; exit 1; }
done
