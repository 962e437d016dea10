/* Leaves functions by longjmp: main's loops must stay loops of main. argv[1]: jumps. */
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf place;
static volatile long sum;

__attribute__((noinline)) static void jump_from(int depth)
{
    if (depth == 0)
        longjmp(place, 1);
    jump_from(depth - 1);
    sum++;
}

int main(int argc, char **argv)
{
    const int jumps = argc > 1 ? atoi(argv[1]) : 50;
    for (volatile int i = 0; i < jumps; i++)
        if (!setjmp(place))
            jump_from(3);
        else
            sum++;
    for (int i = 0; i < 30; i++)
        sum += i;
    return 0;
}
