/* The names that C++ programs have in their sources, from those of their symbols. */
#ifndef TOOLS_SYMBOLS_DEMANGLE_H
#define TOOLS_SYMBOLS_DEMANGLE_H

struct demangler;

/* Uses the C++ library of the machine. NULL: it has none, or there is no memory; names stay. */
struct demangler *demangler_new(void);
void demangler_free(struct demangler *demangler);

/* "std::sort(int*, int*)", to be freed; NULL: it is no such name. */
char *demangle(const struct demangler *demangler, const char *symbol);

#endif
