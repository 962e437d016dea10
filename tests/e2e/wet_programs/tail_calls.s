# Jumps out of functions, conditional ones, too: the frame remains, and the jump decides what comes after it.
    .include "start.inc"
    START
    mov $4, %ebx
1:  mov %ebx, %edi
    call first
    call falling
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

    # runs past its end, after a conditional jump
    FUNCTION falling
    test $1, %dil
    jz 1f
    inc %eax
1:  dec %edi
    jg 1b
    END falling

    FUNCTION further
    mov %eax, %edx
    ret
    END further

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
