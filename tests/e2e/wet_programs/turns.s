# A loop with a conditional move, and a load of what two stores have written.
    .include "start.inc"
    START
    xor %ecx, %ecx
1:  mov %cl, pair(%rip)
    test $1, %cl
    jz 2f
    movb $9, pair + 1(%rip)
2:  movzwl pair(%rip), %eax
    cmp $2, %ecx
    cmove %eax, %ebx
    inc %ecx
    cmp $3, %ecx
    jb 1b
    EXIT

    .bss
pair: .skip 2
