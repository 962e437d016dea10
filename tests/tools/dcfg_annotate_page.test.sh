#!/bin/bash
# The page of `bustap dcfg annotate --html` in a browser: what it shows, folds, finds, and does with hostile names.
set -eu -o pipefail
PATH="$BUILD/tests/e2e:$PATH"
browser=$(command -v chromium-headless-shell || command -v chromium) || { echo "there is no Chromium"; exit 77; }

fail() {
    echo "$*" >&2
    exit 1
}

# act PAGE SCRIPT: what SCRIPT, which runs on the page when it is loaded, passes to say(), a line each. It may await.
act() {
    {
        cat "$1"
        echo '<pre id="said"></pre><script>'
        echo 'const said = document.getElementById("said"), say = (...words) => said.append(words.join(" ") + "\n");'
        echo 'const all = (what, from) => Array.from((from || document).querySelectorAll(what));'
        echo 'const seen = element => element.getClientRects().length > 0;'
        echo 'const pause = () => new Promise(resolve => setTimeout(resolve, 300));'
        echo 'const search = text => { const input = document.querySelector("input"); input.value = text;'
        echo '    input.dispatchEvent(new Event("input")); return pause(); };'
        echo 'onerror = message => say("error:", message);'
        echo '(async () => {'
        echo "$2"
        echo '})().catch(e => say("error:", e)).then(() => say("end"));</script>'
    } >acted.html
    # no network: an address that is asked for is an error
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --disable-sync \
        --disable-background-networking --disable-component-update --user-data-dir="$PWD/profile" \
        --host-resolver-rules='MAP * ~NOTFOUND' --virtual-time-budget=20000 --window-size=1200,900 \
        --dump-dom "file://$PWD/acted.html" >dom 2>browser.log || fail "the browser ended with $?: $(tail -3 browser.log)"
    sed -n '/<pre id="said">/,/<\/pre>/p' dom | sed 's/<pre id="said">//; s/<\/pre>.*//; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g' |
        sed '/^$/d' >said
    grep -qx end said || fail "the script did not end: $(cat said) $(tail -3 browser.log)"
    sed -i '$d' said
}
expect() { # TEXT: what was said
    diff <(printf '%s\n' "$1") said || fail "another answer"
}

# --- the page replaces none of the files that are read ---
make_fetches --program 3 10 own >own.byu
bustap dcfg build own.byu --image own.user --image own.kernel -o own.json 2>/dev/null
sed "s|$PWD/own.kernel|$PWD/own.c|" own.json >source.json
echo 'int source;' >own.c
cp own.user other.user
md5sum own.* other.user >own.md5
for arguments in own.user own.kernel ./own.json 'other.user --image other.user' 'other.user --image other.user@0x10000'; do
    status=0
    # shellcheck disable=SC2086
    bustap dcfg annotate --html $arguments own.json 2>messages || status=$?
    [ "$status" = 2 ] && grep -q 'is read: the page needs another name' messages || fail "--html $arguments: $status"
done
status=0
bustap dcfg annotate --html own.c source.json 2>messages || status=$?
[ "$status" = 2 ] || fail "--html over a source: $status"
md5sum --quiet -c own.md5

# --- the example: a page refers to nothing outside of it ---
make_dcfg example.json
bustap dcfg annotate --by-thread --html page.html example.json 2>/dev/null
! grep -Eq '(src|href)=|@import|url\(' page.html || fail "it refers to something"
act page.html '
    say(document.title);
    all("details").forEach(f => say(f.id, f.open, all("summary span", f).map(s => s.textContent.trim()).join("|")));
    say(all("#f0 th").map(th => th.textContent).join("|"));
    all("#f0 tbody tr").forEach(tr => say(seen(tr), Array.from(tr.cells).map(td => td.textContent).join("|")));'
expect 'example.json, annotated
f0 true 92.28 %|6,285|15|fill|src/fill.c
f1 false 5.51 %|375|60|power<unsigned int>(std::vector<"n\m">&, {...})|src/power.cc
f2 false 2.22 %|151|2|main|src/main.c
share|executions|thread 0|thread 1|taken|address||instruction|source
true 0.48 %|15|10|5||0x401100||(2 instructions, 4 bytes)|fill.c:7
true |||▾ loop: 15 entries, 1,500 iterations, 100.0 per entry, 88.09 %
true 95.47 %|1,500|1,000|500|1,485|0x401104||(4 instructions, 12 bytes)|fill.c:9
true |1,485||  → fill+0x4, conditional
true |||▾ loop: 15 entries, 240 iterations, 16.0 per entry, 3.52 %
true 3.82 %|240|160|80|225|0x401110||(1 instruction, 3 bytes)|fill.c:12
true |225||  → fill_clear, rep
true 0.24 %|15|10|5|15|0x401113||(1 instruction, 1 byte)|fill.c:13
true |15||  → main+0x1f, return'

# --- a click, the search, links ---
act page.html '
    all("#f2 summary")[0].click(); await pause();
    say(document.getElementById("f2").open, all("#f2 tbody tr").filter(seen).length);
    const loop = all("#f2 tr.loop button")[0];
    loop.click();
    say(loop.textContent, loop.getAttribute("aria-expanded"), all("#f2 tbody tr").filter(seen).length,
        all("#f2 g").length);
    loop.click();
    say(loop.textContent, all("#f2 tbody tr").filter(seen).length, all("#f2 g").map(g => g.dataset.count).join(" "));
    await search("POWER.cc:33");
    say(document.getElementById("found").textContent, all("details").filter(seen).map(f => f.id).join(" "));
    all("form button")[0].click(); await pause();
    say(all("tr.hit").length, all("tr.current td.address").map(td => td.textContent).join(" "),
        document.getElementById("found").textContent);
    await search("fill_clear");
    say(document.getElementById("found").textContent);
    await search("nowhere");
    say(document.getElementById("found").textContent, all("details").filter(seen).length);
    await search("");
    say(all("details").filter(seen).length, all("tr.hit").length);
    document.getElementById("close").click(); await pause();
    say(all("details").filter(f => f.open).length);
    all("#f2 td a").filter(a => a.textContent === "fill")[0].click(); await pause();
    say(location.hash, all("details").filter(f => f.open).map(f => f.id).join(" "));'
expect 'true 12
▸ loop: 2 entries, 17 iterations, 8.5 per entry, 2.07 % false 4 0
▾ loop: 2 entries, 17 iterations, 8.5 per entry, 2.07 % 12 2 15
1 function, 1 line f1
1 0x7f0000402007 line 1 of 1
1 function, 1 line
0 functions, 0 lines 0
3 0
0
#f0 f0'

# --- hostile names are text ---
sed 's#"main"#"</script><script>document.title=1</script><b>main\\"\&amp;"#; s#src/main.c#<img src=x onerror=document.title=2>.c#' \
    example.json >evil.json
cmp -s evil.json example.json && fail "the graph has no such names"
bustap dcfg annotate --html evil.html evil.json 2>/dev/null
act evil.html '
    all("summary").forEach(s => s.click()); await pause();
    document.getElementById("f2").open = true; await pause();
    say(document.title);
    say(all("img").length, all("b").filter(b => b.textContent.startsWith("main")).length);
    say(all("#f2 .name")[0].textContent);
    say(all("#f2 .source").map(td => td.textContent)[0]);
    say(all("#f0 tr").pop().cells[3].textContent.trim());'
expect 'evil.json, annotated
0 0
</script><script>document.title=1</script><b>main"&amp;
<img src=x onerror=document.title=2>.c:20
→ </script><script>document.title=1</script><b>main"&amp;+0x1f, return'

# --- standard output, errors ---
bustap dcfg annotate --by-thread --html - example.json 2>/dev/null | cmp - page.html
status=0
bustap dcfg annotate --html example.json example.json 2>complaints || status=$?
[ "$status" = 2 ] && grep -q 'example.json is read: the page needs another name' complaints || fail "$(cat complaints)"
status=0
bustap dcfg annotate --html /dev/full example.json 2>complaints || status=$?
[ "$status" = 3 ] || fail "a full disk: $status"
status=0
bustap dcfg annotate --html page.html --csv example.json 2>complaints || status=$?
[ "$status" = 2 ] || fail "two forms: $status"

# --- a bus: how sure each count is; without an image, of chunks ---
make_fetches --program 3 10 p >/dev/null
make_fetches <<EOF >bus.byu
0x8049000 16
0x8049010 16
0x8049020 16
0x8049010 16
0x9000000 16 1
0x8049020 16
EOF
bustap dcfg build --image p.user -o bus.json bus.byu 2>/dev/null
bustap dcfg annotate bus.json >bus.txt 2>complaints
grep -qx 'bustap: the graph was built without the image of some code: its blocks are shown without instructions' complaints ||
    fail "$(cat complaints)"
bustap dcfg annotate --html bus.html bus.json 2>/dev/null
# the file says what rests on what; text and page say the same
bustap dcfg blocks --json bus.json | jq -r '.blocks[].confidence' | sort | uniq >wanted
[ "$(wc -l <wanted)" -gt 1 ] || fail "one confidence only: this tests nothing"
grep -Eo ' (certain|assumed|not explained) ' bus.txt | sed 's/^ //; s/ $//' | sort | uniq | diff wanted -
act bus.html '
    all("details").forEach(f => f.open = true); await pause();
    const column = all("#f0 th").findIndex(th => th.textContent === "confidence");
    all("tbody tr:not(.extra):not(.loop):not(.cold)").forEach(tr => say(tr.cells[column].textContent));'
sort said | uniq | diff wanted -
bustap dcfg annotate --json bus.json 2>/dev/null |
    jq -e '[.functions[].rows[] | .certain <= .executions and (.confidence == "certain") == (.certain == .executions)] | all' >/dev/null
bustap dcfg build --fetch bus -o chunks.json bus.byu 2>/dev/null
bustap dcfg annotate chunks.json 2>/dev/null >chunks.txt
grep -q '^(0x[0-9a-f]*): [0-9]* visits of chunks, ' chunks.txt || fail "$(head -3 chunks.txt)"
grep -q ' ([0-9]* chunks*, [0-9]* bytes)' chunks.txt || fail "$(head -5 chunks.txt)"
! grep -q instructions chunks.txt || fail "instructions of chunks"
bustap dcfg annotate --json chunks.json 2>/dev/null | jq -e '.chunks > 0 and (.functions[0].rows[0].chunks > 0)' >/dev/null

# --- a program: nested loops, arrows, source ---
[ -z "$NO_EXEC" ] || exit 0
cp "$TOP/tests/e2e/programs/loops.c" .
"${CC:-gcc}" -O1 -g -static -o loops loops.c
bustap exec -q --only-fetch -o loops ./loops 5 >/dev/null
bustap dcfg build --image loops -o loops.json loops_*.byu.gz 2>/dev/null
bustap dcfg annotate --all --html loops.html loops.json
bustap dcfg annotate --json loops.json multiply >multiply.json
act loops.html '
    const f = all("details").filter(d => d.querySelector(".name").textContent === "multiply")[0];
    f.open = true; await pause();
    say(all(".address", f).filter(td => seen(td)).map(td => td.textContent).join(" "));
    say(all("tr:not(.loop):not(.extra)", f).filter(seen).slice(1).map(tr => tr.cells[1].textContent.replaceAll(",", "")).join(" "));
    say(all("g", f).every(g => { const box = g.getBoundingClientRect(); return box.width > 5 && box.height > 5; }));
    say(all("tr.loop", f).length, all(".source", f).some(td => td.textContent.includes("sum += a[i][k] * b[k][j];")));
    /* the outermost loop hides the inner ones, the innermost one only itself */
    const shown = () => all("tr.loop", f).filter(seen).length;
    const buttons = all("tr.loop button", f), inner = buttons[buttons.length - 1];
    inner.click();
    say(shown() === buttons.length);
    buttons[0].click();
    say(shown() < buttons.length);'
jq -r '[.functions[0].rows[].address] | join(" ")' multiply.json >wanted
jq -r '[.functions[0].rows[].executions | tostring] | join(" ")' multiply.json >>wanted
printf 'true\n%s true\ntrue\ntrue\n' "$(jq '[.functions[0].rows[].loop | select(. != null)] | unique | length' multiply.json)" >>wanted
diff wanted said || fail "another picture of the program"
