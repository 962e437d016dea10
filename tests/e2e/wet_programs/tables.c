/* options: -O2 */
/* A switch with a table, and one that ends with tail calls. */
#include "tests/e2e/wet_programs/start.h"

static volatile int total;

__attribute__((noinline)) static int add(int n)
{
    total += n;
    return total;
}
__attribute__((noinline)) static int take(int n)
{
    if (n > 50)
        total -= n;
    return total - 1;
}

__attribute__((noinline)) static int choose(int kind, int n)
{
    switch (kind) {
    case 0:
        return add(n + 1);
    case 1:
        return take(n * 2);
    case 2:
        total ^= n;
        break;
    case 3:
        total *= 3;
        if (n & 1)
            return 9;
        break;
    case 4:
        total = -total;
        break;
    case 5:
        return add(-n);
    case 6:
        total |= 64;
        __attribute__((fallthrough));
    case 7:
        total += 2;
        break;
    default:
        return total;
    }
    return total + kind;
}

int program(void)
{
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += choose(i * 7 % 10, i);
    return sum & 15;
}
