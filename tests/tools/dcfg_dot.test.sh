#!/bin/bash
# Graphviz takes what `bustap dcfg dot` prints, without a word, and draws all of it.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
command -v dot >/dev/null || { echo "there is no dot"; exit 77; }

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
# names are what they are, whatever is in them
grep -qF '>power&lt;unsigned int&gt;(std::vector&lt;&quot;n\m&quot;&gt;&amp;, {...})<' picture.svg

# a routine, what calls it and what it calls
draw example.json --routine main
[ "$(count node)" = 10 ]
[ "$(count cluster)" = 1 ]
grep -q '>fill<' picture.svg
draw example.json --routine fill
[ "$(count node)" = 5 ]
grep -q '>main<' picture.svg

# only what was executed so often, and bypasses between that
draw example.json --min-count 100
[ "$(count node)" = 2 ]
[ "$(count edge)" = 2 ]

# nothing at all is a picture too
draw example.json --min-count 1M
[ "$(count node || true)" = 0 ]
