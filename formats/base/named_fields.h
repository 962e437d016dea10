/*
 * NAMED_FIELDS marks a struct whose initialisers must name the fields they set: otherwise two
 * swapped
 * values of the same type compile without a warning. gcc rejects unnamed values
 * (-Wdesignated-init); other compilers ignore the mark.
 *
 *     struct NAMED_FIELDS point { int x, y; };
 */
#ifndef FORMATS_BASE_NAMED_FIELDS_H
#define FORMATS_BASE_NAMED_FIELDS_H

#if defined(__GNUC__) && !defined(__clang__)
#define NAMED_FIELDS __attribute__((designated_init))
#else
#define NAMED_FIELDS
#endif

#endif
