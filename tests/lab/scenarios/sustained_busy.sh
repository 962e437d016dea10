# seconds: 150
# group: bench
# alone
# tries: 2
# The same while other programs take all that is left of each processor.
others=
for processor in $(seq "$(nproc)"); do
    sh -c 'while :; do :; done' &
    renice -n 19 -p $! >/dev/null
    others="$others $!"
done
sustain
kill $others
check_sustained
measured "$counts"
