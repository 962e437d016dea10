# seconds: 1200
# alone
# The same while other programs want all of each processor, and the daemon runs as its unit has it run.
work_elsewhere() {
    others=
    for processor in $(seq "$(nproc)"); do
        sh -c 'while :; do :; done' 3>&- &
        others="$others $!"
    done
}
rest_elsewhere() {
    kill $others
}
NICE=$(sed -n 's/^Nice=//p' /lab/bustapd.service)
keep_up work_elsewhere rest_elsewhere
measured "$counts"
