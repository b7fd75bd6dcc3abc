"""Least squares of a source, in two passes: how rows become points, then the moments of points and targets.

mean, spread = fold(moments of the cells that are there)        moments = fold(joint moments of (point, outputs))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import JointMoments, Moments
from bayeslearn.distributions.moments import MEAN_ROUNDING
from bayeslearn.distributions.sufficient_statistics import assign
from bayeslearn.errors import DataError, MissingValuesError, ParameterError
from bayeslearn.regression.bayesian_linear import collect
from bayeslearn.regression.feature_encoding import Features, width
from bayeslearn.regression.targets import no_numbers, strings, target_names
from bayeslearn.sources.base import Scanned
from bayeslearn.sources.scanning import as_source
from bayeslearn.sources.usability import dropping, named_columns, warn_dropped, without_identifiers
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema
from bayeslearn.tables.discretization import all_numbers
from bayeslearn.tables.schema import require_known
from bayeslearn.tables.source_protocol import same

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bayeslearn.tables import Source, Table
    from bayeslearn.tables.source_protocol import Folded

#: Bytes of rows that are remembered between the two passes.
KEPT_BYTES = 1 << 27


def opened(
    data: Any,
    target: Any,
    *,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    max_states: int = 255,
    dropped: dict[str, str] | None = None,
) -> tuple[Scanned, tuple[str, ...], dict[str, str]]:
    """A source in which numbers are numeric unless declared as states, the names of its targets, dropped columns."""
    dropped_columns = dropping(data, dropped, columns)
    names = named_targets(target)
    chosen = None if columns is None else [*dict.fromkeys([*columns, *names])]
    kept = {*strings(discrete)}
    if isinstance(data, Scanned):
        kept |= set(data.schema.names if data.digest is None else {*data.request.discrete, *data.request.states})
        kept |= set(data.schema.names if data.request.all_discrete else ())
    source: Any = as_source(
        data, columns=chosen, discrete=strings(discrete), sample_weight=sample_weight, max_states=max_states,
        allow_constant=True,
        dropped_columns=dropped_columns,
    )  # fmt: skip
    for name in names:
        if dropped_columns is not None and name in dropped_columns:
            raise DataError(f"the target cannot be used: {dropped_columns[name]}")
    require_known(names, source.schema.names)
    source = without_identifiers(source, dropped_columns, keep=[*names, *strings(discrete), *named_columns(data)])
    warn_dropped(dropped_columns)
    if len(names) == len(source.schema):
        raise DataError("there is no column to learn from besides the target")
    schema = Schema(as_number(v, kept - {*names}) for v in source.schema)
    for variable in (schema[name] for name in names):
        if isinstance(variable, DiscreteVariable):
            raise no_numbers(variable, variable.states[0])
    return source.with_schema(schema, handle_unknown=source.request.unseen), names, dict(dropped_columns or {})


def named_targets(target: Any) -> tuple[str, ...]:
    """The names of the targets, which are columns of the source."""
    names = target_names(target)
    if names is None:
        raise ParameterError(
            f"the targets of a source are columns of it, got {type(target).__name__}", hint='name them: target="y"'
        )
    return names


def as_number(variable: Any, kept: set[str]) -> Any:
    """A column of states that are numbers, as numbers."""
    number = isinstance(variable, DiscreteVariable) and variable.name not in kept and all_numbers(variable)
    return NumericVariable(variable.name, read_as=variable.read_as, origin=variable.origin) if number else variable


### two passes


@dataclass(frozen=True)
class Cells:
    """The moments of the features of a batch; it may travel."""

    blank: Features

    def __call__(self, table: Table) -> Moments:
        """Of the cells that are there."""
        x = self.blank.raw(table)
        return Moments.collect(x, assign(len(x), sample_weight=table.sample_weight))


@dataclass(frozen=True)
class Cases:
    """The joint moments of the points and the outputs of a batch; it may travel."""

    features: Features
    outputs: tuple[str, ...]

    def __call__(self, table: Table) -> JointMoments:
        """Of the rows whose outputs are there."""
        y = np.column_stack([table.values_of(name) for name in self.outputs])
        return collect(self.features.filled(self.features.raw(table)), y, table.sample_weight)[0]


def collected_from(source: Source, outputs: tuple[str, ...]) -> tuple[Features, JointMoments]:
    """How rows become points, and the moments of all: the rows are read once if they fit into memory, else twice."""
    rows = source.kept(same, KEPT_BYTES)
    features = features_of(rows, source.schema.drop(outputs))
    return features, moments_of(rows, features, outputs)


def features_of(rows: Folded[Table], schema: Schema) -> Features:
    """How rows become points, from a pass over all of them."""
    nothing = np.zeros(width(schema, every_state=False))
    found = rows.fold(Cells(Features(schema, nothing, nothing)))
    spread = np.sqrt(found.var)
    return Features(schema, found.mean, np.where(spread <= MEAN_ROUNDING * np.abs(found.mean), 0.0, spread))


def moments_of(rows: Folded[Table], features: Features, outputs: tuple[str, ...]) -> JointMoments:
    """The moments of all points and outputs."""
    found = rows.fold(Cases(features, outputs))
    if not found.n > 0:
        raise MissingValuesError(
            "the target is missing in every row that counts", hint="give rows whose target is known"
        )
    return found


def more_of(data: Any, features: Features, outputs: tuple[str, ...], target: Any, sample_weight: Any) -> JointMoments:
    """The moments of another source, encoded as the training rows were; states it had not shown are missing."""
    names = outputs if target is None else named_targets(target)
    schema = Schema([*features.schema, *map(NumericVariable, names)])
    source: Any = as_source(data, sample_weight=sample_weight)
    require_known(schema.names, source.schema.names)
    return moments_of(source.with_schema(schema, handle_unknown="missing"), features, names)
