# Completion of bustap, b2a and bustapd in bash.

_bustap() {
    local rest=${COMP_LINE:0:COMP_POINT} breaks='' strip='' words=() found blank word line kind prefix i
    # words as the program gets them: bash also divides them at = and :
    for ((i = 0; i <= COMP_CWORD; i++)); do
        blank=${rest%%[![:blank:]]*}
        rest=${rest#"$blank"}
        word=${COMP_WORDS[i]}
        ((i < COMP_CWORD)) || word=$rest
        if [[ -n $blank || ${#words[@]} -eq 0 ]]; then
            words+=("$word")
        else
            words[${#words[@]} - 1]+=$word
        fi
        rest=${rest#"$word"}
    done
    word=${words[${#words[@]} - 1]#[\'\"]}
    words[${#words[@]} - 1]=$word
    mapfile -t found < <(bustap completion words -- "${words[@]}" 2>/dev/null)
    kind=${found[0]%%$'\t'*}
    prefix=${found[0]#*$'\t'}

    # bash replaces the part after the last = or :
    [[ $COMP_WORDBREAKS != *=* ]] || breaks+='='
    [[ $COMP_WORDBREAKS != *:* ]] || breaks+=':'
    [[ -z $breaks ]] || strip=${word%"${word##*[$breaks]}"}

    COMPREPLY=()
    for line in "${found[@]:1}"; do
        line=${line%%$'\t'*}
        COMPREPLY+=("${line#"$strip"}")
    done
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:,] ]]; then
        compopt -o nospace 2>/dev/null
    fi
    case $kind in
    files | command)
        [[ $kind = files ]] && i=-f || i=-c
        while IFS= read -r line; do
            line=$prefix$line
            COMPREPLY+=("${line#"$strip"}")
        done < <(compgen "$i" -- "${word#"$prefix"}")
        compopt -o filenames 2>/dev/null
        ;;
    esac
    return 0
}

complete -F _bustap bustap b2a bustapd
