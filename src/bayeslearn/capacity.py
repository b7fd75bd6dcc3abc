"""Memory that is refused before it is taken, with the number of bytes it would need.

bytes = 8 · numbers          a text takes more: each of its parts is a separate object
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bayeslearn.errors import CapacityError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Bytes that what one call makes may take, and those that a text may become.
MAX_BYTES, MAX_PARSED_BYTES = 1 << 32, 3 << 29

#: Blanks, those of other scripts by the byte with which they begin.
BLANKS = " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f\xc2\xe1\xe2\xe3"

#: Characters that are counted at a time.
PIECE = 1 << 20

#: Bytes below which nothing is looked up, and characters of a text that fit whatever they are.
SMALL_BYTES, SMALL_TEXT = 1 << 26, 1 << 23


def require_room(what: str, n_bytes: float, *, hint: str | None = None, **details: Any) -> None:
    """Refuse `what`, whose bytes are more than are allowed, or than this machine can still give.

    >>> require_room("a table of 10¹² states", 8e12)
    Traceback (most recent call last):
    bayeslearn.errors.CapacityError: a table of 10¹² states would need 7.3 TiB, and at most 4.0 GiB are taken
    """
    if n_bytes <= SMALL_BYTES:
        return
    free = free_memory()
    if n_bytes > min(MAX_BYTES, free):
        limit = f"at most {size_of(MAX_BYTES)} are taken" if MAX_BYTES <= free else f"{size_of(free)} are free"
        raise CapacityError(f"{what} would need {size_of(n_bytes)}, and {limit}", hint=hint, bytes=n_bytes, **details)


def require_numbers(what: str, *shapes: tuple[int, ...], hint: str | None = None, copies: int = 1) -> None:
    """The same for arrays of numbers of these shapes, of which there are some `copies` while they are worked on."""
    require_room(what, 8 * copies * sum(math.prod(map(int, shape)) for shape in shapes), hint=hint)


def require_parsed_room(text: str, costs: Mapping[str, int], name: str) -> None:
    """Raise an error for a text that takes too much memory: `costs` has the bytes of a part by the sign at its end.

    Signs beyond ASCII are bytes of UTF-8, such as those with which blanks of other scripts begin (:data:`BLANKS`).
    """
    if len(text) <= SMALL_TEXT:
        return
    import numpy as np  # noqa: PLC0415 - loads when a text is large

    cost = np.zeros(256)
    for signs, each in costs.items():
        cost[list(signs.encode("latin-1"))] = each
    pieces = (text[i : i + PIECE].encode("utf-8", "surrogatepass") for i in range(0, len(text), PIECE))
    need = sum(float(cost @ np.bincount(np.frombuffer(piece, np.uint8), minlength=256)) for piece in pieces)
    if need > MAX_PARSED_BYTES:
        raise CapacityError(
            f"{name}: its {len(text):,} characters have parts that would take about {size_of(need)}, "
            f"and at most {size_of(MAX_PARSED_BYTES)} are taken",
            bytes=int(need),
        )


def size_of(n_bytes: float) -> str:
    """Return a number of bytes with its unit.

    >>> size_of(512), size_of(3 << 29), size_of(8e30)
    ('512 bytes', '1.5 GiB', '7.3e+18 TiB')
    """
    if n_bytes < 1024:
        return f"{int(n_bytes)} bytes"
    power = min(int(math.log2(n_bytes) // 10), 4)
    amount = n_bytes / 1024**power
    return f"{amount:,.1f} {'KMGT'[power - 1]}iB" if amount < 1e6 else f"{amount:.2g} TiB"


def free_memory() -> int:
    """Return the free bytes of memory; a number beyond any memory if the system does not report it."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123 - pathlib takes long to load
            told = dict(line.split(":") for line in file)
        return int(told["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return 1 << 62
