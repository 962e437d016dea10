# seconds: 150
# alone
# tries: 2
# The same while other programs want all of each processor, and the daemon runs as its unit has it run.
others=
for processor in $(seq "$(nproc)"); do
    sh -c 'while :; do :; done' &
    others="$others $!"
done
NICE=$(sed -n 's/^Nice=//p' /lab/bustapd.service)
sustain
kill $others
check_sustained
measured "$counts"
