"""Files written whole or not at all: beside their place, then moved there, so that nobody ever sees half a file."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bayeslearn.errors import MissingFileError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, all or nothing."""
    with beside(path) as place:
        place.write_bytes(content)


@contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to, moved to `path` when the block ends well and removed when it does not."""
    target = destination(path)
    if target.exists() and not target.is_file():  # a pipe or a device is not replaced, but written to
        yield target
        return
    from secrets import token_hex  # noqa: PLC0415 - loads when something is written

    place = target.with_name(f".{target.name}.{token_hex(4)}.tmp")
    try:
        yield place
        place.replace(target)
    finally:
        place.unlink(missing_ok=True)


def destination(path: str | os.PathLike[str]) -> Path:
    """Where a file will stand: links are followed, so that they stay links."""
    target = Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)
    folder = str(target.parent)
    if not target.parent.is_dir():
        raise MissingFileError(f"cannot write {str(path)!r}: there is no folder {folder!r}", path=path)
    if target.is_dir():
        raise ParameterError(f"cannot write {str(path)!r}: it is a folder", hint="name a file in it")
    if not os.access(target.parent, os.W_OK):
        raise ParameterError(f"cannot write {str(path)!r}: the folder {folder!r} is not yours to write to")
    return target
