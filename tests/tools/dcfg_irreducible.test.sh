#!/bin/bash
# A loop that is entered at two places is listed with both, and the loops in it are nested in it.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"

cat >jumps.c <<'END'
static volatile unsigned sum;

__attribute__((noinline)) static void walk(unsigned rounds, int into)
{
    if (into)
        goto middle;
top:
    sum += 1;
middle:
    sum += 2;
    for (unsigned i = 0; i < 3; i++)
        sum += i;
    if (--rounds)
        goto top;
}

int main(void)
{
    for (int i = 0; i < 5; i++)
        walk(10, i & 1);
    return sum > 0 ? 0 : 1;
}
END
"${CC:-gcc}" -g -O0 -static -no-pie -o jumps jumps.c
status=0
single_step --output run.byu.gz ./jumps || status=$?
if [ "$status" -eq 124 ]; then
    echo "single-stepping is not possible here"
    exit 77
fi
[ "$status" -eq 0 ]
bustap dcfg build run.byu.gz --image jumps -o graph.json 2>messages
bustap dcfg check graph.json

bustap dcfg loops --json graph.json >loops.json
jq -c '.loops[] | select(.routine == "walk")' loops.json >rows
[ "$(jq -s length rows)" = 2 ] || { cat rows; exit 1; }
jq -s -e '(map(select(.kind == "irreducible"))[0]) as $outer | (map(select(.kind == "natural"))[0]) as $inner |
    $outer.entries == 5 and $outer.iterations == 50 and $outer.depth == 1 and $outer.parent == null and
    $inner.entries == 50 and $inner.iterations == 200 and $inner.depth == 2 and $inner.parent == $outer.head and
    $inner.entered_at == $inner.head and $outer.instructions > $inner.instructions' rows >/dev/null || { cat rows; exit 1; }

# its entries are the labels
entries=$(jq -r 'select(.kind == "irreducible").entered_at' rows)
for address in $entries; do
    addr2line -e jumps "$address" | sed 's/.*://; s/ .*//'
done | sort -n | tr '\n' ' ' >lines
grep -qx '8 10 ' lines || { echo "entries: $entries, lines $(cat lines)"; exit 1; }

# only a graph with such a loop has the column
bustap dcfg loops graph.json >text
head -n 1 text | grep -q '  IRREDUCIBLE, ENTERED AT$'
[ "$(grep -c "  $entries\$" text)" = 1 ]
bustap dcfg loops --by-thread --csv graph.json | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $(at["kind"]) == "irreducible" { found += $(at["thread_0"]) == $1 && $1 > 0 }
    END { exit found < 1 }'
