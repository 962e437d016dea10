/* Functions with known numbers of calls and executions. For call stacks: recursion, tail calls,
 * calls through pointers, longjmp, signal handlers. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

#define ALONE __attribute__((noinline, noclone))

static volatile int sink;
static jmp_buf back;

ALONE static void leaf(void)
{
    sink++;
}

ALONE static void loop(int times)
{
    for (int i = 0; i < times; i++)
        leaf();
}

ALONE static int recursive(int depth)
{
    leaf();
    int below = depth == 0 ? 0 : recursive(depth - 1);
    sink++; /* keeps the call from becoming a jump */
    return below + 1;
}

ALONE static int odd(int number);

ALONE static int even(int number)
{
    return number == 0 ? 1 : odd(number - 1); /* a jump, if optimized */
}

ALONE static int odd(int number)
{
    return number == 0 ? 0 : even(number - 1);
}

ALONE static void thrower(int depth)
{
    if (depth == 0)
        longjmp(back, 1);
    thrower(depth - 1);
    sink++;
}

ALONE static void catcher(void)
{
    if (setjmp(back) == 0)
        thrower(5);
    loop(10);
}

ALONE static void handler(int number)
{
    sink += number;
    leaf();
}

ALONE static void raiser(void)
{
    raise(SIGUSR1);
    loop(7);
}

int main(void)
{
    void (*volatile pointer)(int) = loop;
    signal(SIGUSR1, handler);
    loop(1000);
    pointer(100);
    sink += recursive(50);
    sink += even(40);
    for (int i = 0; i < 3; i++)
        catcher();
    for (int i = 0; i < 4; i++)
        raiser();
    printf("%d\n", sink);
    return 5;
}
