"""categories -- which functions are MPI, locks, memory allocation ...: a table of patterns that a user can extend

A stack is of the category that the program's own code called last, whatever this called in turn: a lock that MPI takes is MPI, and so is
libc's memcpy below it. Code that is *like callers* is part of what called it; code that is *like own code* ends what went before,
and has its name only where nothing else is called: an interpreter that calls malloc is memory allocation.
"""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from collector.profile.model import METHOD, Profile
from collector.profile.names import python_functions
from collector.profile.samples import BASE, OWN, THROUGH

OWN_CODE: Final = "(own code)"
OPENMP: Final = "OpenMP"
OPENMP_WAIT: Final = "OpenMP wait"
_FIRST: Final = 2
_MOST: Final = BASE - _FIRST

BUILT_IN: Final = r"""
[MPI]
function ^(P?MPI_|p?mpi_\w+_$)
module libmpi* libpmpi* libmpich* libopen_mpi* libopen-pal* libopen-rte* libuc[mpst].so* libfabric* libpsm* libibverbs* mca_*

[OpenMP wait]
function ^wait_in_lib(gomp|omp|iomp)
function ^gomp_(\w*barrier_wait|\w*mutex_lock_slow|sem_wait_slow|ptrlock_get_slow)|^(GOMP|omp)_\w*(critical\w*_start|set_\w*lock)$
function ^__kmp_(wait|\w*barrier|acquire_\w*lock|hardware_timestamp|yield)|^(void |bool )?(__kmp_wait_|kmp_flag_\w+::wait)

[OpenMP]
like own code
function \[parallel\]$|^(GOMP|gomp|__kmpc?)_
module libgomp* libomp.so* libomp-* libomp5* libiomp*

[memory allocation]
function ^(__libc_|__GI_+)?(malloc|calloc|realloc|reallocarray|free|cfree|memalign|aligned_alloc|posix_memalign|valloc)2?$
function ^(_int_(malloc|free|realloc|memalign)|malloc_consolidate|unlink_chunk|sysmalloc|systrim|tcache_\w+|_?_?morecore)
function ^operator (new|delete)|^(__rust|__rdl)_(alloc|dealloc|realloc)|^_?Py(Object|Mem)_(Raw)?(Malloc|Calloc|Realloc|Free)$|^pymalloc_
module libjemalloc* libtcmalloc* libmimalloc* libhoard*

[locks]
function ^_*(GI_+)?(pthread_(mutex|rwlock|spin|cond|barrier|join|once)\w*|lll_\w+|futex_\w+|sem_(wait|timedwait|post|clockwait))
function ^__gthread_(mutex|cond|recursive|once)|^std::(mutex|shared_mutex|condition_variable\w*)::

[I/O]
function ^_*(libc_|GI_+)?(p?(read|write)v?(64)?(v2)?|open(at)?(64)?|creat|close|lseek(64)?|fsync|fdatasync|sendfile(64)?|copy_file_range|splice)(_nocancel)?$
function ^_*(libc_|GI_+)?(send|recv)(to|from|msg|mmsg)?$|^_*(poll|ppoll|select|pselect|epoll_p?wait|accept4?|connect|ioctl)(64)?$
function ^_*(GI_+)?(new)?[fl]?stat(at|x)?(64)?$|^_*(access|faccessat|unlink|rename|mkdir|rmdir|readlink|getdents(64)?|readdir(64)?|opendir)$
function ^_*(IO_\w+|f(open|close|flush|read|write|gets|puts|getc|putc|seek|tell)\w*|puts|putchar|getc|getline|getdelim|v?[fd]?(printf|scanf)\w*|perror)$
function ^_*vf?printf\w*|^std::basic_([io]?f?stream|filebuf|ostream|istream)|^std::(ostream|istream)::

[kernel boundary]
function ^_*(GI_+)?(syscall|mmap(64)?|munmap|mremap|mprotect|madvise|s?brk|v?fork|clone3?|execve\w*|posix_spawnp?|wait(4|pid|id)|kill|tgkill)$
function ^_*(GI_+)?(sched_yield|sched_\w+affinity|(clock_)?nanosleep(_\w+)?|usleep|sleep|getrusage|sysinfo|prctl|sigaction|sigprocmask|arch_prctl)$

[Python imports]
module <frozen?importlib* <frozen?zipimport>

[interpreter]
like own code
module python[23]* libpython* perl perl5* libperl* ruby* libruby* lua* liblua* php* node (interpreter)

[libraries]
like callers
module libc.so* libc-2* libm.so* libmvec.so* libpthread* ld-linux* ld-2* ld-musl* librt.so* libdl.so* libstdc++* libgcc_s* libc++* [[]vdso]
"""
"""The table as a user would write it. A function is of the first section with a pattern that fits."""


class CategoryError(ValueError):
    """A table of categories that makes no sense, or the name of a category that none has."""


class _Section:
    __slots__ = ("functions", "is_built_in", "kind", "modules", "name")

    def __init__(self, name: str, is_built_in: bool = False) -> None:
        self.name = name
        self.kind = "category"
        self.is_built_in = is_built_in
        self.functions: list[re.Pattern[str]] = []
        self.modules: list[str] = []


class Categories(NamedTuple):
    """Sections in the order in which they are tried."""

    sections: Sequence[_Section]

    @property
    def names(self) -> list[str]:
        """The name of each category by its number; that of own code is number 0, and number 1 is none."""
        known = dict.fromkeys(section.name for section in self.sections if section.kind != _LIKE_CALLERS)
        return [OWN_CODE, "", *known]

    def number_of(self, name: str) -> int:
        """What a stack of this category is marked with. CategoryError if there is none."""
        for number, known in enumerate(self.names):
            if known and known.lower() == name.lower():
                return number | (BASE if any(s.name == known and s.kind == _LIKE_OWN for s in self.sections) else 0)
        raise CategoryError(f"there is no category {name!r}; there are {', '.join(filter(None, self.names))}")

    def roles(self, profile: Profile) -> bytes:
        """The role of each frame, as `samples.CategoryFilter` takes it."""
        numbers = {name: number for number, name in enumerate(self.names)}
        roles = [THROUGH if one.kind == _LIKE_CALLERS else numbers[one.name] | (BASE if one.kind == _LIKE_OWN else 0) for one in self.sections]
        in_module = [
            {i for i, module in enumerate(profile.modules) if any(fnmatchcase(module.name, pattern) for pattern in section.modules)}
            for section in self.sections
        ]

        in_python = python_functions(profile)
        built_in = {frame.function for frame in profile.frames if frame.kind == METHOD}

        def role_of(number: int) -> int:
            function = profile.functions[number]
            name = function.name.removesuffix("@plt")
            for section, modules, role in zip(self.sections, in_module, roles):
                names = () if section.is_built_in and number in in_python else section.functions  # ours mean functions in C
                if function.module in modules or any(pattern.search(name) for pattern in names):
                    return THROUGH if section.is_built_in and number in built_in else role
            return OWN

        of_function = [role_of(number) for number in range(len(profile.functions))]
        return bytes([of_function[frame.function] for frame in profile.frames])


_LIKE_OWN, _LIKE_CALLERS = "like own code", "like callers"


def read_categories(*tables: tuple[str, str]) -> Categories:
    """The categories of some tables (a title for errors, and the text), the first tried first, and then of ours. CategoryError if one makes no sense."""
    built_in = _iter_sections("the built-in table", BUILT_IN, is_built_in=True)
    sections = [*(section for title, text in tables for section in _iter_sections(title, text)), *built_in]
    categories = Categories(sections)
    if len(categories.names) > _MOST:
        raise CategoryError(f"{len(categories.names) - _FIRST} categories are more than the {_MOST - _FIRST} that there may be")
    return categories


def _iter_sections(title: str, text: str, is_built_in: bool = False) -> Iterator[_Section]:
    section: _Section | None = None
    for number, line in enumerate(text.split("\n"), 1):
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        if words.startswith("["):
            if section is not None:
                yield section
            section = _Section(_heading(words, f"{title}, line {number}"), is_built_in)
        elif section is None:
            raise CategoryError(f"{title}, line {number}: before {words!r} a line [NAME] must say of which category it is")
        else:
            _take(section, words, f"{title}, line {number}")
    if section is not None:
        yield section


def _heading(words: str, place: str) -> str:
    name = words[1:-1].strip()
    if not words.endswith("]") or not name:
        raise CategoryError(f"{place}: the name of a category stands in brackets, [NAME], not {words!r}")
    return name


def _take(section: _Section, words: str, place: str) -> None:
    kind, _, rest = words.partition(" ")
    if words in (_LIKE_OWN, _LIKE_CALLERS):
        section.kind = words
    elif kind == "function" and rest.strip():
        try:
            section.functions.append(re.compile(rest.strip()))
        except re.error as error:
            raise CategoryError(f"{place}: {rest.strip()!r} is no regular expression: {error}") from error
    elif kind == "module" and rest.strip():
        section.modules.extend(rest.split())
    else:
        raise CategoryError(f"{place}: a line is function REGEX, module PATTERN..., {_LIKE_OWN} or {_LIKE_CALLERS}, not {words!r}")
