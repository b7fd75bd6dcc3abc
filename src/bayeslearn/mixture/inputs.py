"""What was given to learn from, as rows or as a source that folds; a first pass over it; and the parts of a component.

    fold(collect) = collect(batch 1) + collect(batch 2) + …

The first pass finds the statistics of every part over all rows, and rows to start from, in one pass. Of more rows than
starts are drawn from a sample is taken, which is the same for every reader of the batches
(:mod:`bayeslearn.sources.encoding`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn import validation
from bayeslearn.components.component import Component
from bayeslearn.components.rows import Rows, in_batch, read
from bayeslearn.distributions import Family, MultivariateNormal, StatisticsBundle
from bayeslearn.distributions.distribution import by_name
from bayeslearn.distributions.distribution import column_names as distribution_names
from bayeslearn.errors import DataError, EmptyTableError, ParameterError
from bayeslearn.sources.scanning import as_source, is_paths, is_source
from bayeslearn.tables import NumericVariable, Schema, Table
from bayeslearn.tables.discretization import all_numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

    from bayeslearn.sources.base import Scanned
    from bayeslearn.tables.source_protocol import Sum


S = TypeVar("S")

#: Rows that seeds are drawn from; more are sampled.
MOST_ROWS = 20_000


@dataclass(frozen=True)
class Batches:
    """Rows that come in batches, again and again: EM over more data than fit into memory.

    `source` is a function that returns an iterator over arrays, tables or (rows, weights), or anything that can be
    iterated more than once. Each batch is read, checked, and let go.
    """

    source: Callable[[], Iterable[Any]] | Iterable[Any]

    def __post_init__(self) -> None:
        if isinstance(self.source, Iterator):
            raise ParameterError(
                "an iterator gives its batches only once, and EM reads them many times",
                hint="give a function that returns a new iterator, or a list",
            )

    def fold(self, collect: Callable[[Any], S]) -> S:
        """The sum over the batches as they come."""
        from bayeslearn.tables.source_protocol import Sum  # noqa: PLC0415 - rows in memory need none

        total: Sum[S] = Sum()
        for batch in self.source() if callable(self.source) else self.source:
            total.add(collect(batch))
        if total.total is None:
            raise EmptyTableError("there are no batches to learn from")
        return total.total


@dataclass(frozen=True, eq=False)
class FoldedRows:
    """A source, or batches, read as rows of known parts."""

    source: Batches | Scanned
    parts: tuple[Component, ...]

    def fold(self, collect: Callable[[Rows], S]) -> S:
        """The sum over the batches; none stays in memory."""
        return self.source.fold(Reading(self.parts, collect))

    @cached_property
    def seen(self) -> Seen:
        """What all rows show, and rows to start from: all of few, a sample of many; by one pass."""
        return look(self)


@dataclass(frozen=True)
class Reading:
    """What is made of a batch, once it is read; it may travel."""

    parts: tuple[Component, ...]
    collect: Callable[[Rows], Any]

    def __call__(self, batch: Any) -> Any:
        """Of one batch: rows, or rows and their weights."""
        pair = isinstance(batch, tuple) and len(batch) == 2
        return self.collect(in_batch(self.parts, *batch) if pair else in_batch(self.parts, batch))


### a first look


@dataclass(frozen=True, eq=False)
class Seen:
    """The statistics of each part, as of one component, and rows to start from."""

    whole: StatisticsBundle
    sample: Rows


@dataclass(frozen=True, eq=False)
class Look:
    """What a batch shows; what several show adds."""

    whole: StatisticsBundle
    weight: float
    sample: Rows
    numbers: NDArray[np.uint64]

    def __add__(self, other: Look) -> Look:
        from bayeslearn.sources.encoding import lowest  # noqa: PLC0415 - rows in memory need no sample by number

        rows, numbers = joined(self.sample, other.sample), np.concatenate([self.numbers, other.numbers])
        kept = lowest(numbers, MOST_ROWS)
        return Look(self.whole + other.whole, self.weight + other.weight, rows.take(kept), numbers[kept])


@dataclass(frozen=True)
class Looking:
    """Reads batches for the first pass; it may be sent to a worker."""

    parts: tuple[Component, ...]

    def __call__(self, rows: Rows) -> Look:
        """Of one batch."""
        from bayeslearn.sources.encoding import lowest, row_numbers  # noqa: PLC0415 - rows in memory need no sample by number

        columns = (column for cells in rows.cells for column in cells.reshape(len(rows), -1).T)
        numbers = row_numbers(columns, len(rows))
        kept = lowest(numbers, MOST_ROWS)
        return Look(whole_of(self.parts, rows), rows.total, rows.take(kept), numbers[kept])


def first_look(source: Rows | FoldedRows, parts: Sequence[Component]) -> Seen:
    """What all rows show, and rows to start from: rows in memory are their own sample."""
    return Seen(whole_of(parts, source), source) if isinstance(source, Rows) else source.seen


def look(source: FoldedRows) -> Seen:
    """One pass over all batches."""
    found: Look = source.fold(Looking(source.parts))
    if not found.weight > 0:
        raise DataError("every weight is zero: no row is left to learn from")
    return Seen(found.whole, found.sample)


def whole_of(parts: Sequence[Component], rows: Rows) -> StatisticsBundle:
    """The statistics of every part over these rows."""
    return StatisticsBundle(
        {part.name: whole(part, c, rows.sample_weight) for part, c in zip(parts, rows.cells, strict=True)}
    )


def joined(one: Rows, other: Rows) -> Rows:
    """Rows one after the other."""
    cells = tuple(np.concatenate(pair) for pair in zip(one.cells, other.cells, strict=True))
    if one.sample_weight is None and other.sample_weight is None:
        return Rows(cells)
    weights = [np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight for rows in (one, other)]
    return Rows(cells, np.concatenate(weights))


### what was given


def opened(
    data: Any,
    distributions: Any = None,
    covariance_type: Any = "full",
    variance: float | None = None,
    sample_weight: Any = None,
) -> tuple[Rows | FoldedRows, tuple[Component, ...]]:
    """Data as what folds, and the parts of a component, from the distributions and the columns."""
    if isinstance(data, FoldedRows):
        return data, data.parts
    if is_source(data):
        if sample_weight is not None or is_paths(data):
            data = as_source(data, sample_weight=sample_weight)
        parts = parts_by_name(data, distributions, covariance_type, variance)
        schema = Schema(column for part in parts for column in part.columns)
        return FoldedRows(data.with_schema(schema, handle_unknown=data.request.unseen), parts), parts
    parts = (parts_by_name if isinstance(data, Table) else parts_of)(data, distributions, covariance_type, variance)
    if isinstance(data, Batches):
        return FoldedRows(data, parts), parts
    return read(parts, data, sample_weight), parts


def parts_of(
    data: Any, distributions: Any, covariance_type: Any = "full", variance: float | None = None
) -> tuple[Component, ...]:
    """The parts of a component, from the distributions and the shape of the data."""
    distributions = by_names(distributions)
    if isinstance(distributions, Family):
        return (Component.of(with_variance(distributions, variance)),)
    if distributions is not None:
        given = list(distributions)
        if all(isinstance(part, Component) for part in given):
            return tuple(given)
        return tuple(Component.of(f, *columns) for f, columns in zip(given, column_names(given), strict=True))
    shape = np.shape(first_batch(data))
    if len(shape) not in {1, 2}:
        raise ParameterError(f"expected rows of numbers, got an array of shape {shape}")
    names = [f"x{i}" for i in range(1 if len(shape) == 1 else shape[1])]
    return (gaussian([NumericVariable(name) for name in names], covariance_type, variance),)


def parts_by_name(data: Any, distributions: Any, covariance_type: Any, variance: float | None) -> tuple[Component, ...]:
    """The parts of a component over named columns: one Gaussian of all, or the distributions in their order."""
    distributions = by_names(distributions)
    given: list[Any] = [distributions] if isinstance(distributions, Family) else list(distributions or ())
    if given and all(isinstance(part, Component) for part in given):
        return tuple(given)
    schema = data.schema
    if not given:
        words = [v.name for v in schema.discrete if not all_numbers(v)]
        if words:
            raise ParameterError(
                f"column {words[0]!r} has states, and a Gaussian is of numbers",
                hint="MixedTypeClusterer and fit_mixture take any columns",
            )
        return (gaussian([NumericVariable(name) for name in schema.names], covariance_type, variance),)
    wide = [len(names) for names in column_names(given)]
    if sum(wide) != len(schema):
        raise ParameterError(
            f"the distributions have {sum(wide)} columns, but there are {len(schema)}: {', '.join(schema.names)}"
        )
    names = iter(schema.names)
    return tuple(
        part_by_name(f, [schema[next(names)] for _ in range(n)], variance) for f, n in zip(given, wide, strict=True)
    )


def by_names(distributions: Any) -> Any:
    """Distributions of numbers for their names, also in a list."""
    if isinstance(distributions, list | tuple):
        return [by_names(one) for one in distributions]
    if not isinstance(distributions, str):
        return distributions
    distribution = by_name(validation.choice("distributions", distributions, distribution_names()))
    if not distribution.accepts([NumericVariable("x")]):
        raise ParameterError(
            f"{distributions} needs a number of states", hint="give the columns names: a frame or a dict of columns"
        )
    return distribution.over([NumericVariable("x")])


def part_by_name(family: Any, columns: list[Any], variance: float | None) -> Component:
    """A part over columns as the data have them: states keep their names."""
    if family.accepts([NumericVariable(column.name) for column in columns]):
        return Component.of(with_variance(family, variance), *(column.name for column in columns))
    if not family.accepts(columns) or family.over(columns) != family:
        raise ParameterError(f"column {columns[0].name!r} does not hold {family.n_states} states: {columns[0]!r:.80}")
    return Component(tuple(columns), family)


def with_variance(family: Any, variance: float | None) -> Any:
    """A family whose variance is known."""
    if variance is None:
        return family
    if not hasattr(family, "variance"):
        raise ParameterError(
            f"{family!r:.60} has no `variance` that can be known",
            hint='use MultivariateNormal(1, "spherical"), or no `distributions`',
        )
    return replace(family, variance=variance)


def gaussian(columns: Sequence[Any], covariance_type: Any, variance: float | None) -> Component:
    """One Gaussian over all columns; with a known variance it is spherical."""
    kind: Any = validation.choice("covariance_type", covariance_type, ["full", "tied", "diag", "spherical"])
    kind = kind if variance is None else "spherical"
    return Component(tuple(columns), MultivariateNormal(len(columns), kind, variance))


def column_names(families: Sequence[Any]) -> Iterator[list[str]]:
    """x0, x1, … for as many columns as each family takes."""
    at = 0
    for family in families:
        wide = family.n_columns
        yield [f"x{i}" for i in range(at, at + wide)]
        at += wide


def first_batch(data: Any) -> Any:
    """The first of the batches, or the data themselves."""
    if not isinstance(data, Batches):
        return data
    first = next(iter(data.source() if callable(data.source) else data.source), None)
    if first is None:
        raise EmptyTableError("there are no batches to learn from")
    return first[0] if isinstance(first, tuple) else first


def whole(part: Component, cells: NDArray[Any], sample_weight: Floats | None) -> Any:
    """The statistics of all cases together, as of one component; of numbers column by column."""
    part.distribution.require_range(cells, part.name)
    shares = np.ones((len(cells), 1)) if sample_weight is None else sample_weight[:, None]
    return part.distribution.marginal().collect(cells, sample_weight=shares)
