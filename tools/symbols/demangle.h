/* C++ names from mangled symbol names. */
#ifndef TOOLS_SYMBOLS_DEMANGLE_H
#define TOOLS_SYMBOLS_DEMANGLE_H

struct demangler;

/* Loads the machine's C++ library. NULL if the library or memory is missing: names stay mangled. */
struct demangler *demangler_new(void);
void demangler_free(struct demangler *demangler);

/* "std::sort(int*, int*)", which the caller frees; NULL: symbol is not a mangled name. */
char *demangle(const struct demangler *demangler, const char *symbol);

#endif
