#!/bin/sh
# The installation is complete, works, and can be removed completely.
set -eu
install() {
    # nothing is rebuilt: another compiler's flags must not change the programs
    make -s -C "$TOP" -o all BUILD="$BUILD" DESTDIR="$PWD/root" PREFIX=/opt/bustap "$1"
}

install install
cd root/opt/bustap
for file in bin/bustap bin/b2a sbin/bustapd share/man/man1/bustap.1 share/man/man1/b2a.1 \
    share/man/man1/bustap-dcfg.1 \
    share/man/man8/bustapd.8 lib/udev/rules.d/60-bustap.rules \
    include/bustap/mark.h include/bustap/depend_hooks.h lib/bustap/libbustap-depend.a \
    share/bash-completion/completions/bustap share/bash-completion/completions/b2a share/zsh/site-functions/_bustap \
    share/fish/vendor_completions.d/bustap.fish share/fish/vendor_completions.d/bustapd.fish \
    lib/udev/rules.d/61-bustap-access.rules lib/systemd/system/bustapd.service \
    share/doc/bustap/doc/bustapd.conf share/doc/bustap/README.md share/doc/bustap/doc/capture-file.md share/doc/bustap/LICENSE; do
    [ -e "$file" ] || { echo "$file is missing"; exit 1; }
done
# files that the documents refer to exist
find share/doc -name '*.md' | while read -r file; do
    grep -o ']([^)#:]*)' "$file" | sed 's/^](//; s/)$//' | while read -r target; do
        [ -e "$(dirname "$file")/$target" ] || { echo "$file: $target is missing"; exit 1; }
    done
done
grep -o '[a-z/]*/bustap/doc/[a-z0-9-]*\.md' share/man/man1/bustap.1 | while read -r file; do
    [ -e "$file" ] || { echo "bustap(1): $file is missing"; exit 1; }
done
# files that are named with the usual folder exist, too
for document in "$TOP/README.md" "$TOP/doc/bustapd.8"; do
    named=$(grep -o '/usr/local/[a-z/]*/bustapd\.[a-z]*' "$document" | sort -u)
    [ "$(echo "$named" | wc -l)" -ge 1 ]
    for file in $named; do
        [ -e "${file#/usr/local/}" ] || { echo "$document: $file is missing"; exit 1; }
    done
done
# the scripts of shells are those that the program prints
for pair in bash:share/bash-completion/completions/bustapd zsh:share/zsh/site-functions/_bustap fish:share/fish/vendor_completions.d/b2a.fish; do
    bin/bustap completion "${pair%%:*}" | cmp - "${pair#*:}"
done
# a program needs only the headers
printf '#include <bustap/mark.h>\n#include <bustap/depend_hooks.h>\nint main(void)\n{\n    BUSTAP_BEGIN;\n    BUSTAP_END;\n    return 0;\n}\n' >"$TMPDIR/marked.c"
for language in 'c -std=c90' 'c -std=c11' 'c++ -std=c++11'; do
    # shellcheck disable=SC2086
    "${CC:-cc}" -x $language -O2 -Wall -Wextra -pedantic -Werror -Iinclude -c -o "$TMPDIR/marked.o" "$TMPDIR/marked.c"
done
grep -q '^ExecStart=/opt/bustap/sbin/bustapd$' lib/systemd/system/bustapd.service
bin/bustap capture --quiet --board virtual:smp=1,requests=1000 -o "$TMPDIR/trace"
bin/b2a "$TMPDIR"/trace_*.byu.gz | wc -l | grep -qx 1000
sbin/bustapd -c share/doc/bustap/doc/bustapd.conf --check >/dev/null
cd ../../..
install uninstall
[ -z "$(find root ! -type d)" ] || { find root ! -type d; exit 1; }
