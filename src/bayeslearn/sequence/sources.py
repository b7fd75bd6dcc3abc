"""What a hidden Markov model learns from, when it does not fit into memory: sequences that are folded.

One pass looks at all of them: the moments of the observations, from which priors and floors follow, and some sequences
to start from, all of them where there are few.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn.errors import DataError, InconsistentDataError, ParameterError, listed, option
from bayeslearn.families import Moments
from bayeslearn.families.assignment import assign
from bayeslearn.sequence.data import Sequences
from bayeslearn.sequence.folding import Reader, beside, fold
from bayeslearn.sequence.starting import SAMPLE
from bayeslearn.sources.base import Scanned
from bayeslearn.sources.sampling import row_numbers, scrambled
from bayeslearn.sources.scanning import scan
from bayeslearn.tables import Discrete

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.sequence.emissions import Emissions

S = TypeVar("S")

#: Ids that are remembered, to find one that stands in two places.
MOST_IDS = 1 << 18

#: States that a column of symbols may have.
MOST_SYMBOLS = 1 << 15


@dataclass(frozen=True, eq=False)
class Folded:
    """Sequences of a source in the working form of some emissions."""

    source: Scanned
    reader: Reader

    def fold(self, collect: Callable[[Sequences], S]) -> S:
        """The sum over batches of whole sequences."""
        return fold(self.source, self.reader, collect)

    @cached_property
    def look(self) -> Look:
        """What one pass over all sequences shows."""
        return self.fold(looked)

    @property
    def sample(self) -> Sequences:
        """Sequences to start from."""
        return self.look.sample

    @property
    def cells(self) -> Any:
        """What stands for all observations: the moments of numbers; of symbols some."""
        return self.look.sample.cells if self.look.moments is None else self.look.moments


@dataclass(frozen=True, eq=False)
class Look:
    """What a batch shows; what several show adds."""

    moments: Moments | None
    sample: Sequences
    #: A number for each sequence of the sample; those with the lowest are kept.
    numbers: NDArray[np.uint64]
    #: The ids seen so far; None for too many.
    ids: frozenset[Any] | None

    def __add__(self, other: Look) -> Look:
        twice = (self.ids or frozenset()) & (other.ids or frozenset())
        if twice:
            raise in_two_places(sorted(twice, key=str))
        moments = None if self.moments is None or other.moments is None else self.moments + other.moments
        sample, numbers = few(beside([self.sample, other.sample]), np.concatenate([self.numbers, other.numbers]))
        return Look(moments, sample, numbers, union(self.ids, other.ids))


def looked(data: Sequences) -> Look:
    """What a batch of whole sequences shows."""
    ids = frozenset(data.ids)
    if len(ids) < len(data):
        raise in_two_places([name for name, n in Counter(data.ids).items() if n > 1])
    moments = None
    if data.cells.dtype.kind == "f":
        moments = Moments.collect(data.cells, assign(len(data.cells)))
    columns = data.cells[:, None] if data.cells.ndim == 1 else data.cells
    each = row_numbers(columns.T, data.n_rows)
    numbers = scrambled(np.add.reduceat(each, data.starts))
    return Look(moments, *few(shortened(data), numbers), union(ids, frozenset()))


def union(one: frozenset[Any] | None, other: frozenset[Any] | None) -> frozenset[Any] | None:
    """The ids of both, if they are not too many."""
    if one is None or other is None or len(one) + len(other) > MOST_IDS:
        return None
    return one | other


def in_two_places(ids: Sequence[Any]) -> InconsistentDataError:
    """The error that names a sequence that does not stand together."""
    return InconsistentDataError(
        f"sequence {listed(ids[:3])} stands in two places: the rows of a sequence must follow each other in one file",
        hint="sort the rows by sequence, and write each into one file",
    )


def shortened(data: Sequences) -> Sequences:
    """Sequences of which none is longer than a sample."""
    if data.lengths.max() <= SAMPLE:
        return data
    rows = np.arange(data.n_rows) - np.repeat(data.starts, data.lengths) < SAMPLE
    known = None if data.known is None else data.known[rows]
    return Sequences(data.cells[rows], np.minimum(data.lengths, SAMPLE), data.ids, known=known)


def few(data: Sequences, numbers: NDArray[np.uint64]) -> tuple[Sequences, NDArray[np.uint64]]:
    """The sequences with the lowest numbers, as many as make a sample, in their order."""
    order = np.argsort(numbers, kind="stable")
    kept = np.sort(order[np.cumsum(data.lengths[order]) <= SAMPLE])
    if len(kept) == len(data):
        return data, numbers
    rows = np.repeat(np.isin(np.arange(len(data)), kept), data.lengths)
    known = None if data.known is None else data.known[rows]
    ids = tuple(data.ids[i] for i in kept)
    return Sequences(data.cells[rows], data.lengths[kept], ids, known=known), numbers[kept]


### what was given


@dataclass(frozen=True, eq=False)
class RawSource:
    """Columns of a source that are not yet in their working form; it answers as :class:`~.reading.Raw` does."""

    source: Scanned
    id: str
    names: tuple[str, ...]
    known: str | None = None

    @property
    def cells(self) -> NDArray[Any]:
        """Some cells like all, to tell the kind: every symbol once, or as many numbers as there are columns."""
        first: Any = self.source.schema[self.names[0]]
        if len(self.names) == 1 and isinstance(first, Discrete):
            return np.array([*first.states, None], dtype=object)[:-1]
        return np.zeros(1) if len(self.names) == 1 else np.zeros((1, len(self.names)))

    def told(self, known: Any) -> list[Any] | None:
        """The states that are known somewhere."""
        return None if known is None else list(self.source.schema[self.known].states)  # type: ignore[index, attr-defined]

    def finished(self, emissions: Emissions, states: Sequence[Any]) -> Folded:
        """The sequences as the emissions have them."""
        return Folded(self.source, Reader.of(self.source, self.id, emissions, self.names, self.known, states))


def opened(
    data: Any,
    *,
    id: str | None,  # noqa: A002 - the name of the column
    names: tuple[str, ...] | None,
    known: Any,
    kind: str,
    lengths: Any,
    weights: Any,
) -> RawSource:
    """The columns of a source that were asked for, as the emissions want them."""
    if id is None or lengths is not None:
        raise ParameterError(
            "the sequences of a source are told apart by a column", hint=f"name it: {option('id', 'patient')}"
        )
    if weights is not None or getattr(data, "weight", None) is not None:
        raise ParameterError("the sequences of a source count once each: they have no weights")
    if known is not None and not isinstance(known, str):
        raise ParameterError("`known` of a source is the name of a column of it, the state of each row or nothing")
    also = [known] if known else []
    source = data if isinstance(data, Scanned) else scanned(data, id, None if names is None else [*names, *also])
    taken = names or tuple(n for n in source.schema.names if n not in {id, known})
    if not taken:
        raise ParameterError("no column is left to be observed", hint="name the observed columns")
    here = {v.name: isinstance(v, Discrete) for v in source.schema}
    discrete = [n for n in (*also, *(taken if kind == "categorical" else ())) if not here.get(n, False)]
    numeric = [n for n in (taken if kind in {"gaussian", "full", "poisson"} else ()) if here.get(n, True)]
    source = source.declared(
        columns=(*taken, *also), discrete=discrete, numeric=numeric, max_states=MOST_SYMBOLS, allow_constant=True
    )
    return RawSource(source, id, taken, known)


def scanned(data: Any, id: str, columns: list[str] | None) -> Scanned:  # noqa: A002 - the name of the column
    """Files whose column of ids may hold anything."""
    gone: dict[str, str] = {}
    found: Scanned = scan(data, columns=columns, allow_constant=True, left_out=gone)
    odd = [why for name, why in gone.items() if name != id]
    if odd:
        raise DataError(odd[0], hint=f"name the observed columns: {option('columns')}")
    return found
