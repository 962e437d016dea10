#!/bin/bash
# A cold part that a compiler places apart, and that was never executed, is in its function's graph: what follows the
# join does not depend on the branch to it, but on the call, as if it was executed. Another function's cold part is an
# exit.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
# shellcheck source=tests/e2e/wet_programs/compile.sh
. "$TOP/tests/e2e/wet_programs/compile.sh"

# write_program NUMBER: a program whose function `part` has a cold part, taken if the number is 1; that of `other` is none
# of its own: what follows the jump there depends on it
write_program() {
    cat >cold.s <<S
    .text
    .globl _start
    .type part.cold, @function
part.cold:
    mov %rdi, %rax
    jmp .Lback
    .size part.cold, . - part.cold
    .type part, @function
part:
    cmp \$1, %rdi
    je part.cold
.Lback:
    add \$3, %rax
    cmp \$9, %rdi
    je other.cold
    dec %rax
    ret
    .size part, . - part
    .type other.cold, @function
other.cold:
    ud2
    .size other.cold, . - other.cold
    .type _start, @function
_start:
    mov \$$1, %edi
    call part
    mov \$60, %eax
    xor %edi, %edi
    syscall
    .size _start, . - _start
S
}

# control LINE OF: the instruction of the line OF that the one of LINE depends on by control
control() {
    awk -v line="$1" 'NF == 6 && !/:/ { at = $6; lines[$1] = at; first = 1 }
        /^SIZE/ && first { port = at; first = 0; next }
        /^ / && port == line && $0 ~ /:/ { split($0, parts, /[: ]+/); print lines[parts[3]]; exit }
        { port = "" }' text
}

for number in 2 1; do
    write_program "$number"
    gcc -Wa,-g -nostdlib -static -no-pie -o program cold.s
    bustap wet -o cold.wet -- ./program 2>messages
    bustap wet print cold.wet >text
    call=$(grep -n 'call part$' cold.s | cut -d : -f 1)
    join=$(grep -n 'add .3' cold.s | cut -d : -f 1)
    leaves=$(grep -n 'je other' cold.s | cut -d : -f 1)
    last=$(grep -n 'dec %rax' cold.s | cut -d : -f 1)
    found="$(control "$join") $(control "$last")"
    [ "$found" = "$call $leaves" ] || {
        echo "number $number: lines $join and $last depend on $found, not on $call and $leaves"
        exit 1
    }
done
