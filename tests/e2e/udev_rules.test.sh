#!/bin/sh
# The udev rules in doc/: each line is well formed, and the rules assign the documented properties.
set -eu

# Runs the subset of udev rules that these files use: for a device given as KEY=VALUE lines, prints the
# assignments. A malformed line, an unknown key and a GOTO without its label are errors.
cat >run.awk <<'END'
function mistake(text) { print FILENAME ":" FNR ": " text; wrong = 1 }
function known(key) {
    return key ~ /^(ACTION|SUBSYSTEM|MODE|GROUP|TAG|GOTO|LABEL|ATTR\{id(Vendor|Product)\}|ENV\{[A-Z_]+\})$/
}
FILENAME == "device" { split($0, pair, "="); value[pair[1]] = pair[2]; next }
FNR == 1 && target != "" { mistake("no label " target); target = "" }
/^[ ]*(#|$)/ { next }
{
    rest = $0 ","
    matches = 1
    count = 0
    while (rest != "") {
        if (!match(rest, /^ *[A-Za-z]+(\{[A-Za-z_]+\})? *(==|!=|\+=|=) *"[^"]*" *,/)) {
            mistake("not well formed: " rest)
            next
        }
        part = substr(rest, 1, RLENGTH - 1)
        rest = substr(rest, RLENGTH + 1)
        gsub(/^ *| *$/, "", part)
        match(part, /(==|!=|\+=|=)/)
        key = substr(part, 1, RSTART - 1)
        operator = substr(part, RSTART, RLENGTH)
        text = substr(part, RSTART + RLENGTH)
        gsub(/"/, "", text)
        if (!known(key)) mistake("no key " key)
        if (key == "MODE" && text !~ /^0[0-7][0-7][0-7]$/) mistake("no mode " text)
        if (operator == "==" || operator == "!=")
            matches = matches && ((value[key] == text) == (operator == "=="))
        else {
            count++
            keys[count] = key
            texts[count] = text
        }
    }
    for (i = 1; i <= count; i++) {
        if (keys[i] == "LABEL") {
            if (texts[i] == target) target = ""
        } else if (target == "" && matches) {
            if (keys[i] == "GOTO") target = texts[i]
            else { value[keys[i]] = texts[i]; assigned[keys[i]] = texts[i] }
        }
    }
}
END {
    if (target != "") mistake("no label " target)
    for (key in assigned) print key "=" assigned[key]
    exit wrong
}
END
device() { # ACTION SUBSYSTEM DEVTYPE VENDOR PRODUCT RULES...
    printf '%s\n' "ACTION=$1" "SUBSYSTEM=$2" "ENV{DEVTYPE}=$3" "ATTR{idVendor}=$4" \
        "ATTR{idProduct}=$5" >device
    shift 5
    awk -f run.awk device "$@" | sort >got
}
expect() { # LINE... , in order
    [ $# -eq 0 ] && : >expected || printf '%s\n' "$@" >expected
    diff expected got || exit 1
}

identify=$TOP/doc/60-bustap.rules
access=$TOP/doc/61-bustap-access.rules
open='GROUP=plugdev MODE=0660 TAG=uaccess'

# udevd reads files by name, from all folders together: identify, then access, then the seat's rules
printf '%s\n' 50-udev-default.rules 60-bustap-local.rules "${identify##*/}" "${access##*/}" \
    70-uaccess.rules 73-seat-late.rules >order
LC_ALL=C sort -c order

device add usb usb_device 0403 6014 "$identify" "$access"
expect 'ENV{ID_BUSTAP}=1' $open
device change usb usb_device 0403 6010 "$identify" "$access"
expect 'ENV{ID_BUSTAP}=1' $open
# each file assigns only its own properties
device add usb usb_device 0403 6014 "$identify"
expect 'ENV{ID_BUSTAP}=1'
device add usb usb_device 0403 6014 "$access"
expect
# not the serial cable beside it, not an interface, not a device that is removed
device add usb usb_device 0403 6001 "$identify" "$access"
expect
device add usb usb_interface 0403 6014 "$identify" "$access"
expect
device add tty usb_device 0403 6014 "$identify" "$access"
expect
device remove usb usb_device 0403 6014 "$identify" "$access"
expect

# other ids: a laboratory adds only the line that the comment shows
sed -n 's/^#   \(ATTR.*\)/\1/p' "$identify" >60-bustap-local.rules
[ "$(wc -l <60-bustap-local.rules)" -eq 1 ]
device add usb usb_device 1209 0001 "$identify" "$access"
expect
device add usb usb_device 1209 0001 "$identify" 60-bustap-local.rules "$access"
expect 'ENV{ID_BUSTAP}=1' $open

# an error is detected
printf 'ATTR{idVendor}="0403" MODE="0660"\n' >bad.rules
if awk -f run.awk device bad.rules >/dev/null; then exit 1; fi
printf 'ACTION=="add", GOTO="nowhere"\n' >bad.rules
device add usb usb_device 0403 6014
if awk -f run.awk device bad.rules >/dev/null; then exit 1; fi
