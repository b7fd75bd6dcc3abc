"""Columns of text that are nearly numbers or dates: what keeps them from being read so, and what to do.

'1.002,45 €', '840,10 €', 'k.A.'       numbers but for a few words
'2024-03-01', '03/01/2024'             dates in several formats
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn.errors import listed, option

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Values that are looked at, the fewest of them, and the share of them that must be numbers.
MOST, LEAST, SHARE = 500, 10, 0.8

#: Values that are named.
NAMED = 5


def why_not_read(name: str, values: Sequence[Any]) -> str:
    """A sentence on what a column of words nearly is, with what to do; nothing if it is just words."""
    texts = [value.strip() for value in values[:MOST] if isinstance(value, str)]
    if len(texts) < max(LEAST, min(len(values), MOST)):
        return ""
    import numpy as np  # noqa: PLC0415 - few columns come here
    import pyarrow as pa  # noqa: PLC0415 - it loads when data come in
    import pyarrow.compute as pc  # noqa: PLC0415 - as above

    from bayeslearn.tables.dates import DATES  # noqa: PLC0415 - as above
    from bayeslearn.tables.formats import FORMATS  # noqa: PLC0415 - as above
    from bayeslearn.tables.markers import NUMBER  # noqa: PLC0415 - as above

    array = pa.array(texts)

    def fit(pattern: str) -> Any:
        return np.asarray(pc.match_substring_regex(array, rf"^(?:{pattern})$"))

    if np.any([fit(pattern) for pattern in DATES.values()], axis=0).all():
        return "; its values are dates in several formats: write them in one, such as 2024-03-31"
    fits = [fit(pattern) for pattern in (NUMBER, *(pattern for pattern, _ in FORMATS.values()))]
    best = max(fits, key=np.count_nonzero)
    odd = [text for text, is_number in zip(texts, best, strict=True) if not is_number]
    if not odd or len(odd) > (1 - SHARE) * len(texts):
        return ""
    how = option("na_values", {name: odd[:NAMED]})
    return f"; its values are numbers but for {listed(odd, NAMED)}: if these are missing values, pass {how}"
