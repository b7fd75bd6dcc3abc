"""Rows of a table as points: the encoding of least squares, logistic units, radial units and local fits.

    a number            itself
    one of k states     k − 1 indicators, against the first state; all k where distances count (``every_state``)
    a missing cell      the mean of the training rows; for states, the share of each
    an unknown state    a missing cell, and it is reported

With `n_bins`, a number has indicators of its bins too, k − 1 of k quantile intervals, against the lowest; and a column
with missing cells has an indicator of these. Units of both kinds share one linear function: a bin is a step of it.

Numbers are numeric, however few they are, unless `discrete` names their column. New rows are encoded as the training
rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions.moments import MEAN_ROUNDING, in_range, require_squares
from bayeslearn.distributions.sufficient_statistics import frozen, ratio
from bayeslearn.errors import (
    FormatError,
    MismatchError,
    ShapeError,
    listed,
)
from bayeslearn.regression.targets import named, plain_numbers, read, require_finite, strings
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, as_table
from bayeslearn.tables.conversion import collected
from bayeslearn.tables.discretization import quantile_cuts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.tables import Table
    from bayeslearn.tables.conversion import Notes

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Encoded:
    """Points, with the cells that were filled by the mean, and unknown states."""

    matrix: Floats
    #: The number of filled cells of each column, where any were.
    filled: dict[str, int] = field(default_factory=dict)
    #: The states of each column that no training row has.
    unseen: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.matrix)


@dataclass(frozen=True, eq=False)
class Features:
    """The encoding of rows as points; :meth:`learn` computes it from the training rows.

    >>> features = Features.fit({"hours": [1.0, 2.0, None, 6.0], "wind": ["weak", "strong", "weak", "weak"]})
    >>> features.names
    ('hours', 'wind=weak')
    >>> features.encode({"hours": [5.0, None], "wind": ["weak", "gale"]}).matrix.tolist()
    [[5.0, 1.0], [3.0, 0.75]]
    """

    schema: Schema
    #: The mean, which replaces missing cells, and the standard deviation of every feature.
    mean: Floats
    spread: Floats
    #: Whether every state has an indicator, also the first.
    every_state: bool = False
    #: Where the bins of numeric columns begin but for the lowest, and the columns with an indicator of missing cells.
    cuts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    indicated: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("mean", "spread"):
            array = frozen(getattr(self, name))
            if array.shape != (self.size,):
                raise ShapeError(f"expected `{name}` of {self.size} features, got shape {array.shape}")
            object.__setattr__(self, name, array)

    @classmethod
    def fit(
        cls,
        data: Any,
        *,
        columns: Iterable[str] | None = None,
        discrete: Iterable[str] = (),
        sample_weight: Any = None,
        every_state: bool = False,
        max_states: int = 255,
        dropped_columns: dict[str, str] | None = None,
        n_bins: int = 0,
    ) -> Features:
        """Return the encoding of these rows.

        Parameters
        ----------
        data
            A table, a frame, an array, a dict of columns, a list of rows, or the path of a file.
        columns
            The columns to use; all by default.
        discrete
            Columns whose numbers are names of states.
        sample_weight
            The weight of each row, or the column that holds it.
        dropped_columns
            A dict for columns that cannot be used, with the reasons; without it they are an error.
        n_bins
            The number of quantile bins of each numeric column, which become indicators next to the number; 0 for none.
        """
        numbers = None if n_bins else plain_numbers(data)
        if numbers is not None and columns is None and not strings(discrete):
            w = None if sample_weight is None else validation.weights(sample_weight, len(numbers))
            schema = Schema(NumericVariable(f"x{j}") for j in range(numbers.shape[1]))
            return cls(schema, *center_and_spread(require_finite(numbers, schema.names), w), every_state)
        table = read(
            data,
            columns=columns,
            discrete=discrete,
            sample_weight=sample_weight,
            max_states=max_states,
            dropped_columns=dropped_columns,
        )
        cuts = {v.name: found for v in table.schema.numeric if (found := bins_of(table, v.name, n_bins))}
        gaps = tuple(name for name, n in table.missing().items() if n and n_bins)
        nothing = np.zeros(width(table.schema, every_state=every_state) + sum(map(len, cuts.values())) + len(gaps))
        blank = cls(table.schema, nothing, nothing, every_state, cuts, gaps)
        mean, spread = center_and_spread(blank.raw(table), table.sample_weight)
        return cls(table.schema, mean, spread, every_state, cuts, gaps)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the features: of a column of numbers, or column=state."""
        return tuple(name for variable in self.schema for name in self._names(variable))

    def _names(self, variable: Any) -> list[str]:
        name = variable.name
        gap = [f"{name}=missing"] if name in self.indicated else []
        if isinstance(variable, DiscreteVariable):
            return [f"{name}={state}" for state in variable.states[not self.every_state :]] + gap
        cuts = self.cuts.get(name, ())
        ends = [f"{end:.6g}" for end in cuts[1:]]
        bins = [f"{name}={low:.6g} to {high}" for low, high in zip(cuts, ends, strict=False)]
        return [name, *bins, *([f"{name}={cuts[-1]:.6g} and more"] if cuts else []), *gap]

    @property
    def size(self) -> int:
        """The number of features."""
        more = sum(map(len, self.cuts.values())) + len(self.indicated)
        return width(self.schema, every_state=self.every_state) + more

    @property
    def is_plain(self) -> bool:
        """Whether every feature is a numeric column."""
        return not (self.schema.discrete or self.cuts or self.indicated)

    @property
    def constant(self) -> tuple[str, ...]:
        """The features that are constant in the training rows."""
        return tuple(name for name, spread in zip(self.names, self.spread, strict=True) if spread == 0)

    # -- rows

    def table(self, data: Any, *, missing_columns: Literal["error", "missing"] = "error") -> Table:
        """Return rows by the columns of training; an unknown state is missing."""
        return self.read(data, missing_columns=missing_columns)[0]

    def encode(
        self, data: Any, *, missing_columns: Literal["error", "missing"] = "error", warn_unseen: bool = False
    ) -> Encoded:
        """Return rows as points (n, size), with unknown states; `warn_unseen` warns of those."""
        numbers = plain_numbers(data) if self.is_plain else None
        unseen: dict[str, tuple[Any, ...]] = {}
        if numbers is not None and numbers.shape[1] == len(self.schema):
            x = require_finite(numbers, self.schema.names)
            counts = np.isnan(x).sum(axis=0).tolist() if np.isnan(x.sum()) else [0] * x.shape[1]
            missing = dict(zip(self.schema.names, counts, strict=True))
        else:
            table, notes = self.read(data, missing_columns=missing_columns)
            unseen = {name: tuple(counts) for name, counts in notes.unseen.items()}
            if warn_unseen:
                notes.warn()
            x, missing = self.raw(table), table.missing()
        filled = {name: int(n) for name, n in missing.items() if n}
        return Encoded(self.filled(x) if filled else x, filled, unseen)

    def filled(self, matrix: Floats) -> Floats:
        """Points whose missing cells are the means of training."""
        return np.where(np.isnan(matrix), self.mean, matrix)

    def standardized(self, matrix: Floats, *, ones: bool = False) -> Floats:
        """Points in units of the spread around the mean, 0 where a feature does not vary; with `ones`, a 1 before each.

        Missing cells are at the mean. Some rows are computed at a time, which stay in the cache.
        """
        whole = np.empty((len(matrix), self.size + ones))
        whole[:, :ones] = 1.0
        scale, step = ratio(1.0, self.spread), row_step(self.size)
        with in_range():
            for at in range(0, len(matrix), step):
                points = whole[at : at + step, int(ones) :]
                np.subtract(matrix[at : at + step], self.mean, out=points)
                points *= scale
                if np.isnan(points.sum()):
                    np.nan_to_num(points, copy=False, posinf=np.inf, neginf=-np.inf)
                require_squares("distances from the mean, in standard deviations,", points)
        return whole

    def design(self, data: Any, *, ones: bool = False) -> Floats:
        """Rows as standardized points; see :meth:`standardized`."""
        numbers = plain_numbers(data) if self.is_plain else None
        if numbers is not None and numbers.shape[1] == len(self.schema):
            return self.standardized(require_finite(numbers, self.schema.names), ones=ones)
        return self.standardized(self.encode(data).matrix, ones=ones)

    def raw(self, table: Table) -> Floats:
        """A table of this schema as points, NaN where a cell is missing."""
        x = np.empty((table.n_rows, self.size))
        at = 0
        for variable in self.schema:
            if not isinstance(variable, DiscreteVariable):
                values = table.values_of(variable.name)
                x[:, at], gone = values, np.isnan(values)
                at += 1
                cuts = self.cuts.get(variable.name, ())
                codes, first, last = np.searchsorted(cuts, values, side="right"), 1, len(cuts) + 1
            else:
                codes = table.codes_of(variable.name)
                gone, first, last = codes < 0, int(not self.every_state), variable.n_states
            for state in range(first, last):
                x[:, at] = codes == state
                x[gone, at] = np.nan
                at += 1
            if variable.name in self.indicated:
                x[:, at] = gone
                at += 1
        return x

    def read(self, data: Any, *, missing_columns: Literal["error", "missing"] = "error") -> tuple[Table, Notes]:
        """Return rows by the columns of training, and the values that are treated as missing."""
        with collected() as notes:
            rows = named(data, self.schema)
            return as_table(rows, schema=self.schema, missing_columns=missing_columns, handle_unknown="missing"), notes

    # -- as a value

    def require_same(self, other: Features) -> None:
        """Refuse an encoding of other columns or states."""
        mine, theirs = ((f.schema, f.every_state, f.cuts, f.indicated) for f in (self, other))
        if mine != theirs:
            raise MismatchError(
                f"the models have different columns: {listed(self.names)} and {listed(other.names)}",
                hint="fit both with the same schema", differs="columns",
            )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """The encoding as plain JSON values."""
        numbers = {"mean": self.mean.tolist(), "spread": self.spread.tolist()}
        found = {**self.schema.to_dict(), **numbers, "every_state": self.every_state}
        if self.cuts or self.indicated:
            cuts = {name: list(found) for name, found in self.cuts.items()}
            found |= {"cuts": cuts, "indicated": list(self.indicated)}
        return found

    @classmethod
    def from_dict(cls, entry: Any) -> Features:
        """An encoding read back from what :meth:`to_dict` wrote, checked in full."""
        keys = {"variables", "mean", "spread", "every_state"}
        if not isinstance(entry, Mapping) or entry.keys() not in (keys, keys | {"cuts", "indicated"}):
            raise FormatError(f"not the description of features: {entry!r:.80}")
        mean, spread = (validation.float_array(name, entry[name]) for name in ("mean", "spread"))
        if not (np.isfinite(mean).all() and np.isfinite(spread).all() and (spread >= 0).all()):
            raise FormatError("the means and spreads of features must be finite, and spreads not negative")
        schema = Schema.from_dict(entry)
        cuts, indicated = checked_bins(entry.get("cuts", {}), entry.get("indicated", []), schema)
        return cls(schema, mean, spread, entry["every_state"] is True, cuts, indicated)

    @classmethod
    def checked(cls, reader: Reader, entry: Any) -> Features:
        """The same of a model file: means and spreads that can be divided by."""
        features = cls.from_dict(entry)
        reader.require_units("mean", features.mean)
        reader.require_units("spread", features.spread)
        return features


### parts


def bins_of(table: Table, name: str, n_bins: int) -> tuple[float, ...]:
    """Where the quantile bins of a column begin but for the lowest; none of a column with two values or fewer."""
    values = table.values_of(name)
    seen = ~np.isnan(values) if table.sample_weight is None else ~np.isnan(values) & (table.sample_weight > 0)
    distinct, which = np.unique(values[seen], return_inverse=True)
    if not n_bins or len(distinct) <= 2:
        return ()
    w = None if table.sample_weight is None else table.sample_weight[seen]
    return tuple(quantile_cuts(distinct, np.bincount(which, w).astype(np.float64), n_bins).tolist())


def checked_bins(cuts: Any, indicated: Any, schema: Schema) -> tuple[dict[str, tuple[float, ...]], tuple[str, ...]]:
    """Bins and indicators of a file: rising finite numbers of numeric columns, and names of columns."""
    if not (isinstance(cuts, Mapping) and isinstance(indicated, list)):
        raise FormatError("bins and columns with missing cells must be an object and a list")
    numeric, names = {v.name for v in schema.numeric}, set(schema.names)
    found = {}
    for name, values in cuts.items():
        array = validation.float_array("cuts", values)
        rises = array.ndim == 1 and len(array) and np.isfinite(array).all() and (np.diff(array) > 0).all()
        if name not in numeric or not rises:
            raise FormatError(f"bins must be rising numbers of a numeric column, got {values!r:.60} of {name!r:.60}")
        found[name] = tuple(array.tolist())
    if len(set(map(str, indicated))) != len(indicated) or not names.issuperset(map(str, indicated)):
        raise FormatError(f"not columns with missing cells: {indicated!r:.80}")
    return found, tuple(map(str, indicated))


def width(schema: Schema, *, every_state: bool) -> int:
    """The number of features of the columns."""
    return len(schema.numeric) + sum(v.n_states - (not every_state) for v in schema.discrete)


def center_and_spread(x: Floats, sample_weight: Floats | None) -> tuple[Floats, Floats]:
    """The mean and the standard deviation of every column, over the cells that are there; spread 0 up to rounding."""
    if sample_weight is None and len(x) and np.isfinite(x.sum()):
        mean, spread = complete_moments(x)
        return mean, np.where(spread <= MEAN_ROUNDING * np.abs(mean), 0.0, spread)
    require_squares("inputs", x)
    seen = ~np.isnan(x)
    w = seen * (
        1.0
        if sample_weight is None
        else sample_weight[:, None] / max(sample_weight.max(initial=0.0), np.finfo(float).tiny)
    )
    n = w.sum(axis=0)
    x = np.where(seen, x, 0.0)
    mean = ratio((w * x).sum(axis=0), n)
    δ = x - mean
    mean = mean + ratio((w * δ).sum(axis=0), n)
    spread = np.sqrt(ratio((w * (x - mean) ** 2).sum(axis=0), n))
    return mean, np.where(spread <= MEAN_ROUNDING * np.abs(mean), 0.0, spread)


def complete_moments(x: Floats) -> tuple[Floats, Floats]:
    """The mean and the standard deviation of every column of complete rows, some rows at a time.

    Parts are merged by M = M₁ + M₂ + δ² n₁ n₂ / n, where M = Σ (x − mean)² and δ is the difference of their means.
    """
    n, mean, squares = 0, np.zeros(x.shape[1]), np.zeros(x.shape[1])
    step = row_step(x.shape[1])
    for at in range(0, len(x), step):
        part = require_squares("inputs", x[at : at + step])
        own = part.mean(axis=0)
        δ = part - own
        squares += np.einsum("ij,ij->j", δ, δ) + (own - mean) ** 2 * (n * len(part) / (n + len(part)))
        n += len(part)
        mean = mean + (own - mean) * (len(part) / n)
    return mean, np.sqrt(squares / n)


def row_step(wide: int) -> int:
    """The number of rows that stay in the cache."""
    return max((1 << 16) // max(wide, 1), 1)
