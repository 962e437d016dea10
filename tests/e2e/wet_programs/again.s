# Code that changes itself between two executions, calls, and repeated stores.
# options: -Wl,--section-start=.changed=0x402000
    .include "start.inc"
    START
    call get
    movb $5, place + 1(%rip)
    call get
    mov $cells, %edi
    xor %ecx, %ecx
    rep stosb
    mov $3, %ecx
    rep stosb
    mov cells(%rip), %edx
    EXIT

    .section .changed, "awx"
    .type get, @function
get:
place:
    mov $4, %eax
    ret
    END get

    .bss
cells: .skip 4
