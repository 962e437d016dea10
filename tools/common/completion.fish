# Completion of bustap, b2a and bustapd in fish.

function __bustap_complete
    set -l current (commandline -ct)
    test -n "$current"; or set current ''
    set -l found (bustap completion words -- (commandline -opc) "$current" 2>/dev/null)
    set -l head (string split \t -- "$found[1]")
    test (count $found) -lt 2; or printf '%s\n' $found[2..-1]
    switch "$head[1]"
        case files
            set -l typed (string sub -s (math (string length -- "$head[2]") + 1) -- "$current")
            for file in (__fish_complete_path "$typed")
                printf '%s\n' "$head[2]$file"
            end
        case command
            complete -C "$current"
    end
end

for program in bustap b2a bustapd
    complete -c $program -f -a '(__bustap_complete)'
end
