# System calls: what they read and define, and memory that the kernel writes.
    .include "start.inc"
    START
    movb $1, text(%rip)
    movb $2, text + 5(%rip)
    xor %eax, %eax
    xor %edi, %edi
    mov $text, %esi
    mov $4, %edx
    syscall
    mov %rax, %rbx
    mov text(%rip), %rcx
    mov %r11, %r12
    mov $1, %eax
    mov $1, %edi
    mov $text, %esi
    mov %ebx, %edx
    syscall
    mov $3, %eax
    mov $-1, %edi
    syscall
    neg %eax
    EXIT

    .bss
text: .skip 8
