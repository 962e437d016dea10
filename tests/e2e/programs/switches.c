/* Jumps through tables: of an interpreter's switch, and of label addresses. */
#include <stdio.h>

enum operation { PUSH, ADD, MULTIPLY, DUPLICATE, DECREMENT, SWAP, JUMP_IF, DROP, STOP };

static const signed char program[] = {PUSH,      1,       PUSH, 9, /* factorial of 9 */
                                      DUPLICATE, JUMP_IF, 2,    STOP, SWAP,
                                      DROP,      PUSH,    3,    ADD,  STOP};

static long interpret(const signed char *code)
{
    long stack[16] = {0};
    int top = -1;
    int budget = 300;
    for (int at = 0; budget-- > 0;) {
        long saved;
        switch ((enum operation)code[at++]) {
        case PUSH:
            stack[++top] = code[at++];
            break;
        case ADD:
            stack[top - 1] += stack[top];
            top--;
            break;
        case MULTIPLY:
            stack[top - 1] *= stack[top];
            top--;
            break;
        case DUPLICATE:
            stack[top + 1] = stack[top];
            top++;
            break;
        case DECREMENT:
            stack[top]--;
            break;
        case SWAP:
            saved = stack[top];
            stack[top] = stack[top - 1];
            stack[top - 1] = saved;
            break;
        case JUMP_IF:
            at += stack[top--] ? code[at] : 1;
            break;
        case DROP:
            top--;
            break;
        case STOP:
            return stack[top];
        }
    }
    return -1;
}

static unsigned classify(unsigned n)
{
    switch (n % 11) {
    case 0:
        return 3;
    case 1:
        return n + 1;
    case 2:
        return n * 3;
    case 3:
        return n ^ 0x55;
    case 4:
        return n >> 1;
    case 5:
        return n - 7;
    case 7:
        return 1;
    case 9:
        return n << 2;
    default:
        return 0;
    }
}

int main(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < 500; i++)
        sum += classify(i);
    for (int i = 0; i < 30; i++)
        sum += (unsigned)interpret(program);
    printf("%u\n", sum);
    return 2;
}
