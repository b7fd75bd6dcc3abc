"""stdout and stderr while a verb runs: reports are printable, data stay unchanged."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

from bayeslearn.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class PrintableStream:
    """A stream that writes control characters out; everything but writing is left to the stream behind it."""

    def __init__(self, behind: TextIO) -> None:
        self.behind = behind

    def write(self, text: str) -> int:
        """Write text that a terminal does not obey."""
        return self.behind.write(printable(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write several texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.behind, name)


def open_if_closed() -> None:
    """Give a process that was started without stdout or stderr streams that keep nothing."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - open to the end


@contextmanager
def printable_streams() -> Iterator[None]:
    """Within the block, whatever is written to stdout and stderr is printable."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", PrintableStream(encodable(unchecked(stream)))) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def encodable(stream: TextIO) -> TextIO:
    """A stream that writes out the characters that its encoding lacks, instead of failing."""
    if getattr(stream, "errors", None) == "strict" and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")
    return stream


def unchecked(stream: TextIO) -> TextIO:
    """The stream behind, for text that is printable already and may hold colors, and for progress bars."""
    return stream.behind if isinstance(stream, PrintableStream) else stream


def write_data(chunk: bytes) -> None:
    """Write data to stdout: byte for byte where a file or a program reads them, printable for a terminal."""
    stream = unchecked(sys.stdout)
    if stream.isatty() or not hasattr(stream, "buffer"):
        sys.stdout.write(chunk.decode(errors="backslashreplace"))
        return
    stream.flush()
    stream.buffer.write(chunk)
