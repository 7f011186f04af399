# collector.fish -- completion of collector in fish, made by `collector completion fish`

set -g __collector_launchers @LAUNCHERS@
set -g __collector_valued @VALUED@

# Whether the cursor is behind this command, and not behind a program that it runs.
function __collector_in
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test "$words[2]" = "$argv[1]"; or return 1
    not contains -- $words[2] $__collector_launchers; or not set -q (__collector_program)[1]
end

# The program that is to be recorded, and its arguments so far.
function __collector_program
    set -l words (commandline -opc)[3..-1]
    while set -q words[1]
        switch $words[1]
            case --
                set -e words[1]
                break
            case '-*'
                if contains -- $words[1] $__collector_valued; and set -q words[2]
                    set -e words[1]
                end
                set -e words[1]
            case '*'
                break
        end
    end
    string join \n -- $words
end

function __collector_launches
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $__collector_launchers
end

# The program itself, then whatever fish knows to say behind it.
function __collector_complete_program
    set -l words (__collector_program)
    set -l current (commandline -ct)
    if set -q words[1]
        complete --do-complete=(string join ' ' -- (string escape -- $words) $current)
    else if not string match -q -- '-*' $current
        complete --do-complete=$current
        __fish_complete_path $current
    end
end

function __collector_experiments
    set -l found (__fish_complete_directories (commandline -ct) experiment | string replace -r '\.expt/\t' '.expt\t')
    test (count $found) -gt 0; and string join \n -- $found; or __fish_complete_path (commandline -ct)
end

function __collector_has_experiment
    test (count (commandline -opc)) -ge 3
end

complete -c collector -f
@COMPLETES@
