/* options: -O0 */
/* An interpreter: a switch in a loop. */
#include "tests/e2e/wet_programs/start.h"

enum { PUSH, ADD, DUP, JUMP_IF, LESS, STORE, LOAD, END };

static const unsigned char code[] = {PUSH,    0,     STORE, 0,    LOAD, 0,    PUSH, 3,
                                     ADD,     STORE, 0,     LOAD, 0,    PUSH, 20,   LESS,
                                     JUMP_IF, 4,     LOAD,  0,    DUP,  ADD,  END};
static int stack_of_values[8], variables[2];

int program(void)
{
    int *top = stack_of_values;
    unsigned at = 0;
    for (;;) {
        switch (code[at++]) {
        case PUSH:
            *top++ = code[at++];
            break;
        case ADD:
            top--;
            top[-1] += top[0];
            break;
        case DUP:
            top[0] = top[-1];
            top++;
            break;
        case JUMP_IF:
            at = *--top ? code[at] : at + 1;
            break;
        case LESS:
            top--;
            top[-1] = top[-1] < top[0];
            break;
        case STORE:
            variables[code[at++]] = *--top;
            break;
        case LOAD:
            *top++ = variables[code[at++]];
            break;
        default:
            return top[-1];
        }
    }
}
