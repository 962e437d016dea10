#!/bin/bash
# The contents of two blocks are exchanged, and all checksums are right: the records do not end at the ticks of their
# headers. No command takes them for the records of their place.
set -eu
PATH="$BUILD/tests/e2e:$PATH"
. "$TOP/tests/tools/input_commands.sh"

# Every command that decodes refuses the file, which cut, which copies whole blocks, does not; pack makes none.
every() {
    for command in "${commands[@]}" top 'pack -o p.byb' 'convert --to byu -o c.byu'; do
        case $command in cut*) continue ;; esac
        rm -f p.byb c.byu
        runs 1 $command $1
        grep -q 'offset [0-9]*: the block.*tick' err || fail "bustap $command $1: no report"
    done
    [ ! -e p.byb ] || fail "pack makes a file of $1"
    runs 1 verify $1
}

make_capture file_records=4000 block_records=300 a
make_capture version=2 file_records=4000 block_records=300 b
cp a_1.byu.gz a.byu.gz
cp b_1.byb b.byb
for file in a.byu.gz b.byb; do
    "$TOP/tests/tools/swap_contents.py" $file swapped_$file
    every swapped_$file
    # cut copies whole blocks undecoded: the copy is refused as the file is
    rm -f copy.${file#*.}
    runs 0 cut -o copy.${file#*.} swapped_$file
    runs 1 verify copy.${file#*.}
    grep -q "offset [0-9]*: the block.*tick" err out || fail "verify: no report of the copy"
    # the records of two blocks are lost, all others are there
    runs 1 recover -o r.byu.gz swapped_$file
    bustap verify r.byu.gz >out 2>err || fail "recover: not accounted for"
    bustap dump --csv $file | sort >whole
    bustap dump --csv r.byu.gz 2>err | sort >saved
    [ -z "$(comm -13 whole saved)" ] || fail "recover: records at the place of others"
    [ "$(comm -23 whole saved | wc -l)" -eq 600 ] || fail "recover: $(comm -23 whole saved | wc -l) records are lost"
done

[ -z "$NO_EXEC" ] || exit 0
bustap exec -q --engine blocks -o e -- seq 20000 >/dev/null
"$TOP/tests/tools/swap_contents.py" e_*.byb swapped_e.byb
every swapped_e.byb
