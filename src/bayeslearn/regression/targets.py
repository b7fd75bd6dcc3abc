"""Training rows: input columns, and targets, which are columns of the data or arrays; new rows by their columns.

Numbers are numeric, however few they are.
A row whose target is missing adds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.moments import require_squares
from bayeslearn.errors import (
    DataError,
    EmptyTableError,
    MissingValuesError,
    ParameterError,
    ShapeError,
    in_python,
    listed,
)
from bayeslearn.regression.bayesian_linear import columns as output_columns
from bayeslearn.sources.scanning import is_source
from bayeslearn.sources.usability import dropping, named_columns, warn_dropped, without_identifiers
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table
from bayeslearn.tables.discretization import all_numbers, with_numbers
from bayeslearn.tables.identifiers import why_not_read
from bayeslearn.tables.markers import class_array, distinct_labels, label_codes, missing_labels
from bayeslearn.tables.schema import require_known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def read(
    data: Any,
    *,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    max_states: int = 255,
    dropped_columns: dict[str, str] | None = None,
) -> Table:
    """Training rows as a table in which numbers are numeric; a table keeps the kinds of its columns."""
    if isinstance(data, Table):
        return as_table(data, columns=columns, sample_weight=sample_weight)
    require_rows(data)
    discrete = strings(discrete)
    numbers = plain_numbers(data)
    if numbers is not None and columns is None and not discrete:
        schema = Schema(NumericVariable(f"x{j}") for j in range(numbers.shape[1]))
        return Table(
            schema, np.empty((0, len(numbers)), np.int8), require_finite(numbers, schema.names).T, sample_weight
        )
    table = as_table(
        data, columns=columns, discrete=discrete, sample_weight=sample_weight, max_states=max_states,
        allow_constant=True,
        dropped_columns=dropped_columns,
    )  # fmt: skip
    if not len(table.schema):
        raise EmptyTableError("no column is left to learn from")
    return with_numbers(table, [v for v in table.schema.discrete if v.name not in discrete and all_numbers(v)])


def require_rows(data: Any) -> None:
    """Refuse a source: only least squares adds up batches."""
    if is_source(data):
        raise ParameterError(
            "this fit needs all rows in memory, and a source is read batch by batch",
            hint="read them, if they fit: source.table(); least squares (fit_linear) takes a source",
        )


def strings(names: Any) -> tuple[str, ...]:
    """One name or several."""
    return (names,) if isinstance(names, str) else tuple(names)


def plain_numbers(data: Any) -> Floats | None:
    """A numeric matrix that is used without a copy, or None."""
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "iuf" and data.size:
        return np.asarray(data, dtype=np.float64)
    return None


def named(data: Any, schema: Schema) -> Any:
    """Data whose columns have the names of training, by order where they have none."""
    if isinstance(data, np.ndarray) and data.dtype.names is None and data.ndim == 2:
        if data.shape[1] != len(schema):
            raise ShapeError(
                f"expected rows of {len(schema)} columns ({listed(schema.names)}), got an array of shape {data.shape}"
            )
        return {name: data[:, j] for j, name in enumerate(schema.names)}
    return data


def require_finite(x: Floats, names: tuple[str, ...]) -> Floats:
    """Numbers that are finite or missing."""
    if np.isfinite(x.sum()):
        return x
    wide = np.isinf(x)
    if wide.any():
        row, column = validation.first_position(wide)
        raise DataError(
            f"column {names[column]!r} holds {x[row, column]} in row {row}", hint="NaN marks a missing cell"
        )
    return x


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows of inputs, their targets with names, weights or None, and the dropped columns with reasons."""

    inputs: Any
    #: Numbers (n, m), NaN where missing; or labels (n,), None where missing.
    targets: NDArray[Any]
    names: tuple[str, ...]
    sample_weight: Floats | None = None
    dropped: Mapping[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> int:
        """How many rows have no target, or not all of them."""
        gone = missing_labels(self.targets) if self.targets.ndim == 1 else np.isnan(self.targets).any(axis=1)
        return int(gone.sum())


def examples(
    data: Any,
    target: Any,
    *,
    classes: bool = False,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    max_states: int = 255,
    dropped: dict[str, str] | None = None,
) -> Examples:
    """Inputs and targets: `target` is the name of a column, a list of names, or the targets themselves.

    Columns that cannot be used are dropped with a warning, or recorded in `dropped` by a caller that reports them.
    """
    if isinstance(data, Examples):
        return data
    dropped_columns = dropping(data, dropped, columns)
    keep = [*strings(discrete), *named_columns(data)]
    names = target_names(target)
    if classes and not isinstance(target, str):  # a list of words are labels
        names = None
    if names is None:
        plain = plain_numbers(data) if columns is None and not strings(discrete) else None
        inputs = plain if plain is not None else read(
            data, columns=columns, discrete=discrete, sample_weight=sample_weight, max_states=max_states,
            dropped_columns=dropped_columns
        )  # fmt: skip
        inputs = without_identifiers(inputs, dropped_columns, keep=keep) if isinstance(inputs, Table) else inputs
        warn_dropped(dropped_columns)
        w = inputs.sample_weight if isinstance(inputs, Table) else None
        if plain is not None and sample_weight is not None:
            w = validation.weights(sample_weight, len(plain))
        found = labels_of(target) if classes else numbers_of(target)
        if len(found) != len(inputs):
            raise ShapeError(f"expected one target per row, got {len(found)} for {len(inputs)} rows")
        names = default_names(target, 1 if classes else found.shape[1])
        return Examples(inputs, require_some(found, w), names, w, dict(dropped_columns or {}))
    table = read(
        data, columns=None if columns is None else [*dict.fromkeys([*columns, *names])],
        discrete=[*strings(discrete), *(names if classes else ())], sample_weight=sample_weight, max_states=max_states,
        dropped_columns=dropped_columns,
    )  # fmt: skip
    for name in names:
        if dropped_columns is not None and name in dropped_columns:
            raise DataError(f"the target cannot be used: {dropped_columns[name]}")
    require_known(names, table.schema.names)
    table = without_identifiers(table, dropped_columns, keep=[*names, *keep])
    warn_dropped(dropped_columns)
    found = table.column(names[0]) if classes else np.column_stack([numbers_in(table, name) for name in names])
    if len(names) == len(table.schema):
        raise DataError("there is no column to learn from besides the target")
    found, w = require_some(found, table.sample_weight), table.sample_weight
    return Examples(table.drop(names), found, names, w, dict(dropped_columns or {}))


def target_names(target: Any) -> tuple[str, ...] | None:
    """The names of the columns that are the targets, or None where the targets are given themselves."""
    if isinstance(target, str):
        return (target,)
    listed = isinstance(target, Sequence) and not isinstance(target, np.ndarray)
    if listed and len(target) and all(isinstance(name, str) for name in target):
        return tuple(target)
    return None


def default_names(target: Any, n: int) -> tuple[str, ...]:
    """The names that targets bring along, or y; y0, y1 and so on of several."""
    own = getattr(target, "columns", None)
    if own is not None and len(own) == n:
        return tuple(str(name) for name in own)
    name = getattr(target, "name", None)
    return (str(name) if isinstance(name, str) and name else "y",) if n == 1 else tuple(f"y{j}" for j in range(n))


### numbers


def numbers_in(table: Table, name: str) -> Floats:
    """The numbers of a column of a table; states that are not numbers are an error."""
    variable = table.schema[name]
    if not isinstance(variable, DiscreteVariable):
        return table.values_of(name)
    if not all_numbers(variable):
        shown = next(state for state in variable.states if not isinstance(state, int | float) or state is True)
        raise no_numbers(variable, shown)
    return with_numbers(table, [variable]).values_of(name)


def no_numbers(variable: DiscreteVariable, shown: Any) -> DataError:
    """The error for a target of words."""
    classifier = in_python(", for instance LogisticClassifier") or ": --method logistic"
    return DataError(
        f"target {variable.name!r} holds states such as {shown!r}, and regression needs numbers"
        + why_not_read(variable.name, variable.states),
        hint=f"fit a classifier{classifier}",
        column=variable.name,
    )


def numbers_of(target: Any) -> Floats:
    """Targets given as an array: (n, m) numbers, NaN where missing."""
    if isinstance(target, Mapping):
        target = np.column_stack([np.asarray(column, dtype=object) for column in target.values()])
    try:
        array = np.asarray(target, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            "regression needs numeric targets, got text", hint="fit a classifier, such as LogisticClassifier"
        ) from None
    if array.ndim == 2 and not array.shape[1]:
        raise ShapeError(f"expected targets of shape (n,) or (n, m), got {array.shape}")
    return output_columns(array)


def require_some(targets: NDArray[Any], sample_weight: Floats | None) -> NDArray[Any]:
    """Targets of which some are there and count."""
    if sample_weight is not None and not sample_weight.any():
        raise DataError("every sample weight is zero: no row is left to learn from")
    if targets.dtype == np.float64:
        require_squares("targets", targets)
    gone = missing_labels(targets) if targets.ndim == 1 else np.isnan(targets).any(axis=1)
    if (gone if sample_weight is None else gone | (sample_weight == 0)).all():
        raise MissingValuesError("the target is missing in every row", hint="give rows whose target is known")
    return targets


### labels


def labels_of(target: Any) -> NDArray[Any]:
    """Labels as objects, None where missing; whole numbers stay an array of their type."""
    array = np.asarray(target)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1:
        raise ShapeError(f"expected labels of shape (n,), got {array.shape}")
    if array.dtype.kind in "iu":
        return array
    labels = np.empty(len(array), dtype=object)
    labels[:] = array.tolist()
    labels[missing_labels(labels)] = None
    if array.dtype.kind in "Of" and any(isinstance(label, float) and math.isinf(label) for label in labels):
        raise DataError("Input y contains infinity, which is no label", hint="None and NaN are missing labels")
    return labels


def coded(labels: NDArray[Any], classes: Sequence[Any]) -> NDArray[np.intp]:
    """The position of each label among the classes, −1 where it is missing; others are an error."""
    return label_codes(labels, class_array(classes)).astype(np.intp)


def known_classes(labels: NDArray[Any]) -> tuple[Any, ...]:
    """The different labels in order: numbers by size, words by letter; at least two."""
    found = tuple(distinct_labels(labels).tolist())
    if len(found) < 2:
        raise DataError(
            f"the target has one class only, {found[0]!r}", hint="give rows of at least two classes", n_classes=1
        )
    return found


def shares(codes: NDArray[np.intp], n: int) -> Floats:
    """One column for each class, 1 where a row is of it; NaN throughout where that is missing."""
    found = (codes[:, None] == np.arange(n)).astype(float)
    found[codes < 0] = np.nan
    return found


def probabilities(target: Any) -> Floats:
    """Soft targets: (n,) the probability of the second of two classes, or (n, k) those of all; NaN where missing."""
    d = validation.float_array("target", target)
    d = np.column_stack([1 - d, d]) if d.ndim == 1 else d
    if d.ndim != 2 or d.shape[1] < 2:
        raise ShapeError(f"expected probabilities of shape (n,) or (n, classes), got {d.shape}")
    known = d[~np.isnan(d).any(axis=1)]
    if ((known < 0) | (known > 1)).any() or (np.abs(known.sum(axis=1) - 1) > validation.SUM_TOLERANCE).any():
        raise DataError("soft targets are probabilities: between 0 and 1, and 1 together")
    return d
