#!/bin/bash
# Programs under `bustap rondo` have their native output and status; a program with known branches has
# the exact expected predictions; wrong paths have no effect on the program and are all captured.
set -eu -o pipefail

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

fail() {
    echo "$*"
    exit 1
}

# --- branches that are known ---
# 100 times: a loop of 10 rounds, a call of a function with one alternating branch, an
# indirect jump to two alternating targets.
cat >known.s <<'END'
        .globl _start
_start: mov $100, %ebx
outer:  mov $10, %ecx
inner:  dec %ecx
        jnz inner
        call function
        mov %ebx, %eax
        and $1, %eax
        jmp *table(,%rax,8)
even:   nop
odd:    mov %ebx, value(%rip)
        dec %ebx
        jnz outer
        mov $5, %edi
        mov $60, %eax
        syscall
function:
        test $1, %bl
        jz done
        nop
done:   ret
        .data
        .balign 8
table:  .quad even, odd
value:  .long 0
END
gcc -static -nostdlib -no-pie -o known known.s
status=0
bustap rondo -p backward -p bimodal -p local -p tage --target-buffer 64:4 -o known.json --json --by-branch \
    --follow-predictor local -- ./known || status=$?
[ "$status" = 5 ] || fail "known: status $status"

# field NAME: the first value of that name in known.json
predictor() {
    jq -r ".predictors[] | select(.predictor == \"$1\") | .mispredicted" known.json
}
kind() {
    jq -c "[.kinds[] | select(.kind == \"$1\") | .executed, .taken, .mispredicted]" known.json
}
# 2 before it, 22 of the inner loop, 2 or 3 of the function, 7 or 8 others; the end
[ "$(jq .instructions known.json)" = $((1 + 100 * (1 + 20 + 1 + 3 + 3 + 3) + 50 * 2 + 3)) ] ||
    fail "known: $(jq .instructions known.json) instructions"
[ "$(predictor backward)" = $((100 + 50 + 1)) ] || fail "backward: $(predictor backward)"
[ "$(kind conditional | cut -d, -f1,2)" = "[1200,$((900 + 50 + 99))" ] || fail "$(kind conditional)"
[ "$(kind call)" = '[100,100,0]' ] || fail "$(kind call)"
[ "$(kind return)" = '[100,100,0]' ] || fail "$(kind return)"
[ "$(kind 'indirect jump')" = '[100,100,100]' ] || fail "$(kind 'indirect jump')"
[ "$(predictor local)" -lt 60 ] || fail "local: $(predictor local)"
[ "$(predictor tage)" -lt 90 ] || fail "tage: $(predictor tage)"
[ "$(predictor bimodal)" -ge 150 ] || fail "bimodal: $(predictor bimodal)"
[ "$(jq -c '[.kinds[4] | .target_buffer, .btb_miss, .btb_wrong_target]' known.json)" = '[100,1,99]' ] ||
    fail "target buffer: $(jq -c '.kinds[4]' known.json)"
[ "$(jq '[.branches[].mispredicted] | add' known.json)" = $(($(predictor local) + 100)) ]
[ "$(jq -r '.branches[0].symbol' known.json | cut -c1-4)" = oute ] ||
    [ "$(jq -r '.branches[0].symbol' known.json | cut -c1-4)" = inne ] || jq .branches[0] known.json
jq -r '.branches[].symbol // ""' known.json | grep -q '+0x' || fail "symbols without offsets"
# in words
bustap rondo -p backward -p bimodal -p local:history=9 -d 5 --by-branch --follow-predictor bimodal -o known.text -- ./known || true
diff known.text - <<'END' || fail "the report"
3,204 instructions, 1,500 branches (46.8 %)

Conditional branches:
PREDICTOR         BITS  MISPREDICTED  ACCURACY   MPKI  ALL MPKI
backward             0           151   87.42 %  47.13     78.34
bimodal           8192           203   83.08 %  63.36     94.57
local:history=9  10240           113   90.58 %  35.27     66.48

All kinds of branches, with bimodal:
KIND           EXECUTED  MISPREDICTED  ACCURACY   MPKI  BTB MISS  BTB WRONG TARGET
conditional        1200           203   83.08 %  63.36         3                 0
jump                  0             0             0.00
call                100             0  100.00 %   0.00         1                 0
return              100             0  100.00 %   0.00
indirect jump       100           100    0.00 %  31.21         1                99
indirect call         0             0             0.00

302 wrong paths were followed for at most 5 instructions; they ended 300 at that
depth, 1 without a target, 1 at a system call. Without a target from the start:
1. On them: 1,507 instructions (47.0 % of the right path's), 201 reads, 100
writes.

Branches, by what bimodal mispredicted:
  BRANCH  KIND           EXECUTED     TAKEN  WRONG  SOURCE  SYMBOL
0x40100c  conditional        1000   90.00 %    101          inner+0x2
0x401018  indirect jump       100  100.00 %    100          inner+0xe
0x401039  conditional         100   50.00 %    100          function+0x3
0x401028  conditional         100   99.00 %      2          odd+0x8
0x40100e  call                100  100.00 %      0          inner+0x4
0x40103c  return              100  100.00 %      0          done
END

bustap rondo -p taken --target-buffer 64:4 --target-cache 64:2 -d 0 -o cache.json --json -- ./known || true
[ "$(jq '.kinds[4].mispredicted' cache.json)" -lt 10 ] || fail "target cache"

# --- wrong paths ---
# at most 5 instructions each: the inner loop's exit (backward) repeats
status=0
bustap rondo -p backward -d 5 --wrong-path wrong.byu.gz -o wrong.json --json -- ./known || status=$?
[ "$status" = 5 ]
bustap verify wrong.byu.gz | grep -q '^complete: [1-9][0-9]* records in 1 file, nothing lost$'
bustap info wrong.byu.gz | grep -q '^program  *\./known$'
wrong() {
    jq ".wrong_paths.$1" wrong.json
}
[ "$(wrong paths)" = $((151 + 99)) ] || fail "$(wrong paths) wrong paths"
bustap dump --csv wrong.byu.gz >wrong.csv
awk -F, -v fetches="$(wrong instructions)" -v reads="$(wrong reads)" -v writes="$(wrong writes)" \
    -v paths="$(wrong paths)" -v all="$(jq .instructions wrong.json)" '
    NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { type[$column["type"]]++; sum += $column["time"] }
    $column["type"] != "FETCH" && $column["time"] != 0 { bad = "a time of data" }
    $column["type"] == "FETCH" && $column["time"] > 1 { begun++ }
    END {
        if (type["FETCH"] != fetches || type["MEMREAD"] + 0 != reads || type["MEMWRITE"] + 0 != writes)
            bad = "incomplete"
        if (begun != paths) bad = begun " begin"
        if (sum > all + fetches || sum < all + fetches - 20) bad = "times"
        if (bad) { print bad; exit 1 }
    }' wrong.csv || { head -40 wrong.csv; exit 1; }

# a store buffer: wrong paths load the pointer that they have stored instead of the value in memory
cat >stores.s <<'END'
        .globl _start
_start: mov $100, %ebx
loop:   test $1, %bl
        jz even
        jmp next
even:   lea inside(%rip), %rax
        mov %rax, pointer(%rip)
        mov pointer(%rip), %rcx
        mov (%rcx), %edx
        lea outside(%rip), %rax
        mov %rax, pointer(%rip)
next:   dec %ebx
        jnz loop
        xor %edi, %edi
        mov $60, %eax
        syscall
        .data
        .balign 8
pointer: .quad outside
inside: .long 1
outside: .long 2
END
gcc -static -nostdlib -no-pie -o stores stores.s
# reads SYMBOL: how often it is read on wrong paths
reads() {
    bustap dump --csv wrong.byu.gz | grep -ci "0x0*$(nm stores | awk -v s="$1" '$3 == s { sub(/^0*/, "", $1); print $1 }'),MEMREAD" || true
}
bustap rondo -p taken -d 4 --wrong-path wrong.byu.gz --json -o plain.json ./stores
[ "$(reads inside) $(reads outside) $(reads pointer)" = "0 50 50" ] || fail "$(reads inside) inside"
[ "$(jq -c .wrong_paths.own_reads plain.json)" = null ]
bustap rondo --store-buffer -p taken -d 4 --wrong-path wrong.byu.gz --json -o buffered.json ./stores
[ "$(reads inside) $(reads outside) $(reads pointer)" = "50 0 50" ] || fail "$(reads outside) outside"
[ "$(jq -c .wrong_paths.own_reads buffered.json)" = 50 ] || fail "$(cat buffered.json)"
# all else is equal: these paths have no indirect branches
diff <(jq -S . plain.json) <(jq -S 'del(.wrong_paths.own_reads)' buffered.json)
bustap rondo --store-buffer -p taken -d 4 -o report ./stores
grep -q 'find what their' report || fail "$(cat report)"
status=0
bustap rondo --store-buffer -d 0 ./stores 2>messages || status=$?
[ "$status" = 2 ] && grep -q -e '--store-buffer needs a --depth above 0' messages || fail "depth 0: $(cat messages)"

# --- real programs ---
# same PROGRAM ARGUMENT...: natively and under bustap
same() {
    local wanted=0 got=0
    env -u _ "$@" >wanted 2>wanted.err <input || wanted=$?
    env -u _ bustap rondo -p tage -p local $buffer -o report --wrong-path paths.byu.gz -- "$@" >got 2>got.err <input || got=$?
    [ "$wanted" = "$got" ] || fail "$*: status $got, wanted $wanted: $(cat got.err)"
    cmp wanted got || fail "$*: output"
    cmp wanted.err got.err || fail "$*: standard error: $(cat got.err)"
    grep -q '^tage  .* [5-9][0-9]\.[0-9]* %' report || { cat report; fail "$*: report"; }
    bustap verify paths.byu.gz >verdict || { cat verdict; fail "$*: wrong paths"; }
}
buffer=
seq 1000 >input
printf 'no program' >not-a-program
chmod +x not-a-program
seq 1000 | sort -R --random-source=<(yes) >lines
mkdir listed
touch listed/{a..z}
same ls listed
same sort -n lines
same gzip -9 -c lines
same cat
same sh -c 'exit 7'
same sh -c 'kill -TERM $$'
same bash -c 'echo $(seq 5 | sort -r); (exit 3); echo $?; trap "echo got" USR1; kill -USR1 $$'
same bash -c 'exec 3>three 4>&3; echo x >&4; cat three; true'

buffer=--store-buffer
same sort -n lines
same gzip -9 -c lines
same bash -c 'echo $(seq 5 | sort -r); (exit 3); echo $?'
buffer=

for program in faults modify children signals threads; do
    gcc -O1 -pthread -o $program "$TOP/tests/capture/programs/$program.c" 2>/dev/null
    same ./$program
done
same bash -c 'echo $BASH_VERSION; exec sort -n lines'
grep -q '^Then the program executes /.*/sort in its place, of which nothing is known\.$' report || fail "$(cat report)"
# a failed execve: the last report counts
status=0
bustap rondo -p taken -o report -- bash -c 'exec ./not-a-program' 2>messages || status=$?
[ "$status" = 127 ] || fail "not a program: $status"
grep -q 'no: command not found$' messages || fail "$(cat messages)"
[ "$(grep -c instructions, report)" = 1 ] || fail "$(cat report)"
! grep 'executes' report || fail "executed"

# --- a part of the run ---
bustap rondo --skip 20000 --count 30000 -p gshare --json -o part.json -- sort -n lines | cmp - <(sort -n lines)
[ "$(jq -c '[.skipped, .instructions, .limited]' part.json)" = '[20000,30000,true]' ] || fail "$(cat part.json)"
bustap rondo --skip 1G -p gshare -o none -- ls "$TOP" >/dev/null
grep -q '^0 instructions, 0 branches' none || fail "$(cat none)"

# --- without free descriptors ---
for descriptors in 5 6 7; do
    status=0
    (exec 3>&- 4>&- 5>&- 6>&- && ulimit -n "$descriptors" && exec bustap rondo -p taken -o report -- true) 2>messages || status=$?
    [ "$status" = 0 ] || { [ "$status" = 3 ] && grep -q 'Too many open files' messages; } ||
        fail "$descriptors descriptors: $status, $(cat messages)"
done

# --- outputs that cannot be written ---
status=0
bustap rondo -p taken -o /dev/full -- true 2>messages || status=$?
[ "$status" = 3 ] || fail "full: $status"
grep -q '^bustap: cannot write /dev/full: No space left on device$' messages || fail "$(cat messages)"
# a limit on file sizes or a closed pipe does not end the program, either
status=0
(ulimit -f 1 && exec bustap rondo -p taken -o /dev/null --wrong-path short.byu.gz -- true) 2>messages || status=$?
[ "$status" = 3 ] || fail "a limit: $status"
grep -q '^bustap: cannot write short.byu.gz: File too large$' messages || fail "$(cat messages)"
mkfifo pipe
: <pipe &
status=0
bustap rondo -p taken --json --by-branch --top 0 -o pipe -- sh -c 'kill -0 $$' 2>messages || status=$?
wait
[ "$status" = 0 ] || [ "$status" = 3 ] || fail "a reader that went away: $status"
status=0
bustap rondo -p taken --wrong-path nonesuch/x -- true 2>messages || status=$?
[ "$status" = 3 ] || fail "no folder: $status"
