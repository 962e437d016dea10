#!/bin/bash
# `bustap dcfg annotate` agrees with the fetches, with objdump, and with `bustap dcfg blocks`.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

fail() {
    echo "$*" >&2
    exit 1
}

# rows FILTER ARGUMENT...: applies jq's FILTER to each row of the annotation
rows() {
    local filter=$1
    shift
    bustap dcfg annotate --json "$@" 2>/dev/null | jq -r ".functions[].rows[] | $filter"
}

# --- a random program: the executions of each instruction equal its fetches ---
for seed in 1 2 3 4; do
    make_fetches --program "$seed" 20000 "p$seed" >fetches.byu
    bustap dcfg build fetches.byu --image "p$seed.user" --image "p$seed.kernel" -o g.json 2>/dev/null
    bustap dump fetches.byu | awk '{ sub(/^0*/, ""); count["0x" $1]++ } END { for (a in count) print a, count[a] }' | sort >fetched
    rows '"\(.address) \(.executions)"' g.json | sort >annotated
    diff fetched annotated >differences || fail "seed $seed: $(head -5 differences)"
    # each instruction has a text
    rows 'select(.instruction == null)' g.json >without
    [ ! -s without ] || fail "seed $seed: instructions without text"
    # sums by function equal those of the blocks and of the graph
    total=$(bustap dcfg blocks --json g.json | jq .instructions)
    [ "$(rows .instructions g.json | awk '{ n += $1 } END { print n }')" = "$total" ] || fail "seed $seed: $total"
done

# --- the example with names: sums by function equal those of the table of blocks ---
make_dcfg example.json
bustap dcfg blocks --json example.json | jq -r '.blocks[] | "\(.instructions) \(.symbol)"' |
    sed 's/ fill_clear$/ fill/' >blocks
rows '"\(.instructions) \(.function)"' example.json >annotated
for list in blocks annotated; do
    awk '{ n = $1; sub(/^[0-9]* /, ""); sum[$0] += n } END { for (f in sum) print f, sum[f] }' "$list" | sort >"$list.sums"
done
[ "$(wc -l <blocks.sums)" = 3 ]
diff blocks.sums annotated.sums
bustap dcfg annotate --json example.json 2>/dev/null |
    jq -e '[.functions[] | .instructions == ([.rows[].instructions] | add)] | all' >/dev/null
# the sum of all threads
bustap dcfg annotate --json --by-thread example.json 2>/dev/null |
    jq -e '[.functions[].rows[] | .executions == .thread_0 + .thread_1] | all' >/dev/null
# standard input; a reader that closes early; a full disk
diff <(bustap dcfg annotate - <example.json 2>/dev/null) <(bustap dcfg annotate example.json 2>/dev/null)
for form in '' --csv --json; do
    # shellcheck disable=SC2086
    { bustap dcfg annotate $form example.json 2>/dev/null && echo 0 >status || echo $? >status; } | true
    [ "$(cat status)" = 0 ] || fail "a closed pipe, $form: $(cat status)"
    status=0
    # shellcheck disable=SC2086
    bustap dcfg annotate $form example.json >/dev/full 2>complaints || status=$?
    [ "$status" = 3 ] || fail "a full disk, $form: $status"
    grep -qx 'bustap: cannot write standard output: No space left on device' complaints
done

# --- a graph may name any file ---
mkfifo pipe
sed 's|/opt/example/example|pipe|; s|src/fill.c|pipe|' example.json >evil.json
timeout 60 bustap dcfg annotate evil.json >out 2>complaints
grep -qx 'bustap: pipe: is not a file: its blocks are shown without instructions' complaints || fail "$(cat complaints)"
sed 's|/opt/example/example|/dev/zero|; s|src/fill.c|/dev/zero|' example.json >evil.json
timeout 60 bustap dcfg annotate evil.json >out 2>&1

# large files, which take no room here, are not read without limit
printf 'source of line 1\n' >huge.c
sed 's|src/fill.c|huge.c|; s/^\[4,7,"0x1100"/[4,1,"0x1100"/' example.json >huge.json
bustap dcfg annotate huge.json fill 2>/dev/null | grep -q 'huge\.c:1  source of line 1$' || fail "no source"
truncate -s 65M huge.c
timeout 60 bustap dcfg annotate huge.json fill 2>/dev/null | grep -q 'huge\.c:1$' || fail "the source of a huge file"
make_fetches --program 1 10 p >/dev/null
cp p.user huge
truncate -s 3G huge
sed 's|/opt/example/example|huge|; s|/opt/example/libpower.so|huge|' example.json >huge.json
timeout 60 bustap dcfg annotate huge.json >out 2>complaints
grep -q "^bustap: huge: the graph's files have more than 4 GiB: its blocks are shown without instructions\$" complaints ||
    fail "$(cat complaints)"
rm huge

# --- a program with source lines ---
cat >p.c <<'EOF'
int table[10];
int main(int count, char **arguments)
{
    int sum = 0;
    (void)arguments;
    for (int i = 0; i < 10; i++)
        sum += table[i] * count;
    if (count > 5)
        return 1 + sum * 3;
    return sum;
}
EOF
"${CC:-gcc}" -O1 -g -static -no-pie -o p p.c
objdump --disassemble=main -w --no-show-raw-insn p | sed -n 's/^ *\([0-9a-f]*\):\t\([a-z]*\).*/\1 \2/p' >code
objdump --disassemble=main -w p | sed -n 's/^ *\([0-9a-f]*\):\t\([^\t]*[0-9a-f]\) *\t.*/\1 \2/p' |
    awk '{ print $1, NF - 1 }' >sizes
# the loop's head and branch, from objdump: the only branch back
read -r branch head < <(objdump -d -w --no-show-raw-insn p | sed -n '/<main>:/,/^$/p' |
    sed -n 's/^ *\([0-9a-f]*\):\tj[a-z]* *\([0-9a-f]*\) .*/\1 \2/p' |
    awk '{ if (length($2) < length($1) || (length($1) == length($2) && $2 < $1)) print }' | head -n 1)
# the fetches of main: ten iterations of the loop, then past code that is not executed
awk -v head="$head" -v branch="$branch" '
    { at[NR] = $1; size[NR] = $2; if ($1 == head) first = NR; if ($1 == branch) last = NR }
    END {
        for (i = 1; i < first; i++) print "0x" at[i], size[i]
        for (n = 0; n < 10; n++) for (i = first; i <= last; i++) print "0x" at[i], size[i]
        print "0x" at[last + 1], size[last + 1]
    }' sizes >fetches
make_fetches <fetches >p.byu
bustap dcfg build p.byu --image p -o p.json 2>/dev/null
bustap dcfg annotate p.json main >out 2>complaints
[ ! -s complaints ] || fail "$(cat complaints)"
grep -q "^main (0x$(head -n 1 code | cut -d ' ' -f 1)): $(wc -l <fetches) instructions, 100.00 % of all, 1 entry\$" out ||
    fail "$(head -2 out)"
grep -q "; loop at depth 1: 1 entry, 10 iterations, 10.0 per entry$" out || fail "no loop: $(cat out)"
grep -Eq " 10  +0x$head +/-> " out || fail "no arrow to the head: $(cat out)"
grep -Eq " 10 +9  0x$branch +\\\\-- j[a-z]* 0x$head" out || fail "no arrow from the branch: $(cat out)"
grep -q '  p\.c:7  sum += table\[i\] \* count;$' out || fail "no source: $(cat out)"
bustap dcfg annotate --syntax att p.json main | grep -Eq 'j[a-z]* 0x[0-9a-f]+' || fail 'no AT&T syntax'
bustap dcfg annotate --syntax att p.json main | grep -q '%e' || fail 'no registers of AT&T syntax'
# no column CONFIDENCE: all counts are certain
! grep -q CONFIDENCE out || fail 'a column CONFIDENCE'

# --all prints the instructions of objdump, in order
rows .address --all p.json main | sed 's/^0x//' | diff <(cut -d ' ' -f 1 code) - || fail "not all instructions"
[ "$(rows .executions --all p.json main | grep -cx 0)" -gt 0 ] || fail "no instruction without executions"

# the file is missing; moved, and given with --image; rebuilt
mv p moved
bustap dcfg annotate p.json main >nothing 2>complaints
grep -Fqx "bustap: $(pwd -P)/p: No such file or directory: its blocks are shown without instructions" complaints ||
    fail "$(cat complaints)"
! grep -q ' jn*[a-z]* 0x' nothing || fail 'instructions of a missing file'
mkdir -p new
mv moved new/p
bustap dcfg annotate --image new/p p.json main | diff out -
bustap dcfg annotate --image "new/p@0x400000" p.json main 2>/dev/null | diff out -
sed -i 's/count > 5/count > 1000/; s/\* 3/* 777/; s/\* count/* count + i * i/' p.c
"${CC:-gcc}" -O1 -g -static -no-pie -o p p.c
bustap dcfg annotate p.json main >other 2>complaints
grep -q 'is not what was executed: was a program built again?$' complaints || fail "$(cat other complaints)"
