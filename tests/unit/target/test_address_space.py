"""test_address_space -- what is at an address depends on the time: files come and go, functions reuse and cover memory"""

from __future__ import annotations

import os
import random
import struct

from collector.experiment.events import MappingChange
from collector.format import MapAction, MapKind
from collector.target.address_space import AddressSpace, Mapping
from collector.target.dynamic_code import first_line, line_at

_US = 1000
_MANY = 100_000 if os.environ.get("COLLECTOR_TEST_THOROUGH") else 20_000


def _change(action, kind, time_us, start, end, **fields):
    return MappingChange(time=time_us * _US, action=action, map_kind=kind, start=start, end=end, **fields)


def _file(time_us, start, end, path, **fields):
    return _change(MapAction.INSERT, MapKind.OBJECT, time_us, start, end, path=path, **fields)


def _function(time_us, start, end, name, **fields):
    return _change(MapAction.INSERT, MapKind.DYNAMIC_FUNCTION, time_us, start, end, name=name, **fields)


def _gone(kind, time_us, start, end):
    return _change(MapAction.DELETE, kind, time_us, start, end)


def _name(space: AddressSpace, address: int, time_us: int) -> str | None:
    found = space.find(address, time_us * _US)
    return found and (found.name or found.path)


def test_addresses_become_those_of_the_file():
    space = AddressSpace([_file(0, 0x7000_1000, 0x7000_9000, "/lib/a.so", bias=0x7000_0000, build_id=b"id", file_offset=0x1000)])
    found = space.find(0x7000_1234, 5 * _US)
    assert found is not None and found.elf_address(0x7000_1234) == 0x1234
    assert (found.path, found.build_id, found.file_offset) == ("/lib/a.so", b"id", 0x1000)
    assert Mapping(MapKind.OBJECT, 0, 1, (1 << 64) - 16, 0, "", b"", 0).elf_address(0x10) == 0x20
    assert space.find(0x7000_9000, 5 * _US) is None and space.find(0x7000_0FFF, 5 * _US) is None


def test_memory_that_is_used_again_is_told_apart_by_time():
    space = AddressSpace([
        _file(10, 0x1000, 0x3000, "first"), _gone(MapKind.OBJECT, 50, 0x1000, 0x3000), _file(80, 0x1000, 0x2000, "second"),
    ])
    assert [_name(space, 0x1500, time) for time in (10, 49, 50, 79, 80, 500)] == [
        "first", "first", "second", "second", "second", "second",
    ]  # between the two nothing was there, so it can only be the one that was just coming
    assert _name(space, 0x2500, 49) == "first" and _name(space, 0x2500, 60) is None
    assert [life.path for life in space.history(0x1500)] == ["first", "second"]


def test_code_of_a_file_may_run_before_its_mapping_is_told():
    space = AddressSpace([_file(100, 0x1000, 0x2000, "plugin")])
    assert _name(space, 0x1500, 3) == "plugin"


def test_a_function_is_valid_from_its_call_to_its_unloading():
    space = AddressSpace([
        _function(100, 0x1000, 0x1100, "old"), _gone(MapKind.DYNAMIC_FUNCTION, 200, 0x1000, 0x1100),
        _function(300, 0x1080, 0x1200, "new"),
    ])
    assert [_name(space, 0x1090, time) for time in (98, 100, 199, 200, 298, 300)] == [None, "old", "old", None, None, "new"]
    assert _name(space, 0x1010, 300) is None


def test_a_sample_in_the_microsecond_of_the_call_counts():
    space = AddressSpace([MappingChange(time=100_900, action=1, map_kind=1, start=1, end=9, name="f")])
    assert space.find(5, 100_000).name == "f" and space.find(5, 99_900) is None


def test_the_newest_function_wins_and_gives_back():
    space = AddressSpace([
        _change(MapAction.INSERT, MapKind.ANONYMOUS, 1, 0x1000, 0x9000),
        _function(10, 0x2000, 0x3000, "outer"), _function(20, 0x2800, 0x2900, "inner"),
        _gone(MapKind.DYNAMIC_FUNCTION, 30, 0x2800, 0x2900),
        _change(MapAction.INSERT, MapKind.ANONYMOUS, 40, 0x1000, 0x9000),
        _file(50, 0x2000, 0x2400, "/lib/b.so"),
    ])
    assert [_name(space, 0x2880, time) for time in (5, 15, 25, 35, 45)] == ["", "outer", "inner", "outer", "outer"]
    assert (_name(space, 0x2100, 45), _name(space, 0x2100, 55)) == ("outer", "/lib/b.so")


def test_deletions_end_the_newest_of_their_kind():
    space = AddressSpace([
        _function(10, 0x1000, 0x2000, "a"), _function(20, 0x1000, 0x1F00, "b"),
        _gone(MapKind.DYNAMIC_FUNCTION, 30, 0x1000, 0x1000), _gone(MapKind.DYNAMIC_FUNCTION, 40, 0x1000, None),
    ])
    assert [_name(space, 0x1800, time) for time in (15, 25, 35, 45)] == ["a", "b", "a", None]
    assert space.ignored_count == 0


def test_a_function_told_again_for_the_same_range_replaces_the_first_for_good():
    space = AddressSpace([
        _function(10, 0x1000, 0x2000, "a"), _function(20, 0x1000, 0x2000, "b"), _gone(MapKind.DYNAMIC_FUNCTION, 30, 0x1000, 0x1000),
    ])
    assert [_name(space, 0x1800, time) for time in (15, 25, 35)] == ["a", "b", None]


def test_functions_of_a_perf_map_count_where_nothing_else_does():
    space = AddressSpace([
        _change(MapAction.INSERT, MapKind.ANONYMOUS, 1, 0x1000, 0x9000), _file(10, 0x8000, 0x9000, "/lib/a.so"),
        _function(20, 0x2000, 0x2100, "told"), _gone(MapKind.DYNAMIC_FUNCTION, 30, 0x2000, 0x2000),
    ])
    space.add_untimed(
        Mapping(MapKind.DYNAMIC_FUNCTION, start, end, start, 0, "", b"", 0, name=name)
        for start, end, name in ((0x2000, 0x3000, "old"), (0x2080, 0x2200, "new"), (0x8000, 0x8100, "hidden"))
    )
    assert [_name(space, 0x2090, time) for time in (5, 25, 35)] == ["new", "told", "new"]
    assert [_name(space, address, 25) for address in (0x2200, 0x2010, 0x8010, 0x3000)] == ["old", "told", "/lib/a.so", ""]
    assert space.turning_points(0x2090) == [1, 19_001, 30_000]


def test_a_fork_child_has_what_its_parent_had_made():
    parent = AddressSpace([
        _function(10, 0x1000, 0x2000, "gone"), _gone(MapKind.DYNAMIC_FUNCTION, 20, 0x1000, 0x1000),
        _function(30, 0x2000, 0x3000, "there"), _file(30, 0x3000, 0x4000, "/lib/a.so"), _function(50, 0x4000, 0x5000, "later"),
    ])
    child = AddressSpace([_gone(MapKind.DYNAMIC_FUNCTION, 70, 0x2000, 0x2000)])  # its own log, which is read first
    assert child.ignored_count == 1
    child.inherit(parent, 40 * _US)
    assert child.ignored_count == 0
    assert [_name(child, address, 60) for address in (0x1500, 0x2500, 0x3500, 0x4500)] == [None, "there", None, None]
    assert _name(child, 0x2500, 70) is None and _name(parent, 0x2500, 70) == "there"


def test_nonsense_is_counted():
    space = AddressSpace([
        _gone(MapKind.OBJECT, 1, 5, 6), _file(2, 10, 10, "x"), _file(3, 10, 5, "x"), MappingChange(action=1), MappingChange(start=1, action=9),
    ])
    assert space.ignored_count == 5 and list(space) == []


def test_thousands_of_functions():
    rng = random.Random(2)
    space = AddressSpace([_change(MapAction.INSERT, MapKind.ANONYMOUS, 0, 0, 1 << 40)])
    starts = rng.sample(range(0, 1 << 30, 64), _MANY)
    for number, start in enumerate(starts):
        space.add(_function(number, start, start + 64, f"f{number}"))
    for number in range(0, _MANY, 97):
        assert _name(space, starts[number] + 63, _MANY) == f"f{number}"
        assert _name(space, starts[number], number - 2 if number else 0) in ("", "f0")


def test_one_address_used_thousands_of_times():
    space = AddressSpace()
    for number in range(_MANY):
        space.add(_function(10 * number, 0x1000, 0x1100, f"f{number}"))
        space.add(_gone(MapKind.DYNAMIC_FUNCTION, 10 * number + 8, 0x1000, 0x1100))
    assert [_name(space, 0x1000, time) for time in (55, 59, 10 * _MANY - 5, 20 * _MANY)] == ["f5", None, f"f{_MANY - 1}", None]


def test_one_mapping_for_ever_is_known_as_such():
    space = AddressSpace([_file(5, 100, 200, "a"), _file(6, 150, 300, "b"), _file(7, 400, 500, "c"), _gone(MapKind.OBJECT, 9, 400, 500)])
    space.add(_function(8, 200, 210, "f"))
    names = [(found := space.sole(address)) and found.path for address in (99, 100, 149, 150, 199, 200, 210, 299, 300, 400)]
    assert names == [None, "a", "a", None, None, None, "b", "b", None, None]
    assert all(space.find(120, time * _US) is space.sole(120) for time in (0, 5, 100))
    space.add(_file(10, 100, 200, "d"))
    assert space.sole(120) is None


def test_random_changes_agree_with_a_slow_memory():
    rng = random.Random(9)
    for _ in range(30):
        space, told = AddressSpace(), []
        for time in range(1, 120):
            start = rng.randrange(60)
            if told and rng.random() < 0.3:
                alive = [life for life in told if life[3] is None]
                if alive:
                    life = rng.choice(alive)
                    newest = [other for other in alive if other[:2] == life[:2]][-1]
                    newest[3] = time
                    space.add(_gone(MapKind.DYNAMIC_FUNCTION, time, *life[:2]))
                continue
            end = start + rng.randrange(1, 20)
            for life in told:
                if life[:2] == [start, end] and life[3] is None:
                    life[3] = time
            told.append([start, end, time, None])
            space.add(_function(time, start, end, str(time)))
        for _ in range(300):
            address, time = rng.randrange(85), rng.randrange(130)
            there = [life for life in told if life[0] <= address < life[1] and life[2] <= time and (life[3] is None or time < life[3])]
            assert _name(space, address, time) == (str(max(life[2] for life in there)) if there else None)


def test_lines_of_dynamic_functions():
    table = struct.pack("<8i", 0, 30, 4, 10, 4, 99, 16, 20) + b"xyz"
    function = Mapping(MapKind.DYNAMIC_FUNCTION, 0x1000, 0x1100, 0, 0, "", b"", 0, lines=table)
    assert [line_at(function, 0x1000 + offset) for offset in (0, 3, 4, 15, 16, 255)] == [30, 30, 10, 10, 20, 20]
    assert first_line(function) == 30
    late = Mapping(MapKind.DYNAMIC_FUNCTION, 0x1000, 0x1100, 0, 0, "", b"", 0, lines=struct.pack("<2i", 8, 5))
    assert (line_at(late, 0x1004), line_at(late, 0x1008)) == (None, 5)
    bare = Mapping(MapKind.DYNAMIC_FUNCTION, 0x1000, 0x1100, 0, 0, "", b"", 0)
    assert line_at(bare, 0x1000) is None and first_line(bare) is None
