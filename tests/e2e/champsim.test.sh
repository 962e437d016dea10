#!/bin/bash
# ChampSim's traces with registers: its own rules find every kind of branch that objdump finds, and
# registers and addresses are those of the instructions.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
command -v objdump >/dev/null || { echo "objdump is not installed"; exit 77; }
twin() { python3 "$TOP/tests/e2e/champsim_twin.py" "$@"; }

for program in branches switches; do
    "${CC:-gcc}" -std=c11 -O1 -g -o $program "$TOP/tests/e2e/programs/$program.c"
    bustap exec -q -o $program --modules $program.modules -- ./$program >/dev/null || true # its own exit status
    bustap dump --csv ${program}_*.byu.gz >$program.csv
    bustap convert -q --modules $program.modules -o $program.champsim ${program}_*.byu.gz
    twin $program.champsim $program.csv $(cat $program.modules) >$program.counts
    for kind in call conditional indirect_call indirect_jump jump return taken not_taken registers; do
        grep -q "\b$kind=[1-9]" $program.counts || { echo "$program: no $kind"; cat $program.counts; exit 1; }
    done
    # the same from single images
    bustap convert -q $(sed 's/^/--image /' $program.modules) --to champsim -o - ${program}_*.byu.gz |
        cmp - $program.champsim
    # and from the list beside the capture, without an option
    bustap convert --to champsim -o - ${program}_*.byu.gz 2>messages | cmp - $program.champsim
    ! grep "not known\|without registers" messages || exit 1
done
# nine repetitions of REP MOVSB and seven of REPE CMPSB are a record each
grep -q "\brepetition=\(1[6-9]\|[2-9][0-9]\)" branches.counts

# with a fetch for each repetition, too
bustap exec -q --rep -o each --modules each.modules -- ./branches >/dev/null
bustap dump --csv each_*.byu.gz >each.csv
bustap convert -q --modules each.modules -o each.champsim each_*.byu.gz
twin each.champsim each.csv $(cat each.modules) >counts
grep -q "\bindirect_call=[1-9]" counts

# code in no image has no registers, which is counted
bustap convert --image "$(head -n 1 branches.modules)" --to champsim -o part.champsim branches_*.byu.gz 2>messages
grep -q "^bustap: instructions without registers, whose code is in no image: [1-9]" messages
# two captures of programs at the same addresses have both lists
bustap convert -q --concatenate --to champsim -o both.champsim branches_*.byu.gz switches_*.byu.gz
[ $(stat -c %s both.champsim) = $(($(stat -c %s branches.champsim) + $(stat -c %s switches.champsim))) ]
cmp -n $(stat -c %s branches.champsim) both.champsim branches.champsim
# without a list or images, a branch is conditional; a list that cannot be read is reported
mkdir bare
cp branches_*.byu.gz bare
bustap convert --to champsim -o bare.champsim bare/branches_*.byu.gz 2>messages
grep -q "^bustap: champsim gets no registers, and conditional branches only, " messages
cmp -s bare.champsim branches.champsim && exit 1
[ $? = 1 ] || exit 1
echo "/nothing@0x1000000" >bare/branches.modules
bustap convert --to champsim -o list.champsim bare/branches_*.byu.gz 2>messages
grep -q "^bustap: the list is not used: bare/branches.modules: line 1: /nothing: " messages
cmp list.champsim bare.champsim

# what cannot be
status=0
bustap convert --modules branches.modules -o x.din branches_*.byu.gz 2>messages || status=$?
[ $status = 2 ]
grep -q "are for champsim: din holds no registers" messages
status=0
bustap convert --modules nothing -o x.champsim branches_*.byu.gz 2>messages || status=$?
[ $status = 3 ]
grep -q "nothing: No such file" messages
printf '%s@0x1000000\nnonsense@0x5000000\n' "$PWD/branches" >wrong
status=0
bustap convert --modules wrong -o x.champsim branches_*.byu.gz 2>messages || status=$?
[ $status = 3 ]
grep -q "wrong: line 2: nonsense: " messages
[ ! -e x.champsim ]
