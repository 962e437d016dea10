# shellcheck shell=bash
# Functions for scripts that compare programs under `bustap exec` with native runs, in a folder with a file
# "input" for standard input.

n=0
options=() # of bustap exec

# same PROGRAM ARGUMENT...: the same output, standard error and exit status, and complete captures. Without
# --follow, exec reports a program that replaces itself, and where it is captured.
same() {
    local wanted=0 got=0
    n=$((n + 1))
    env -u _ "$@" >wanted 2>wanted.err <input || wanted=$?
    env -u _ bustap exec -q -o "run$n" "${options[@]}" -- "$@" >got 2>got.err <input || got=$?
    [ "$wanted" = "$got" ] || { echo "$*: status $got, wanted $wanted"; cat got.err; exit 1; }
    cmp wanted got || { echo "$*: output"; exit 1; }
    sed -i '/^bustap: the program executes .* which is captured in .*$/d' got.err
    cmp wanted.err got.err || { echo "$*: standard error"; cat got.err; exit 1; }
    bustap verify "run$n"[_-]*.byu.gz >verdict || { echo "$*"; cat verdict; exit 1; }
    grep -q '^complete: [1-9][0-9]* records in .*, nothing lost$' verdict || { echo "$*"; cat verdict; exit 1; }
    rm -f "run$n"[_-]*
}
