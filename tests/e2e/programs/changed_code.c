#define _GNU_SOURCE /* MAP_32BIT */
/* A function that the program writes again and again, with an instruction of another size first. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef int function(void);

static const uint8_t one[] = {0x90, 0xb8, 1, 0, 0, 0, 0xc3}; /* nop; mov $1, %eax; ret */
static const uint8_t two[] = {0x66, 0x90, 0x6a, 0x02,
                              0x58, 0x90, 0xc3}; /* nop; push $2; pop %rax */

int main(void)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    int sum = 0;
    if (page == MAP_FAILED)
        return 9;
    for (volatile int i = 0; i < 10; i++) {
        memcpy(page, i % 3 ? one : two, sizeof one);
        sum += ((function *)(uintptr_t)page)();
    }
    printf("%d\n", sum);
    return 5;
}
