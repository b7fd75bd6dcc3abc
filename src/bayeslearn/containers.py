r"""The container of model files: a JSON document, and the arrays that belong to it.

    name.json, name.json.gz     the document, all arrays in it as nested lists
    any other name              packed: the document on one line, then bytes of arrays of more than `MAX_INLINE` numbers

The head of a file with arrays lists the path of each of them in the document, which holds null there:

    {"format": ..., "version": ..., ..., "arrays": [{"path": ["words", "values"], "type": "<f8", "shape": [9000]}]}\n

Files are recognized by their content. No more is unpacked than the head announces, and it is read block by block, so
that a short file cannot make us reserve what its head promises.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import strict_json
from bayeslearn.errors import BayeslearnError, CapacityError, FormatError, InputFileNotFoundError
from bayeslearn.model_values import MAX_AXES, RawArray, is_of
from bayeslearn.source_text import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from numpy.typing import NDArray

#: Bytes of a document, and of all arrays behind it, that are read at most.
MAX_BYTES, MAX_ARRAY_BYTES = 1 << 28, 1 << 31

#: Numbers of an array that stand in the document of a packed file.
MAX_INLINE = 4096

#: Types of numbers that an array may have.
TYPES = {name: np.dtype(name) for name in ("|u1", "<u2", "<u4", "|i1", "<i2", "<i4", "<i8", "<f8")}


### reading


@contextmanager
def stream_of(name: str) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where it is packed; whatever goes wrong names the file."""
    if not os.path.isfile(name):  # noqa: PTH113 - pathlib takes long to load
        raise InputFileNotFoundError(f"cannot read {name!r}: there is no such file", path=name)
    import gzip  # noqa: PLC0415 - loads when a file is read
    import zlib  # noqa: PLC0415 - as above

    try:
        with open(name, "rb") as file:  # noqa: PTH123 - pathlib takes long to load
            if file.peek(2)[:2] == b"\x1f\x8b":
                with gzip.GzipFile(fileobj=file) as packed:
                    yield packed  # type: ignore[misc]
            else:
                yield file
    except EOFError:
        raise FormatError(f"{name!r} cannot be read: it is a gzip file that ends too soon", path=name) from None
    except (OSError, zlib.error) as error:
        if isinstance(error, BayeslearnError):
            raise
        raise FormatError(f"{name!r} cannot be read: {error}", path=name) from None


@contextmanager
def opened_document(name: str) -> Iterator[tuple[Any, Source, Callable[[], None]]]:
    """The document of a file, its text, and a function that reads its arrays and puts each into its place."""
    with stream_of(name) as stream:
        line = limited(stream, name, stream.readline(MAX_BYTES + 1))
        if line.rstrip().endswith(b"}"):  # a document on one line, or by chance the first line of one
            try:
                document, source = parsed(line, name)
            except FormatError:
                pass
            else:
                yield document, source, lambda: read_arrays(document, stream, name)
                return
        whole = limited(stream, name, line + stream.read(MAX_BYTES + 1 - len(line)))
        yield *parsed(whole, name), lambda: None


def limited(stream: BinaryIO, name: str, content: bytes) -> bytes:
    """What was read of a file, if it is not more than is allowed."""
    if len(content) > MAX_BYTES:
        what = "unpacks to more" if hasattr(stream, "mtime") else "has a document of more"
        raise CapacityError(
            f"{name!r} {what} than {MAX_BYTES:,} bytes, which are read at most", max_bytes=MAX_BYTES, path=name
        )
    return content


def parsed(content: bytes, name: str) -> tuple[Any, Source]:
    """The document of a text, and the text."""
    try:
        source = Source(content.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        raise FormatError(f"{name!r}: this is not JSON: byte {error.start} is not UTF-8", path=name) from None
    return strict_json.loaded(source), source


def read_arrays(document: Any, stream: BinaryIO, name: str) -> None:
    """Read the arrays that a document describes, and put each into its place."""
    described = document.pop("arrays") if "arrays" in document else named_arrays(document)
    if not is_of(described, [dict]):
        raise FormatError(f"{name!r} cannot be read: its arrays are described as {described!r:.80}", path=name)
    left = MAX_ARRAY_BYTES
    for entry in described:
        kind, shape = entry.get("type"), entry.get("shape")
        known = entry.keys() == {"path", "type", "shape"} and is_of(kind, str) and kind in TYPES and is_of(shape, [int])
        possible = known and len(shape) <= MAX_AXES and all(n >= 0 for n in shape)
        place = place_of(document, entry.get("path")) if possible else None
        if place is None:
            raise FormatError(f"{name!r} cannot be read: an array is described as {entry!r:.80}", path=name)
        size = prod(shape) * TYPES[kind].itemsize
        left -= prod(max(n, 1) for n in shape) * TYPES[kind].itemsize  # an empty array has bounds too
        if left < 0:
            message = f"{name!r} has arrays of more than {MAX_ARRAY_BYTES:,} bytes, which are read at most"
            raise CapacityError(message, max_bytes=MAX_ARRAY_BYTES, path=name)
        array = np.frombuffer(exactly(stream, size, name, entry["path"]), TYPES[kind]).reshape(shape)
        place[0][place[1]] = RawArray(array)
    if stream.read(1 << 10).strip():
        raise FormatError(f"{name!r} cannot be read: there is more in it than it announces", path=name)


def named_arrays(document: dict[str, Any]) -> Any:
    """Arrays of text models of version 1, which had names and no places; they are put into an object by name."""
    if document.get("format") != "bayeslearn text" or document.get("version") != 1:
        return []
    described: Any = document.get("parts")
    if not is_of(described, [dict]):
        return described
    document["parts"] = {str(entry.get("name")): None for entry in described}
    return [
        {"path": ["parts", e.get("name")], "type": e.get("type"), "shape": [e.get("length")]} for e in described
    ]  # fmt: skip


def place_of(document: Any, path: Any) -> tuple[Any, Any] | None:
    """The list or object that a path leads to, and its last step; None where there is no null to be replaced."""
    if not isinstance(path, list) or not path:
        return None
    for i, step in enumerate(path):
        inside = isinstance(document, dict) and isinstance(step, str) and step in document
        if not inside and not (isinstance(document, list) and type(step) is int and 0 <= step < len(document)):
            return None
        if i + 1 == len(path):
            return (document, step) if document[step] is None else None
        document = document[step]
    return None


def exactly(stream: BinaryIO, size: int, name: str, path: Any) -> bytearray:
    """Read `size` bytes, a block at a time: a short file does not reserve the memory that its head declares."""
    content = bytearray()
    while len(content) < size:
        block = stream.read(min(size - len(content), 1 << 24))
        if not block:
            raise FormatError(f"{name!r} cannot be read: it ends within the array {path!r:.80}", path=name)
        content += block
    return content


### writing


def encoded(document: dict[str, Any], *, is_json: bool) -> bytes:
    """A document with all of its arrays in it, or on one line and large arrays behind it."""
    if is_json:
        lines = [f" {json.dumps(key)}: {indented(value)}" for key, value in document.items()]
        return ("{\n" + ",\n".join(lines) + "\n}\n").encode()
    arrays: list[tuple[list[Any], NDArray[Any]]] = []
    head = without_arrays(document, [], arrays)
    if arrays:
        head["arrays"] = [{"path": path, "type": a.dtype.str, "shape": list(a.shape)} for path, a in arrays]
    return b"".join([dumped(head).encode(), b"\n", *(array.tobytes() for _, array in arrays)])


def indented(value: Any) -> str:
    """JSON, with a line for each object of a list."""
    if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        return "[\n" + ",\n".join(f"  {dumped(entry)}" for entry in value) + "\n ]"
    return dumped(value)


def dumped(value: Any) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, default=lambda array: array.tolist())


def without_arrays(value: Any, path: list[Any], arrays: list[tuple[list[Any], NDArray[Any]]]) -> Any:
    """A value with null where an array is large; these are collected, with their places."""
    if isinstance(value, np.ndarray) and value.size > MAX_INLINE:
        arrays.append((path, smallest(value)))
        return None
    if isinstance(value, dict):
        return {key: without_arrays(part, [*path, key], arrays) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [without_arrays(part, [*path, i], arrays) for i, part in enumerate(value)]
    return value


def smallest(array: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the smallest type that holds them; masked ones are NaN, or -1 among whole numbers."""
    missing = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    whole = array.dtype.kind in "iu"
    array = np.asarray(array) if missing is None else np.ma.filled(array, -1 if whole else np.nan)
    if not whole:
        finite = np.isfinite(array)
        if not (finite.all() if missing is None else (finite | missing).all()):
            raise ValueError
        whole = bool(finite.all() and (array == np.rint(array)).all())
    low, high = array.min(initial=0), array.max(initial=0)
    if whole:
        for name in ("|u1", "<u2", "<u4") if low >= 0 else ("|i1", "<i2", "<i4"):
            if np.iinfo(name).min <= low and high <= np.iinfo(name).max:
                return np.ascontiguousarray(array, name)
    return np.ascontiguousarray(array, "<i8" if array.dtype.kind in "iu" else "<f8")
