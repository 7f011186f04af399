# collector.bash -- completion of collector in bash, made by `collector completion bash`

# What may be typed: words as they are, and @kinds of names. An option in _collector_values takes a value.
@TABLES@

_collector() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command name at
    local -a named=()
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        _collector_offer $_collector_commands -h --help -V --version
        return
    fi
    for name in $_collector_commands; do # the beginning of a command is enough
        [[ $name == "${COMP_WORDS[1]}" ]] && named=("$name") && break
        [[ $name == "${COMP_WORDS[1]}"* ]] && named+=("$name")
    done
    ((${#named[@]} == 1)) || return
    command=${named[0]}
    if [[ " $_collector_launchers " == *" $command "* ]]; then
        at=$(_collector_program_at)
        if ((at < COMP_CWORD)); then # what stands behind a program is for that
            if declare -F _command_offset >/dev/null; then _command_offset "$at"; else compopt -o default; fi
            return
        fi
    fi
    # --option=value comes as three words
    if [[ $current == = ]]; then
        current=
    elif [[ $previous == = ]]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [[ -n ${_collector_values["$command $previous"]+there} ]]; then
        _collector_offer ${_collector_values["$command $previous"]}
    elif [[ $current == -* ]]; then
        _collector_offer ${_collector_options[$command]}
    else
        _collector_offer ${_collector_words[$command]}
    fi
}

# Which word is the program that is to be recorded; the present one or a later one if it is still to come.
_collector_program_at() {
    local at=2
    while ((at < COMP_CWORD)); do
        case ${COMP_WORDS[at]} in
        --) ((at += 1)); break ;;
        -*)
            if [[ ${COMP_WORDS[at + 1]} == = ]]; then
                ((at += 3))
            elif [[ -n ${_collector_values["$command ${COMP_WORDS[at]}"]+there} ]]; then
                ((at += 2))
            else
                ((at += 1))
            fi
            ;;
        *) break ;;
        esac
    done
    echo "$at"
}

# Offer those of these words and kinds that begin like the present word.
_collector_offer() {
    local kind path
    local -a plain=()
    for kind; do
        case $kind in
        @files) _collector_add -f && compopt -o filenames ;;
        @directories) _collector_add -d && compopt -o filenames ;;
        @programs) _collector_add -c -f && compopt -o filenames ;;
        @experiments) _collector_add_experiments ;;
        *) plain+=("$kind") ;;
        esac
    done
    # A view comes behind an experiment.
    [[ $1 == @experiments && $COMP_CWORD -eq 2 ]] || _collector_add -W "${plain[*]}"
}

_collector_add() {
    local name
    while IFS= read -r name; do
        COMPREPLY+=("$name")
    done < <(compgen "$@" -- "$current")
}

# An experiment is a directory: it is complete where others are only on the way. Reports read files as well.
_collector_add_experiments() {
    local before=${#COMPREPLY[@]} path
    while IFS= read -r path; do
        [[ -d $path && $path != *.expt ]] && path+=/
        COMPREPLY+=("$path")
    done < <(compgen -d -- "$current")
    if ((${#COMPREPLY[@]} == before)); then
        _collector_add -f
    fi
    if ((${#COMPREPLY[@]} == 1)) && [[ ${COMPREPLY[0]} == *.expt ]]; then
        printf -v "COMPREPLY[0]" %q "${COMPREPLY[0]}"
    elif ((${#COMPREPLY[@]})); then
        compopt -o filenames
        if ((${#COMPREPLY[@]} == 1)); then compopt -o nospace; fi
    fi
}

complete -F _collector collector
