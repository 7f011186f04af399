"""format_files -- what follows from the table of collector/format.py: `python3 libcollector_c/format_files.py` writes it

The C writer's structs and table, the C parser's, the fields of events and readings in Python, the tables of docs/format.md and what docs/json.md has.
tests/unit/experiment/test_format_tables.py sees to it that the files are what this makes of the table. The C libraries are built without it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from collector.format import ENUMERATIONS, FIELDS, DropCause, Kind, StackEnd  # noqa: E402  (found by the path above)
from collector.readings import COUNTS, LEVELS, READINGS  # noqa: E402

_LONGEST_COMMENT = 76  # behind a member: with the longest of these, a line of 120 columns

# ---- the C writer: a struct for each kind, in the words of the table ----

_ENCODED_BY_HAND = {Kind.PCSAMPLE, Kind.METRIC}
# Fields of which a flag tells whether they are known; that of an int is its own. All ones are the unknown value of the other numbers.
_FLAGS = {(Kind.MAPPINGCHANGE, name): "has_file" for name in ("file_bytes", "file_changed_ns", "text_checksum")}
_NOT_RECORDED = {(Kind.MAPPINGCHANGE, "definition"), (Kind.MAPPINGCHANGE, "caller")}  # nil but in imported profiles
_WRITER_TYPES = {"uint": "UINT", "int": "FLAGGED_INT", "str": "TEXT", "bin": "DATA", "array of str": "TEXTS"}
_WRITER_MEMBERS = {
    "UINT": ("uint64_t {0};",),
    "FLAGGED_UINT": ("uint64_t {0};",),
    "FLAGGED_INT": ("bool has_{0};", "int64_t {0};"),
    "TEXT": ("const char *{0};",),
    "DATA": ("const void *{0};", "size_t {0}_bytes;"),
    "TEXTS": ("const char *const *{0};", "size_t {1}_count;"),
}

# ---- the C parser: the names and widths of pmclog(3) ----

_STRUCTS = {
    Kind.PMCALLOCATE: ("allocate", "pl_a"), Kind.PROCCSW: ("proccsw", "pl_c"), Kind.DROPNOTIFY: ("dropnotify", "pl_d"),
    Kind.PROCEXIT: ("procexit", "pl_e"), Kind.INITIALIZE: ("initialize", "pl_i"), Kind.PMCATTACH: ("pmcattach", "pl_t"),
    Kind.USERDATA: ("userdata", "pl_u"), Kind.PROCEXEC: ("procexec", "pl_x"), Kind.CLOSELOG: ("closelog", "pl_cl"),
    Kind.MAPPINGCHANGE: ("mappingchange", "pl_m"), Kind.PMCDETACH: ("pmcdetach", "pl_dt"), Kind.PROCFORK: ("procfork", "pl_f"),
    Kind.SYSEXIT: ("sysexit", "pl_se"), Kind.RESUME: ("pause", "pl_resume"),
}  # fmt: skip
_MEMBERS = {
    (Kind.INITIALIZE, "version_major"): "version", (Kind.INITIALIZE, "machine"): "arch", (Kind.INITIALIZE, "executable"): "pathname",
    (Kind.MAPPINGCHANGE, "map_kind"): "kind", (Kind.MAPPINGCHANGE, "path"): "pathname", (Kind.PMCALLOCATE, "name"): "evname",
    (Kind.PROCCSW, "count"): "switches", (Kind.PROCEXEC, "entry"): "entryaddr", (Kind.PROCEXEC, "path"): "pathname",
    (Kind.PROCFORK, "parent_pid"): "oldpid", (Kind.PROCFORK, "child_pid"): "newpid", (Kind.SYSEXIT, "path"): "pathname",
    (Kind.USERDATA, "data"): "userdata",
}  # fmt: skip
_NARROW = {"version_major", "version_minor", "source", "image", "cpu_count", "uid", "severity", "voluntary", "is_exit", "text_checksum", "first_line"}
_PARSER_TYPES = {"int": "SIGNED_32", "str": "TEXT", "bin": "DATA", "array of str": "TEXTS", "uint or float or array": "VALUES"}
_PARSER_MEMBERS = {
    "UNSIGNED_64": ("uint64_t pl_{0};",),
    "SIGNED_32": ("int32_t pl_{0};",),
    "TEXT": ("const char *pl_{0};",),
    "DATA": ("const void *pl_{0};", "size_t pl_{0}_bytes;"),
    "TEXTS": ("const char *const *pl_{0};", "size_t pl_{1}_count;"),
}

_PYTHON_TYPES = {
    "uint": "int", "int": "int", "str": "str", "bin": "bytes", "array of str": "tuple[str, ...]", "uint or float or array": "int | float",
}  # fmt: skip


def files() -> dict[Path, str]:
    """What each of the files should hold."""
    source = ROOT / "libcollector_c"
    return {
        source / "src/experiment/event_fields.h": _writer_header(),
        source / "src/experiment/event_fields.c": _writer_table(),
        source / "src/experiment/event_kinds.h": _writer_functions(),
        source / "include/pmclog.h": _with_structs(_with_enumerations((source / "include/pmclog.h").read_text(encoding="utf-8"))),
        source / "pmclog/record_fields.h": _parser_header(),
        source / "pmclog/record_fields.c": _parser_table(),
        source / "pmclog/sample_fields.h": _sample_fields(),
        ROOT / "collector/experiment/events.py": _with_events((ROOT / "collector/experiment/events.py").read_text(encoding="utf-8")),
        ROOT / "collector/reading_fields.py": _with_reading_fields((ROOT / "collector/reading_fields.py").read_text(encoding="utf-8")),
        ROOT / "collector/profile/sample_point.py": _with_point((ROOT / "collector/profile/sample_point.py").read_text(encoding="utf-8")),
        ROOT / "docs/format.md": _with_tables((ROOT / "docs/format.md").read_text(encoding="utf-8")),
        ROOT / "docs/json.md": _with_readings((ROOT / "docs/json.md").read_text(encoding="utf-8")),
    }


def write() -> None:
    """Write all of them anew."""
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")


def _plate(name: str, says: str) -> str:
    return f"/* {name} -- {says}; written by format_files.py from collector/format.py */\n"


def _with_comments(members: Iterator[tuple[str, str]]) -> str:
    """Members of a struct with what is said of each behind it, or above it where the line would become too long."""
    lines: list[tuple[str, str]] = []
    for member, comment in members:
        is_long = len(comment) > _LONGEST_COMMENT
        lines += [(f"/* {comment} */", ""), (member, "")] if is_long else [(member, comment)]
    text = ""
    for has_comments, run in groupby(lines, key=lambda line: bool(line[1])):  # comments of lines that follow each other begin alike
        together = list(run)
        width = max(len(member) for member, _ in together)
        text += "".join(f"    {member:{width}} /* {comment} */\n" if has_comments else f"    {member}\n" for member, comment in together)
    return text


def _members(patterns: tuple[str, ...], name: str, meaning: str) -> Iterator[tuple[str, str]]:
    """The members of a field, of which the one with its own name is told about."""
    for pattern in patterns:
        yield pattern.format(name, name.removesuffix("s")), meaning if re.search(r"[ *_]\{0\};", pattern) and "has_" not in pattern else ""


def _word(kind: Kind) -> str:
    return kind.name.lower()


# ---- the writer ----


def _writer_type(kind: Kind, name: str, type_name: str) -> str:
    return "NIL" if (kind, name) in _NOT_RECORDED else "FLAGGED_UINT" if (kind, name) in _FLAGS else _WRITER_TYPES[type_name]


def _writer_header() -> str:
    parts = [
        _plate("event_fields.h", "the fields of each kind of record, as its function takes them"),
        "#ifndef COL_EXPERIMENT_EVENT_FIELDS_H\n#define COL_EXPERIMENT_EVENT_FIELDS_H\n/* clang-format off */\n\n",
        '#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n#include "experiment/format.h"\n\n',
        "/* One of the fields of a kind: what it is, and where it lies in the kind's struct. */\nstruct col_event_field {\n",
        "    uint8_t type; /* enum col_event_field_type */\n    uint8_t flag; /* FLAGGED: the offset of the bool that says that it is known */\n",
        "    uint16_t offset; /* of TEXTS and DATA: of a pointer with a size_t behind it */\n};\n\n",
        "enum col_event_field_type {\n",
        *(f"    COL_FIELD_{type_},\n" for type_ in (*_WRITER_MEMBERS, "NIL")), "};\n\n",
        f"enum {{ COL_EVENT_KINDS = {max(Kind) + 1}, COL_EVENT_MOST_FIELDS = {_most_fields()} }};\n\n",
        "/* By kind: how many fields, and these. */\nextern const uint8_t col_event_field_counts[COL_EVENT_KINDS];\n",
        "extern const struct col_event_field col_event_fields[COL_EVENT_KINDS][COL_EVENT_MOST_FIELDS];\n\n",
    ]
    for kind, fields in sorted(FIELDS.items()):
        if kind not in _ENCODED_BY_HAND:
            parts.append(f"struct col_event_{_word(kind)} {{\n{_with_comments(_writer_members(kind))}}};\n\n")
    return "".join([*parts, "#endif\n"])


def _writer_functions() -> str:
    parts = [
        _plate("event_kinds.h", "one function per kind of record"),
        "#ifndef COL_EXPERIMENT_EVENT_KINDS_H\n#define COL_EXPERIMENT_EVENT_KINDS_H\n/* clang-format off */\n\n",
        '#include "experiment/event_fields.h"\n#include "experiment/record.h"\n\n',
    ]
    for kind in sorted(set(FIELDS) - _ENCODED_BY_HAND - {Kind.INITIALIZE}):
        parts += [
            f"static inline int col_event_{_word(kind)}(struct col_event_head head, const struct col_event_{_word(kind)} *event)\n{{\n",
            f"    return col_record_write(&(struct col_record){{head, COL_KIND_{kind.name}, event, 0, NULL}});\n}}\n\n",
        ]
    return "".join([*parts, "#endif\n"])


def _most_fields() -> int:
    return max(len(fields) for kind, fields in FIELDS.items() if kind not in _ENCODED_BY_HAND)


def _writer_members(kind: Kind) -> Iterator[tuple[str, str]]:
    flags: set[str] = set()
    for name, type_name, meaning in FIELDS[kind]:
        flag = _FLAGS.get((kind, name))
        if flag and flag not in flags:
            flags.add(flag)
            yield f"bool {flag};", ""
        if (kind, name) not in _NOT_RECORDED:
            yield from _members(_WRITER_MEMBERS[_WRITER_TYPES[type_name]], name, meaning)


def _writer_table() -> str:
    rows, counts = [], []
    for kind, fields in sorted(FIELDS.items()):
        if kind in _ENCODED_BY_HAND:
            continue
        counts.append(f"    [COL_KIND_{kind.name}] = {len(fields)},\n")
        rows.append(f"    [COL_KIND_{kind.name}] = {{\n")
        for name, type_name, _ in fields:
            type_ = _writer_type(kind, name, type_name)
            members = ["" if "FLAGGED" not in type_ else _FLAGS.get((kind, name), f"has_{name}"), "" if type_ == "NIL" else name]
            places = [f"offsetof(struct col_event_{_word(kind)}, {member})" if member else "0" for member in members]
            rows.append(f"        {{{', '.join([f'COL_FIELD_{type_}', *places])}}},\n")
        rows.append("    },\n")
    return "".join([
        _plate("event_fields.c", "where the fields of each kind of record lie"), '#include "experiment/event_fields.h"\n\n/* clang-format off */\n',
        "const uint8_t col_event_field_counts[COL_EVENT_KINDS] = {\n", *counts, "};\n\n",
        "const struct col_event_field col_event_fields[COL_EVENT_KINDS][COL_EVENT_MOST_FIELDS] = {\n", *rows, "};\n",
    ])  # fmt: skip


# ---- the parser ----


def _parser_type(kind: Kind, name: str, type_name: str) -> str:
    if type_name != "uint":
        return _PARSER_TYPES[type_name]
    return "UNSIGNED_32" if name in _NARROW or name.endswith("pid") or (kind, name) in ENUMERATIONS else "UNSIGNED_64"


def _struct(kind: Kind) -> tuple[str, str]:
    return _STRUCTS.get(kind, (_word(kind), f"pl_{_word(kind)}"))


def _member(kind: Kind, name: str, type_name: str) -> str:
    return "pmcid" if (name, type_name) == ("source", "uint") else _MEMBERS.get((kind, name), name)


def _parser_members(kind: Kind) -> Iterator[tuple[str, str]]:
    for name, type_name, meaning in FIELDS[kind]:
        type_ = _parser_type(kind, name, type_name)
        patterns = _PARSER_MEMBERS.get(type_) or ("pid_t pl_{0};" if name.endswith("pid") else "uint32_t pl_{0};",)
        yield from _members(patterns, _member(kind, name, type_name), _in_c(kind, name, type_, meaning))


def _in_c(kind: Kind, name: str, type_: str, meaning: str) -> str:
    """What is said of a field, in the words of pmclog.h."""
    enumeration = ENUMERATIONS.get((kind, name))
    if enumeration is DropCause:
        return "enum pmclog_drop_cause"
    if enumeration:
        return ", ".join(f"{member.value} {member.name.lower().replace('_', ' ')}" for member in enumeration)
    unknown = "PMCLOG_UNKNOWN" if type_.startswith("UNSIGNED") else "-1" if type_ == "SIGNED_32" else "NULL"
    return re.sub(r"\bnil\b", unknown, re.sub(r", see (below|Metrics|Values)", " (docs/format.md)", meaning))


def _with_enumerations(text: str) -> str:
    for name, prefix, enumeration in (("type", "TYPE", Kind), ("drop_cause", "DROP", DropCause), ("chain_end", "END", StackEnd)):
        members = ",\n".join(f"    PMCLOG_{prefix}_{member.name} = {member.value}" for member in enumeration)
        text = _replace(text, rf"^enum pmclog_{name} \{{\n(.*?)^\}};", members + "\n")
    return text


def _with_structs(text: str) -> str:
    for kind in FIELDS:
        if kind not in _ENCODED_BY_HAND:
            text = _replace(text, rf"^struct pmclog_ev_{_struct(kind)[0]} \{{\n(.*?)^\}};", _with_comments(_parser_members(kind)))
    return text


def _parser_header() -> str:
    return "".join([
        _plate("record_fields.h", "the fields of each kind of record, as they go into an event"),
        "#ifndef COL_PMCLOG_RECORD_FIELDS_H\n#define COL_PMCLOG_RECORD_FIELDS_H\n/* clang-format off */\n\n#include <stdint.h>\n\n",
        "/* TEXTS, DATA: a pointer and, in the member after it, a count. VALUES: those of METRIC. */\n",
        "enum col_record_field_type { END_OF_FIELDS, UNSIGNED_32, UNSIGNED_64, SIGNED_32, TEXT, TEXTS, DATA, VALUES };\n\n",
        "struct col_record_field {\n    uint16_t type;   /* enum col_record_field_type */\n",
        "    uint16_t offset; /* of the member in struct pmclog_ev */\n};\n\n",
        f"enum {{ COL_RECORD_KINDS = {max(Kind) + 1}, COL_RECORD_MOST_FIELDS = {_most_fields()} }};\n\n",
        "/* By kind; behind the last of a kind is END_OF_FIELDS. PCSAMPLE is not here: samples.c. */\n",
        "extern const struct col_record_field col_record_fields[COL_RECORD_KINDS][COL_RECORD_MOST_FIELDS + 1];\n\n#endif\n",
    ])  # fmt: skip


def _parser_table() -> str:
    rows = []
    for kind, fields in sorted(FIELDS.items()):
        if kind is Kind.PCSAMPLE:
            continue
        rows.append(f"    [PMCLOG_TYPE_{kind.name}] = {{\n")
        for name, type_name, _ in fields:
            type_ = _parser_type(kind, name, type_name)
            member = f"pl_u.{_struct(kind)[1]}" + ("" if type_ == "VALUES" else f".pl_{_member(kind, name, type_name)}")
            rows.append(f"        {{{type_}, offsetof(struct pmclog_ev, {member})}},\n")
        rows.append("    },\n")
    return "".join([
        _plate("record_fields.c", "where the fields of each kind of record go"),
        '#include "record_fields.h"\n\n#include "pmclog.h"\n\n/* clang-format off */\n',
        "const struct col_record_field col_record_fields[COL_RECORD_KINDS][COL_RECORD_MOST_FIELDS + 1] = {\n", *rows, "};\n",
    ])  # fmt: skip


_SAMPLE_MEMBERS = {
    "uint": ("uint64_t {0};",),
    "column": ("struct col_column {0};",),
    "array of column": ("size_t {1}_count;", "struct col_column {0}[COL_SAMPLE_MAX_VALUES];"),
    "bin": ("struct col_extent {0};",),
}
_SAMPLE_READS = {
    "uint": "col_cursor_read_unsigned(record, &fields->{0})",
    "column": "col_columns_read(record, fields->count, &fields->{0})",
    "array of column": "col_columns_read_array(record, fields->count, COL_SAMPLE_MAX_VALUES, fields->{0}, &fields->{1}_count)",
    "bin": "col_cursor_read_data(record, &fields->{0})",
}


def _sample_fields() -> str:
    """PCSAMPLE, of which each reader makes samples in its own way."""
    fields = FIELDS[Kind.PCSAMPLE]
    members = (member for name, type_name, meaning in fields for member in _members(_SAMPLE_MEMBERS[type_name], name, meaning))
    reads = [_SAMPLE_READS[type_name].format(name, name.removesuffix("s")) for name, type_name, _ in fields]
    number = [name for name, _, _ in fields].index("count")
    reads[number] += " && fields->count <= COL_SAMPLE_FIELDS_MAX_COUNT"
    return "".join([
        _plate("sample_fields.h", "the fields of a PCSAMPLE record"),
        "#ifndef COL_PMCLOG_SAMPLE_FIELDS_H\n#define COL_PMCLOG_SAMPLE_FIELDS_H\n/* clang-format off */\n\n",
        '#include "columns.h"\n\n#include "experiment/format.h"\n\n',
        "/* More samples than this in one record are not believed: columns of width 0 make any number of them out of nothing.\n",
        "   The recorder writes at most 1000. */\n#define COL_SAMPLE_FIELDS_MAX_COUNT 65536u\n\n",
        f"struct col_sample_fields {{\n{_with_comments(members)}}};\n\n",
        f"enum {{ COL_SAMPLE_FIELDS = {len(fields)} }};\n\n",
        "/* Behind the record's head; false if there is not what the format says. Eight more bytes behind the record must be readable. */\n",
        "static inline bool col_sample_fields_read(struct col_cursor *record, struct col_sample_fields *fields)\n{\n",
        "    return ", " &&\n           ".join(reads), ";\n}\n\n#endif\n",
    ])  # fmt: skip


# ---- Python, and the page ----


def _with_events(text: str) -> str:
    for kind, fields in FIELDS.items():
        if kind in (Kind.PCSAMPLE, Kind.SAMPLE):  # columns, and what collector/readings.py has
            continue
        lines = []
        for name, type_name, _ in fields:
            enumeration = ENUMERATIONS.get((kind, name))
            told = f"{enumeration.__name__} | int" if enumeration else _PYTHON_TYPES[type_name]
            lines.append(f"    {name}: {told} | None = None\n")
        text = _replace(text, rf"^    kind: ClassVar\[Kind\] = Kind\.{kind.name}\n((?:    \w+: .*\n)*)", "".join(lines))
    return text


def _with_reading_fields(text: str) -> str:
    for name, has_them in (("_Times", False), ("Counts", True)):
        lines = [f"    {field}: int | None = None\n" for field, _, _ in READINGS if (field in COUNTS) == has_them]
        text = _replace(text, rf"^class {name}:\n(?:    \"\"\".*\n\n)?((?:    \w+: .*\n)*)", "".join(lines))
    return text


def _with_point(text: str) -> str:
    lines = [f"    {field}: int | None = None\n" for field, _, _ in READINGS]
    return _replace(text, r"^    cause: str\n((?:    \w+: .*\n)*)", "".join(lines))


def _with_tables(page: str) -> str:
    for kind in Kind:
        rows = [f"| {' | '.join(field)} |\n" for field in (("field", "type", "meaning"), *FIELDS[kind])]
        table = "".join([rows[0], "|---|---|---|\n", *rows[1:]])
        page = _replace(page, rf"^### {kind.name} \({kind.value}\)\n(?:(?![#|]).*\n)*((?:\|.*\n)*)", table)
    return page


def _with_readings(page: str) -> str:
    """What the view `samples` shows of each reading that is no time."""
    meanings = {name: re.sub(r" \(\w+\)|,.*", "", meaning) for name, _, meaning in READINGS if name in COUNTS}
    values = "".join(f"| `rows[].values.{name}` | number | {meaning} |\n" for name, meaning in meanings.items())
    falls = {name: "below zero where it fell " if name in LEVELS else "" for name in meanings}
    changes = "".join(f"| `rows[].change.{name}` | number | {fall}|\n" for name, fall in falls.items())
    for word, rows in (("values", values), ("change", changes)):
        page = _replace(page, rf"^\| `rows\[\]\.{word}\.system` .*\n((?:\| `rows\[\]\.{word}\.\w+` .*\n)*)", rows)
    return page


def _replace(text: str, pattern: str, part: str) -> str:
    """The text with another part in the pattern's group. The pattern must be there."""
    found = re.search(pattern, text, re.MULTILINE | (re.DOTALL if ".*?" in pattern else 0))
    if not found:
        raise SystemExit(f"no place for {pattern}")
    return text[: found.start(1)] + part + text[found.end(1) :]


if __name__ == "__main__":
    write()
