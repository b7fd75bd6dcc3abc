"""Sizes of memory as people write them."""

from __future__ import annotations

import re

from bayeslearn.errors import ParameterError

#: Units by their names, in bytes.
UNITS = {
    "": 1,
    "B": 1,
    **{f"{p}B": 1000**i for i, p in enumerate("KMGT", 1)},
    **{f"{p}iB".upper(): 1024**i for i, p in enumerate("KMGT", 1)},
}


def bytes_of(limit: str | int) -> int:
    """The bytes of a limit such as ``"512MB"`` or ``"1 GiB"``.

    >>> bytes_of("512MB"), bytes_of("1 GiB"), bytes_of(4096)
    (512000000, 1073741824, 4096)
    """
    found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?B?)\s*", str(limit).upper())
    unit = found.group(2) if found else None
    if found and unit is not None and unit in {"K", "M", "G", "T"}:
        unit += "B"
    if not found or unit not in UNITS or not 0 < float(found.group(1)) < 1e18:
        raise ParameterError(
            f"`memory_limit` must be a size such as '512MB' or '1GiB', got {limit!r}",
            hint="the units are KB, MB, GB, KiB, MiB and GiB",
        )
    return int(float(found.group(1)) * UNITS[unit])
