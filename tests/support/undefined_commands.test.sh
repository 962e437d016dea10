#!/bin/bash
# tests/lint_commands finds commands that nothing defines, wherever a script can call one, and takes no other word for a
# command.
set -eu
cd "$TOP"
script=$TMPDIR/script
cat >"$script" <<'SCRIPT'
#!/bin/bash
set -eu
PATH="$BUILD/tests/e2e:$PATH"
own() { missing1 "$(missing2 x)" | missing3; }
function other { own; }
case $1 in
a | word) missing4 ;;
"$(missing5)") ;;
(b) [[ -n $x && word1 == word2 ]] || missing6 ;;
*) array=(word3 "$(missing7)" word4); own ;;
esac
cat <<END | missing8 >word5 2>&1
word6 $(missing9)
END
cat <<'END'
$(word7)
END
x=word8 missing10 <(missing11) word9 $((word10 + 1)) ${x:-$(missing12)} "text (word11; word12)" 'word13; word14'
for word15 in word16 word17; do missing13; done
if ! missing14; then (missing15); elif missing16; then { missing17; }; fi
timeout -k 5 10 missing18 word18
env -u _ X=1 missing19
echo a\
    word19
while read -r line; do missing20 & done < <(missing21)
xargs -n 1 missing22 # word20
make_trace 10; other; bustap; ./word21; "$TOP/word22"; $x word23
command -v asked && asked
make_nothing
SCRIPT
if tests/lint_commands "$script" >"$TMPDIR/said"; then echo "nothing is undefined"; exit 1; fi
grep -oE '(missing|make_)[a-z0-9]+' "$script" | grep -v make_trace >"$TMPDIR/wanted"
sed -n "s/.*nothing defines the command '\(.*\)'$/\1/p" "$TMPDIR/said" | diff "$TMPDIR/wanted" -
grep -q "^$script:4: nothing defines the command 'missing1'$" "$TMPDIR/said"

# a program of the build, only where it is on the script's PATH
printf '#!/bin/sh\nmake_trace 5\n' >"$script"
! tests/lint_commands "$script" >"$TMPDIR/said" || exit 1
sed -i '2i PATH="$BUILD/tests/e2e:$PATH"' "$script"
tests/lint_commands "$script"
