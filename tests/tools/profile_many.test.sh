#!/bin/bash
# bustap profile with 200,000 functions that one instruction calls, and with 20,000 active functions that are jumped to:
# each is counted, in a time that does not grow with their square.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

functions=200000
{
    cat <<END
        .globl main
        .type main, @function
main:   push %rbx
        push %rbp
        push %r12
        mov \$2, %ebp
1:      xor %ebx, %ebx
        lea table(%rip), %r12
2:      call *(%r12,%rbx,8)
        inc %ebx
        cmp \$$functions, %ebx
        jne 2b
        dec %ebp
        jnz 1b
        xor %eax, %eax
        pop %r12
        pop %rbp
        pop %rbx
        ret
        .size main, .-main
END
    awk -v n=$functions 'BEGIN {
        for (i = 0; i < n; i++)
            printf ".type f_%d, @function\nf_%d: ret\n.size f_%d, .-f_%d\n", i, i, i, i
        print ".data\n.balign 8\ntable:"
        for (i = 0; i < n; i++)
            printf ".quad f_%d\n", i
    }'
    echo '.section .note.GNU-stack,"",@progbits'
} >many.s
gcc -o many many.s
timeout 300 bustap profile --by function --csv -o table --callgrind callgrind ./many
# counted FUNCTIONS CALLS: the number of functions, and of calls of each
counted() {
    awk -F, -v functions="$1" -v calls="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $(at["function"]) ~ /^f_/ { rows++; wrong += $(at["calls"]) != calls }
        END { if (rows != functions || wrong) { print rows " functions, " wrong " wrong"; exit 1 } }' table
}
counted $functions 2
[ "$(grep -c '^calls=2 ' callgrind)" -ge $functions ]

# f_0 calls f_1 and so on; the last one jumps to f_0, which jumps to f_1 and so on: each jump is a call
functions=20000
{
    printf '.globl main\n.type main, @function\nmain: push %%rbx\nxor %%ebx, %%ebx\ncall f_0\npop %%rbx\n'
    printf 'xor %%eax, %%eax\nret\n.size main, .-main\n'
    awk -v n=$functions 'BEGIN {
        for (i = 0; i < n; i++) {
            printf ".type f_%d, @function\nf_%d: test %%ebx, %%ebx\njnz 1f\n", i, i
            printf "call %s\nret\n", i + 1 < n ? "f_" i + 1 : "turn"
            printf "1: jmp %s\n.size f_%d, .-f_%d\n", i + 1 < n ? "f_" i + 1 : "done", i, i
        }
    }'
    printf '.type turn, @function\nturn: mov $1, %%ebx\njmp f_0\n.size turn, .-turn\n'
    printf '.type done, @function\ndone: xor %%ebx, %%ebx\nret\n.size done, .-done\n'
    echo '.section .note.GNU-stack,"",@progbits'
} >nested.s
gcc -o nested nested.s
timeout 300 bustap profile --by function --csv -o table ./nested
counted $functions 2
