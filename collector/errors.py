"""errors -- every exception that collector raises on purpose

CollectorError                     anything below; its text is one sentence for the user
 ├── UsageError                    the command line or the arguments of a call make no sense
 ├── RecordError                   nothing was, or could be, recorded
 │    └── NoSpaceError             because there is no room
 ├── ExperimentError               an experiment cannot be read
 │    ├── ExperimentNotFoundError  there is nothing at that path, or it is not an experiment
 │    ├── ExperimentExistsError    it would have been overwritten
 │    └── DamagedExperimentError   it is there, but its bytes are not what was written
 ├── ForeignProfileError           the file of another profiler cannot be read, or is none
 ├── DefinitionError               a metric definition file is wrong
 └── SymbolError                   a module, debug file or line table cannot be used
      └── DamagedImageError        ... because its bytes contradict each other

Only cli/ catches CollectorError to print it; everybody else lets it rise, or handles a leaf
of the tree that it expects.
"""

from __future__ import annotations

__all__ = [
    "CollectorError",
    "UsageError",
    "RecordError",
    "NoSpaceError",
    "ExperimentError",
    "ExperimentNotFoundError",
    "ExperimentExistsError",
    "DamagedExperimentError",
    "ForeignProfileError",
    "DefinitionError",
    "SymbolError",
    "DamagedImageError",
]


class CollectorError(Exception):
    """Root of the tree; `str(error)` is one sentence that a user can act on."""


class UsageError(CollectorError):
    """The command line, an option or an argument makes no sense."""


class RecordError(CollectorError):
    """Nothing was recorded, or recording could not begin."""


class NoSpaceError(RecordError):
    """Recording could not begin because there is no room: the disk is full, or a quota or a limit of file sizes is reached."""


class ExperimentError(CollectorError):
    """An experiment cannot be read."""


class ExperimentNotFoundError(ExperimentError):
    """There is no experiment at the path given."""


class ExperimentExistsError(ExperimentError):
    """An experiment of that name is there already and was not to be overwritten."""


class DamagedExperimentError(ExperimentError):
    """The experiment is there, but its bytes are not what the recorder writes."""


class ForeignProfileError(CollectorError):
    """The file of another profiler cannot be read, or is none that is known."""


class DefinitionError(CollectorError):
    """A metric definition file is wrong; the text names file, line and element."""


class SymbolError(CollectorError):
    """A module, debug file or line table cannot be used to name addresses."""


class DamagedImageError(SymbolError):
    """An ELF file or its DWARF data contradicts itself; the text says where."""
