#!/bin/sh
# No command's help is wider than a terminal of 80 columns.
wide=0
width() {
    "$@" -h | awk -v what="$*" 'length > 80 { print what ": " $0; wide = 1 } END { exit wide }' || wide=1
}
width bustap
for command in $(bustap -h | awk '/^  [a-z]/ { print $1 }'); do
    width bustap "$command"
done
for command in $(bustap dcfg -h | awk '/^  [a-z]/ { print $1 }'); do
    width bustap dcfg "$command"
done
width b2a
exit "$wide"
