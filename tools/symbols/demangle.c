#include "tools/symbols/demangle.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY  "libstdc++.so.6"
#define FUNCTION "__cxa_demangle" /* Itanium C++ ABI, 3.4 */

typedef char *demangle_function(const char *name, char *buffer, size_t *size, int *status);

struct demangler {
    void *library;
    demangle_function *function;
};

struct demangler *demangler_new(void)
{
    struct demangler *demangler = calloc(1, sizeof *demangler);
    if (!demangler)
        return NULL;
    demangler->library = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    void *function = demangler->library ? dlsym(demangler->library, FUNCTION) : NULL;
    if (!function) {
        demangler_free(demangler);
        return NULL;
    }
    memcpy(&demangler->function, &function, sizeof function); /* ISO C has no such cast */
    return demangler;
}

void demangler_free(struct demangler *demangler)
{
    if (!demangler)
        return;
    if (demangler->library)
        dlclose(demangler->library);
    free(demangler);
}

char *demangle(const struct demangler *demangler, const char *symbol)
{
    if (!demangler || strncmp(symbol, "_Z", 2) != 0)
        return NULL;
    return demangler->function(symbol, NULL, NULL, NULL);
}
