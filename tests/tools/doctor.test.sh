#!/bin/sh
# A board that no machine has: what doctor says of the machine, for people and for programs.
set -eu
status=0
bustap doctor ftdi:vid=fffe,pid=fffe >said || status=$?
[ "$status" -eq 1 ] || { echo "exit status $status"; cat said; exit 1; }
[ "$(sed -n 1p said)" = machine ]
grep -q '^  problem  usb: .*; .' said || { cat said; exit 1; }
# each of the two files of rules is either there or named with what to do
for file in 60-bustap.rules 61-bustap-access.rules; do
    grep -q "^  ok       rules: /.*/$file " said ||
        grep -q "^  warning  rules: $file, .*; copy doc/$file to /etc/udev/rules.d" said ||
        { cat said; exit 1; }
    [ -f "$TOP/doc/$file" ]
done
grep -q '^1 problem, [0-2] warnings*\.$' said || { cat said; exit 1; }

status=0
bustap doctor --json ftdi:vid=fffe,pid=fffe >said.json || status=$?
[ "$status" -eq 1 ]
jq -e '.problems == 1 and (.findings | length) == 3 and
       (.findings | map(.level) | index("problem")) == 0 and
       all(.findings[]; .subject == "machine" and .finding != "")' said.json >/dev/null

# without a board it looks at whatever this machine has, and ends
bustap doctor --no-self-test >all || [ $? -eq 1 ]
grep -q '^machine$' all
tail -n 1 all | grep -Eq '^(All is well\.|[0-9]+ problems?, [0-9]+ warnings?\.)$'
