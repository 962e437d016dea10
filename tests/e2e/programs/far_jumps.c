/* Returns from many nested calls at once. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf outside;

static unsigned descend(unsigned depth, unsigned leave_at)
{
    if (depth == leave_at)
        longjmp(outside, (int)depth);
    return depth < 30 ? descend(depth + 1, leave_at) + 1 : depth;
}

int main(void)
{
    static unsigned reached; /* static: not affected by jumps */
    for (volatile unsigned i = 1; i < 40; i += 3) {
        int came_from = setjmp(outside);
        if (came_from == 0)
            reached += descend(0, i);
        else
            reached += 100u * (unsigned)came_from;
    }
    printf("%u\n", reached);
    return 5;
}
