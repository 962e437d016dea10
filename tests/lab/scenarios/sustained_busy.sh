# seconds: 150
# alone
# tries: 2
# The same while other programs take all that is left of each processor.
for processor in $(seq "$(nproc)"); do
    sh -c 'while :; do :; done' &
    renice -n 19 -p $! >/dev/null
done
sustain
measured "$counts"
