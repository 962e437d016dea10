#!/bin/bash
# No two functions or tables of the programs have the same name: of two in libraries, the linker takes
# the first without a warning.
set -eu -o pipefail
command -v nm >/dev/null || { echo "nm is missing"; exit 77; }

nm -g --defined-only "$BUILD"/lib{formats,firmware,driver,capture,host,tools}.a | awk 'NF == 3 && $2 !~ /[wWvVu]/ { print $3 }' |
    grep -v '^__\|^_GLOBAL_\|^\.' | sort >names
[ "$(wc -l <names)" -gt 1000 ]
[ -z "$(uniq -d names)" ] || { echo "twice:"; uniq -d names; exit 1; }
