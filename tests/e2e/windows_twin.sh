# Functions for tests of triggers, to be sourced: windows that awk cuts out of a whole capture.

# The records of a whole capture are in all.csv, without the heading.
# twin TYPE PRE POST: "WINDOW TICK,ADDRESS,TYPE,..." of each record in a window
twin() {
    awk -F, -v type="$1" -v pre="$2" -v post="$3" '
        { line[NR] = $2 "," $3 "," $4 "," $5 "," $6 "," $7; if ($4 == type) match_at[++n] = NR }
        END {
            for (i = 1; i <= n; i++) {
                from = match_at[i] - pre; if (from < 1) from = 1
                if (i == 1 || from > until) { window++; at = from }
                until = match_at[i] + post + 1
                for (; at < until && at <= NR; at++) print window, line[at]
            }
        }' all.csv
}
# saved PREFIX: the same from its files; the last one has no window
saved() {
    local file window=0
    for file in "$1"_*; do
        window=$((window + 1))
        bustap dump --csv "$file" | tail -n +2 | cut -d, -f 2-7 | sed "s/^/$window /"
    done
}
