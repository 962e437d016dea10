#!/bin/bash
# Names of predictors, functions, sources and modules with commas and quotes are one field each in every CSV table
# (RFC 4180).
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
[ -x /usr/bin/python3 ] || { echo "/usr/bin/python3 is missing"; exit 77; }

# a name of C++, shown as "named(int, double)", and one that only assemblers allow
cat >'so,"urce.c' <<'END'
void named(int) __asm__("_Z5namedid");
void odd(int) __asm__("\"od,d\"");
static volatile int sum;
__attribute__((noinline)) void named(int number)
{
    while (number-- > 0)
        sum += number & 1 ? 2 : 3;
}
__attribute__((noinline)) void odd(int number)
{
    while (number-- > 0)
        sum += number & 1 ? 5 : 3;
}
int main(int count, char **arguments)
{
    (void)arguments;
    named(30 * count);
    odd(30 * count);
    return 0;
}
END
cc -O1 -g -o 'mod,"ule' 'so,"urce.c'

# holds FILE TEXT...: valid CSV whose rows have equal numbers of fields; each TEXT is a field or begins one
cat >holds.py <<'END'
import csv, sys
with open(sys.argv[1], newline="") as file:
    rows = list(csv.reader(file, strict=True))
assert len(rows) > 1, "no rows"
for row in rows:
    assert len(row) == len(rows[0]), row
for text in sys.argv[2:]:
    assert any(field == text or field.startswith(text + "+0x") or field.startswith(text + ":")
               for row in rows for field in row), "no field is " + text
END
holds() {
    /usr/bin/python3 holds.py "$@" || { echo "$*"; head -n 5 "$1"; exit 1; }
}

tage=tage:tables=3,entries=64
name='_Z5namedid'
bustap profile --by function --csv -o demangled './mod,"ule'
! grep -q 'named(' demangled || name='named(int, double)'
module=$PWD/'mod,"ule'
source=$PWD/'so,"urce.c'
holds demangled "$name" 'od,d' "$module"
bustap rondo -p $tage -p bimodal --by-branch --top 0 --csv -o table './mod,"ule'
holds table "wrong_$tage" "$name" 'od,d' "$source" 'mod,"ule'
bustap rondo -p $tage --csv -o table './mod,"ule'
holds table "$tage"
for by in line block; do
    bustap profile --by $by --csv -o table './mod,"ule'
    holds table "$name" 'od,d' "$module" "$source"
done
bustap profile --by module --csv -o table './mod,"ule'
holds table "$module"

# graph NAME ARGUMENT...: of a run of the program
graph() {
    local image images=() name=$1
    shift
    bustap exec -q --only-fetch -o "$name" --modules modules './mod,"ule' "$@"
    while read -r image; do
        images+=(--image "$image")
    done <modules
    bustap dcfg build "${images[@]}" -o "$name.json" --trace "$name.edges.json" "$name"_*.byu.gz 2>/dev/null
}
graph once
graph again with more
bustap dcfg blocks --csv once.json >table
holds table 'od,d' "$source" "$module"
bustap dcfg functions --csv once.json >table
holds table 'od,d' "$source" "$module"
bustap dcfg annotate --csv once.json >table
holds table 'od,d' "$source" "$module" 'sum += number & 1 ? 5 : 3;'
bustap dcfg loops --csv once.json >table
holds table 'od,d' "$source"
bustap dcfg paths --csv --top 1000 once.json >table
holds table 'od,d' "$source"
bustap dcfg diff --csv once.json again.json >table || [ $? = 1 ]
holds table 'od,d' "$module"
bustap dcfg expand --csv --trace once.edges.json once.json >table
holds table 'od,d'
