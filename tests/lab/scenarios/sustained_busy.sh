# seconds: 1200
# alone
# As sustained, while other programs load all processors, and the daemon has the priority of its service unit.
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
