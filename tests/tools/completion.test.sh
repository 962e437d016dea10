#!/bin/bash
# Candidates for command lines are those of the help texts, the words that are offered are accepted, and the scripts of
# bash, zsh and fish offer them.
set -eu -o pipefail

candidates() { bustap completion words -- "$@" | sed 1d | cut -f 1; }
kind() { bustap completion words -- "$@" | sed -n 1p | tr '\t' ' ' | sed 's/ $//'; }
# same WHAT < EXPECTED: the candidates on standard input, in any order
same() { diff <(sort) <(sort -u "$1") || { echo "$2"; exit 1; }; }

# --- commands and options are those that help prints ---
long_of_help() { "$@" -h | sed -n 's/^  \(-., \|    \)\(--[a-z0-9-]*\).*/\2/p'; }
commands_of_help() { "$@" -h | sed -n '1 { / COMMAND /!q }; s/^  \([a-z]\{1,\}\)  .*/\1/p'; }
checked=0
check() {
    local command
    candidates "$@" -- >offered
    long_of_help "$@" | same offered "options of $*"
    checked=$((checked + $(wc -l <offered)))
    for command in $(commands_of_help "$@"); do
        check "$@" "$command"
    done
}
# groups print their options nowhere
long_of_help() { "$@" -h | sed -n 's/^  \(-., \|    \)\(--[a-z0-9-]*\).*/\2/p' | grep . || echo --help; }
candidates bustap '' >offered
commands_of_help bustap | same offered commands
for command in $(commands_of_help bustap); do
    check bustap "$command"
done
check b2a
candidates bustapd -- >offered
long_of_help bustapd | same offered "options of bustapd"
for command in dcfg wet; do
    candidates bustap $command '' >offered
    [ "$(wc -l <offered)" -ge 3 ]
done
[ "$checked" -gt 300 ] || { echo "only $checked options"; exit 1; }

# --- each word that an option is offered is one that it takes ---
words=0
accept() {
    local option word line
    for option in $(candidates "$@" --); do
        candidates "$@" "$option" '' >offered
        while read -r word; do
            case $word in *[:=]) continue ;; esac
            words=$((words + 1))
            # the option alone is no complete command line: another error may follow, none about the word
            line=$("$@" "$option=$word" </dev/null 2>&1 >/dev/null | head -n 1) || true
            case $line in
            *"built without"*) ;;
            *"$option: "* | *"there is no format"* | *"'$word' is n"* | *"pictures are"*) echo "$* $option=$word: $line"; exit 1 ;;
            esac
        done <offered
    done
}
for command in capture cache convert plot mrc depend profile dump exec; do
    accept bustap $command
done
for command in build functions blocks loops paths fetches annotate; do
    accept bustap dcfg $command
done
[ "$words" -gt 100 ] || { echo "only $words words"; exit 1; }

# --- kinds and prefixes ---
[ "$(kind bustap dump x)" = "files" ]
[ "$(kind bustap dump -o)" = "words" ]
[ "$(kind bustap convert --output=x)" = "files --output=" ]
[ "$(kind bustap convert -o x)" = "files" ]
[ "$(kind bustap capture -b virtual:replay=x)" = "files virtual:replay=" ]
[ "$(kind bustap capture --board=virtual:replay=x)" = "files --board=virtual:replay=" ]
[ "$(kind bustap exec -o x ca)" = "command" ]
[ "$(kind bustap exec cat --)" = "files" ]
[ "$(kind bustap exec --skip 5 -- ca)" = "command" ]
[ "$(kind bustap boards x)" = "words" ]
[ "$(candidates bustap depend --kinds raw,w | xargs)" = "raw,war raw,waw" ]
[ "$(candidates bustap ctl sta | xargs)" = "status start" ]
[ "$(candidates bustap wet check --js | xargs)" = --json ]
[ "$(candidates bustap dump --filter x --js)" = --json ] # an argument is no operand
[ -z "$(candidates bustap dump -- --js)" ]
[ -z "$(candidates bustap nonesuch '')" ]
[ "$(candidates bustap completion '' | xargs)" = "bash zsh fish" ]

# --- bash ---
bustap completion bash >script.bash
cat >ask.bash <<'END'
# usage: ask.bash BREAKS LINE: what the line's last word can be
COMP_WORDBREAKS=$1
COMP_LINE=$2
COMP_POINT=${#COMP_LINE}
# as readline divides a line: at blanks; = and : are words
read -ra parts <<<"$(sed 's/['"$3"']/ & /g' <<<"$2")"
COMP_WORDS=("${parts[@]}")
case $2 in *' ') COMP_WORDS+=('') ;; esac
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
. ./script.bash
complete -p bustap b2a bustapd >/dev/null || exit 1
_bustap
printf '%s\n' "${COMPREPLY[@]}"
END
ask() { bash --norc ask.bash $' \t\n"\'><=;|&(:' "$1" '=:' | sort | xargs; }
mkdir folder
touch folder/one.byu folder/two.byu
[ "$(ask 'bustap ver')" = verify ]
[ "$(ask 'bustap cache --coherence me')" = "$(candidates bustap cache --coherence me | sort | xargs)" ]
[ "$(ask 'bustap cache --coherence=mo')" = moesi ]
[ "$(ask 'bustap dump folder/o')" = folder/one.byu ]
[ "$(ask 'bustap convert --output=folder/t')" = folder/two.byu ]
[ "$(ask 'bustap capture -b virtual:sm')" = smp= ]
[ "$(ask 'bustap capture --board=virtual:replay=folder/o')" = folder/one.byu ]
[ "$(ask 'bustap dcfg fun')" = functions ]
[ "$(ask 'b2a --filt')" = --filter ]
[ "$(ask 'bustapd --che')" = --check ]
ask 'bustap exec base' | grep -qw basename
# without : and = among the separators, whole words are replaced
[ "$(bash --norc ask.bash $' \t\n' 'bustap capture -b virtual:sm' ' ')" = virtual:smp= ]

# --- zsh and fish ---
bustap completion zsh >_bustap
bustap completion fish >script.fish
skipped=
if command -v zsh >/dev/null; then
    zsh -n _bustap
    /usr/bin/python3 "$TOP/tests/tools/programs/press_keys.py" "zsh -f -i" \
        'PROMPT=; fpath=($PWD $fpath); autoload -Uz compinit; compinit -u -d dump; print rea''dy' ready \
        'bustap verif\t' 'bustap verify ' \
        'bustap cache --coherence mo\t' '--coherence moesi ' \
        'bustap dump folder/o\t' 'folder/one.byu' \
        'bustap convert --output=folder/t\t' '--output=folder/two.byu' \
        'bustap capture --board=virtual:sm\t4' 'virtual:smp=4' \
        'b2a --filt\t' 'b2a --filter '
else
    skipped="zsh is not installed"
fi
if command -v fish >/dev/null; then
    export HOME=$PWD XDG_CONFIG_HOME=$PWD XDG_DATA_HOME=$PWD
    fish_ask() { fish --no-config -c 'source script.fish; complete -C $argv[1]' "$1" | cut -f 1 | sort | xargs; }
    fish --no-config -n script.fish
    [ "$(fish_ask 'bustap verif')" = verify ]
    [ "$(fish_ask 'bustap cache --coherence me')" = "$(candidates bustap cache --coherence me | sort | xargs)" ]
    [ "$(fish_ask 'bustap cache --coherence=mo')" = --coherence=moesi ]
    [ "$(fish_ask 'bustap dump folder/o')" = folder/one.byu ]
    [ "$(fish_ask 'bustap convert --output=folder/t')" = --output=folder/two.byu ]
    [ "$(fish_ask 'bustap capture -b virtual:sm')" = virtual:smp= ]
    [ "$(fish_ask 'b2a --filt')" = --filter ]
    [ "$(fish_ask 'bustapd --che')" = --check ]
    [ "$(fish_ask 'bustap dump ')" = "$(ls -p | sort | xargs)" ]
    fish_ask 'bustap exec base' | grep -qw basename
else
    skipped="${skipped:+$skipped, }fish is not installed"
fi
[ -z "$skipped" ] || { echo "$skipped"; exit 77; }
