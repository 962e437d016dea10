#compdef bustap b2a bustapd
# Completion of bustap, b2a and bustapd in zsh.

_bustap() {
    local -a found whole whole_shown open open_shown
    local kind prefix line candidate description
    found=("${(@f)$(bustap completion words -- "${(@Q)words[1,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    kind=${found[1]%%$'\t'*}
    prefix=${found[1]#*$'\t'}
    for line in "${(@)found[2,-1]}"; do
        candidate=${line%%$'\t'*}
        description=${line#*$'\t'}
        if [[ $candidate == *[=:,] ]]; then
            open+=("$candidate")
            open_shown+=("$candidate${description:+  -- $description}")
        else
            whole+=("$candidate")
            whole_shown+=("$candidate${description:+  -- $description}")
        fi
    done
    ((! $#whole)) || compadd -l -d whole_shown -a whole
    ((! $#open)) || compadd -l -S '' -d open_shown -a open
    case $kind in
    files)
        compset -p ${#prefix}
        _files
        ;;
    command) _command_names -e ;;
    esac
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _bustap "$@"
else
    compdef _bustap bustap b2a bustapd
fi
