"""stack_workers -- the stacks of a big log, put together by other processes, while this one adds up what they did

A worker knows addresses only: it gives each chain of callers that it meets a number, and tells chains that are new to it
once. This process finds out what the addresses are, in the same order as if it had read the stacks itself, so that the
result is the same. Workers are forks: where that is not possible, or a worker dies, this process reads all stacks itself.
"""

from __future__ import annotations

import os
import signal
from array import array
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from collector.experiment.samples import PcSampleBlock
from collector.experiment.stacks import iter_differences

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future

WORTHWHILE_BYTES: Final = 1 << 21
"""A log of fewer bytes is read before the workers are there."""

_MOST_WORKERS = 4
_BATCH_BYTES = 1 << 18
_MOST_CHAINS = 1 << 18
_ADDRESS_BITS = 64


@dataclass(frozen=True, slots=True)
class BlockStacks:
    """The stacks of one block, as the worker `worker` numbers the chains of their callers; 0 is no caller.

    `parents` and `addresses` are of the chains that are new to it: without their last caller, and where that returns to. If it
    `is_afresh`, they are all that it knows. `leaves` are the addresses of the leaves; those of the stacks in `empty` mean nothing.
    """

    worker: int
    is_afresh: bool
    parents: array[int]
    addresses: array[int]
    callers: array[int]
    leaves: array[int]
    ends: bytes
    empty: tuple[int, ...]


class _Chains(dict[int, int]):
    """Chains of callers by number: `chains[parent << 64 | address]`. `new` are the keys that came up since it was emptied."""

    def __init__(self, log: int) -> None:
        super().__init__()
        self.log = log
        self.new: list[int] = []

    def __missing__(self, key: int) -> int:
        number = self[key] = len(self) + 1
        self.new.append(key)
        return number


_chains = _Chains(-1)  # a worker's, of the log that it reads


def _read_batch(log: int, batch: list[tuple[bytes, int]]) -> list[BlockStacks]:
    return [_read_block(log, definitions, stack_count) for definitions, stack_count in batch]


def _read_block(log: int, definitions: bytes, stack_count: int) -> BlockStacks:
    global _chains
    is_afresh = _chains.log != log or len(_chains) > _MOST_CHAINS
    if is_afresh:
        _chains = _Chains(log)
    chains, bits = _chains, _ADDRESS_BITS
    callers, leaves, ends = array("I"), array("Q"), bytearray()
    empty = []
    path = [0]
    for kept, added, leaf, end in iter_differences(definitions, stack_count):
        del path[kept + 1 :]
        chain = path[-1]
        for address in added:
            chain = chains[chain << bits | address]
            path.append(chain)
        if leaf is None:
            empty.append(len(ends))
        callers.append(chain)
        leaves.append(leaf or 0)
        ends.append(end)
    new, chains.new = chains.new, []
    parents = array("I", (key >> bits for key in new))
    addresses = array("Q", (key & (1 << bits) - 1 for key in new))
    return BlockStacks(os.getpid(), is_afresh, parents, addresses, callers, leaves, bytes(ends), tuple(empty))


class StackWorkers:
    """Some processes that read stacks; none if there are no processors for them. To be closed."""

    def __init__(self) -> None:
        self._executor: Executor | None = None
        self._has_failed = False
        self._log = 0

    def close(self) -> None:
        """Let the workers go."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None

    def read(self, blocks: Iterable[PcSampleBlock], size_bytes: int) -> Iterator[tuple[PcSampleBlock, BlockStacks | None]]:
        """The blocks of a log of that size, in their order, with their stacks; None where nobody has read them."""
        self._log += 1
        if size_bytes < WORTHWHILE_BYTES or not self._are_there():
            yield from ((block, None) for block in blocks)
            return
        waiting: deque[tuple[list[PcSampleBlock], Future[list[BlockStacks]] | None]] = deque()
        for batch in _batches(blocks):
            waiting.append((batch, self._submit(batch)))
            if len(waiting) > 2 * _MOST_WORKERS:
                yield from self._result(*waiting.popleft())
        for batch, future in waiting:
            yield from self._result(batch, future)

    def _are_there(self) -> bool:
        """Begin, if that was not done; False where it is not possible, or there is no processor for them."""
        if self._executor is None and not self._has_failed:
            try:
                from concurrent.futures import ProcessPoolExecutor
                from multiprocessing import get_context

                spare = len(os.sched_getaffinity(0)) - 1
                self._executor = ProcessPoolExecutor(min(spare, _MOST_WORKERS), get_context("fork"), _begin_worker)
            except (ImportError, AttributeError, OSError, ValueError):  # no fork, no semaphores, no spare processor
                self._has_failed = True
        return not self._has_failed

    def _submit(self, batch: list[PcSampleBlock]) -> Future[list[BlockStacks]] | None:
        if self._has_failed or self._executor is None:
            return None
        try:
            return self._executor.submit(_read_batch, self._log, [(block.definitions, block.stack_count) for block in batch])
        except (OSError, RuntimeError):
            self._has_failed = True
            return None

    def _result(
        self, batch: list[PcSampleBlock], future: Future[list[BlockStacks]] | None
    ) -> Iterator[tuple[PcSampleBlock, BlockStacks | None]]:
        try:
            stacks: list[BlockStacks | None] = [*future.result()] if future and not self._has_failed else [None] * len(batch)
        except (OSError, RuntimeError):  # a worker was killed: from here on its numbers mean nothing
            self._has_failed = True
            stacks = [None] * len(batch)
        yield from zip(batch, stacks)


def _batches(blocks: Iterable[PcSampleBlock]) -> Iterator[list[PcSampleBlock]]:
    batch: list[PcSampleBlock] = []
    size_bytes = 0
    for block in blocks:
        batch.append(block)
        size_bytes += len(block.definitions)
        if size_bytes >= _BATCH_BYTES:
            yield batch
            batch, size_bytes = [], 0
    yield batch


def _begin_worker() -> None:
    """Leave interrupts to the parent, and end when it does, however it ends."""
    from multiprocessing import parent_process
    from threading import Thread

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()

    def end_with_parent() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()
