#!/bin/bash
# Graphviz draws the output of `bustap dcfg dot` completely and without a warning.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
command -v dot >/dev/null || { echo "dot is missing"; exit 77; }

make_dcfg example.json
draw() {
    bustap dcfg dot "$@" >picture.dot
    dot -Tsvg picture.dot >picture.svg 2>complaints
    [ ! -s complaints ] || { cat complaints; exit 1; }
}
count() { grep -c "class=\"$1\"" picture.svg; }

# all blocks, START and END; all edges
draw example.json
[ "$(count node)" = 16 ]
[ "$(count edge)" = 23 ]
[ "$(count cluster)" = 3 ]
# special characters in names
grep -qF '>power&lt;unsigned int&gt;(std::vector&lt;&quot;n\m&quot;&gt;&amp;, {...})<' picture.svg

# a routine with its callers and callees
draw example.json --routine main
[ "$(count node)" = 10 ]
[ "$(count cluster)" = 1 ]
grep -q '>fill<' picture.svg
draw example.json --routine fill
[ "$(count node)" = 5 ]
grep -q '>main<' picture.svg

# blocks above a count, and bypasses between them
draw example.json --min-count 100
[ "$(count node)" = 2 ]
[ "$(count edge)" = 2 ]

# an empty picture
draw example.json --min-count 1M
[ "$(count node || true)" = 0 ]
