# A user outside the group cannot open the node, and the error says what to do; the udev rule admits the group.
plug
chmod 777 .
node=/dev/bus/usb/$(sed 's/.*/0000&/; s/.*\(...\)$/\1/' /sys/bus/usb/devices/1-1/busnum)/$(
    sed 's/.*/0000&/; s/.*\(...\)$/\1/' /sys/bus/usb/devices/1-1/devnum)
same "the node's group" "$(stat -c %G "$node")" plugdev
refused 'no permission' as user bustap capture --board ftdi:serial=BT0001 -o out/lab --stop records=1000
why=$(grep -o 'no permission.*' refused.txt | head -n 1 | cut -c 1-80)
refused 'plugdev' as user bustap doctor ftdi:serial=BT0001
model requests 1000
model rate 10k
as capture bustap capture --board ftdi:serial=BT0001 --packing plain -o out/lab >capture.txt 2>&1 ||
    { cat capture.txt; fail "the group's member cannot capture"; }
check_capture
account
measured "$why...; the group captures: $counts"
