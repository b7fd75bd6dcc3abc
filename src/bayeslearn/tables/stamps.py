"""Stamps of files: a file that changed between two passes over it, or while it was read, is an error.

    size, time of the last change, number of the file      taken before a file is first looked at, compared around every
                                                           reading of it

Another machine may have a copy of the file with another number and time: there the size alone is compared.
"""

from __future__ import annotations

import os
import platform
from typing import NamedTuple

from bayeslearn.errors import ChangedFileError


class Stamp(NamedTuple):
    """What a file looked like, and on which machine."""

    size: int
    modified: int
    number: int
    machine: str


def stamp_of(path: str | os.PathLike[str]) -> Stamp | None:
    """The stamp of a file; None for one that is not there, which reading it tells."""
    try:
        found = os.stat(path)  # noqa: PTH116 - once for every file of every pass
    except (OSError, ValueError):
        return None
    return Stamp(found.st_size, found.st_mtime_ns, found.st_ino, platform.node())


def require_unchanged(path: str | os.PathLike[str], before: Stamp | None) -> None:
    """The file that was first looked at: statistics of two versions of it must not be added."""
    if before is None:
        return
    now = stamp_of(path)
    if now is not None and (now == before or (now.machine != before.machine and now.size == before.size)):
        return
    what = "is gone" if now is None else f"has {now.size:,} bytes" if now.size != before.size else "was written again"
    raise ChangedFileError(
        f"{os.fspath(path)!r} changed while it was in use: it had {before.size:,} bytes, and {what}",
        hint="scan it again when nobody writes to it, so that all passes see the same rows",
        path=os.fspath(path),
    )
