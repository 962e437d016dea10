#!/bin/bash
# longjmp returns to a call of setjmp: the function stays one routine and keeps its loops.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

for kind in -static -rdynamic; do
    "${CC:-gcc}" -std=gnu11 -O1 -g "$kind" -no-pie -o jump "$TOP/tests/e2e/programs/long_jump.c"
    bustap exec -q --modules modules -o "x$kind" -- ./jump 50
    mapfile -t images < <(sed 's/^/--image=/' modules)
    bustap dcfg build "${images[@]}" -o graph.json --trace trace.json "x$kind"_*.byu.gz 2>told || { cat told; exit 1; }
    bustap dcfg check graph.json --trace trace.json >/dev/null
    bustap dcfg loops --csv graph.json >loops
    grep -w main loops >of_main || { echo "$kind: main has no loop"; exit 1; }
    [ "$(wc -l <of_main)" = 2 ] || { echo "$kind: main has $(wc -l <of_main) loops, not 2"; cat of_main; exit 1; }
    python3 "$TOP/tests/support/graph_edges.py" graph.json >edges
    grep -q '^RETURN [^ ]*longjmp[^ ]* main+0x[0-9a-f]* 50' edges || { grep longjmp edges; exit 1; }
    rm -f modules
done
