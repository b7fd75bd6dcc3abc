"""Bytes of files as text: what is not UTF-8 is replaced, one character for each bad place, and counted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bayeslearn import files
from bayeslearn.capacity import free_memory
from bayeslearn.errors import InputFileNotFoundError, listed

if TYPE_CHECKING:
    from pathlib import Path

ENCODINGS = ("utf-8", "latin-1")

#: Bytes of texts that are read from one file at most; larger ones are scanned.
MAX_BYTES = 1 << 31

#: Bytes of memory that a byte of a file takes while it becomes documents.
COPIES = 5


@dataclass
class Decoder:
    """Bytes to text; what cannot be read is replaced and counted."""

    encoding: str
    replaced: dict[str, int] = field(default_factory=dict)

    def __call__(self, raw: bytes, name: str) -> str:
        """The text of some bytes, without the byte order mark."""
        try:
            return raw.decode("utf-8-sig" if self.encoding == "utf-8" else self.encoding)
        except UnicodeDecodeError:
            text = raw.decode("utf-8-sig", errors="replace")
            self.replaced[name] = text.count("\ufffd") - raw.count("\ufffd".encode())
            return text

    def notes(self) -> tuple[str, ...]:
        """What was replaced, in a sentence."""
        if not self.replaced:
            return ()
        many, where = sum(self.replaced.values()), listed(self.replaced, most=3)
        return (f"{many} places that are not UTF-8 were replaced, in {where}; latin-1 may be what was meant",)


def content(path: Path) -> bytes:
    """All bytes of a file, unpacked if need be."""
    if not path.is_file():
        raise InputFileNotFoundError(
            f"cannot read {str(path)!r}: there is no such file", hint=f"looked in {path.absolute().parent}", path=path
        )
    return files.read(path, max_bytes=min(MAX_BYTES, free_memory() // COPIES))
