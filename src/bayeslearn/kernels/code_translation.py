"""Cells that are numbered already, given the numbers of a schema.

out_i = table[index_i]        −1 where bit i of `valid` is 0, that is, where nothing is there
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn.kernels._jit import kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@kernel
def recode(index: NDArray[np.int32], valid: NDArray[np.uint8], first: int, table: NDArray[np.int16], out: Any) -> None:
    """Fill `out`; the bit of the first cell is bit `first` of `valid`, which is empty when nothing is missing.

    The index of a missing entry is arbitrary, and is not looked up.
    """
    if len(valid) == 0:
        for i in range(len(index)):
            out[i] = table[index[i]]
        return
    for i in range(len(index)):
        bit = first + i
        there = (valid[bit >> 3] >> (bit & 7)) & 1
        out[i] = table[index[i] * there] if there else -1
