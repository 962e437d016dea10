/* Calls code at one address twice; in between it is unmapped, and mapped again with the same bytes.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <string.h>
#include <sys/mman.h>

static const unsigned char code[] = {0xb8, 7, 0, 0, 0, 0xc3}; /* mov $7, %eax; ret */

static int call(void *at)
{
    void *page = mmap(at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy(page, code, sizeof code);
    int (*function)(void);
    memcpy(&function, &page, sizeof function);
    const int result = function();
    munmap(page, 4096);
    return result;
}

int main(void)
{
    void *at = (void *)0x20000000;
    return call(at) + call(at) == 14 ? 0 : 1;
}
