#!/bin/bash
# The examples in the commands' man pages and in bustapd(8) run unchanged; manual.test.sh has those of bustap(1).
# Programs that Debian lacks are replaced, all others are required.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
for tool in gcc dot callgrind_annotate gnuplot valgrind /usr/bin/python3; do
    command -v $tool >/dev/null || { echo "$tool is missing"; exit 77; }
done
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "numpy is missing"; exit 77; }

# block PAGE: the literal text of its examples
block() {
    awk '/^\.Sh/ { on = $2 == "EXAMPLES" } /^\.Ed/ { text = 0 }
        on && text { print } on && /^\.Bd/ { text = 1 }' "$TOP/doc/$1" | sed 's/\\e$/\\/'
}

# commands PAGE: the commands after a prompt, with continued lines and quoted text; without output, and without commands
# that need root, which tests/host/service_example.test.sh runs
commands() {
    block "$1" | awk '
        /^\$ / { command = substr($0, 3); open = 1; quotes = 0 }
        !open { next }
        !/^\$ / { command = command "\n" $0 }
        { quotes += gsub(/"/, "&"); open = /\\$/ || quotes % 2 }
        !open { print command }'
}

# executable: without commands that execute programs, and those that read what these have written, where none can be
executable() {
    [ -n "$NO_EXEC" ] || { cat; return; }
    awk '
        !continued { skipped = /bustap (exec|profile|depend|wet|rondo)/ }
        skipped { for (i = 1; i < NF; i++) if ($i ~ /^(-o|--modules|--wrong-path|--callgrind)$/ && $(i + 1) !~ /^\/dev/) made[$(i + 1)] }
        !continued { for (file in made) if (index($0, " " file)) skipped = 1 }
        { continued = /\\$/ }
        !skipped'
}

# the files that they name
cat >program.c <<'END'
#include <stdio.h>
static int work(int n) { return n < 2 ? n : work(n - 1) + work(n - 2); }
__attribute__((noinline)) int deflate(int n) { return work(n); }
int total; int main(void) { total = deflate(15); printf("%d\n", total); return 0; }
END
gcc -O1 -g -static -no-pie -o program program.c
single_step --output capture_1.byu.gz ./program >/dev/null 2>&1 || { echo "programs cannot be single-stepped here"; exit 77; }
for prefix in p0 smp trace; do
    bustap capture --quiet --board virtual:smp=4,requests=20000 -o $prefix
done
zcat trace_*.byu.gz >capture.byu
mkdir archive
cp trace_00001_*.byu.gz archive/run_00001_20261120T224500Z.byu.gz
seq 2000 >FILE
printf '[level 1]\nsize = 16K\n' >small.conf
printf '[level 1]\nsize = 64K\n' >large.conf
ln -s /usr/bin/python3 python3

# Dinero and libCacheSim are not packaged
cat >dineroIV <<'END'
#!/bin/sh
if grep -v '^[012] [0-9a-f]*$'; then exit 1; fi
END
cat >cachesim <<'END'
#!/bin/sh
test -s "$1" -a $(($(stat -c %s "$1") % 24)) = 0
END
chmod +x dineroIV cachesim
PATH=$PWD:$PATH
# as in its examples
for name in demo recorder archive; do
    awk -v name="$name.conf" '/^\$/ || /^\.Ed/ { on = $2 == "cat" && $3 == name; next } on' "$TOP/doc/bustapd.8" >"$name.conf"
    [ "$(wc -l <"$name.conf")" -ge 3 ]
done

total=0
for page in "$TOP"/doc/bustap-*.1 "$TOP/doc/bustapd.8"; do
    page=${page##*/}
    rm -f part_* # pages may use the same prefix
    commands "$page" >script
    count=$(grep -c . script)
    [ "$count" -ge 2 ] || { echo "$page: no examples"; exit 1; }
    executable <script >possible
    total=$((total + count))
    case $page in bustap-mrc.1) # seconds need a capture with a clock, as those of boards
        rm capture_*.byu.gz
        bustap capture --quiet --board virtual:smp=4,requests=20000 -o capture ;;
    esac
    bash -e -o pipefail possible >out 2>err || { echo "$page: status $?"; cat possible err; exit 1; }
done
[ -n "$NO_EXEC" ] || [ $total -ge 30 ]
# the last example of bustapd(8); the first answer may precede the board's
grep -q '^demo *\(starting\|running\)' out

# the configuration file equals the options of the second example
block bustap-cache.1 | grep -v '^\$' >caches
bustap cache --config caches --lines 20 smp_*.byu.gz >from_file
bustap cache --coherence mesi --classify --lines 20 smp_*.byu.gz | cmp - from_file
