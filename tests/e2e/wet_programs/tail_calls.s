# Jumps out of functions, conditional ones, too: the frame remains, and the jump decides what comes after it.
    .include "start.inc"
    START
    mov $4, %ebx
1:  mov %ebx, %edi
    call first
    add %eax, %ebp
    dec %ebx
    jnz 1b
    EXIT

    FUNCTION first
    mov %edi, %eax
    cmp $3, %edi
    je second
    inc %eax
    test $1, %al
    jz 1f
    dec %eax
1:  lea (%rax,%rax), %edx
    jmp *places(,%rdi,8)
.Lback:
    neg %eax
    ret
    END first

    FUNCTION second
    mov $7, %ecx
    cmp $2, %edi
    jb 1f
    inc %ecx
1:  lea (%rax,%rcx), %eax
    ret
    END second

    .data
places: .quad 0, second, .Lback, 0, second
