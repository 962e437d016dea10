#!/bin/bash
# gcc refuses values without the name of their field where a struct is marked NAMED_FIELDS: two fields of a
# record that are swapped would compile otherwise.
set -eu -o pipefail
command -v gcc >/dev/null || { echo "gcc is missing"; exit 77; }

compile() { # TEXT
    printf '%s\n' '#include "formats/record/record.h"' '#include "formats/foreign/foreign_source.h"' "$1" >test.c
    gcc -std=c11 -Werror -I"$TOP" -fsyntax-only test.c 2>why
}

compile 'struct record r = {.address = 1, .type = 2, .size = 3, .attribute = 4, .processor = 5, .time = 6};'
if compile 'struct record r = {1, 2, 3, 4, 5, 6};'; then exit 1; fi
grep -q designated why
if compile 'struct foreign_reference r = {1, 2, 3, 4, 5};'; then exit 1; fi
grep -q designated why
