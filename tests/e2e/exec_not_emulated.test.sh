#!/bin/bash
# Each entry of BUGS in bustap-exec(1) is true: one function tests each.
set -eu -o pipefail
[ -z "$NO_EXEC" ] || { echo "$NO_EXEC"; exit 77; }

gcc -O1 -w -fPIE -pie -pthread -o not_emulated "$TOP/tests/e2e/programs/not_emulated.c"
run=(bustap exec -q --only-fetch --count 1 -o x)

# says STATUS WHAT [ARGUMENT]: checks the program's status; its output is in got, standard error in messages
says() {
    local status=0
    "${run[@]}" ./not_emulated "${@:2}" >got 2>messages || status=$?
    rm -f x[_-]*
    [ "$status" = "$1" ] || { echo "$*: status $status"; cat got messages; exit 1; }
}
# prints LINE...: the program's whole output
prints() {
    [ "$(cat got)" = "$(printf '%s\n' "$@")" ] || { cat got messages; exit 1; }
}
silent() {
    [ ! -s messages ] || { cat messages; exit 1; }
}
messages() {
    [ "$(wc -l <messages)" = 1 ] && grep -q -- "$1" messages || { cat messages; exit 1; }
}

Memory_of_4_GiB_and_more() { # and exec_limit.test.sh
    says 0 memory
    prints 'mappings 1, heap 1'
    messages '^bustap: the program requested 1 MiB .* less than 4 GiB'
}
Filters_of_system_calls() {
    says 0 filters
    prints 'seccomp ENOSYS' 'PR_SET_SECCOMP EINVAL' 'PR_SET_SYSCALL_USER_DISPATCH EINVAL'
    silent
}
Debuggers() {
    says 0 debuggers
    prints 'PTRACE_TRACEME EPERM' 'PTRACE_SEIZE EPERM'
}
Processes_that_share_memory() {
    says 0 sharing
    prints 'clone EAGAIN' 'CLONE_SIGHAND EINVAL' 'CLONE_PIDFD EINVAL' 'CLONE_NEWIPC EINVAL'
}
Restartable_sequences() {
    says 0 restartable
    prints 'rseq ENOSYS'
}
The_vDSO() {
    says 0 vector
    prints "$(./not_emulated vector 2>/dev/null)"
    messages '^vDSO 0, sequences 0$'
}
Asynchronous_IO_by_rings() {
    says 0 rings
    prints 'io_uring_setup ENOSYS'
    silent
}
Protection_keys_and_sealed_mappings() {
    says 0 keys
    prints 'pkey_alloc ENOSPC' 'mseal ENOSYS' 'remap_file_pages ENOSYS' 'process_madvise ENOSYS' \
        'map_shadow_stack EOPNOTSUPP' 'PR_SET_MM EPERM' 'PR_SET_MDWE EINVAL'
}
Files_in_Pa_proc() { # and the program's own: "what programs see of themselves" of unit/exec_process
    says 0 files
    prints 'maps 0 0 1' 'smaps 1, mem 8' 'child 1'
}
Memory_of_other_processes() {
    says 0 others
    prints 'code 1' 'mem EACCES' 'mem to be read succeeded' 'process_vm_writev EFAULT' 'code 1'
    messages '^bustap: the program opened the memory of another process for writing and was refused (EACCES)'
}
Code_in_files_that_change() {
    says 0 code_in_files
    prints 'code 1 1 1' 'code 1 2 2, read as 2'
}
Limits_of_memory() {
    (
        ulimit -S -v 3000000
        says 0 limits soft # counts only the program's
        prints 'all but 100 MiB succeeded' '100 MiB more ENOMEM'
    ) || exit 1
    (
        ulimit -v 3000000
        says 0 limits inherited
        prints 'all but 100 MiB ENOMEM'
    ) || exit 1
    says 0 limits execute # inherits those of the program
    prints 921600
    run+=(--follow)
    says 0 limits execute
    prints 921600
    unset 'run[-1]'
}
Resource_usage() {
    says 0 usage
    prints 'large 1'
}
Transactional_memory() {
    says 0 transactions
    prints 'status 0'
}
Descriptors() {
    says 0 descriptors
    prints 'descriptors 1'
}
Descriptor_tables_ports_and_new_system_calls() {
    says 0 newer
    prints '468 ENOSYS' 'ARCH_SET_CPUID EINVAL' 'modify_ldt ENOSYS' 'iopl EPERM' 'ioperm EPERM'
}
Blocked_SIGTRAP() {
    says 0 blocked
    prints 'threads 1: SIGTRAP 1, SIGFPE 1' 'threads 2: SIGTRAP 0, SIGFPE 1' 'delivered 1'
}
Segments_and_32bit_system_calls() {
    says 2 segments gs
    messages 'sets the gs base, which the translator uses itself'
    says 2 segments int
    messages 'instruction at 0x[0-9a-f]* cannot be translated: it makes a 32-bit system call'
    says 2 segments far
    messages 'instruction at 0x[0-9a-f]* cannot be translated: it returns to another code segment'
    prints ''
}

called=0
while read -r line; do
    name=$(tr -cd 'a-zA-Z0-9 ' <<<"$line" | tr -s ' ' _)
    declare -F "$name" >/dev/null || { echo "bustap-exec(1) lists '$line', and no test is called $name"; exit 1; }
    "$name" || { echo "$line"; exit 1; }
    called=$((called + 1))
done < <(sed -n '/^\.Sh BUGS/,$s/^\.It //p' "$TOP/doc/bustap-exec.1")
tests=$(declare -F | grep -c ' [A-Z]')
[ "$called" = "$tests" ] || { echo "bustap-exec(1) lists $called lines, but $tests tests exist"; exit 1; }

# its list for stress-ng equals that of exec_stress
listed=$(sed -n '/^All stressors of$/,$s/^\.Ql \([a-z-]*\) ,$/\1/p' "$TOP/doc/bustap-exec.1" | sort)
known=$(sed -n '/^reasons() {/,/^}/s/^\([a-z-]*\) its\{0,1\} .*/\1/p' "$TOP/tests/e2e/exec_stress" | sort)
[ -n "$listed" ] && [ "$listed" = "$known" ] || { printf "listed:\n%s\nknown:\n%s\n" "$listed" "$known"; exit 1; }
