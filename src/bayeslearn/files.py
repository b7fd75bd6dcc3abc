"""Bounded reads and atomic writes.

A file is read up to a limit of bytes, also if it is compressed, so that a few megabytes never become many gigabytes. A
file is written under a temporary name in the folder of its destination, then renamed, so that no reader sees a part.
"""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

from bayeslearn.errors import (
    BayeslearnError,
    CapacityError,
    FormatError,
    InputFileNotFoundError,
    ParameterError,
    UnwritableFileError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Bytes of text that are read at most, where a format has no limit of its own.
MAX_BYTES = 1 << 28

#: Bytes of a packed file that are unpacked at a time: one of them becomes 1032 at most.
PIECE = 1 << 13

### reading


def read(path: str | os.PathLike[str], *, max_bytes: int = MAX_BYTES) -> bytes:
    """The content of a file of at most `max_bytes`; a name that ends in .gz is unpacked, up to the same limit.

    A packed file may have several members, and zeros behind them. One that is damaged, cut off, or has something else
    behind its members is a FormatError.
    """
    name = os.fsdecode(path)
    try:
        with open(name, "rb") as file:  # noqa: PTH123 - pathlib takes as long to load as a small network to read
            size = os.fstat(file.fileno()).st_size
            if size > max_bytes:
                raise too_large(f"{name!r} has {size:,} bytes", size, max_bytes, name)
            if name.lower().endswith(".gz"):
                return unpacked(file, max_bytes, name)
            content = plain(file, size, max_bytes)
    except (FileNotFoundError, NotADirectoryError):
        raise InputFileNotFoundError(f"cannot read {name!r}: there is no such file", path=name) from None
    except (OSError, ValueError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{name!r} cannot be read: {error}", path=name) from None
    if len(content) > max_bytes:  # a pipe, or a file that grows
        raise too_large(f"{name!r} has more than {max_bytes:,} bytes", len(content), max_bytes, name)
    return content


def plain(file: BinaryIO, size: int, max_bytes: int) -> bytes:
    """What a file of about this size holds, up to one byte more than the limit; no more memory is asked for."""
    pieces, n = [], 0
    while piece := file.read(min(max(size - n, 0) + PIECE, max_bytes + 1 - n)):
        pieces.append(piece)
        n += len(piece)
    return b"".join(pieces)


def unpacked(file: BinaryIO, max_bytes: int, name: str) -> bytes:
    """What the members of a packed file hold, piece by piece, so that it stops at the limit."""
    import io  # noqa: PLC0415 - loads when a file is packed
    import zlib  # noqa: PLC0415 - as above

    content, member, packed, whole = io.BytesIO(), None, 0, 0
    try:
        while piece := file.read(PIECE):
            packed += len(piece)
            while piece := piece.lstrip(b"\0") if whole and member is None else piece:
                member = member or zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
                content.write(member.decompress(piece))
                if content.tell() > max_bytes:
                    message = f"the first {packed:,} bytes of {name!r} unpack to {content.tell():,}"
                    raise too_large(message, content.tell(), max_bytes, name)
                piece, member, whole = (member.unused_data, None, whole + 1) if member.eof else (b"", member, whole)
    except zlib.error as error:
        raise FormatError(f"{name!r} cannot be read: it is no gzip file, or damaged: {error}", path=name) from None
    if member is not None or not whole:
        raise FormatError(f"{name!r} cannot be read: it is a gzip file that ends too soon", path=name)
    return content.getvalue()


def too_large(message: str, size: int, max_bytes: int, path: str) -> CapacityError:
    """The error of a file that goes beyond its limit."""
    return CapacityError(f"{message}, and at most {max_bytes:,} are read", bytes=size, max_bytes=max_bytes, path=path)


### writing


def write(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file, all or nothing."""
    with beside(path) as place:
        place.write_bytes(content)


@contextmanager
def beside(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A place to write to, moved to `path` when the block ends well and removed when it does not."""
    with named_faults(path):
        target = destination(path)
        if target.exists() and not target.is_file():  # a pipe or a device is not replaced, but written to
            yield target
            return
        place = reserved(target)
        try:
            yield place
            flush(place)
            place.replace(target)
        finally:
            place.unlink(missing_ok=True)


#: Errors of the system that are about the file that is written: its name, its place, or the disk.
FAULTS = frozenset({
    errno.EDQUOT, errno.EEXIST, errno.EFBIG, errno.EIO, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.ENOSPC,
    errno.ENOTDIR, errno.EROFS, errno.EACCES, errno.EPERM,
})  # fmt: skip


@contextmanager
def named_faults(path: str | os.PathLike[str]) -> Iterator[None]:
    """A block that writes to a path: an error of the system becomes an error that names the path."""
    try:
        yield
    except OSError as error:
        if isinstance(error, BayeslearnError) or error.errno not in FAULTS:
            raise
        why = (error.strerror or str(error)).lower()
        raise UnwritableFileError(f"cannot write {os.fspath(path)!r}: {why}", errno=error.errno, path=path) from None


def flush(place: Path) -> None:
    """Have the content of a file on the disk before another file takes its place, so that no crash leaves neither."""
    descriptor = os.open(place, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def reserved(target: Path) -> Path:
    """An empty file in the folder of a target, with its mode and owner, or with those of a new file.

    The name is short, for the target's own may be as long as the folder allows.
    """
    from secrets import token_hex  # noqa: PLC0415 - loads when something is written

    place = target.with_name(f".{token_hex(8)}.tmp")
    before = target.stat() if target.exists() else None
    # what replaces a private file is private from its first byte on
    descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if before is None else 0o600)
    try:
        if before is not None and hasattr(os, "fchmod"):
            keep_owner(descriptor, before)
            os.fchmod(descriptor, before.st_mode & 0o7777)
    finally:
        os.close(descriptor)
    return place


def keep_owner(descriptor: int, before: os.stat_result) -> None:
    """Give an open file the owner and the group that it had before, as far as this user may."""
    now = os.fstat(descriptor)
    for uid, gid in ((before.st_uid, -1), (-1, before.st_gid)):
        if uid not in {-1, now.st_uid} or gid not in {-1, now.st_gid}:
            with suppress(PermissionError):
                os.fchown(descriptor, uid, gid)


def destination(path: str | os.PathLike[str]) -> Path:
    """Where a file will stand: links are followed, so that they stay links."""
    from pathlib import Path  # noqa: PLC0415 - loads when something is written

    with named_faults(path):
        target = Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        target.is_dir()  # a name that is too long
    folder = str(target.parent)
    if not target.parent.is_dir():
        raise InputFileNotFoundError(f"cannot write {str(path)!r}: there is no folder {folder!r}", path=path)
    if target.is_dir():
        raise ParameterError(f"cannot write {str(path)!r}: it is a folder", hint="name a file in it")
    if not os.access(target.parent, os.W_OK):
        raise ParameterError(f"cannot write {str(path)!r}: the folder {folder!r} is not yours to write to")
    return target
