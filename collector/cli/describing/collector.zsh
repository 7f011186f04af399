#compdef collector
# collector.zsh -- completion of collector in zsh, made by `collector completion zsh`

_collector() {
  local curcontext=$curcontext command expl
  local -a known names named
  @COMMANDS@
  if (( CURRENT == 2 )); then
    _describe -t commands command known
    [[ $PREFIX == -* ]] && _wanted options expl option compadd -- -h --help -V --version
    return
  fi
  names=(${known%%:*})
  named=(${(M)names:#${words[2]}}) # the beginning of a command is enough
  (( $#named )) || named=(${(M)names:#${words[2]}*})
  (( $#named == 1 )) || return 1
  command=$named[1]
  shift words
  (( CURRENT-- ))
  curcontext="${curcontext%:*:*}:collector-$command:"
  case $command in
@CASES@
  esac
}

# Words as they are, and @kinds of names.
_collector_offer() {
  local kind expl ret=1
  local -a plain
  plain=(${@:#@*})
  if (( $#plain )) && [[ $1 != @experiments || CURRENT -gt 2 ]]; then # a view comes behind an experiment
    _wanted values expl value compadd -a plain && ret=0
  fi
  for kind in ${(M)@:#@*}; do
    case $kind in
      @files) _files && ret=0 ;;
      @directories) _files -/ && ret=0 ;;
      @experiments) _files -g '*.expt' && ret=0 ;;
      @programs) _alternative 'commands:program:_command_names -e' 'files:script:_files' && ret=0 ;;
    esac
  done
  return ret
}

if [[ $funcstack[1] == _collector ]]; then
  _collector "$@" # autoloaded
else
  compdef _collector collector
fi
