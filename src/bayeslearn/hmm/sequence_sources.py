"""Sequences of sources, which need not fit into memory: batches of whole sequences.

A first pass finds the moments of the observations, for priors and floors, and a sample of sequences for initial values.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn.distributions import Moments
from bayeslearn.distributions.sufficient_statistics import assign
from bayeslearn.errors import DataError, InconsistentDataError, ParameterError, UnknownStateError, listed, option
from bayeslearn.hmm.emissions import SAMPLE, declared
from bayeslearn.hmm.inputs import known_codes
from bayeslearn.hmm.sequences import Sequences
from bayeslearn.sources.base import Scanned
from bayeslearn.sources.encoding import Coder, row_numbers, scrambled
from bayeslearn.sources.scanning import scan
from bayeslearn.tables import DiscreteVariable, Schema

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.hmm.emissions import Emissions
    from bayeslearn.hmm.model import HiddenMarkovModel
    from bayeslearn.tables.columns import Column
    from bayeslearn.tables.documents import Runs
    from bayeslearn.tables.source_protocol import Folded

    KeptSequences = Folded[Sequences]

S = TypeVar("S")

#: The maximum number of ids that are kept, to find one in two places.
MAX_IDS = 1 << 18

#: The maximum number of bytes of sequences that are kept between the passes of EM.
KEPT_BYTES = 1 << 27

#: The maximum number of states of a column of symbols.
MAX_SYMBOLS = 1 << 15


### columns as observations


@dataclass(frozen=True)
class Reader:
    """Reads columns as observations; it can be sent to workers."""

    coder: Coder
    emissions: Emissions
    columns: tuple[str, ...]
    #: The column of known states, and the code of each of its states; the last is that of missing values.
    known_states: str | None = None
    codes: NDArray[np.int32] | None = None

    @classmethod
    def of(
        cls,
        source: Scanned,
        emissions: Emissions,
        columns: tuple[str, ...],
        known_states: str | None,
        states: Sequence[Any],
    ) -> Reader:
        """The reader of these columns of a source."""
        told: Any = None if known_states is None else source.schema[known_states]
        schema = Schema([*emissions.variables(columns), *([] if told is None else [told])])
        request = replace(source.request, unseen="error", absent="error")
        codes = None if told is None else state_codes(told, states)
        return cls(Coder(schema, request), emissions, columns, known_states, codes)

    def __call__(self, columns: list[Column]) -> tuple[Any, NDArray[np.int32] | None]:
        """The observations of a batch in their working form, and the known states."""
        table = self.coder.table([column for column in columns if column.name in self.coder.names])
        known_states = (
            None if self.known_states is None or self.codes is None else self.codes[table.codes_of(self.known_states)]
        )
        return self.emissions.of_table(table, self.columns), known_states


def sequences_of(runs: Runs) -> Sequences:
    """Whole runs of rows as sequences."""
    cells, known_states = runs.arrays
    return Sequences(cells, runs.lengths, runs.ids, known_states=known_states)  # type: ignore[arg-type]


def state_codes(variable: DiscreteVariable, states: Sequence[Any]) -> NDArray[np.int32]:
    """The code of each state of a column of known states, −1 for markers of unknown ones."""
    odd = [s for s in variable.states if s not in states and s != -1]
    if odd:
        raise UnknownStateError(f"column {variable.name!r} has the states {listed(odd)}, not among {listed(states)}")
    return known_codes([*variable.states, None], states, variable.n_states + 1)


### a first pass


@dataclass(frozen=True, eq=False)
class FoldedSequences:
    """Sequences of a source in the working form of some emissions."""

    source: Scanned
    id: str
    reader: Reader

    @cached_property
    def sequences(self) -> KeptSequences:
        """Batches of whole sequences, kept in memory if they fit; the rows of each follow each other in one file."""
        return self.source.runs(self.id, self.reader, self.reader.coder.names).kept(sequences_of, KEPT_BYTES)

    def fold(self, collect: Callable[[Sequences], S]) -> S:
        """The sum over batches of whole sequences."""
        return self.sequences.fold(collect)

    @cached_property
    def look(self) -> Look:
        """The findings of one pass over all sequences."""
        return self.fold(looked)

    @property
    def sample(self) -> Sequences:
        """Sequences for initial values."""
        return self.look.sample

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.look.n_rows

    @property
    def n_missing(self) -> int:
        """The number of missing observations."""
        return self.look.n_missing

    @property
    def cells(self) -> Any:
        """A summary of all observations: the moments of numbers, a sample of symbols."""
        by_moments = self.look.moments is not None and self.reader.emissions.by_moments
        return self.look.moments if by_moments else self.look.sample.cells


@dataclass(frozen=True, eq=False)
class Look:
    """The findings of a pass over a batch; those of several batches add."""

    moments: Moments | None
    sample: Sequences
    #: A hash of each sequence of the sample; the lowest are kept.
    numbers: NDArray[np.uint64]
    #: The ids so far; None for too many.
    ids: frozenset[Any] | None
    n_rows: int
    n_missing: int

    def __add__(self, other: Look) -> Look:
        twice = (self.ids or frozenset()) & (other.ids or frozenset())
        if twice:
            raise in_two_places(sorted(twice, key=str))
        moments = None if self.moments is None or other.moments is None else self.moments + other.moments
        sample, numbers = few(beside([self.sample, other.sample]), np.concatenate([self.numbers, other.numbers]))
        extent = self.n_rows + other.n_rows, self.n_missing + other.n_missing
        return Look(moments, sample, numbers, union(self.ids, other.ids), *extent)


def looked(data: Sequences) -> Look:
    """The findings of a batch of whole sequences."""
    ids = frozenset(data.ids)
    if len(ids) < len(data):
        raise in_two_places([name for name, n in Counter(data.ids).items() if n > 1])
    moments = None
    if data.cells.dtype.kind == "f":
        moments = Moments.collect(data.cells, assign(len(data.cells)))
    columns = data.cells[:, None] if data.cells.ndim == 1 else data.cells
    each = row_numbers(columns.T, data.n_rows)
    numbers = scrambled(np.add.reduceat(each, data.starts))
    return Look(moments, *few(shortened(data), numbers), union(ids, frozenset()), data.n_rows, data.n_missing)


def beside(parts: list[Sequences]) -> Sequences:
    """The sequences of all, one after the other."""
    known_states = None if parts[0].known_states is None else np.concatenate([p.known_states for p in parts])
    cells, lengths = (np.concatenate(arrays) for arrays in ([p.cells for p in parts], [p.lengths for p in parts]))
    return Sequences(cells, lengths, tuple(name for p in parts for name in p.ids), known_states=known_states)


def union(one: frozenset[Any] | None, other: frozenset[Any] | None) -> frozenset[Any] | None:
    """The ids of both, if they are not too many."""
    if one is None or other is None or len(one) + len(other) > MAX_IDS:
        return None
    return one | other


def in_two_places(ids: Sequence[Any]) -> InconsistentDataError:
    """The error that names a sequence whose rows do not follow each other."""
    return InconsistentDataError(
        f"sequence {listed(ids[:3])} is in two places: the rows of a sequence must follow each other in one file",
        hint="sort the rows by sequence, and write each sequence into one file",
    )


def shortened(data: Sequences) -> Sequences:
    """Sequences cut to the length of a sample."""
    if data.lengths.max() <= SAMPLE:
        return data
    rows = np.arange(data.n_rows) - np.repeat(data.starts, data.lengths) < SAMPLE
    known_states = None if data.known_states is None else data.known_states[rows]
    return Sequences(data.cells[rows], np.minimum(data.lengths, SAMPLE), data.ids, known_states=known_states)


def few(data: Sequences, numbers: NDArray[np.uint64]) -> tuple[Sequences, NDArray[np.uint64]]:
    """The sequences with the lowest hashes, as many as make a sample, in their order."""
    order = np.argsort(numbers, kind="stable")
    kept = np.sort(order[np.cumsum(data.lengths[order]) <= SAMPLE])
    if len(kept) == len(data):
        return data, numbers
    rows = np.repeat(np.isin(np.arange(len(data)), kept), data.lengths)
    known_states = None if data.known_states is None else data.known_states[rows]
    ids = tuple(data.ids[i] for i in kept)
    return Sequences(data.cells[rows], data.lengths[kept], ids, known_states=known_states), numbers[kept]


### sources as given


@dataclass(frozen=True, eq=False)
class RawSource:
    """Columns of a source that are not yet in their working form; the counterpart of :class:`~.inputs.Raw`."""

    source: Scanned
    id: str
    names: tuple[str, ...]
    known_states: str | None = None

    @property
    def cells(self) -> NDArray[Any]:
        """Cells that have the kinds of all: every symbol once, or one number for each column."""
        first: Any = self.source.schema[self.names[0]]
        if len(self.names) == 1 and isinstance(first, DiscreteVariable):
            return np.array([*first.states, None], dtype=object)[:-1]
        if any(isinstance(self.source.schema[name], DiscreteVariable) for name in self.names):
            return self._cells_of_each()
        return np.zeros(1) if len(self.names) == 1 else np.zeros((1, len(self.names)))

    def _cells_of_each(self) -> NDArray[Any]:
        """Every state of each column, next to numbers; the rest of a shorter column is missing."""
        columns = [list(getattr(self.source.schema[name], "states", (0.0,))) for name in self.names]
        longest = max(map(len, columns))
        found = np.full((longest, len(columns)), None, dtype=object)
        for j, column in enumerate(columns):
            found[: len(column), j] = column
        return found

    def given_states(self, known_states: Any) -> list[Any] | None:
        """The states of the column of known states."""
        return None if known_states is None else list(self.source.schema[self.known_states].states)  # type: ignore[index, attr-defined]

    def finished(self, emissions: Emissions, states: Sequence[Any]) -> FoldedSequences:
        """The sequences as the emissions have them."""
        return FoldedSequences(
            self.source, self.id, Reader.of(self.source, emissions, self.names, self.known_states, states)
        )


def opened(
    data: Any,
    *,
    id: str | None,  # noqa: A002 - the name of the column
    names: tuple[str, ...] | None,
    known_states: Any,
    kind: Any,
    lengths: Any,
    sample_weight: Any,
) -> RawSource:
    """The observed columns of a source, as the emissions take them."""
    if id is None or lengths is not None:
        raise ParameterError(
            "sequences of a source need a column of sequences, and no lengths", hint=option("id", "patient")
        )
    if sample_weight is not None or getattr(data, "weight", None) is not None:
        raise ParameterError("sequences of a source have no weights")
    if kind == "words":
        raise ParameterError("words need the rows in memory, and the data are a source", hint="source.table()")
    if known_states is not None and not isinstance(known_states, str):
        raise ParameterError("`known_states` of a source is the name of one of its columns")
    also = [known_states] if known_states else []
    source = data if isinstance(data, Scanned) else scanned(data, id, None if names is None else [*names, *also])
    taken = names or tuple(n for n in source.schema.names if n not in {id, known_states})
    if not taken:
        raise ParameterError("there is no observed column", hint="name the observed columns")
    here = {v.name: isinstance(v, DiscreteVariable) for v in source.schema}
    states, numbers = declared(kind, taken)
    discrete = [n for n in (*also, *states) if not here.get(n, False)]
    numeric = [n for n in numbers if here.get(n, True)]
    source = source.declared(
        columns=(*taken, *also), discrete=discrete, numeric=numeric, max_states=MAX_SYMBOLS, allow_constant=True
    )
    return RawSource(source, id, taken, known_states)


def observed(model: HiddenMarkovModel, data: Any, id: str | None) -> KeptSequences:  # noqa: A002 - the column's name
    """Batches of whole sequences of a source in the working form of a model, kept in memory if they fit."""
    emissions = model.emissions
    raw = opened(
        data,
        id=id,
        names=emissions.feature_names,
        known_states=None,
        kind=emissions.kind,
        lengths=None,
        sample_weight=None,
    )
    return raw.finished(emissions, model.states).sequences


def lengths_by_id(sequences: KeptSequences) -> dict[Any, int]:
    """The number of rows of each sequence by its id, in order; a sequence in two places is an error."""
    found: dict[Any, int] = {}
    for batch in sequences.batches():
        twice = [name for name in batch.ids if name in found]
        if twice:
            raise in_two_places(twice)
        found |= dict(zip(batch.ids, batch.lengths.tolist(), strict=True))
    return found


def scanned(data: Any, id: str, columns: list[str] | None) -> Scanned:  # noqa: A002 - the name of the column
    """A source whose column of ids has any values."""
    gone: dict[str, str] = {}
    found: Scanned = scan(data, columns=columns, allow_constant=True, dropped_columns=gone)
    odd = [why for name, why in gone.items() if name != id]
    if odd:
        raise DataError(odd[0], hint=f"name the observed columns: {option('columns')}")
    return found
