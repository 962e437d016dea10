#!/bin/bash
# Truncated or damaged input: every command that reads it reports it and ends with status 1.
set -eu
PATH="$BUILD/tests/e2e:$PATH"
. "$TOP/tests/tools/input_commands.sh"

make_trace 5000 >t.byu
gzip -nk t.byu
head -c 20000 t.byu.gz >cut.byu.gz
make_capture file_records=4000 block_records=300 c
size=$(wc -c <c_1.byu.gz)
head -c 12000 c_1.byu.gz >block.byu.gz
head -c $((size - 370)) c_1.byu.gz >c_00001.byu.gz.part # no closing member
head -c $((size - 200)) c_1.byu.gz >closing.byu.gz      # a part of one
head -c 300 c_1.byu.gz >header.byu.gz                   # not even the first member
for command in "${commands[@]}"; do
    for file in cut.byu.gz block.byu.gz closing.byu.gz header.byu.gz; do
        runs 1 $command $file
    done
    case $command in recover*) runs 0 $command c_00001.byu.gz.part ;; *) runs 1 $command c_00001.byu.gz.part ;; esac
done
# the same from a pipe
for command in dump info "$cache" mrc 'plot --csv' 'convert --to csv -o -'; do
    for file in cut.byu.gz block.byu.gz c_00001.byu.gz.part; do
        status=0
        bustap $command - < <(cat $file) >out 2>err || status=$?
        [ $status -eq 1 ] || fail "status $status: bustap $command - <$file"
    done
done
# truncated at any byte
for ((cut = 1; cut < size; cut += 487)); do
    head -c $cut c_1.byu.gz >any.byu.gz
    status=0
    bustap mrc any.byu.gz >out 2>err || status=$?
    [ $status -eq 1 ] || [ $cut -lt 12 -a $status -eq 3 ] || fail "status $status of $cut bytes"
done
# one bit of the second gzip member's first bytes; padding after a member is harmless
head -c 30000 t.byu | gzip -n >first.gz
tail -c +30001 t.byu | gzip -n >second.gz
cat first.gz second.gz >two.byu.gz
{ cat first.gz && printf '\037\213\011' && tail -c +4 second.gz; } >method.byu.gz
{ cat first.gz && printf '\037\253' && tail -c +3 second.gz; } >magic.byu.gz
{ cat two.byu.gz && head -c 5000 /dev/zero; } >padded.byu.gz
for command in "${commands[@]}" top; do
    for file in two.byu.gz padded.byu.gz; do
        runs 0 $command $file
        grep -i 'left out\|damaged' err && fail "bustap $command $file: a report"
    done
    for file in method.byu.gz magic.byu.gz; do
        runs 1 $command $file
        grep -q "^bustap: $file: offset [0-9]*: the .*gzip.* damaged" err || fail "bustap $command $file: no report"
    done
done
# an incomplete record at the end of raw records is reported, but no error
head -c 30005 t.byu >stray.byu
for command in "${commands[@]}"; do
    runs 0 $command stray.byu
    grep -q '5 extra bytes' err || fail "bustap $command stray.byu: no report"
done
# traces in other programs' formats
for format in csv din npy gem5; do
    bustap convert --to $format -o t.$format.gz t.byu 2>/dev/null
    head -c 9000 t.$format.gz >cut.$format.gz
    for command in "$cache" mrc 'plot --csv' 'convert --to byu -o -'; do
        runs 1 $command --from $format cut.$format.gz
    done
done

# ten damaged places of a file are reported, and the number of the others
make_capture files=2 file_records=4000 block_records=20 d
# a byte in the header of every fourth block
perl -0777 -pe 'my ($n, @places) = 0; while (/\x1f\x8b\x08\x04/g) { push @places, pos() + 26 if $n++ % 4 == 1 }
    foreach my $place (@places) { substr($_, $place, 1) = chr(1 ^ ord substr($_, $place, 1)) }' \
    d_1.byu.gz >damaged
mv damaged d_1.byu.gz
for command in "${commands[@]}"; do
    case $command in recover* | dump | info) files=d_1.byu.gz ;; *) files='d_1.byu.gz d_2.byu.gz' ;; esac
    runs 1 $command $files
    [ "$(grep -c '^bustap: d_1.byu.gz: .*offset' err)" -eq 10 ] &&
        grep -q '^bustap: d_1.byu.gz: [0-9]* more places are damaged' err ||
        fail "bustap $command: reported places"
done
