"""What was given to learn from, as rows or as a source that folds; and the parts of a component."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.components import Component
from bayeslearn.distributions import Family, MultivariateNormal
from bayeslearn.distributions.distribution import by_name
from bayeslearn.errors import EmptyTableError, ParameterError
from bayeslearn.mixture.rows import Batches, FoldedRows, Rows, read
from bayeslearn.sources.base import Scanned
from bayeslearn.sources.scanning import as_source, is_source
from bayeslearn.tables import Numeric, Schema, Table
from bayeslearn.tables.numbers import all_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def opened(
    data: Any,
    family: Any = None,
    covariance: Any = "full",
    variance: float | None = None,
    weights: Any = None,
) -> tuple[Rows | FoldedRows, tuple[Component, ...]]:
    """Data as what folds, and the parts of a component, from what was told and from the columns."""
    if isinstance(data, FoldedRows):
        return data, data.parts
    if is_source(data) and not (isinstance(data, Scanned) and weights is None):
        data, weights = as_source(data, weights=weights), None
    named = isinstance(data, Scanned | Table)
    parts = (parts_by_name if named else parts_of)(data, family, covariance, variance)
    if isinstance(data, Scanned):
        schema = Schema(column for part in parts for column in part.columns)
        return FoldedRows(data.with_schema(schema, unseen=data.request.unseen), parts), parts
    if isinstance(data, Batches):
        return FoldedRows(data, parts), parts
    return read(parts, data, weights), parts


def parts_of(data: Any, family: Any, covariance: Any = "full", variance: float | None = None) -> tuple[Component, ...]:
    """The parts of a component, from what was told and from the shape of the data."""
    family = by_names(family)
    if isinstance(family, Family):
        return (Component.of(with_variance(family, variance)),)
    if family is not None:
        given = list(family)
        if all(isinstance(part, Component) for part in given):
            return tuple(given)
        return tuple(Component.of(f, *columns) for f, columns in zip(given, column_names(given), strict=True))
    shape = np.shape(first_batch(data))
    if len(shape) not in {1, 2}:
        raise ParameterError(f"expected rows of numbers, got an array of shape {shape}")
    return (gaussian([f"x{i}" for i in range(1 if len(shape) == 1 else shape[1])], covariance, variance),)


def parts_by_name(data: Any, family: Any, covariance: Any, variance: float | None) -> tuple[Component, ...]:
    """The parts of a component over named columns: one Gaussian of all, or the families in their order."""
    family = by_names(family)
    given: list[Any] = [family] if isinstance(family, Family) else list(family or ())
    if given and all(isinstance(part, Component) for part in given):
        return tuple(given)
    schema = data.schema
    if not given:
        words = [v.name for v in schema.discrete if not all_numbers(v)]
        if words:
            raise ParameterError(
                f"column {words[0]!r} holds states, and a Gaussian is of numbers",
                hint="find_classes mixes states and numbers; `columns` of scan leaves columns out",
            )
        return (gaussian(list(schema.names), covariance, variance),)
    wide = [len(names) for names in column_names(given)]
    if sum(wide) != len(schema):
        raise ParameterError(
            f"the families are of {sum(wide)} columns, but there are {len(schema)}: {', '.join(schema.names)}"
        )
    names = iter(schema.names)
    return tuple(
        part_by_name(f, [schema[next(names)] for _ in range(n)], variance) for f, n in zip(given, wide, strict=True)
    )


def by_names(family: Any) -> Any:
    """Distributions of numbers for their names, also in a list; "gaussian" is that of all columns, the default."""
    if isinstance(family, list | tuple):
        return [by_names(one) for one in family]
    if not isinstance(family, str) or family == "gaussian":
        return None if isinstance(family, str) else family
    distribution = by_name(family)
    if not distribution.accepts([Numeric("x")]):
        raise ParameterError(f"{family} is of states, and how many is not said", hint="find_classes mixes any columns")
    return distribution.over([Numeric("x")])


def part_by_name(family: Any, columns: list[Any], variance: float | None) -> Component:
    """A part over columns as the data have them: states keep their names."""
    if family.accepts([Numeric(column.name) for column in columns]):
        return Component.of(with_variance(family, variance), *(column.name for column in columns))
    if not family.accepts(columns) or family.over(columns) != family:
        raise ParameterError(f"column {columns[0].name!r} does not hold {family.size} states: {columns[0]!r:.80}")
    return Component(tuple(columns), family)


def with_variance(family: Any, variance: float | None) -> Any:
    """A family whose variance is known."""
    if variance is None:
        return family
    if not hasattr(family, "variance"):
        raise ParameterError(
            f"the variance of {family!r:.60} cannot be known",
            hint='take MultivariateNormal(1, "spherical"), or leave `family` out',
        )
    return replace(family, variance=variance)


def gaussian(names: list[str], covariance: Any, variance: float | None) -> Component:
    """One Gaussian over all columns; of a known variance it is spherical."""
    kind: Any = covariance if variance is None else "spherical"
    return Component(tuple(Numeric(name) for name in names), MultivariateNormal(len(names), kind, variance))


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
