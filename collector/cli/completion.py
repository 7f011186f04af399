"""completion -- print the script with which bash, zsh or fish completes command lines of collector

    eval "$(collector completion bash)"                                      for this shell
    collector completion bash > ~/.local/share/bash-completion/completions/collector
    collector completion zsh > DIR/_collector                                with DIR in $fpath, before compinit
    collector completion fish > ~/.config/fish/completions/collector.fish

Commands, options, their values, views of reports and paths are completed; behind a program that is to be recorded, what the shell knows of it.
"""

from __future__ import annotations

import argparse

from collector.cli.describing import SHELLS

NAME = "completion"
HELP = __doc__ or ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    parser.add_argument("shell", metavar="|".join(SHELLS), choices=SHELLS, help="the shell that is to complete")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from collector.cli.describing.completion import completion_script

    print(completion_script(args.shell), end="")
    return 0
