"""recorded_program -- a program that is recorded by a child of ours, so that we can watch it meanwhile"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Sequence

from collector.capture import destination
from collector.cli import record
from collector.cli.recording.plan import make_plan
from collector.cli.recording.python_command import title_of
from collector.errors import CollectorError


class RecordedProgram:
    """`collector record WORDS` in a child. With `is_apart` the program's output goes into a file, and nothing comes in to it: a screen has the terminal.

    `experiment` is what is being made; `output` the file, or None. CollectorErrors of `collector record` if the words make no sense.
    """

    def __init__(self, words: Sequence[str], is_apart: bool) -> None:
        from collector.cli.main import build_parser

        args = build_parser(record).parse_args(record.prepare(list(words)))
        plan = make_plan(args)
        self.experiment = plan.experiment or destination.next_name(title_of(plan.command))
        self.output = _new_file(os.path.splitext(self.experiment)[0]) if is_apart else None
        own = [] if plan.experiment else ["-o", self.experiment]
        self._status: int | None = None
        self._words, words_in = os.pipe()
        self._end, end_in = os.pipe()  # nobody writes; the child has it open until it ends
        self._pid = os.fork()
        if self._pid == 0:
            self._record([*own, *words], words_in)
        os.close(words_in)
        os.close(end_in)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the program; it ends, and so do we

    def _record(self, words: list[str], words_in: int) -> None:
        status = 1
        try:
            if self.output is not None:
                output, nothing = os.open(self.output, os.O_WRONLY | os.O_APPEND), os.open(os.devnull, os.O_RDONLY)
                for descriptor, number in ((nothing, 0), (output, 1), (output, 2)):
                    os.dup2(descriptor, number)
                sys.stderr = os.fdopen(words_in, "w", errors="backslashreplace")  # our own words are not among the program's
            from collector.cli.main import end_by_signal, main

            status = main(["record", *words])
            sys.stderr.flush()
            status = end_by_signal(status)
        finally:
            os._exit(status)

    @property
    def has_ended(self) -> bool:
        """Whether the recording is over."""
        if self._status is None:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            self._status = status if pid else None
        return self._status is not None

    def await_end(self, seconds: float) -> None:
        """Wait for so long, or until it has ended."""
        select.select([self._end], [], [], seconds)

    def wait(self) -> int:
        """Wait for its end; the exit status of `collector record`, -n if signal n killed it."""
        if self._status is None:
            self._status = os.waitpid(self._pid, 0)[1]
        return os.waitstatus_to_exitcode(self._status)

    def closing_words(self) -> str:
        """What the recorder had to say in the end."""
        with os.fdopen(self._words, errors="replace") as words:
            return words.read()


def _new_file(base: str) -> str:
    """Make a file that was not there before."""
    path, number = f"{base}.out", 0
    while True:
        try:
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            return path
        except FileExistsError:
            number += 1
            path = f"{base}.{number}.out"
        except OSError as error:
            raise CollectorError(f"the program's output cannot be written to {path}: {(error.strerror or str(error)).lower()}") from error
