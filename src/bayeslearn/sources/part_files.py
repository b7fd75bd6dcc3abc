"""Parts of encoded rows: three arrays as NumPy writes them, each read only if its head says what was expected.

A head is compared with a pattern and never evaluated, and the size of the file is compared with the shape before
anything is allocated, so that a part that was tampered with costs nothing.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from bayeslearn import validation
from bayeslearn.tables import Schema, Table
from bayeslearn.tables.text_heads import require_unchanged

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.sources.encoded_source import Block

#: How NumPy's files begin, and the longest head that is read.
MAGIC, LONGEST = b"\x93NUMPY\x01\x00", 256

#: The head of an array: type of its numbers, order, and shape.
HEAD = re.compile(
    rb"\{'descr': '([<>|]\w\d)', 'fortran_order': False, 'shape': \((\d{1,15}),(?: (\d{1,15}))?\), \} *\n"
)

#: The types of codes, and of values and weights.
CODES, FLOATS = ("|i1", "<i2", ">i2", "<i4", ">i4"), ("<f8", ">f8")


def write_arrays(file: BinaryIO, table: Table) -> None:
    """Codes, values and weights; of the last none where every row counts once."""
    for array in (table.codes, table.values, np.empty(0) if table.sample_weight is None else table.sample_weight):
        np.lib.format.write_array_header_1_0(
            file, np.lib.format.header_data_from_array_1_0(np.ascontiguousarray(array))
        )
        # np.save does not say that a disk is full
        file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def read_table(part: Block, schema: Schema) -> Table:
    """The table of a part; a ValueError says how the file differs from what was expected."""
    require_unchanged(part.path, part.stamp)
    with Path(part.path).open("rb") as file:
        codes = read_array(file, "codes", CODES, [(len(schema.discrete), part.rows)])
        values = read_array(file, "values", FLOATS, [(len(schema.numeric), part.rows)])
        weights = read_array(file, "weights", FLOATS, [(0,), (part.rows,)])
        if file.read(1):
            raise ValueError("there is something behind its arrays")
    require_unchanged(part.path, part.stamp)
    if np.isinf(values).any():
        raise ValueError("its values must be finite")
    return Table(schema, codes, values, weights if weights.size else None)


def read_array(file: BinaryIO, what: str, kinds: Iterable[str], shapes: list[tuple[int, ...]]) -> NDArray[Any]:
    """The next array of a file, of one of these types and shapes."""
    start = file.read(len(MAGIC) + 2)
    length = int.from_bytes(start[-2:], "little")
    head = file.read(length) if start.startswith(MAGIC) and length <= LONGEST else b""
    found = HEAD.fullmatch(head)
    if found is None:
        raise ValueError(f"there is no array of {what}")
    kind, shape = found[1].decode(), tuple(int(n) for n in found.groups()[1:] if n is not None)
    if kind not in kinds or shape not in shapes:
        raise ValueError(f"its {what} are {kind} of shape {shape}, expected {' or '.join(map(str, shapes))}")
    dtype, n = np.dtype(kind), int(np.prod(shape, dtype=object))
    if n * dtype.itemsize > os.fstat(file.fileno()).st_size - file.tell():
        raise ValueError(f"its {what} are cut off")
    read = np.fromfile(file, dtype, n).astype(dtype.newbyteorder("="), copy=False)
    return validation.lock(read).reshape(shape)
