# shellcheck shell=bash
# Functions for scripts that trace small programs without libraries: WET programs.

wet_programs=$TOP/tests/e2e/wet_programs

# Links ./program, with code and data at fixed addresses. The first lines of its source may say "options: OPTIONS".
link_wet() {
    local source=$1 options
    options=$(sed -n 's|^[/#*]* *options: *\([^*]*\)\( \*/\)*$|\1|p' "$source")
    # shellcheck disable=SC2086 # a list
    gcc $options -fno-stack-protector -fno-builtin -fcf-protection=none -fno-pie -nostdlib -static -no-pie \
        -Wl,--build-id=none,--no-warn-rwx-segments,-Ttext=0x401000,-Tdata=0x500000,-Tbss=0x600000 \
        "-Wa,-I$wet_programs" "-I$TOP" -o program "$source"
}

# Whether the processor has what a program needs: "needs: FLAG...".
can_run_wet() {
    local flag
    for flag in $(sed -n 's|^[/#*]* *needs: *||p' "$1"); do
        grep -qw "$flag" /proc/cpuinfo || return
    done
}

# Writes the text of ./program's execution that the twin finds to ./stepped. Skips the test where that is impossible.
step_wet() {
    local status=0
    # no pipeline: its status would be that of a printf that starts after the program's end
    "$BUILD/tests/e2e/step_wet" stepped ./program < <(printf hello) >/dev/null || status=$?
    [ "$status" != 124 ] || { echo "programs cannot be single-stepped here"; exit 77; }
    [ "$status" -eq 0 ]
}
