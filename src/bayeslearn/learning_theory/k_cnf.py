"""k-CNF: the combinations of k states that occur in no positive example.

A clause over k attributes, (a ∨ ¬b) or (sky≠rainy ∨ air≠cold), rules out one combination of their states. The most
specific k-CNF keeps every clause that the positive examples allow, so

    x is positive   ⟺   every k of its values have been seen together in a positive example

and the statistics are the counts of these combinations, which add. Every k-term DNF is a k-CNF (one literal of each
term makes a clause), so this learns k-term DNF in time n^k, where finding the k terms themselves is hard.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.codec import Saved
from bayeslearn.errors import CapacityError, EvidenceError, ParameterError, listed
from bayeslearn.hypotheses import AttributeSpace, Examples
from bayeslearn.learning_theory.hypothesis_counts import HypothesisCount, whole
from bayeslearn.model_values import ARRAY
from bayeslearn.printable import printable
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.tables.frames import Backend

#: Combinations of states that may be counted.
MOST_CELLS = 5_000_000


@dataclass(frozen=True, order=True)
class Clause:
    """A clause: states that must not occur together, so that one of the attributes has another state."""

    together: tuple[tuple[str, Any], ...]

    def __str__(self) -> str:
        return printable("(" + " ∨ ".join(_unlike(name, state) for name, state in self.together) + ")")

    __repr__ = __str__

    @property
    def reason(self) -> str:
        """Why a row with all of these states is negative."""
        return f"no positive example has {' and '.join(f'{name}={state}' for name, state in self.together)}"


@dataclass(frozen=True, eq=False, repr=False)
class KCNF(Saved, Reported, kind="k-CNF"):
    """The most specific k-CNF that covers the positive examples; begin with :meth:`from_attributes`, or :meth:`fit`.

    >>> rows = [[True, True, False], [True, True, True], [False, False, True], [False, True, True]]
    >>> abc = AttributeSpace.from_literals("abc")
    >>> h = KCNF.fit(Examples.from_rows(rows, [True, True, True, False], attributes=abc), k=2)
    >>> print(h)
    (a ∨ ¬b) ∧ (¬a ∨ b) ∧ (a ∨ c) ∧ (b ∨ c)
    >>> h([False, True, True]), h.explain([False, True, True])
    (False, ((a ∨ ¬b),))
    """

    attributes: AttributeSpace
    k: int
    #: How often each combination was seen in a positive example, all sets of k attributes one after the other.
    counts: NDArray[np.int64]
    n_positive: int = 0

    @classmethod
    def from_attributes(cls, attributes: Any, k: int) -> KCNF:
        """The hypothesis of no examples, which covers nothing."""
        known = AttributeSpace.parse(attributes)
        k = min(whole("k", k, least=1), len(known))
        h = cls(known, k, np.zeros(0, np.int64))
        if h.n_cells > MOST_CELLS:
            raise CapacityError(
                f"{k}-CNF over {len(known)} attributes has {h.n_cells:,} clauses, more than {MOST_CELLS:,}",
                hint="take a smaller k, fewer attributes, or columns with fewer states",
                clauses=h.n_cells,
            )
        return replace(h, counts=_frozen(np.zeros(h.n_cells, np.int64)))

    @classmethod
    def fit(cls, examples: Examples, k: int) -> KCNF:
        """From examples; negative ones are ignored, because they rule out no clause."""
        return cls.from_attributes(examples.attributes, k).update(examples)

    # -- examples in and out

    def update(self, rows: Any, labels: Sequence[Any] | None = None) -> KCNF:
        """More examples: rows with labels, or :class:`~bayeslearn.hypotheses.Examples`."""
        return self._added(self._positive(rows, labels), 1)

    def remove(self, rows: Any, labels: Sequence[Any] | None = None) -> KCNF:
        """As if these examples had not been seen."""
        found = self._added(self._positive(rows, labels), -1)
        if found.n_positive < 0 or found.counts.min(initial=0) < 0:
            raise EvidenceError("an example is removed that was not added")
        return found

    def __add__(self, other: KCNF) -> KCNF:
        """The hypothesis of the examples of both."""
        if (self.attributes, self.k) != (other.attributes, other.k):
            raise ParameterError("k-CNF hypotheses add only over the same attributes and for the same k")
        return replace(self, counts=_frozen(self.counts + other.counts), n_positive=self.n_positive + other.n_positive)

    # -- coverage

    def __call__(self, row: Any) -> bool:
        """Whether one row is covered."""
        return bool(self.covers([row])[0])

    def covers(self, rows: Any) -> NDArray[np.bool_]:
        """Which rows satisfy every clause; rows with missing or unknown values are not covered."""
        return self.covers_codes(self.attributes.encode(rows, unseen=True))

    def covers_codes(self, codes: NDArray[np.intp]) -> NDArray[np.bool_]:
        """The same for rows of codes."""
        rows = np.flatnonzero((codes >= 0).all(axis=1))
        for columns in self._begin:
            seen = self._table(columns).ravel()[self._cells(columns, codes[rows])] > 0
            rows = rows[seen]
        inside = np.zeros(len(codes), dtype=bool)
        inside[rows] = True
        return inside

    def explain(self, row: Any) -> tuple[Clause, ...]:
        """Return the shortest clauses that a row violates; missing and unknown values violate none."""
        values = self.attributes.decode(self.attributes.encode([row], unseen=True)[0])
        return tuple(c for c in self.clauses if all(values[name] == state for name, state in c.together))

    @cached_property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses, without those that a shorter one implies."""
        return tuple(self._minimal())

    def summary(self) -> str:
        """The formula; ⊥ covers nothing, ⊤ everything."""
        if not self.n_positive:
            return "⊥"
        return " ∧ ".join(map(str, self.clauses)) or "⊤"

    def __str__(self) -> str:
        return self.summary()

    def report(self) -> Report:
        """Return the formula and its clauses."""
        numbers = {"k": self.k, "Attributes": list(self.attributes.names), "Positive examples": self.n_positive}
        rows = [(str(clause), clause.reason) for clause in self.clauses] if self.n_positive else []
        title = f"{self.k}-CNF with {len(rows):,} clauses" if self.n_positive else f"{self.k}-CNF that covers nothing"
        return Report(title, Pairs(numbers), Grid(["Clause", "Reason"], rows, "Clauses") if rows else None)

    def to_dict(self) -> dict[str, Any]:
        """Return k, the attributes, the number of positive examples, the formula and its clauses as plain values."""
        clauses = [dict(clause.together) for clause in self.clauses] if self.n_positive else []
        return {
            "k": self.k, "attributes": list(self.attributes.names), "n_positive": self.n_positive,
            "formula": self.summary(), "clauses": clauses,
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each clause."""
        rows = ((str(clause), clause.reason) for clause in self.clauses if self.n_positive)
        return frame_of_rows(["clause", "reason"], rows, backend)

    def __repr__(self) -> str:
        return f"KCNF(k={self.k}, {len(self.attributes)} attributes, {self.n_positive} positive examples)"

    @property
    def size(self) -> HypothesisCount:
        """The number of sets of clauses, an upper bound on the number of hypotheses."""
        return HypothesisCount.power(2, self.n_cells)

    @cached_property
    def n_cells(self) -> int:
        """The number of clauses of k attributes."""
        sizes = [len(states) for states in self.attributes.states]
        total = [1] + [0] * self.k  # the elementary symmetric sums of the numbers of states
        for size in sizes:
            for j in range(self.k, 0, -1):
                total[j] += size * total[j - 1]
        return total[self.k]

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the attributes, k and the counts of combinations of states as plain values."""
        return {
            "attributes": self.attributes.to_dict(), "k": self.k, "counts": self.counts, "n_positive": self.n_positive
        }  # fmt: skip

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> KCNF:
        """Return the hypothesis of a document, all of which is checked."""
        keys: dict[str, Any] = {"attributes": dict, "k": int, "counts": ARRAY, "n_positive": int}
        entry, k, counts, n_positive = reader.entries(document, keys, "a model")
        attributes = AttributeSpace.checked(reader, entry)
        if not 1 <= k <= len(attributes) or k * len(attributes) > MOST_CELLS:
            reader.wrong(f"there is no {k}-CNF over {len(attributes)} attributes")
        nothing = cls.from_attributes(attributes, k)
        found = reader.whole_numbers(counts, "counts", nothing.counts.shape)
        per_table = np.add.reduceat(found, list(nothing._begin.values()))  # noqa: SLF001 - its own class
        if n_positive < 0 or (per_table != n_positive).any():
            reader.wrong(f"its counts are not those of {n_positive} positive examples")
        return replace(nothing, counts=_frozen(found), n_positive=n_positive)

    # -- inside

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(len(states) for states in self.attributes.states)

    @cached_property
    def _begin(self) -> dict[tuple[int, ...], int]:
        """Where the table of each set of attributes begins."""
        sets = list(itertools.combinations(range(len(self.attributes)), self.k))
        sizes = [math.prod(self._shape[i] for i in columns) for columns in sets]
        return dict(zip(sets, itertools.accumulate(sizes, initial=0), strict=False))

    def _table(self, columns: tuple[int, ...]) -> NDArray[np.int64]:
        shape = [self._shape[i] for i in columns]
        begin = self._begin[columns]
        return self.counts[begin : begin + math.prod(shape)].reshape(shape)

    def _seen(self, columns: tuple[int, ...]) -> NDArray[np.bool_]:
        """Which combinations of at most k attributes occur."""
        others = [i for i in range(len(self.attributes)) if i not in columns]
        whole_set = tuple(sorted((*columns, *others[: self.k - len(columns)])))
        away = tuple(j for j, i in enumerate(whole_set) if i not in columns)
        return self._table(whole_set).sum(axis=away) > 0

    def _cells(self, columns: tuple[int, ...], codes: NDArray[np.intp]) -> NDArray[np.intp]:
        """The cell that every row falls into."""
        return np.ravel_multi_index(tuple(codes[:, i] for i in columns), [self._shape[i] for i in columns])

    def _added(self, codes: NDArray[np.intp], sign: int) -> KCNF:
        counts = self.counts.copy()
        for columns, begin in self._begin.items():
            size = math.prod(self._shape[i] for i in columns)
            counts[begin : begin + size] += sign * np.bincount(self._cells(columns, codes), minlength=size)
        return replace(self, counts=_frozen(counts), n_positive=self.n_positive + sign * len(codes))

    def _positive(self, rows: Any, labels: Sequence[Any] | None) -> NDArray[np.intp]:
        if not isinstance(rows, Examples):
            if labels is None:
                raise ParameterError("rows need labels", hint="pass `labels`, or Examples that hold them")
            rows = Examples.from_rows(rows, labels, attributes=self.attributes)
        if rows.attributes != self.attributes:
            raise ParameterError(
                f"the examples have other attributes than the hypothesis, which has {listed(self.attributes.names)}"
            )
        return rows.only(rows.labels).complete().codes

    def _minimal(self) -> Iterator[Clause]:
        """Clauses by length, without those that a shorter one implies."""
        names, states = self.attributes.names, self.attributes.states
        known: set[tuple[tuple[int, int], ...]] = set()
        for size in range(1, self.k + 1):
            for columns in itertools.combinations(range(len(names)), size):
                for codes in np.argwhere(~self._seen(columns)).tolist():
                    cell = tuple(zip(columns, codes, strict=True))
                    if not any(part in known for part in _parts(cell)):
                        known.add(cell)
                        yield Clause(tuple((names[i], states[i][code]) for i, code in cell))


def _parts(cell: tuple[tuple[int, int], ...]) -> Iterable[tuple[tuple[int, int], ...]]:
    return itertools.chain.from_iterable(itertools.combinations(cell, size) for size in range(1, len(cell)))


def _unlike(name: str, state: Any) -> str:
    if isinstance(state, bool):
        return f"¬{name}" if state else name
    return f"{name}≠{state}"


def _frozen(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    counts.flags.writeable = False
    return counts
