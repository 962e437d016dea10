#!/bin/bash
# The control program in doc/aria.md equals the one in the tree and works as documented.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
command -v gzip >/dev/null || { echo "gzip is not installed"; exit 77; }
sed -n '/^`tests.e2e.aria_example.c/,$p' "$TOP/doc/aria.md" | awk '/^```/ { inside = !inside; next } inside' >shown
diff "$TOP/tests/e2e/aria_example.c" shown

"$BUILD/tests/e2e/aria_example" /bin/gzip -9 -c "$TOP/README.md" >out.gz 2>messages
gzip -9 -c "$TOP/README.md" | cmp - out.gz
grep -Eq '^[1-9][0-9]* instructions, [1-9][0-9]* conditional branches, [1-9][0-9]* mispredicted$' messages
grep -Eq '^[1-9][0-9]* instructions and [1-9][0-9]* reads astray$' messages

# bustap ends as the program
status=0
"$BUILD/tests/e2e/aria_example" /bin/false 2>messages || status=$?
[ "$status" = 1 ]
status=0
"$BUILD/tests/e2e/aria_example" /bin/none 2>messages || status=$?
[ "$status" = 2 ]
grep -q /bin/none messages
