# Loops without an exit, around one: the program ends in a system call, after which its loop would go on.
    .include "start.inc"
    START
    mov $5, %ebx
1:  call some
    dec %ebx
    jns 2f
    inc %ecx
    mov $60, %eax
    xor %edi, %edi
    syscall
2:  test $1, %bl
    jz 3f
    inc %edx
    jmp 1b
3:  inc %esi
    jmp 1b
    END _start

    FUNCTION some
    cmp $100, %ebx
    jl 1f
    ud2
1:  mov %ebx, %eax
    ret
    END some
