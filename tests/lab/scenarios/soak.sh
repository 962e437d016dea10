# group: soak
# alone
# One daemon, one capture, random faults and unplugs: every request is in the files or counted as lost, and the
# daemon's memory does not grow.
parameters=$(sed -n 's/.*soak=\([^ ]*\).*/\1/p' /proc/cmdline)
seed=${parameters%,*}
minutes=${parameters#*,}
echo "@progress seed $seed, $minutes minutes" >/dev/console
plug
configure 'rotate = size=32M'
model rate 20k
start_daemon
await has_records 20000

# Resident memory of the daemon, in kilobytes.
resident() {
    sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$daemon/status"
}

is_back() {
    [ "$(status absent)" = null ]
}

begun=$(uptime_seconds)
end=$((begun + minutes * 60))
quarter=$((minutes * 15))
early=0 earlies=0 late=0 lates=0 events=0
awk -v seed="$seed" 'BEGIN { srand(seed); for (i = 0; i < 20000; i++) print int(rand() * 9), int(1 + rand() * 1000) }' >random
exec 5<random
while [ "$(uptime_seconds)" -lt $end ]; do
    read -r what how <&5
    events=$((events + 1))
    case $what in
    0) model fault corrupt $((how % 20 + 1)) 5 ;;
    1) model fault truncate $((how % 20 + 1)) 5 ;;
    2) model fault drop $((how % 20 + 1)) 5 ;;
    3) model fault duplicate $((how % 20 + 1)) 5 ;;
    4) model fault reorder $((how % 20 + 1)) 5 ;;
    5) model fault garbage $((how % 20 + 1)) 5 ;;
    6)
        unplug
        usleep $((how * 2000))
        plug
        ;;
    7)
        model hang on
        usleep $((how * 2000))
        model hang off
        ;;
    8)
        kill -STOP $daemon
        usleep $((how * 2000))
        kill -CONT $daemon
        ;;
    esac
    usleep $((how * 1000))
    now=$(resident)
    case $((($(uptime_seconds) - begun) / quarter)) in
    1) early=$((early + now)) earlies=$((earlies + 1)) ;;
    3) late=$((late + now)) lates=$((lates + 1)) ;;
    esac
    if [ $((events % 50)) -eq 0 ]; then
        echo "@progress $(($(uptime_seconds) - begun)) s, $events events, $now KiB" >/dev/console
    fi
done
model clear
await is_back
send_more 50000
finish_capture
account bus="$(value bus "$counts")" link="$(value link "$counts")"
# a queue's memory becomes resident at its first use, within the first quarter
early=$((early / earlies)) late=$((late / lates))
[ $late -le $((early + 2048)) ] || fail "the daemon grew from $early to $late KiB"
measured "seed $seed: $events events, $counts, $early KiB in the second quarter, $late KiB in the last"
