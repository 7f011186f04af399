"""elf_image -- one ELF file: its build id, segments and sections, read only as far as asked

Three kinds of address live here and nowhere mix: `elf_address` is a virtual address as written
in the file (the space of p_vaddr and st_value), `file_offset` counts bytes from the file's
start, and an address in a process is none of our business: target/ turns it into an offset.

pyelftools reads the headers. Section contents are read by plain slices, because a program with
debug information can be larger than memory and one report needs a few pages of it.
Source: System V gABI chapters 4 and 5; SHF_COMPRESSED from its 2015 addition.
"""

from __future__ import annotations

import io
import os
import struct
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from collector.errors import CollectorError, DamagedImageError, SymbolError
from collector.regular_file import open_binary

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

SHT_NOBITS = "SHT_NOBITS"
SHF_ALLOC = 0x2
SHF_EXECINSTR = 0x4
SHF_COMPRESSED = 0x800
PF_X = 1
NOTE_GNU_BUILD_ID = 3

_MACHINES = {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}
_SECTION_HEADER_BYTES = 64
_SEGMENT_HEADER_BYTES = 56
_HIGHEST = (1 << 64) - 1
# What no linker comes near; files that were made to hurt ask for more.
_MOST_SEGMENTS = 1 << 12
_MOST_NOTES = 64
_LONGEST_SECTION_NAME = 256
_MOST_DECOMPRESSED_BYTES = 1 << 30
_CHUNK_BYTES = 1 << 20
_LARGEST_PIECE_BYTES = 1 << 22
_HIGHEST_RATIOS = {1: 1100, 2: 1 << 16}  # of zlib and zstd: no stream becomes so many times its size


@dataclass(frozen=True, slots=True)
class Segment:
    """A PT_LOAD entry: `memory_bytes` from `elf_address`, the first `file_bytes` of them from the file."""

    elf_address: int
    file_offset: int
    file_bytes: int
    memory_bytes: int
    is_executable: bool


@dataclass(frozen=True, slots=True)
class Section:
    """A section header; `size_bytes` is what the file holds, before any decompression."""

    index: int
    name: str
    kind: str
    flags: int
    elf_address: int
    file_offset: int
    size_bytes: int
    link: int
    entry_bytes: int

    @property
    def is_code(self) -> bool:
        """Whether the section holds instructions at run time."""
        return bool(self.flags & SHF_ALLOC and self.flags & SHF_EXECINSTR)


class ElfImage:
    """An open 64-bit little-endian ELF file; close it, or use it in a `with` statement.

    Raises SymbolError when the file cannot be opened or is of another kind, and
    DamagedImageError (a SymbolError) when its headers contradict its size.
    """

    def __init__(self, path: str, data: bytes | None = None) -> None:
        """`data` is what the file would hold that exists only in memory. Sections may be read in several threads."""
        self.path = path
        self._bytes = data
        self._whole_sections: dict[int, bytes] = {}
        self._decompressed_bytes = 0
        try:
            self._stream: BinaryIO = io.BytesIO(data) if data is not None else open_binary(path, may_follow=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise SymbolError(f"{path} cannot be opened: {reason}.") from error
        self._descriptor = self._stream.fileno() if data is None else -1
        try:
            self._read_headers()
        except CollectorError:
            self.close()
            raise
        except Exception as error:  # pyelftools raises whatever its damaged input led to
            self.close()
            raise DamagedImageError(f"{path} is not a sound ELF file: {error}.") from error

    @classmethod
    def from_bytes(cls, name: str, data: bytes) -> ElfImage:
        """The image of an ELF file that exists only in memory; `name` stands for its path."""
        return cls(name, data)

    def __enter__(self) -> ElfImage:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the file back; reading afterwards raises SymbolError."""
        self._descriptor = -1
        self._stream.close()

    def _read_headers(self) -> None:
        self.file_bytes = self._stream.seek(0, os.SEEK_END)
        self._stream.seek(0)
        if self._stream.read(6) != b"\x7fELF\x02\x01":
            raise SymbolError(f"{self.path} is not a 64-bit little-endian ELF file.")
        from elftools.elf.elffile import ELFFile  # late: 30 ms that a report from a warm cache can spare

        elf = ELFFile(self._stream)
        self.machine = _MACHINES.get(elf["e_machine"], "other")
        self.is_relocatable = elf["e_type"] == "ET_REL"
        self.segments, self._frame_header, notes = self._read_segments(elf)
        self.sections = self._read_sections(elf)
        self._by_name = {section.name: section for section in reversed(self.sections)}
        notes += [(s.file_offset, s.size_bytes) for s in self.sections if s.kind == "SHT_NOTE"]
        self.build_id = next(filter(None, (self._build_id_in(*span) for span in notes[:_MOST_NOTES])), None)
        self.code_ranges = self._find_code_ranges()

    def _read_segments(self, elf: ELFFile) -> tuple[tuple[Segment, ...], int | None, list[tuple[int, int]]]:
        offset, count = elf["e_phoff"], elf["e_phnum"]
        self._check_table("program headers", offset, count, elf["e_phentsize"], _SEGMENT_HEADER_BYTES)
        if count > _MOST_SEGMENTS:
            raise DamagedImageError(f"{self.path} has {count} program headers.")
        segments, frame_header, notes = [], None, []
        for index in range(count):
            header = self._parse(elf.structs.Elf_Phdr, offset + index * elf["e_phentsize"])
            if header["p_type"] == "PT_LOAD":
                segments.append(Segment(header["p_vaddr"], header["p_offset"], header["p_filesz"],
                                        header["p_memsz"], bool(header["p_flags"] & PF_X)))
            elif header["p_type"] == "PT_GNU_EH_FRAME":
                frame_header = header["p_vaddr"]
            elif header["p_type"] == "PT_NOTE":
                notes.append((header["p_offset"], header["p_filesz"]))
        return tuple(segments), frame_header, notes

    def _read_sections(self, elf: ELFFile) -> tuple[Section, ...]:
        """All section headers; none when the table was cut off, for code is still found by segments."""
        offset, count, size = elf["e_shoff"], elf["e_shnum"], elf["e_shentsize"]
        if offset == 0:
            return ()
        try:
            self._check_table("section headers", offset, 1, size, _SECTION_HEADER_BYTES)
            first = self._parse(elf.structs.Elf_Shdr, offset)
            count = count or first["sh_size"]  # 65280 and more sections: the count moved there
            self._check_table("section headers", offset, count, size, _SECTION_HEADER_BYTES)
            headers = [self._parse(elf.structs.Elf_Shdr, offset + i * size) for i in range(count)]
            names_index = elf["e_shstrndx"]
            names_index = first["sh_link"] if names_index in (0xFFFF, "SHN_XINDEX") else names_index
            names = self._bytes_of_header(headers[names_index])
        except (DamagedImageError, IndexError, TypeError):
            return ()
        return tuple(_section(index, header, names) for index, header in enumerate(headers))

    def _parse(self, structure: Any, file_offset: int) -> Any:
        self._stream.seek(file_offset)
        return structure.parse_stream(self._stream)

    def _bytes_of_header(self, header: Any) -> bytes:
        return self._read_at(header["sh_offset"], header["sh_size"])

    def _check_table(self, what: str, offset: int, count: int, size: int, least: int) -> None:
        if count and (size < least or offset + count * size > self.file_bytes):
            raise DamagedImageError(f"The {what} of {self.path} reach past the end of the file.")

    def _build_id_in(self, offset: int, size: int) -> bytes | None:
        notes = self._read_at(offset, min(size, 1 << 16))
        position = 0
        while position + 12 <= len(notes):
            name_bytes, value_bytes, kind = struct.unpack_from("<III", notes, position)
            name_at = position + 12
            value_at = name_at + (name_bytes + 3 & ~3)
            position = value_at + (value_bytes + 3 & ~3)
            if kind == NOTE_GNU_BUILD_ID and notes[name_at:value_at] == b"GNU\0":
                return notes[value_at:value_at + value_bytes] or None
        return None

    def _find_code_ranges(self) -> tuple[tuple[int, int], ...]:
        spans = [(s.elf_address, s.size_bytes) for s in self.sections if s.is_code]
        if not spans:
            spans = [(s.elf_address, s.memory_bytes) for s in self.segments if s.is_executable]
        return tuple(sorted((start, min(start + size, _HIGHEST)) for start, size in spans if size))

    def _read_at(self, file_offset: int, size_bytes: int) -> bytes:
        # A damaged size must not become an allocation, so the file's end limits every read.
        size_bytes = min(size_bytes, self.file_bytes - file_offset)
        if size_bytes <= 0:
            return b""
        try:
            if self._descriptor >= 0:
                return os.pread(self._descriptor, size_bytes, file_offset)
            if self._bytes is not None and not self._stream.closed:
                return self._bytes[file_offset:file_offset + size_bytes]
            raise ValueError("it is closed")
        except (OSError, ValueError) as error:
            raise SymbolError(f"{self.path} cannot be read: {error}.") from error

    def section(self, name: str) -> Section | None:
        """The first section of that name."""
        return self._by_name.get(name)

    def iter_sections(self, kind: str) -> Iterator[Section]:
        """Sections of one type, such as SHT_SYMTAB, in file order."""
        return (section for section in self.sections if section.kind == kind)

    def data(self, section: Section | None) -> bytes:
        """A section's whole contents, decompressed and kept; empty for None and for SHT_NOBITS."""
        if section is None or section.kind == SHT_NOBITS:
            return b""
        if section.index not in self._whole_sections:
            self._whole_sections[section.index] = self._decompressed(section) if is_packed(section) else self._read_at(section.file_offset, section.size_bytes)
        return self._whole_sections[section.index]

    def slice(self, section: Section | None, offset: int, size_bytes: int) -> bytes:
        """Up to `size_bytes` bytes of a section from `offset` on; fewer at its end."""
        if section is None or section.kind == SHT_NOBITS or offset < 0 or size_bytes <= 0:
            return b""
        if is_packed(section) or section.index in self._whole_sections:
            return self.data(section)[offset:offset + size_bytes]
        return self._read_at(section.file_offset + offset, min(size_bytes, section.size_bytes - offset))

    def plain_size(self, section: Section) -> int:
        """How many bytes a section has when decompressed; of what files are made to claim, no more than they can hold. Raises SymbolError."""
        return self._packing(section)[2] if is_packed(section) else max(0, min(section.size_bytes, self.file_bytes - section.file_offset))

    def iter_plain_bytes(self, section: Section) -> Iterator[bytes]:
        """A section's contents, piece by piece, decompressed. Raises SymbolError."""
        end = min(section.file_offset + section.size_bytes, self.file_bytes)
        algorithm, start, most_bytes = self._packing(section) if is_packed(section) else (0, 0, 0)
        packed = (self._read_at(at, min(_CHUNK_BYTES, end - at)) for at in range(section.file_offset + start, end, _CHUNK_BYTES))
        try:
            yield from _DECOMPRESS[algorithm](packed, most_bytes or 1) if algorithm else packed
        except (zlib.error, SymbolError) as error:
            raise DamagedImageError(f"{section.name} of {self.path} cannot be decompressed: {error}.") from error

    def _decompressed(self, section: Section) -> bytes:
        self._make_room_for(section, self.plain_size(section))
        plain = io.BytesIO()
        for piece in self.iter_plain_bytes(section):
            plain.write(piece)
        self._decompressed_bytes += plain.tell()
        return plain.getvalue()

    def _packing(self, section: Section) -> tuple[int, int, int]:
        """How a section is compressed, where its stream begins, and how many bytes are to be made of it."""
        size_in_file = min(section.size_bytes, self.file_bytes - section.file_offset)
        head = self._read_at(section.file_offset, min(size_in_file, 24))
        if section.flags & SHF_COMPRESSED:
            if len(head) < 24:
                raise DamagedImageError(f"{section.name} of {self.path} is cut off.")
            algorithm, size_bytes, start = *struct.unpack_from("<I4xQ", head), 24
        else:  # .zdebug_*: "ZLIB", then the size as 8 bytes, most significant first
            algorithm, size_bytes, start = 1, int.from_bytes(head[4:12], "big"), 12
        if algorithm not in _DECOMPRESS:
            raise SymbolError(f"{section.name} of {self.path} is compressed in an unknown way ({algorithm}), which cannot be read; "
                              "objcopy --decompress-debug-sections makes a plain copy.")
        return algorithm, start, min(size_bytes, size_in_file * _HIGHEST_RATIOS[algorithm])

    def _make_room_for(self, section: Section, size_bytes: int) -> None:
        """See that there is room in memory for so much: a hundred sections may be the same few bytes that become a gigabyte."""
        if self._decompressed_bytes + size_bytes > _MOST_DECOMPRESSED_BYTES:
            raise SymbolError(f"{section.name} of {self.path} is not read: its sections hold more than {_MOST_DECOMPRESSED_BYTES >> 20} MiB when decompressed.")

    def is_code(self, elf_address: int) -> bool:
        """Whether there are instructions at an address; linkers leave functions that they discard outside."""
        index = bisect_right(self.code_ranges, (elf_address, _HIGHEST)) - 1
        return index >= 0 and elf_address < self.code_ranges[index][1]

    def elf_address_of_offset(self, file_offset: int) -> int | None:
        """The virtual address that the byte at `file_offset` is mapped to, or None.

        Linkers may put one page into two segments; a sample's offset means the executable one.
        """
        return address_of_offset(self.segments, file_offset)

    def bytes_at(self, elf_address: int, size_bytes: int) -> bytes:
        """What the file holds at a virtual address; fewer bytes at a segment's end, empty outside."""
        for segment in self.segments:
            distance = elf_address - segment.elf_address
            if 0 <= distance < segment.file_bytes:
                return self._read_at(segment.file_offset + distance, min(size_bytes, segment.file_bytes - distance))
        if not self.segments:  # a relocatable file that was given addresses
            for section in self.sections:
                if section.is_code and 0 <= elf_address - section.elf_address < section.size_bytes:
                    return self.slice(section, elf_address - section.elf_address, size_bytes)
        return b""

    @property
    def frame_header_address(self) -> int | None:
        """Where PT_GNU_EH_FRAME says that .eh_frame_hdr is mapped, or None."""
        return self._frame_header


def address_of_offset(segments: tuple[Segment, ...], file_offset: int) -> int | None:
    """`elf_address` of `file_offset` under `segments`, executable ones first; None outside all."""
    for segment in sorted(segments, key=lambda segment: not segment.is_executable):
        distance = file_offset - segment.file_offset
        if 0 <= distance < segment.file_bytes:
            return segment.elf_address + distance
    return None


def _inflate(packed: Iterable[bytes], most_bytes: int) -> Iterator[bytes]:
    stream = zlib.decompressobj()
    for piece in packed:
        while piece and most_bytes > 0:
            plain = stream.decompress(piece, min(most_bytes, _LARGEST_PIECE_BYTES))
            piece = stream.unconsumed_tail
            most_bytes -= len(plain)
            if plain:
                yield plain
        if stream.eof or most_bytes <= 0:
            break


def _decompress_zstd(packed: Iterable[bytes], most_bytes: int) -> Iterator[bytes]:
    from collector.symbols.zstd import iter_decompressed  # late: what few files need

    return iter_decompressed(b"".join(packed), most_bytes)


_DECOMPRESS = {1: _inflate, 2: _decompress_zstd}


def is_packed(section: Section) -> bool:
    """Whether a section is compressed."""
    return bool(section.flags & SHF_COMPRESSED) or section.name.startswith(".zdebug_")


def _section(index: int, header: Any, names: bytes) -> Section:
    start = header["sh_name"]
    end = names.find(b"\0", start, start + _LONGEST_SECTION_NAME)
    name = names[start:end if end >= 0 else start + _LONGEST_SECTION_NAME].decode("utf-8", "replace")
    return Section(index, name, str(header["sh_type"]), header["sh_flags"], header["sh_addr"], header["sh_offset"],
                   header["sh_size"], header["sh_link"], header["sh_entsize"])
