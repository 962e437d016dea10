/* Loads the library in its first argument, calls and unloads it, loads the second; before that, the
 * third replaces the file of the first, if given. */
#include <dlfcn.h>
#include <stdio.h>

static int call(const char *path, int close)
{
    void *library = dlopen(path, RTLD_NOW);
    int (*answer)(void) = library ? (int (*)(void))dlsym(library, "answer") : NULL;
    int value = answer ? answer() : -1;
    if (library && close)
        dlclose(library);
    return value;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 1;
    printf("%d\n", call(arguments[1], 1));
    if (count > 3)
        rename(arguments[3], arguments[1]);
    printf("%d\n", call(arguments[2], 0));
    return 0;
}
