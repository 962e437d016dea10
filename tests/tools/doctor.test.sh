#!/bin/sh
# bustap doctor for a board that is never present: its findings about the machine, as text and JSON.
set -eu
status=0
bustap doctor ftdi:vid=fffe,pid=fffe >out || status=$?
[ "$status" -eq 1 ] || { echo "exit status $status"; cat out; exit 1; }
[ "$(sed -n 1p out)" = machine ]
grep -q '^  problem  usb: .*; .' out || { cat out; exit 1; }
# each udev rules file is either installed or reported with advice
for file in 60-bustap.rules 61-bustap-access.rules; do
    grep -q "^  ok       rules: /.*/$file " out ||
        grep -q "^  warning  rules: $file, .*; copy doc/$file to /etc/udev/rules.d" out ||
        { cat out; exit 1; }
    [ -f "$TOP/doc/$file" ]
done
grep -q '^1 problem, [0-2] warnings*\.$' out || { cat out; exit 1; }

status=0
bustap doctor --json ftdi:vid=fffe,pid=fffe >out.json || status=$?
[ "$status" -eq 1 ]
jq -e '.problems == 1 and (.findings | length) == 3 and
       (.findings | map(.level) | index("problem")) == 0 and
       all(.findings[]; .subject == "machine" and .finding != "")' out.json >/dev/null

# without an argument it examines the boards of this machine
bustap doctor --no-self-test >all || [ $? -eq 1 ]
grep -q '^machine$' all
tail -n 1 all | grep -Eq '^(All is well\.|[0-9]+ problems?, [0-9]+ warnings?\.)$'
