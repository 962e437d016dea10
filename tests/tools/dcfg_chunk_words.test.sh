#!/bin/bash
# A graph whose blocks consist of chunks: no command calls anything in it an instruction.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

for address in 0x1000 0x1008 0x1000 0x1008 0x1000 0x1008 0x1010 0x2000 0x1018 0x1018 0x1020; do
    echo "$address 8"
done | make_fetches >c.byu
head -c 340 c.byu >half.byu # without its last fetches

# silent COMMAND...: runs it; neither output nor messages may have the word
silent() {
    local status=0
    "$@" >out 2>&1 || status=$?
    # two things are not of the graph: annotate's note about code that it cannot read, and the cache
    sed -i '/blocks are shown without instructions$/d; s/instruction cache//' out
    [ "$status" -le 1 ] && [ -s out ] && ! grep -i -n instruction out /dev/null || {
        echo "$*: status $status"
        exit 1
    }
}
silent bustap dcfg build c.byu -o g.json --trace t.json
silent bustap dcfg build --json c.byu -o g.json
silent bustap dcfg build half.byu -o half.json
silent bustap dcfg check --trace t.json g.json
silent bustap dcfg check --json g.json
silent bustap dcfg dot --top 2 g.json
silent bustap dcfg callgrind g.json
silent bustap dcfg expand --trace t.json g.json
silent bustap dcfg annotate g.json
for form in '' --csv --json; do
    # shellcheck disable=SC2086 # no word is no option
    for view in functions blocks loops paths; do
        silent bustap dcfg $view $form g.json
    done
    # shellcheck disable=SC2086
    silent bustap dcfg diff $form g.json half.json
done
silent bustap dcfg diff g.json g.json

# the numbers are those of the chunks
[ "$(bustap dcfg build --json c.byu -o g.json | jq .chunks)" = 10 ]
[ "$(bustap dcfg check --json g.json | jq .checked.chunks)" = 10 ]
[ "$(bustap dcfg diff --json g.json half.json | jq .totals.chunks.a)" = 10 ]
bustap dcfg build --json half.byu -o half.json | jq -e '.bus | .model_from == "capture" and .unit == "chunk" and
    .sample == .fetches and .sample > 0 and .sample_unexplained == null' >/dev/null
for view in functions blocks loops paths annotate; do
    bustap dcfg $view --json half.json 2>notes | jq -c .bus >view.bus
    bustap dcfg build --json half.byu -o half.json | jq -c .bus | diff - view.bus
done
jq -e '.BUSTAP_BUS | .SAMPLE == .FETCHES and .SAMPLE_UNEXPLAINED == null' half.json >/dev/null
bustap dcfg check half.json
bustap dcfg annotate half.json 2>notes >out
grep -q '^bus: .*, found in a sample of [0-9]* fetches; not verifiable without the program (--image)$' out
bustap dcfg annotate --html - half.json 2>notes | grep -q '<p>bus: .*; not verifiable'
bustap dcfg diff g.json g.json | grep -q '^no difference: 10 visits of chunks, '
bustap dcfg annotate g.json 2>notes | grep -q ': 10 visits of chunks, 100.00 % of all, 1 entry$'
bustap dcfg annotate --html - g.json 2>notes | grep -q 'process 1: 10 visits of chunks, 1 thread; 1 function<'
bustap dcfg callgrind g.json 2>notes >profile
grep -q '^event: Visits : visits of chunks$' profile
grep -q '^events: Visits$' profile
! command -v callgrind_annotate >/dev/null || callgrind_annotate profile | grep -q '^10 (100.0%)'

# graphs that count different things do not compare
make_fetches --program 3 10 p >p.byu
bustap dcfg build --image p.user --image p.kernel p.byu -o p.json 2>err
status=0
bustap dcfg diff p.json g.json >out 2>err || status=$?
[ "$status" = 2 ] && [ ! -s out ] && grep -q 'p.json counts instructions, g.json counts visits of chunks' err ||
    { cat out err; exit 1; }
