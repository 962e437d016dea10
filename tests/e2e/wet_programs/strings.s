# String instructions in both directions, once and repeated, with counts of 0 and more.
    .include "start.inc"
    START
    mov $source, %esi
    mov $target, %edi
    movsb
    movsw
    movsl
    movsq
    xor %ecx, %ecx
    rep movsb
    mov $4, %ecx
    rep movsl
    lodsb
    lodsl
    mov $3, %ecx
    rep lodsw
    mov $5, %ecx
    rep stosw
    mov $source, %esi
    mov $target, %edi
    mov $16, %ecx
    repe cmpsb
    xor %ecx, %ecx
    repe cmpsb
    setz %al
    cmpsl
    mov $target, %edi
    mov $4, %al
    mov $30, %ecx
    repne scasb
    scasw
    std
    mov $source + 31, %esi
    mov $target + 40, %edi
    mov $7, %ecx
    rep movsb
    lodsw
    stosq
    cmpsw
    cld
    addr32 scasb
    addr32 lodsw
    mov target + 36(%rip), %rax
    mov target + 32(%rip), %rdx
    EXIT

    .data
source: .byte 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
        .byte 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32
        .skip 64
target: .skip 128
