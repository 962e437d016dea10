#!/bin/bash
# A full disk (a limit on file size, a small file system): one clear sentence, exit status 3, and every
# whole block that was written is in the file and counted.
set -eu

expect_disk_failure() { # STATUS FOLDER ADVICE
    [ "$1" -eq 3 ] || { echo "exit status $1"; cat errors; exit 1; }
    grep -q "$2" errors || { echo "no word of $2:"; cat errors; exit 1; }
    [ "$(grep -c "$3" errors)" -eq 1 ] || { cat errors; exit 1; }
    bustap verify "$2"/f_*.byu.gz >verdict || true
    grep -q 'disk [1-9]' verdict || { cat verdict; exit 1; }
    gzip -t "$2"/f_*.byu.gz
    [ ! -e "$2/.f.lock" ]
    [ "$(zcat "$2"/f_*.byu.gz | wc -c)" -gt 0 ]
}

status=0
(
    ulimit -f 400
    bustap capture --board virtual:smp=2 -o small/f --block 5000 --quiet 2>errors
) || status=$?
expect_disk_failure "$status" small 'correct that or choose another place'
grep -q 'File too large' errors

# only root can mount, if the kernel permits it
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    mkdir full
    cat >inside <<'END'
set -eu
mount -t tmpfs -o size=512k none full || { echo "no file system can be mounted here"; exit 77; }
status=0
bustap capture --board virtual:smp=2 -o full/f --rotate size=100K --quiet 2>errors || status=$?
mkdir -p kept
cp -a full/. kept/
exit "$status"
END
    status=0
    unshare -m sh inside || status=$?
    [ "$status" -ne 77 ] || exit 0
    mv full empty && mv kept full
    expect_disk_failure "$status" full 'free space or choose another disk'
    grep -q 'No space left' errors
fi
