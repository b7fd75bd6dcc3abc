"""A finite class of concepts: what each hypothesis says of each point, as a table of zeros and ones."""

from __future__ import annotations

import csv
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import (
    DataError,
    EmptyTableError,
    FormatError,
    MissingFileError,
    ParameterError,
    ShapeError,
    listed,
)
from bayeslearn.theory.sizes import Size

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.theory.dimension import Shattered

Names = tuple[Hashable, ...]

#: What a cell of a file may hold.
BITS = {"0", "1"}


def first_of_each(rows: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Where each different row stands first.

    >>> first_of_each(np.array([[1, 2], [3, 4], [1, 2]], np.uint8))
    array([0, 1])
    """
    found: dict[bytes, int] = {}
    for i, row in enumerate(np.ascontiguousarray(rows)):
        found.setdefault(row.tobytes(), i)
    return np.array(list(found.values()), np.intp)


@dataclass(frozen=True, eq=False)
class ConceptClass:
    """Different functions from points to {0, 1}; build with :meth:`of` or :meth:`functions`.

    >>> ends = [(a, b) for a in range(5) for b in range(5)]
    >>> intervals = ConceptClass.functions([lambda x, a=a, b=b: a <= x <= b for a, b in ends], range(5))
    >>> len(intervals), intervals.vc_dimension
    (16, 2)
    """

    labels: NDArray[np.bool_]
    hypotheses: Names
    points: Names

    @classmethod
    def of(
        cls,
        labels: ArrayLike,
        *,
        hypotheses: Iterable[Hashable] | None = None,
        points: Iterable[Hashable] | None = None,
    ) -> ConceptClass:
        """From a table of 0 and 1: a row for each hypothesis, a column for each point.

        Hypotheses that say the same of every point are one, under the name of the first.
        """
        table = _binary(labels)
        rows = _names("hypotheses", hypotheses, len(table))
        first = first_of_each(np.packbits(table, axis=1))
        kept = table[first]
        kept.flags.writeable = False
        return cls(kept, tuple(rows[i] for i in first), _names("points", points, table.shape[1]))

    @classmethod
    def functions(
        cls, hypotheses: Mapping[Hashable, Callable[[Any], Any]] | Sequence[Callable[[Any], Any]], points: Iterable[Any]
    ) -> ConceptClass:
        """From functions of a point that return something true or false."""
        named = hypotheses if isinstance(hypotheses, Mapping) else dict(enumerate(hypotheses))
        places = list(points)
        labels = [[bool(h(x)) for x in places] for h in named.values()]
        hashable = all(isinstance(x, Hashable) for x in places)
        return cls.of(
            np.array(labels, dtype=bool).reshape(len(named), len(places)),
            hypotheses=named,
            points=places if hashable else None,
        )

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __repr__(self) -> str:
        return f"ConceptClass({len(self)} hypotheses, {len(self.points)} points)"

    @property
    def size(self) -> Size:
        """The number of hypotheses."""
        return Size.of(len(self))

    # -- what it can tell apart

    def patterns(self, points: Iterable[Hashable]) -> NDArray[np.bool_]:
        """The ways in which it labels some points, each once."""
        return np.unique(self.labels[:, self.places(points)], axis=0)

    def shatters(self, points: Iterable[Hashable]) -> bool:
        """Whether it labels these points in all of the 2^k ways."""
        places = self.places(points)
        return 2 ** len(places) <= len(self) and len(np.unique(self.labels[:, places], axis=0)) == 2 ** len(places)

    @cached_property
    def shattered(self) -> Shattered:
        """A largest shattered set, with a hypothesis for each of its labellings."""
        from bayeslearn.theory.dimension import largest_shattered  # noqa: PLC0415 - it is built on this class

        return largest_shattered(self)

    @property
    def vc_dimension(self) -> int:
        """The size of the largest set that is shattered."""
        return len(self.shattered.points)

    def growth(self, m: int) -> int:
        """The most ways in which it labels any m of its points: 2^m as long as m points are shattered."""
        from bayeslearn.theory.dimension import growth  # noqa: PLC0415 - it is built on this class

        return growth(self, m)

    # -- names

    def places(self, points: Iterable[Hashable]) -> list[int]:
        """Which columns these points have."""
        asked = list(points)
        odd = [x for x in asked if x not in self._place]
        if odd:
            raise ParameterError(f"no point is called {odd[0]!r}", hint=f"the points are {listed(self.points)}")
        if len(set(asked)) < len(asked):
            raise ParameterError(f"the points must be different, got {listed(asked)}")
        return [self._place[x] for x in asked]

    @cached_property
    def _place(self) -> dict[Hashable, int]:
        return {x: i for i, x in enumerate(self.points)}


def read_class(path: Any) -> ConceptClass:
    """A class from a CSV file of 0 and 1: rows are hypotheses, columns points, named by the header if there is one.

    A first column of other things than 0 and 1 names the hypotheses.
    """
    lines = _lines(Path(path))
    head = None if set(lines[0][1:] or lines[0]) <= BITS else lines.pop(0)
    if not lines:
        raise EmptyTableError(f"{path} has a header and no hypothesis")
    named = (all if head is None else any)(line[0] not in BITS for line in lines)
    width = len(lines[0] if head is None else head)
    for i, line in enumerate(lines, start=1):
        if len(line) != width:
            raise FormatError(f"{path}: hypothesis {i} has {len(line)} cells, not {width}", path=str(path))
        odd = [cell for cell in line[named:] if cell not in BITS]
        if odd:
            raise FormatError(f"{path}: hypothesis {i} has a cell {odd[0]!r:.40}, not 0 or 1", path=str(path))
    return ConceptClass.of(
        np.array([[cell == "1" for cell in line[named:]] for line in lines], dtype=bool).reshape(len(lines), -1),
        hypotheses=[line[0] for line in lines] if named else None,
        points=None if head is None else head[named:],
    )


### inside


def _binary(labels: ArrayLike) -> NDArray[np.bool_]:
    table = np.asarray(labels)
    if table.ndim != 2:
        raise ShapeError(f"expected a table of hypotheses by points, got shape {table.shape}")
    if 0 in table.shape:
        raise EmptyTableError(f"a class needs a hypothesis and a point, got {table.shape[0]} by {table.shape[1]}")
    if table.dtype == bool:
        return table
    numbers = validation.float_array("labels", table)
    odd = ~np.isin(numbers, (0, 1))
    if odd.any():
        where = validation.first_position(odd)
        raise DataError(f"a label is 0 or 1, got {numbers[odd][0]:g} for hypothesis {where[0]} and point {where[1]}")
    return numbers == 1


def _names(what: str, names: Iterable[Hashable] | None, n: int) -> Names:
    found = tuple(range(n) if names is None else names)
    if len(found) != n:
        raise ShapeError(f"expected names for {n} {what}, got {len(found)}")
    if len(set(found)) < n:
        raise ParameterError(f"the {what} must have different names, got {listed(found)}")
    return found


def _lines(path: Path) -> list[list[str]]:
    if not path.is_file():
        raise MissingFileError(f"there is no file {str(path)!r}", path=path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [[cell.strip() for cell in line] for line in csv.reader(file) if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} cannot be read: {error}", path=str(path)) from None
    if not lines:
        raise EmptyTableError(f"{path} is empty: no hypothesis is in it")
    return lines
