"""frames -- finds the frames of a log in a stream of bytes, and says what is lost between them

The rules are those of docs/format.md, "Reading a damaged log". Nothing here knows what a frame contains.
"""

from __future__ import annotations

import re
import struct
from collections import deque
from dataclasses import dataclass
from enum import Enum
from zlib import crc32

from collector.format import FRAME_EXT_CODE, FRAME_EXT_TYPE, FRAME_HEADER_BYTES, FRAME_MAX_BYTES, FRAME_SYNC, DropCause

_HEADER = struct.Struct(">BIB4sIII")
_LENGTH_OFFSET = 6  # the length counts what follows the first six bytes
_SYNC_OFFSET = 6
_CRC_OFFSET = 14
_DOUBT_BYTES = 16 << 20  # how many bytes may be checksummed in vain in one damage
_DOUBT_RATIO = 16  # and so many for each byte of it
_NOT_ZERO = re.compile(rb"[^\0]")
_TEMPLATE = bytes((FRAME_EXT_CODE, 0, 0, 0, 0, FRAME_EXT_TYPE)) + FRAME_SYNC

assert _HEADER.size == FRAME_HEADER_BYTES


@dataclass(frozen=True, slots=True)
class LogFrame:
    """A good frame: where it begins in the log, its number, and its payload."""

    offset: int
    sequence: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class LogLoss:
    """Something is missing: `length` bytes from `offset` on, or (MISSING_FRAMES) `count` frames there."""

    cause: DropCause
    offset: int
    length: int
    count: int = 1


def encode_frame(sequence: int, payload: bytes) -> bytes:
    """The bytes of a frame; the payload is at most 1 MiB less 16 bytes."""
    head = struct.pack(">BIB4sI", FRAME_EXT_CODE, 16 + len(payload), FRAME_EXT_TYPE, FRAME_SYNC, sequence)
    return head + struct.pack(">II", crc32(head), crc32(payload)) + payload


class _Look(Enum):
    GOOD = 0
    WAITING = 1
    BAD = 2


class FrameScanner:
    """Takes the bytes of a log in pieces of any size and gives its frames and losses, in order.

    `feed()` bytes, then call `next()` until it gives None: then it needs more. It never keeps more than one frame's
    bytes beyond what was fed last. With `is_live`, whatever is not an unbroken sequence of frames is held back
    like the end of the data, because the writer may not have finished there.
    """

    def __init__(self, *, is_live: bool = False) -> None:
        self.is_live = is_live
        self._buffer = bytearray()
        self._base = 0  # offset in the log of the buffer's first byte
        self._position = 0  # where in the buffer we stand
        self._wanted = 1  # bytes from there on, without which there is nothing new to see
        self._expected = 0  # sequence number of the next frame
        self._good_end = 0  # offset behind the last good frame
        self._settled = 0  # offset before which all was delivered or told
        self._damage: int | None = None  # offset where the damage begins that we are crossing
        self._damage_end = 0  # offset behind its last byte that is not zero
        self._wasted = 0  # bytes checksummed since the damage began, of payloads that were not good
        self._ready: deque[LogFrame | LogLoss] = deque()
        self.is_holding = False  # a live log shows a good frame, but not all before it: better wait

    @property
    def end_offset(self) -> int:
        """Offset in the log behind all bytes that were fed."""
        return self._base + len(self._buffer)

    @property
    def settled_offset(self) -> int:
        """Offset in the log before which everything was delivered or told."""
        return self._settled

    @property
    def next_sequence(self) -> int:
        """The number that the next frame should have."""
        return self._expected

    @property
    def zero_bytes(self) -> int:
        """How many zero bytes the scanner has passed since it last saw anything, if nothing else is in its hands."""
        return self.end_offset - self._settled if self.is_blank and self._damage is None else 0

    @property
    def is_blank(self) -> bool:
        """True if all bytes not yet passed are zero, so that a hole may be skipped with `skip_to`."""
        return not _NOT_ZERO.search(self._buffer, self._position)

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """The next bytes of the log."""
        self._buffer += data

    def skip_to(self, offset: int) -> None:
        """The bytes from `end_offset` to `offset` are zeros. Only when `is_blank`."""
        self._restart(offset)

    def rewind(self) -> int:
        """Forget what was fed but not settled, because it may have changed; gives the offset to read from again."""
        self._restart(self._settled)
        self._damage = None
        self._wasted = 0
        return self._settled

    def next(self, *, at_end: bool = False, is_final: bool = False) -> LogFrame | LogLoss | None:
        """The next frame or loss; None if more bytes are needed.

        at_end: there are no more bytes for now, so what is damaged is told up to here.
        is_final: nor will there ever be: a truncated frame is told, too.
        """
        if self._ready:
            return self._ready.popleft()
        at_end = at_end or is_final
        self.is_holding = False
        if not at_end and len(self._buffer) - self._position < self._wanted:
            return None
        self._wanted = 1
        if not self._advance(at_end) and at_end:
            self._close_tail(is_final)
        return self._ready.popleft() if self._ready else None

    def _advance(self, at_end: bool) -> bool:
        """Go on to the next good frame and accept it; False if there is none in the buffer."""
        while self._pass_zeros():
            look, need = self._look(self._position)
            if look is _Look.GOOD:
                return self._accept(need)
            inside = self._find_good_frame_after(self._position) if look is _Look.WAITING and at_end else None
            if look is _Look.WAITING and inside is None:
                self._wanted = need
                return False
            if self._damage is None:
                self._damage = self._base + self._position
            if inside is not None:
                self._pass_damage(inside)
            elif not self._seek_candidate(at_end):
                return False
        return False

    def _pass_zeros(self) -> bool:
        """Pass zero bytes, unless damage is being crossed; False if nothing else is left."""
        if self._damage is not None:
            return self._position < len(self._buffer)
        match = _NOT_ZERO.search(self._buffer, self._position)
        self._position = match.start() if match else len(self._buffer)
        if not match:
            self._drop_passed()
        return match is not None

    def _look(self, start: int) -> tuple[_Look, int]:
        """What is at `start`; and the bytes of the good frame, or the bytes a waiting one needs."""
        buffer = self._buffer
        if len(buffer) - start < FRAME_HEADER_BYTES:
            return (_Look.WAITING if _may_become_header(bytes(buffer[start:])) else _Look.BAD), FRAME_HEADER_BYTES
        code, length, ext_type, sync, sequence, header_crc, payload_crc = _HEADER.unpack_from(buffer, start)
        if code != FRAME_EXT_CODE or ext_type != FRAME_EXT_TYPE or sync != FRAME_SYNC or sequence < self._expected:
            return _Look.BAD, 0
        if not FRAME_HEADER_BYTES - _LENGTH_OFFSET <= length <= FRAME_MAX_BYTES:
            return _Look.BAD, 0
        with memoryview(buffer) as view:
            if crc32(view[start : start + _CRC_OFFSET]) != header_crc:
                return _Look.BAD, 0
            end = start + _LENGTH_OFFSET + length
            if not self._is_affordable(start, end - start - FRAME_HEADER_BYTES):
                return _Look.BAD, 0
            if end > len(buffer):
                return _Look.WAITING, end - start
            if crc32(view[start + FRAME_HEADER_BYTES : end]) != payload_crc:
                self._wasted += end - start - FRAME_HEADER_BYTES
                return _Look.BAD, 0
        return _Look.GOOD, end - start

    def _is_affordable(self, start: int, payload_bytes: int) -> bool:
        """False for one more of many headers that claim overlapping payloads, whose bytes would be checksummed again and again."""
        passed = self._base + start - self._damage if self._damage is not None else 0
        return self._wasted + payload_bytes <= _DOUBT_BYTES + _DOUBT_RATIO * passed

    def _accept(self, frame_bytes: int) -> bool:
        start = self._base + self._position
        sequence = int.from_bytes(self._buffer[self._position + 10 : self._position + 14], "big")
        if self.is_live and (self._damage is not None or sequence != self._expected):
            self.is_holding = True
            return False
        if self._damage is not None:
            self._ready.append(LogLoss(DropCause.DAMAGE, self._damage, start - self._damage))
            self._damage = None
            self._wasted = 0
        if sequence > self._expected:
            missing = sequence - self._expected
            self._ready.append(LogLoss(DropCause.MISSING_FRAMES, self._good_end, start - self._good_end, missing))
        end = self._position + frame_bytes
        with memoryview(self._buffer) as view:
            payload = bytes(view[self._position + FRAME_HEADER_BYTES : end])
        self._ready.append(LogFrame(start, sequence, payload))
        self._expected = sequence + 1
        self._settled = self._good_end = start + frame_bytes
        self._position = end
        if end > 1 << 16:
            self._drop_passed()
        return True

    def _seek_candidate(self, at_end: bool) -> bool:
        """Move to the next place where a frame may begin; False if only what might become one is left."""
        found = self._buffer.find(FRAME_SYNC, self._position + 1 + _SYNC_OFFSET)
        if found >= 0:
            self._pass_damage(found - _SYNC_OFFSET)
            return True
        keep = max(self._position + 1, len(self._buffer) - FRAME_HEADER_BYTES + 1)
        if at_end:
            keep = next((i for i in range(keep, len(self._buffer)) if _may_become_header(bytes(self._buffer[i:]))), keep)
            if not _may_become_header(bytes(self._buffer[keep:])):
                keep = len(self._buffer)
        self._pass_damage(min(keep, len(self._buffer)))
        self._wanted = FRAME_HEADER_BYTES
        return False

    def _find_good_frame_after(self, start: int) -> int | None:
        while (found := self._buffer.find(FRAME_SYNC, start + 1 + _SYNC_OFFSET)) >= 0:
            start = found - _SYNC_OFFSET
            if self._look(start)[0] is _Look.GOOD:
                return start
        return None

    def _pass_damage(self, position: int) -> None:
        passed = bytes(self._buffer[self._position : position]).rstrip(b"\0")
        if passed:
            self._damage_end = self._base + self._position + len(passed)
        self._position = position
        self._drop_passed()

    def _close_tail(self, is_final: bool) -> None:
        """There is no more: tell the damage up to here, and in the end also a frame that was cut."""
        if self.is_live and not is_final:
            return
        waiting = self._position < len(self._buffer)
        if self._damage is not None and (is_final or self._damage == self._settled):
            end = self._base + self._position if waiting else self._damage_end
            self._ready.append(LogLoss(DropCause.DAMAGE, self._damage, end - self._damage))
            self._damage = None
            self._wasted = 0
            self._settled = end
        if is_final and waiting and self._damage is None:
            start = self._base + self._position
            self._ready.append(LogLoss(DropCause.TRUNCATED, start, self.end_offset - start))
            self._settled = self.end_offset
            self._restart(self.end_offset)

    def _drop_passed(self) -> None:
        del self._buffer[: self._position]
        self._base += self._position
        self._position = 0

    def _restart(self, offset: int) -> None:
        self._buffer.clear()
        self._base = offset
        self._position = 0
        self._wanted = 1


def _may_become_header(start: bytes) -> bool:
    """True if these fewer than 22 bytes agree with the beginning of a frame, as far as they go."""
    for place in (0, 5, 6, 7, 8, 9):
        if start[place : place + 1] not in (b"", _TEMPLATE[place : place + 1]):
            return False
    if len(start) >= 5 and not FRAME_HEADER_BYTES - _LENGTH_OFFSET <= int.from_bytes(start[1:5], "big") <= FRAME_MAX_BYTES:
        return False
    return len(start) < 18 or crc32(start[:_CRC_OFFSET]) == int.from_bytes(start[_CRC_OFFSET:18], "big")
