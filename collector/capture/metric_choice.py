"""metric_choice -- which metrics a recording is to have: definition files found, metrics chosen, libraries looked up

Where files are looked for, in this order: what --metrics names, $COLLECTOR_METRICS_PATH, $ALLINEA_CONFIG_DIR/map/metrics
(or ~/.allinea/map/metrics), the built-in directory. A metric that several define is the first one's.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from collector.capture.definition_file import read_definitions
from collector.capture.definitions import DefinitionFile, MetricDefinition, SourceDefinition
from collector.capture.elf_header import read_elf_header
from collector.named_tuple import NamedTuple

MOST_FILES = 1000
_BUILT_IN = "builtin.so"


class MetricSelection(NamedTuple):
    """What the command line asks for: files or directories, and metrics to switch on or off by their ids."""

    paths: tuple[str, ...] = ()
    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()


class Offer(NamedTuple):
    """A metric that was found. `state`: on, off, or why it cannot be had (hidden, broken); `group` is a group's title."""

    metric: MetricDefinition
    state: str
    group: str = ""
    group_id: str = ""


class Plugin(NamedTuple):
    """A source of which metrics are on: its library, the libraries it wants preloaded, and these metrics; whether the recorder has them in itself."""

    source: SourceDefinition
    library: str
    preloads: tuple[str, ...]
    offers: tuple[Offer, ...]
    is_built_in: bool = False

    @property
    def has_node_metrics(self) -> bool:
        """Whether any of its metrics belongs to the node."""
        return any(offer.metric.per_node for offer in self.offers)


class MetricSet(NamedTuple):
    """All that was found, what is to be loaded, and a sentence for each thing that is wrong."""

    offers: tuple[Offer, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def preloads(self) -> tuple[str, ...]:
        """What is to be preloaded, each once, in the order in which files name it."""
        return tuple(dict.fromkeys(path for plugin in self.plugins for path in plugin.preloads))

    @property
    def node_preloads(self) -> tuple[str, ...] | None:
        """Those that plugins with metrics of the node want; None without such a plugin."""
        plugins = [plugin for plugin in self.plugins if plugin.has_node_metrics]
        return tuple(dict.fromkeys(path for plugin in plugins for path in plugin.preloads)) if plugins else None


def choose_metrics(selection: MetricSelection, environment: Mapping[str, str], builtin: str, recorder: str) -> MetricSet:
    """Find all definition files and choose. `builtin` is the built-in directory, `recorder` our own library. Never raises."""
    problems: list[str] = []
    places = _search_path(selection, environment, builtin)
    files = [read_definitions(path) for path in _find_files(places, problems)]
    problems += [problem for file in files for problem in file.problems]
    directories = [place if os.path.isdir(place) else os.path.dirname(os.path.abspath(place)) for place, _ in places]
    offers, plugins = _choose(files, selection, _Libraries(directories, recorder, problems))
    known = {offer.metric.id: offer.metric for offer in reversed(offers)}
    problems += _check_selection(selection, known)
    own = os.path.join(os.path.abspath(builtin), _BUILT_IN)
    return MetricSet(tuple(offers), tuple(plugin._replace(is_built_in=plugin.library == own) for plugin in plugins), tuple(dict.fromkeys(problems)))


def _search_path(selection: MetricSelection, environment: Mapping[str, str], builtin: str) -> list[tuple[str, bool]]:
    """Files and directories to look at; True with those that must be there."""
    asked = [(path, True) for path in selection.paths]
    listed = [(path, True) for path in environment.get("COLLECTOR_METRICS_PATH", "").split(":") if path]
    home = environment.get("ALLINEA_CONFIG_DIR") or os.path.join(environment.get("HOME") or os.path.expanduser("~"), ".allinea")
    return [*asked, *listed, (os.path.join(home, "map", "metrics"), False), (builtin, False)]


def _find_files(places: Sequence[tuple[str, bool]], problems: list[str]) -> list[str]:
    found: dict[str, str] = {}
    for place, is_required in places:
        try:
            paths = [place] if not os.path.isdir(place) else sorted(os.path.join(place, n) for n in os.listdir(place) if n.endswith(".xml"))
        except OSError as error:
            problems.append(f"{place}: it cannot be read: {(error.strerror or str(error)).lower()}")
            continue
        if len(paths) > MOST_FILES:
            problems.append(f"{place}: of its {len(paths)} definition files only {MOST_FILES} are read")
        for path in paths[:MOST_FILES]:
            if not is_required and not os.path.lexists(path):
                continue
            if not os.path.exists(path):
                problems.append(f"{path}: there is no such file or directory of metrics")
                continue
            found.setdefault(os.path.realpath(path), os.path.abspath(path))
    return list(found.values())


def _choose(files: Iterable[DefinitionFile], selection: MetricSelection, libraries: _Libraries) -> tuple[list[Offer], list[Plugin]]:
    offers: list[Offer] = []
    plugins: list[Plugin] = []
    taken: set[str] = set()
    for file in files:
        groups = {ref: group for group in reversed(file.groups) for ref in group.metrics}
        of_file = []
        for metric in file.metrics:
            state = "hidden" if metric.id in taken else _state(metric, selection)
            taken.add(metric.id)
            group = groups.get(metric.id)
            of_file.append(Offer(metric, state, group.title if group else "", group.id if group else ""))
        for source in file.sources:
            wanted = tuple(offer for offer in of_file if offer.state == "on" and offer.metric.source == source.id)
            if not wanted:
                continue
            library = libraries.find(source, source.library, "library")
            if library is None:
                broken = set(map(id, wanted))
                of_file = [Offer(o.metric, "broken", o.group, o.group_id) if id(o) in broken else o for o in of_file]
                continue
            preloads = (libraries.find_preload(source, name) for name in source.preloads)
            plugins.append(Plugin(source, library, tuple(path for path in preloads if path), wanted))
        offers += of_file
    return offers, plugins


def _state(metric: MetricDefinition, selection: MetricSelection) -> str:
    if metric.enabled in ("always", "never"):
        return "on" if metric.enabled == "always" else "off"
    if metric.id in selection.disabled:
        return "off"
    return "on" if metric.enabled == "default_yes" or metric.id in selection.enabled else "off"


def _check_selection(selection: MetricSelection, known: Mapping[str, MetricDefinition]) -> list[str]:
    problems = []
    fixed = {"--enable-metrics": (selection.enabled, "never"), "--disable-metrics": (selection.disabled, "always")}
    for option, (wanted, word) in fixed.items():
        for identifier in wanted:
            metric = known.get(identifier)
            if metric is None:
                problems.append(f"{option}: there is no metric {identifier!r}; --list-metrics lists those there are")
            elif metric.enabled == word:
                problems.append(f"{option}: the definition of {identifier} ({metric.file}:{metric.line}) says {word}")
    return problems


class _Libraries:
    """Looks libraries up by name: beside the definition file first, then in all directories of metrics."""

    def __init__(self, directories: Collection[str], recorder: str, problems: list[str]) -> None:
        self._directories = list(dict.fromkeys(directories))
        self._recorder = recorder
        self._problems = problems

    def find(self, source: SourceDefinition, name: str, what: str) -> str | None:
        """The absolute path of a library that can be loaded here; None, with a problem told, if there is none."""
        beside = os.path.dirname(source.file)
        candidates = [os.path.abspath(os.path.join(directory, name)) for directory in (beside, *self._directories)]
        path = next((path for path in candidates if os.path.isfile(path)), None)
        if path is None:
            return self._tell(source, f"its {what} {name} is neither beside this file nor in a directory of metrics")
        try:
            header, own = read_elf_header(path), read_elf_header(self._recorder)
        except OSError as error:
            return self._tell(source, f"its {what} {path} cannot be read: {(error.strerror or str(error)).lower()}")
        if header is None:
            return self._tell(source, f"its {what} {path} is not a shared library")
        if own is not None and (header.machine, header.bits) != (own.machine, own.bits):
            return self._tell(source, f"its {what} {path} is for {header.machine_name}, not for {own.machine_name}")
        return path

    def find_preload(self, source: SourceDefinition, name: str) -> str | None:
        """The same for a library to preload, which LD_PRELOAD must be able to hold."""
        path = self.find(source, name, "preload")
        if path is None:
            return None
        if os.path.realpath(path) == os.path.realpath(self._recorder):
            return self._tell(source, f"its preload {name} is the recorder itself")
        if any(separator in path for separator in " :\t\n$"):
            return self._tell(source, f"its preload {path} cannot be preloaded: there is a blank, a colon or a $ in its path")
        return path

    def _tell(self, source: SourceDefinition, reason: str) -> str | None:
        self._problems.append(f"{source.file}:{source.line}: <source id={source.id!r}>: {reason}")
        return None
