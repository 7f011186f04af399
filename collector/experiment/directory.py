"""directory -- the files of an experiment: which logs there are, and whether this is an experiment at all"""

from __future__ import annotations

import os
from dataclasses import dataclass

from collector.errors import ExperimentError, ExperimentNotFoundError
from collector.experiment.origin import LAUNCHER, Origin, parse_log_name


@dataclass(frozen=True, slots=True)
class LogFile:
    """One event log of an experiment, and the process image it belongs to."""

    path: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class ExperimentDirectory:
    """An experiment's files. `logs` are those of recorded processes, by process id and image; the launcher's is apart."""

    path: str
    logs: tuple[LogFile, ...]
    launch_log: LogFile | None

    @property
    def all_logs(self) -> tuple[LogFile, ...]:
        """The launcher's log, if there is one, and those of the processes."""
        return (self.launch_log, *self.logs) if self.launch_log else self.logs

    @property
    def objects_path(self) -> str:
        """The directory of copied code; need not exist."""
        return os.path.join(self.path, "objects")


def open_directory(path: str | os.PathLike[str]) -> ExperimentDirectory:
    """The experiment at `path`.

    ExperimentNotFoundError if there is nothing, or no experiment; ExperimentError if it cannot be read.
    """
    path = os.fspath(path)
    try:
        names = os.listdir(path)
    except FileNotFoundError as error:
        raise ExperimentNotFoundError(f"there is no experiment at {path}") from error
    except NotADirectoryError as error:
        raise ExperimentNotFoundError(f"{path} is not an experiment: it is a file, not a directory") from error
    except (OSError, ValueError) as error:
        raise ExperimentError(f"the experiment {path} cannot be read: {getattr(error, 'strerror', error)}") from error
    found = ((name, parse_log_name(name)) for name in names)
    logs = sorted((LogFile(os.path.join(path, name), origin) for name, origin in found if origin), key=lambda log: log.origin)
    if not logs:
        raise ExperimentNotFoundError(f"{path} is not an experiment: there is no log in it")
    launch_log = next((log for log in logs if log.origin == LAUNCHER), None)
    return ExperimentDirectory(path, tuple(log for log in logs if log.origin != LAUNCHER), launch_log)
