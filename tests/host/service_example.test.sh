#!/bin/bash
# The example of bustapd(8) for root runs unchanged, where /usr/local, /etc, /run and /var/lib are private. In place of
# systemctl, a script starts what the installed unit names.
set -eu
unshare -rm true 2>/dev/null || { echo "mount namespaces are not permitted"; exit 77; }
# nothing is rebuilt: another compiler's flags must not change the programs
make -s -C "$TOP" -o all BUILD="$BUILD" DESTDIR="$PWD/root" PREFIX=/usr/local install
mkdir etc
cp /etc/ld.so.cache etc 2>/dev/null || true

cat >systemctl <<'END'
#!/bin/sh
unit=/usr/local/lib/systemd/system/$3.service
value() { sed -n "s/^$1=//p" "$unit"; }
[ "$*" = 'enable --now bustapd' ] || exit 1
mkdir -p "/run/$(value RuntimeDirectory)" "/var/lib/$(value StateDirectory)"
$(value ExecStart) 2>log &
echo $! >daemon
for _ in $(seq 600); do
    [ ! -S /run/bustap/control ] || exit 0
    sleep 0.1
done
exit 1
END
chmod +x systemctl

awk '/^\.Sh/ { on = $2 == "EXAMPLES" } on && (/^# / || open) { sub(/^# /, ""); open = /\\e$/; sub(/\\e$/, "\\"); print }' \
    "$TOP/doc/bustapd.8" >script
[ "$(grep -c 'install -D\|bustapd --check\|systemctl enable --now bustapd\|bustap ctl status' script)" -eq 4 ]

cat >inside <<'END'
mount --bind root/usr/local /usr/local
mount --bind etc /etc
mount -t tmpfs none /run
mount -t tmpfs none /var/lib
PATH=$PWD:/usr/local/sbin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin
set -eu
. ./script >out
# what the sample configuration says of its capture
bustap ctl start demo >/dev/null
until [ "$(bustap ctl --json status demo | sed 's/.*"records":\([0-9]*\).*/\1/')" -gt 1000 ]; do sleep 0.1; done
bustap ctl stop demo
bustap verify /var/lib/bustap/demo_*.byu.gz
kill "$(cat daemon)"
while kill -0 "$(cat daemon)" 2>/dev/null; do sleep 0.1; done
END
unshare -rm bash -e inside >result 2>&1 || { cat script out result log; exit 1; }
grep -qx '/etc/bustap/bustapd.conf: 1 capture, no errors' out
grep -q '^demo *stopped ' out
grep -q '^demo *stopped ' result
grep -q 'bustapd: stopped' log
