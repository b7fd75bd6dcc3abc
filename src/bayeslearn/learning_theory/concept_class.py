"""A finite class of concepts as a matrix of zeros and ones, the largest set it shatters, and its growth function.

A set is shattered when its points are labeled in all 2^k ways, so VC(H) ≤ log₂|H|. With d = VC(H) any m points are
labeled in at most Σ_{i≤d} C(m, i) ways (Sauer): all of them up to d, polynomially many beyond.
"""

from __future__ import annotations

import csv
import io
import itertools
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import files, kernels, lazy_imports, validation
from bayeslearn.errors import (
    CapacityError,
    DataError,
    EmptyTableError,
    FormatError,
    InputFileNotFoundError,
    ParameterError,
    ShapeError,
    listed,
)
from bayeslearn.learning_theory.hypothesis_counts import HypothesisCount, whole
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

Names = tuple[Hashable, ...]

#: The most bytes of a file.
MAX_BYTES = 1 << 26

#: The values of cells of a file.
BITS = {"0", "1"}


def first_of_each(rows: NDArray[np.uint8]) -> NDArray[np.intp]:
    """The first position of each distinct row.

    >>> first_of_each(np.array([[1, 2], [3, 4], [1, 2]], np.uint8))
    array([0, 1])
    """
    found: dict[bytes, int] = {}
    for i, row in enumerate(np.ascontiguousarray(rows)):
        found.setdefault(row.tobytes(), i)
    return np.array(list(found.values()), np.intp)


@dataclass(frozen=True, eq=False, repr=False)
class ConceptClass(Reported):
    """Different functions from points to {0, 1}; build with :meth:`from_matrix` or :meth:`from_functions`.

    >>> ends = [(a, b) for a in range(5) for b in range(5)]
    >>> intervals = ConceptClass.from_functions([lambda x, a=a, b=b: a <= x <= b for a, b in ends], range(5))
    >>> len(intervals), intervals.vc_dimension
    (16, 2)
    """

    labels: NDArray[np.bool_]
    hypotheses: Names
    points: Names

    def __post_init__(self) -> None:
        expected = (len(self.hypotheses), len(self.points))
        if np.shape(self.labels) != expected:
            raise ShapeError(f"expected labels of shape {expected}, got {np.shape(self.labels)}")
        object.__setattr__(self, "labels", validation.owned(self.labels, np.bool_))

    @classmethod
    def from_matrix(
        cls,
        labels: ArrayLike,
        *,
        hypotheses: Iterable[Hashable] | None = None,
        points: Iterable[Hashable] | None = None,
    ) -> ConceptClass:
        """From a table of 0 and 1: a row for each hypothesis, a column for each point.

        Hypotheses with the same labels are one, with the name of the first.
        """
        table = _binary(labels)
        rows = _names("hypotheses", hypotheses, len(table))
        first = first_of_each(np.packbits(table, axis=1))
        kept = table[first]
        kept.flags.writeable = False
        return cls(kept, tuple(rows[i] for i in first), _names("points", points, table.shape[1]))

    @classmethod
    def from_functions(
        cls, hypotheses: Mapping[Hashable, Callable[[Any], Any]] | Sequence[Callable[[Any], Any]], points: Iterable[Any]
    ) -> ConceptClass:
        """From functions of a point that return something true or false."""
        named = hypotheses if isinstance(hypotheses, Mapping) else dict(enumerate(hypotheses))
        places = list(points)
        labels = [[bool(h(x)) for x in places] for h in named.values()]
        hashable = all(isinstance(x, Hashable) for x in places)
        return cls.from_matrix(
            np.array(labels, dtype=bool).reshape(len(named), len(places)),
            hypotheses=named,
            points=places if hashable else None,
        )

    def __len__(self) -> int:
        return len(self.hypotheses)

    def __repr__(self) -> str:
        return f"ConceptClass({len(self)} hypotheses, {len(self.points)} points)"

    def report(self) -> Report:
        """Return the number of hypotheses, the VC dimension and the labels."""
        size, d = self.size, self.vc_dimension
        numbers = {
            "Hypotheses": len(self), "log₂|H|": size.log2, "Points": len(self.points), "VC dimension": d,
            "Shattered": ", ".join(map(str, self.shattered.points)),
        }  # fmt: skip
        rows = [
            (str(name), *labels.astype(int).tolist())
            for name, labels in zip(self.hypotheses, self.labels[:, :20], strict=True)
        ]
        labels = Grid(["Hypothesis", *map(str, self.points[:20])], rows, "Labels")
        return Report(f"Concept class of VC dimension {d}", Pairs(numbers), labels)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of hypotheses and points, and the largest shattered set, as plain values."""
        found = self.shattered.to_dict()
        return {"n_hypotheses": len(self), "n_points": len(self.points), "vc_dimension": self.vc_dimension, **found}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each hypothesis and a column for each point."""
        rows = ((name, *row) for name, row in zip(self.hypotheses, self.labels.tolist(), strict=True))
        return frame_of_rows(["hypothesis", *map(str, self.points)], rows, backend)

    def plot(self, max_points: int | None = None, *, ax: Any = None) -> Any:
        """Draw the growth function (:func:`bayeslearn.plots.plot_growth_function`)."""
        return plots.plot_growth_function(self, max_points, ax=ax)

    @property
    def size(self) -> HypothesisCount:
        """The number of hypotheses."""
        return HypothesisCount.from_number(len(self))

    # -- labelings

    def patterns(self, points: Iterable[Hashable]) -> NDArray[np.bool_]:
        """The distinct labelings of some points."""
        return np.unique(self.labels[:, self.places(points)], axis=0)

    def shatters(self, points: Iterable[Hashable]) -> bool:
        """Whether these k points have all 2^k labelings."""
        places = self.places(points)
        return 2 ** len(places) <= len(self) and len(np.unique(self.labels[:, places], axis=0)) == 2 ** len(places)

    @cached_property
    def shattered(self) -> ShatteredSet:
        """A largest shattered set, with a hypothesis for each of its labelings."""
        return largest_shattered(self)

    @property
    def vc_dimension(self) -> int:
        """The size of the largest shattered set."""
        return len(self.shattered.points)

    def growth_function(self, n_points: int) -> int:
        """Π(m), the largest number of labelings of m points: 2^m if m points are shattered."""
        return growth_function(self, n_points)

    # -- names

    def places(self, points: Iterable[Hashable]) -> list[int]:
        """The columns of these points."""
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
    """Read a class from a CSV file of 0 and 1: rows are hypotheses, columns points, named by a header if there is one.

    A first column with other values than 0 and 1 names the hypotheses.
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
    return ConceptClass.from_matrix(
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
        raise InputFileNotFoundError(f"there is no file {str(path)!r}", path=path)
    try:
        text = files.read(path, max_bytes=MAX_BYTES).decode("utf-8-sig")
        lines = [[cell.strip() for cell in line] for line in csv.reader(io.StringIO(text, newline="")) if line]
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} cannot be read: {error}", path=str(path)) from None
    if not lines:
        raise EmptyTableError(f"{path} is empty: it has no hypothesis")
    return lines


### shattered sets and labelings


#: The number of labels below which the search is one task.
SMALL = 20_000
#: The number of labels below which the search is not compiled.
TINY = 1_000
#: The number of points from which the tasks of a search are pairs of points, so that it can be interrupted.
LONG = 8
#: The most sets of points that the growth function examines.
MAX_SETS = 50_000_000


@dataclass(frozen=True, repr=False)
class ShatteredSet(Reported):
    """Shattered points, and a hypothesis for each of their 2^k labelings."""

    points: tuple[Hashable, ...]
    hypotheses: Mapping[tuple[bool, ...], Hashable]

    def __len__(self) -> int:
        return len(self.points)

    def report(self) -> Report:
        """Return the points, and the hypothesis of each labeling."""
        rows = [("".join("1" if y else "0" for y in labels), str(h)) for labels, h in self.hypotheses.items()]
        return Report(f"{{{', '.join(map(str, self.points))}}} is shattered", Grid(["Labels", "Hypothesis"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the points, and the hypothesis of each labeling, as plain values."""
        witness = [{"labels": [int(y) for y in labels], "hypothesis": h} for labels, h in self.hypotheses.items()]
        return {"shattered": list(self.points), "witness": witness}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each labeling: the label of each point, and a hypothesis."""
        rows = ((*(int(y) for y in labels), h) for labels, h in self.hypotheses.items())
        return frame_of_rows([*map(str, self.points), "hypothesis"], rows, backend)


def find_shattering(concepts: ConceptClass, points: Any) -> ShatteredSet | None:
    """Return these points with a hypothesis for each of their labelings; None if a labeling has none.

    >>> from bayeslearn.learning_theory import ConceptClass
    >>> thresholds = ConceptClass.from_functions({f"x ≥ {a}": lambda x, a=a: x >= a for a in range(4)}, range(3))
    >>> print(find_shattering(thresholds, [1]))
    {1} is shattered
    <BLANKLINE>
    Labels  Hypothesis
    ------------------
    0       x ≥ 2
    1       x ≥ 0
    >>> find_shattering(thresholds, [0, 1]) is None                     # no threshold labels 0 inside and 1 outside
    True
    """
    places = concepts.places(points)
    found: dict[tuple[bool, ...], Hashable] = {}
    for labels, h in zip(map(tuple, concepts.labels[:, places].tolist()), concepts.hypotheses, strict=True):
        found.setdefault(labels, h)
    if len(found) < 2 ** len(places):
        return None
    return ShatteredSet(tuple(concepts.points[i] for i in places), {labels: found[labels] for labels in sorted(found)})


def largest_shattered(concepts: ConceptClass) -> ShatteredSet:
    """Return a largest shattered set, the first in the order of the search; exact."""
    columns = _candidates(concepts.labels)
    packed, rare = _packed(concepts.labels[:, columns]), _rarer(concepts.labels[:, columns])
    best: list[int] = [0] if len(columns) else []
    while (found := _of_size(packed, rare, len(best) + 1)) is not None:
        best = found
    witness = find_shattering(concepts, [concepts.points[i] for i in sorted(columns[best].tolist())])
    assert witness is not None
    return witness


def growth_function(concepts: ConceptClass, n_points: int) -> int:
    """Return Π(m), the largest number of labelings of m of the points."""
    m = whole("n_points", n_points)
    if m > len(concepts.points):
        raise ParameterError(f"the class is over {len(concepts.points)} points, got m = {m}")
    if m <= concepts.vc_dimension:
        return 2**m
    columns = _candidates(concepts.labels)
    if m >= len(columns):
        return len(concepts)
    labels = np.ascontiguousarray(concepts.labels[:, columns[::-1]], dtype=np.uint8)  # the most even first
    most = int(kernels.most_patterns(labels, m, MAX_SETS, np.zeros(m, np.int64)))
    if most < 0:
        raise CapacityError(
            f"more than {MAX_SETS:,} sets of {m} of {len(columns)} points would have to be examined",
            hint=f"Sauer's bound is {sauer_bound(concepts.vc_dimension, m):,}",
        )
    return most


def sauer_bound(dimension: int, n_points: int) -> int:
    """Return Sauer's bound Σ_{i≤d} C(m, i) on the labelings of m points by a class of VC dimension d.

    >>> [sauer_bound(2, m) for m in range(6)]
    [1, 2, 4, 7, 11, 16]
    """
    d, m = whole("dimension", dimension), whole("n_points", n_points)
    return sum(math.comb(m, i) for i in range(min(d, m) + 1))


### inside


def _candidates(labels: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Columns that are not constant, one of each kind: the same or the opposite labels make no difference.

    The least even come first: few sets can be built on them, so they are soon done with.
    """
    flipped = labels ^ labels[0]
    first = first_of_each(np.packbits(flipped, axis=0).T)
    first = first[flipped[:, first].any(axis=0)]
    return first[np.argsort(_rarer(labels[:, first]), kind="stable")]


def _rarer(labels: NDArray[np.bool_]) -> NDArray[np.intp]:
    """How many hypotheses give each point the label that fewer give it."""
    yes = labels.sum(axis=0)
    return np.minimum(yes, len(labels) - yes)


def _packed(labels: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """A bit for each point, in words of 64."""
    n, points = labels.shape
    bits = np.zeros((n, 8 * max(1, -(-points // 64))), np.uint8)
    packed = np.packbits(labels, axis=1, bitorder="little")
    bits[:, : packed.shape[1]] = packed
    return bits.view("<u8").astype(np.uint64)


def _of_size(packed: NDArray[np.uint64], rare: NDArray[np.intp], size: int) -> list[int] | None:
    """A shattered set of `size` points; None when there is none."""
    usable = np.flatnonzero(rare >= 2 ** (size - 1))
    if len(usable) < size or len(packed) < 2**size:
        return None
    if size == 1:
        return usable[:1].tolist()
    mask = _packed(np.isin(np.arange(len(rare)), usable)[None])[0]
    fixed = 0 if packed.shape[0] * len(usable) < SMALL else 1 if size < LONG else 2
    tasks = list(enumerate(itertools.combinations(usable.tolist(), fixed)))
    best = np.array([len(tasks)])
    tiny = packed.shape[0] * len(usable) < TINY
    find = kernels.soonest("find_shattered") if tiny else kernels.find_shattered

    def search(task: tuple[int, tuple[int, ...]]) -> list[int] | None:
        number, start = task
        into = np.zeros(size, np.int64)
        if not find(packed, mask, np.array(start, np.int64), size, number, best, into):
            return None
        best[0] = min(best[0], number)  # those that come later may stop
        return into.tolist()

    found = kernels.parallel(search, tasks, worth=len(tasks) > 1)
    return next((points for points in found if points is not None), None)
