#!/bin/bash
# The auxiliary vector of an executed program is the native one: its entries, their order, and values that are not
# addresses. bustap-exec(1) lists omitted entries.
set -eu -o pipefail

[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }
cat >auxiliary.c <<'END'
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* An entry, where it points to, or its value unless that is an address of the program's. */
static void show(const Elf64_auxv_t *at)
{
    const char *text = (const char *)at->a_un.a_val;
    switch (at->a_type) {
    case AT_EXECFN:
    case AT_PLATFORM:
        printf("%lu: %s\n", at->a_type, text);
        break;
    case AT_PHDR:
    case AT_ENTRY:
    case AT_RANDOM:
    case AT_SYSINFO_EHDR:
        printf("%lu: %d\n", at->a_type, text != NULL);
        break;
    case AT_BASE:
        printf("%lu: %d\n", at->a_type, (at->a_un.a_val & 0xfff) == 0);
        break;
    default:
        printf("%lu: %lx\n", at->a_type, at->a_un.a_val);
    }
}

int main(int count, char **arguments, char **environment)
{
    static char file[4096];
    while (*environment)
        environment++;
    const Elf64_auxv_t *at = (const Elf64_auxv_t *)(environment + 1);
    const void *first = at;
    for (; at->a_type != AT_NULL; at++)
        show(at);
    show(at++);
    int own = open("/proc/self/auxv", O_RDONLY);
    long size = (const char *)at - (const char *)first;
    printf("file: %d\n", own < 0 || (read(own, file, sizeof file) >= size && memcmp(file, first, size) == 0));
    return 0;
}
END
# exec_not_emulated.test.sh has these: AT_SYSINFO_EHDR, AT_RSEQ_FEATURE_SIZE, AT_RSEQ_ALIGN
lacks='^(33|27|28):'
for kind in '' -static; do
    gcc -O1 -w $kind -o auxiliary auxiliary.c
    ./auxiliary | grep -vE "$lacks" >wanted
    for way in 'exec -q --append -o out' 'exec -q --append --follow -o out sh -c' 'profile -o report' 'rondo -p bimodal -d 0 -o report'; do
        # shellcheck disable=SC2086
        timeout 120 bustap $way ./auxiliary >got
        diff wanted got || { echo "bustap $way"; exit 1; }
    done
done
[ "$(grep -c : wanted)" -gt 15 ]
# a program with other rights than its user's has AT_SECURE set
if [ "$(id -u)" = 0 ]; then
    chmod 755 . auxiliary
    # the loader then removes variables, which moves the data after them
    other=(env -i "$(command -v setpriv)" --euid 1234 --clear-groups ./auxiliary)
    "${other[@]}" | grep -vE "$lacks" >wanted
    grep -qx '23: 1' wanted || { echo 'not secure'; cat wanted; exit 1; }
    bustap exec -q --append --follow -o out -- "${other[@]}" >got
    diff wanted got
fi
