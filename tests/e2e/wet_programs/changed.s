# Code that is written again and again, with instructions of other sizes, and old ones that come back.
    .include "start.inc"
    START
    mov $10, %eax # mprotect: the code becomes writable
    mov $_start, %edi
    mov $4096, %esi
    mov $7, %edx
    syscall
    mov $6, %ebx
    xor %ebp, %ebp
1:  mov $one, %esi
    test $1, %bl
    jz 2f
    mov $two, %esi
2:  mov $place, %edi
    mov $8, %ecx
    rep movsb
    call place
    add %eax, %ebp
    dec %ebx
    jnz 1b
    EXIT

    FUNCTION place
    .skip 8, 0x90
    END place

    .data
one: .byte 0xb8, 1, 0, 0, 0, 0x90, 0x90, 0xc3
two: .byte 0x90, 0xb8, 2, 0, 0, 0, 0x90, 0xc3
