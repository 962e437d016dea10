#!/bin/bash
# How long the views of large graphs take: a program of two million instructions, all of them executed, for annotate,
# functions, loops and paths; its first 20,000 blocks for dot.
#
# usage: dcfg_views.bench.sh [FUNCTIONS]    of 500 instructions (4000)
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
functions=${1:-4000}

# Functions of 100 blocks: four instructions and a branch. Every tenth branch leads back
# over four blocks.
awk -v functions="$functions" 'BEGIN {
    split("mov %rdi, %rax|lea 8(%rax,%rsi,4), %rdx|add $12, %ecx|imul %rdx, %rax|mov %rax, -24(%rsp)|" \
        "movzbl 3(%rsp), %r8d|shr $7, %r8|xor %r9d, %r9d|addsd %xmm1, %xmm0|cmp %rcx, 64(%rsp)", kind, "|")
    print ".text\n.globl _start\n_start:"
    for (f = 0; f < functions; f++) {
        printf ".type function_%d, @function\nfunction_%d:\n", f, f
        for (b = 0; b < 100; b++) {
            printf ".L%d_%d:\n", f, b
            for (i = 0; i < 4; i++) print kind[(b * 7 + i * 3 + f) % 10 + 1]
            if (b == 99) print "ret"
            else printf "jne .L%d_%d\n", f, b % 10 == 9 ? b - 3 : b + 1
        }
        printf ".size function_%d, .-function_%d\n", f, f
    }
}' | as -o program.o -
ld -o program program.o

objdump -d -w program | awk -F '\t' 'NF >= 3 && $1 ~ /^ +[0-9a-f]+:$/ {
    sub(/^ +/, "", $1); sub(/:/, "", $1); print "0x" $1, split($2, bytes, " ") }' >lengths

# fetches INSTRUCTIONS: of the program, from its beginning; each branch back is taken once
fetches() {
    awk -v most="$1" 'NR <= most { line[NR - 1] = $0 }
        END { for (i = 0; i < NR && i < most; i++) {
            print line[i]
            if (i % 50 == 49 && i % 500 != 499 && !taken[i]++) i -= 20
        } }' lengths | make_fetches
}
build() { # NAME INSTRUCTIONS
    fetches "$2" >"$1.byu"
    bustap dcfg build --fetch instr --image program -o "$1.json" "$1.byu" 2>"$1.summary"
    sed 's/^bustap: //; 1q' "$1.summary"
}
build all 99999999
build part 100000

# best COMMAND...: elapsed seconds and those of the processor, the best of three
best() {
    local run
    for run in 1 2 3; do
        { TIMEFORMAT='%R %U %S'; time "$@" >output 2>messages; } 2>&1
    done | sort -n | awk 'NR == 1 { printf "%.2f s elapsed, %.2f s of a processor", $1, $2 + $3 }'
}
show() { # TITLE COMMAND...
    local title=$1
    shift
    printf '%-52s %s, %d KB of output\n' "$title" "$(best "$@")" "$(($(wc -c <output) / 1000))"
}
show 'dot, 20,000 blocks (goal: below 1 s)' bustap dcfg dot part.json
command -v dot >/dev/null && { cp output part.dot; show 'dot(1) of it' dot -Tsvg part.dot; }
show 'dot, 400,000 blocks' bustap dcfg dot all.json
show 'annotate, 2 million instructions (goal: below 3 s)' bustap dcfg annotate all.json
show 'annotate --html, of them' bustap dcfg annotate --html - all.json
show 'functions' bustap dcfg functions all.json
show 'loops' bustap dcfg loops all.json
show 'paths' bustap dcfg paths all.json
