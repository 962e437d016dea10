#!/bin/bash
# Each form of a synopsis has -h, in usage lines and in man pages, and the options that the command has; each page says
# where units are explained.
set -eu -o pipefail

# usage COMMAND...: of a command and of those that it lists
checked=0
usage() {
    local line command
    line=$("$@" -h | head -n 1)
    case $line in "usage: $* [-h]"* | "usage: $* [-h |"*) ;; *) echo "$*: $line"; exit 1 ;; esac
    checked=$((checked + 1))
    case $line in *\ COMMAND\ *) ;; *) return 0 ;; esac
    for command in $("$@" -h | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p'); do
        usage "$@" "$command"
    done
}
usage bustap
usage b2a
usage bustapd
[ "$checked" -ge 30 ] || { echo "only $checked usage lines"; exit 1; }

for page in "$TOP"/doc/bustap*.[18]; do
    awk '
        function finish() {
            if (form != "" && !help) { print FILENAME ": no -h after " form; bad = 1 }
            form = ""
        }
        /^\.Sh/ { finish(); on = $2 == "SYNOPSIS"; next }
        on && /^\.Nm/ { finish(); form = $0; help = 0; forms++ }
        on && /^\.Cm/ { form = form " " $0 }
        on && /^\.(Op )?Fl h( |$)/ { help = 1 }
        END { finish(); exit bad || !forms }' "$page"
    grep -q '^\.Sh UNITS$' "$page" || { echo "$page: no section UNITS"; exit 1; }
    grep -A 2 '^\.Sh UNITS$' "$page" | grep -q 'Xr bustap 1' || [ "${page##*/}" = bustap.1 ] || { echo "$page: UNITS has no reference"; exit 1; }
done

# against each command's help: its options, their letters, and those that are required; bustap(1) has all commands
python3 "$TOP/tests/tools/synopsis.py" "$TOP/doc/bustap.1" "$TOP"/doc/bustap-*.1 "$TOP/doc/bustapd.8" || exit 1

# the figures of the one place are those of the parser
grep -q '10K records are 10,000\.' "$TOP/doc/bustap.1"
grep -q '256K bytes are 262,144\.' "$TOP/doc/bustap.1"
bustap dump -h | grep -q '^10K records are 10,000, 256K bytes are 262,144: see UNITS in bustap(1)\.$'
