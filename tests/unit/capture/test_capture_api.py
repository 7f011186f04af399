"""test_capture_api -- the Python calls: what they refuse, what they pass on, how pauses nest"""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from collector.capture import api
from collector.capture.native import Recorder


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """The calls that reach a recorder, as (name, *arguments)."""
    received: list[tuple] = []

    def note(name: str, answer: object = None):
        return lambda *arguments: received.append((name, *arguments)) or answer

    answers = {"version": b"9.8.7", "is_active": 1}
    recorder = Recorder(**{name: note(name, answers.get(name)) for name in Recorder._fields})
    monkeypatch.setattr(api, "find_recorder", lambda: recorder)
    monkeypatch.setattr(api, "_state", api._PauseState())
    monkeypatch.setattr(api, "_phases", api._Phases())
    return received


BAD_CALLS = [
    (TypeError, lambda: api.sample(b"bytes")),
    (TypeError, lambda: api.sample(None)),
    (ValueError, lambda: api.sample("nul \0 inside")),
    (ValueError, lambda: api.sample("lone surrogate \ud800")),
    (ValueError, lambda: api.phase("nul \0 inside").__enter__()),
    (TypeError, lambda: api.writelog("text")),
    (TypeError, lambda: api.func_load(b"f", 1, 1)),
    (TypeError, lambda: api.func_load("f", "1", 1)),
    (TypeError, lambda: api.func_load("f", 1, 1.5)),
    (ValueError, lambda: api.func_load("", 1, 1)),
    (ValueError, lambda: api.func_load("f", 0, 1)),
    (ValueError, lambda: api.func_load("f", 2**64, 1)),
    (ValueError, lambda: api.func_load("f", 1, 0)),
    (ValueError, lambda: api.func_load("f", 1, 2**31)),
    (ValueError, lambda: api.func_load("f", 2**64 - 1, 2)),
    (ValueError, lambda: api.func_load("f", 1, 1, alias="\0")),
    (ValueError, lambda: api.func_load("f", 1, 9, lines=[(4, 1), (4, 2)])),
    (ValueError, lambda: api.func_load("f", 1, 9, lines=[(-1, 1)])),
    (ValueError, lambda: api.func_load("f", 1, 9, lines=[(0, 2**31)])),
    (TypeError, lambda: api.func_load("f", 1, 9, lines=[(0, "1")])),
    (TypeError, lambda: api.func_unload(None)),
    (ValueError, lambda: api.func_unload(-1)),
    (TypeError, lambda: api.module_load(7, 1)),
    (ValueError, lambda: api.module_load("m\0.o", 1)),
    (ValueError, lambda: api.module_unload(0)),
]


@pytest.mark.parametrize("is_recorded", [True, False])
@pytest.mark.parametrize(("error", "call"), BAD_CALLS)
def test_bad_arguments_raise_recorded_or_not(
    calls: list[tuple], monkeypatch: pytest.MonkeyPatch, error: type, call, is_recorded: bool
) -> None:
    if not is_recorded:
        monkeypatch.setattr(api, "find_recorder", lambda: None)
    with pytest.raises(error):
        call()
    assert calls == []


def test_arguments_arrive_as_the_recorder_takes_them(calls: list[tuple]) -> None:
    api.sample("ä")
    api.sample(os.fsdecode(b"raw \xff"))
    api.sample()
    api.writelog(bytearray(b"a\0b"))
    api.func_load("f", 2**64 - 8, 8, "alias", Path("f.py"), iter([(0, 9), (4, 3)]))
    api.module_load(Path("/m.o"), 5)
    assert calls == [
        ("sample", "ä".encode()),
        ("sample", b"raw \xff"),
        ("sample", b""),
        ("writelog", b"a\0b"),
        ("func_load", b"f", b"alias", b"f.py", 2**64 - 8, 8, [0, 9, 4, 3]),
        ("module_load", b"/m.o", 5),
    ]
    assert (api.version(), api.is_recording()) == ("9.8.7", True)


def test_unrecorded_calls_do_nothing() -> None:
    api.sample("label")
    with api.paused():
        pass
    api.terminate_expt()
    assert (api.version(), api.is_recording()) == ("", False)


def test_nested_blocks_resume_once_at_the_end(calls: list[tuple]) -> None:
    with api.paused(), api.paused():
        pass
    assert calls == [("pause",), ("resume",)]


def test_a_block_inside_a_pause_does_not_end_it(calls: list[tuple]) -> None:
    api.pause()
    with api.paused():
        pass
    assert calls == [("pause",)]


def test_calls_inside_a_block_have_the_last_word(calls: list[tuple]) -> None:
    with api.paused():
        api.pause()
    assert calls == [("pause",), ("pause",)]
    calls.clear()
    with api.paused():
        api.resume()
    assert calls == [("resume",)]


def test_a_block_resumes_when_left_by_an_exception(calls: list[tuple]) -> None:
    with pytest.raises(KeyError), api.paused():
        raise KeyError
    assert calls == [("pause",), ("resume",)]


def test_a_decorated_function_pauses_at_each_call(calls: list[tuple]) -> None:
    @api.paused()
    def work() -> None:
        api.sample("work")

    work()
    work()
    assert calls == [("pause",), ("sample", b"work"), ("resume",)] * 2


def test_overlapping_blocks_of_threads_resume_at_the_last_end(calls: list[tuple]) -> None:
    is_inside, may_leave = threading.Event(), threading.Event()

    def other() -> None:
        with api.paused():
            is_inside.set()
            may_leave.wait()

    thread = threading.Thread(target=other)
    with api.paused():
        thread.start()
        is_inside.wait()
    assert calls == [("pause",)]
    may_leave.set()
    thread.join()
    assert calls == [("pause",), ("resume",)]


def test_a_child_can_pause_though_the_lock_was_held_at_fork(calls: list[tuple]) -> None:
    is_held, may_release = threading.Event(), threading.Event()

    def hold() -> None:
        with api._state.lock:
            is_held.set()
            may_release.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    is_held.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if api._state.lock.acquire(blocking=False) else 1)
    may_release.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def labels(calls: list[tuple]) -> list[str]:
    return [arguments[0].decode() for name, *arguments in calls if name == "sample"]


def test_a_phase_gives_back_the_label_around_it(calls: list[tuple]) -> None:
    with api.phase("outer"):
        with api.phase("inner"):
            pass
    assert labels(calls) == ["outer", "inner", "outer", api.NO_PHASE]


def test_a_phase_that_began_last_counts_until_its_own_end(calls: list[tuple]) -> None:
    first, second = api.phase("same"), api.phase("same")
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert labels(calls) == ["same", "same"]
    second.__exit__(None, None, None)
    assert labels(calls) == ["same", "same", api.NO_PHASE]


def test_a_phase_is_a_decorator_and_ends_with_an_exception(calls: list[tuple]) -> None:
    @api.phase("work")
    def fail() -> None:
        raise KeyError

    for _ in range(2):
        with pytest.raises(KeyError):
            fail()
    assert labels(calls) == ["work", api.NO_PHASE] * 2


def test_a_wrong_label_opens_no_phase(calls: list[tuple]) -> None:
    with pytest.raises(ValueError, match="NUL"):
        api.phase("\0").__enter__()
    with api.phase("right"):
        pass
    assert labels(calls) == ["right", api.NO_PHASE]
