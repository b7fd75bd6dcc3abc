"""Discretization as a scikit-learn transformer: numeric columns become intervals.

The cut points of training are kept, and new rows are discretized at the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import narwhals as nw
import numpy as np
import pyarrow as pa
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bayeslearn import validation
from bayeslearn.errors import DataError, ParameterError
from bayeslearn.estimators import ReadsRows, has_named_columns, n_rows
from bayeslearn.tables import DiscreteVariable, Table, as_table
from bayeslearn.tables.discretization import STRATEGIES
from bayeslearn.tables.frames import arrow_states, state_cells, to_pandas, to_polars
from bayeslearn.tables.markers import missing_labels
from bayeslearn.tables.schema import name_list, require_known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

__all__ = ["Discretizer"]


def __dir__() -> list[str]:
    return __all__


class Discretizer(ReadsRows, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Discretize numeric columns: bins of equal weight, of equal width, or by minimum description length.

    Frames of pandas, polars and pyarrow keep their kind: intervals become ordered categories.
    An array becomes an array of the codes 0, 1, ... of the intervals. Missing values stay missing.

    Parameters
    ----------
    strategy
        ``"quantile"`` (the default): bins of about equal weight. ``"uniform"``: bins of equal width. ``"mdl"``: cut
        points that separate the classes of `y`, by minimum description length.
    n_bins
        The number of bins of ``"quantile"`` and ``"uniform"``.
    columns
        The columns to discretize: by default every column of an array, and the numeric columns of a frame.
    na_values, keep_default_na
        Markers of missing values, as in :func:`~bayeslearn.as_table`.

    Attributes
    ----------
    variables_
        The :class:`~bayeslearn.DiscreteVariable` of each discretized column, with its cut points and interval names.

    See Also
    --------
    Table.discretize : the same for a table.

    Examples
    --------
    >>> import pandas as pd
    >>> X = pd.DataFrame({"hours": [1.5, 2.25, 3.5, 7.25, None], "sky": list("ssrrs")})
    >>> Discretizer(n_bins=2).fit_transform(X)
         hours sky
    0  <= 2.875   s
    1  <= 2.875   s
    2   > 2.875   r
    3   > 2.875   r
    4      NaN   s
    """

    variables_: dict[str, DiscreteVariable]

    def __init__(
        self,
        strategy: Literal["quantile", "uniform", "mdl"] = "quantile",
        *,
        n_bins: int = 5,
        columns: Iterable[str] | None = None,
        na_values: Markers = (),
        keep_default_na: bool = True,
    ) -> None:
        self.strategy = strategy
        self.n_bins = n_bins
        self.columns = columns
        self.na_values = na_values
        self.keep_default_na = keep_default_na

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the cut points of each column.

        A column with fewer than two different values has one interval.

        Parameters
        ----------
        X
            A frame, an array, a dict of columns, a table or a file.
        y
            The classes, or numbers, of the rows; required by ``"mdl"`` and not used otherwise.
        sample_weight
            The weight of each row; default: 1.
        """
        strategy = validation.choice("strategy", self.strategy, STRATEGIES)
        n_bins = validation.integer("n_bins", self.n_bins, min_value=2)
        columns = self._columns(self._read_rows(X, reset=True))
        names = self._numeric(columns)
        values = {name: self._floats(columns, name) for name in names}
        if sample_weight is not None:
            sample_weight = validation.weights(sample_weight, n_rows(columns), name="sample_weight")
            if not sample_weight.any():
                raise DataError("every sample_weight is zero", hint="give at least one row a positive weight")
        target: dict[str, Any] = {}
        if strategy == "mdl":
            if y is None:
                raise ParameterError(
                    "strategy='mdl' requires `y`, but the target y is None: the cut points separate its classes",
                    hint="call fit(X, y), or use strategy='quantile'",
                )
            label = next(f"y{'_' * i}" for i in range(len(names) + 1) if f"y{'_' * i}" not in values)
            target = {label: column_or_1d(y)}
        varied = {name: x for name, x in values.items() if is_varied(x, sample_weight)}
        found = {name: DiscreteVariable.from_cuts(name, (), values=values[name]) for name in names}
        if varied:
            classes = [name for name, labels in target.items() if labels.dtype.kind != "f"]
            numeric = [*varied, *(name for name in target if name not in classes)]
            table = as_table(
                {**varied, **target}, numeric=numeric, discrete=classes, allow_constant=True,
                sample_weight=sample_weight, max_states=len(values[names[0]]) + 1,
            )  # fmt: skip
            chosen = {"target": next(iter(target))} if target else {"n_bins": n_bins}
            schema = table.discretize(list(varied), strategy=strategy, **chosen).schema  # type: ignore[arg-type]
            found |= {name: schema[name] for name in varied}  # type: ignore[misc]
        self.variables_ = {name: found[name] for name in names}
        return self

    def transform(self, X: Any) -> Any:
        """Return X with numeric columns discretized, in the kind that it has.

        Parameters
        ----------
        X
            Rows with the columns of training.
        """
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        columns = self._columns(rows)
        require_known(list(self.variables_), list(columns))
        codes = {name: v.cut(self._floats(columns, name)) for name, v in self.variables_.items()}
        if isinstance(X, Table):
            return X.apply_cuts({name: v.cuts or () for name, v in self.variables_.items()})
        if not has_named_columns(X):
            out = np.empty((n_rows(rows), len(columns)), np.float64 if set(codes) == set(columns) else object)
            for j, (name, cells) in enumerate(columns.items()):
                out[:, j] = np.where(codes[name] < 0, np.nan, codes[name]) if name in codes else cells
            return out
        intervals = {
            name: state_cells(arrow_states(v), codes[name], ordered=True) for name, v in self.variables_.items()
        }
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        return with_columns(frame, intervals) if isinstance(frame, nw.DataFrame) else {**columns, **listed(intervals)}

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the cut points of each column and return X discretized."""
        return self.fit(X, y, sample_weight).transform(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = validation.as_word(self.strategy) == "mdl"
        return tags

    # -- columns

    def _columns(self, rows: Any) -> Mapping[str, Any]:
        """Columns by name: of an array x0, x1, ...."""
        if isinstance(rows, np.ndarray):
            return {name: rows[:, j] for j, name in enumerate(self._array_names(rows.shape[1], reset=False))}
        if isinstance(rows, Mapping):
            return rows
        if isinstance(rows, Table):
            return {name: rows[name] for name in rows.columns}
        if not hasattr(rows, "columns"):
            raise ParameterError(
                f"Discretizer takes all rows in memory, got {type(rows).__name__}",
                hint="use bayeslearn.sources.discretize(source)",
            )
        return {str(name): rows[name] for name in getattr(rows, "column_names", rows.columns)}

    def _numeric(self, columns: Mapping[str, Any]) -> list[str]:
        """The columns to discretize."""
        if self.columns is not None:
            names = name_list("columns", self.columns)
            require_known(names, list(columns))
            return list(names)
        return [name for name, cells in columns.items() if is_numeric(cells)]

    def _floats(self, columns: Mapping[str, Any], name: str) -> Floats:
        """A column as floats, NaN where missing."""
        return as_table({name: columns[name]}, numeric=[name], allow_constant=True).values_of(name)


def is_numeric(cells: Any) -> bool:
    """Whether a column holds numbers, by its type, or by its values where the type is that of objects."""
    series = nw.from_native(cells, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and series.dtype != nw.Object:
        return bool(series.dtype.is_numeric())
    array = np.asarray(cells)
    if array.dtype != object:
        return array.dtype.kind in "iuf"
    there = array[~missing_labels(array)]
    return bool(len(there)) and all(isinstance(x, int | float | np.number) and not isinstance(x, bool) for x in there)


def is_varied(x: Floats, weight: Floats | None) -> bool:
    """Whether the rows that count show two different values."""
    there = x[~np.isnan(x) if weight is None else ~np.isnan(x) & (weight > 0)]
    return bool(len(there)) and bool(there.min() < there.max())


def with_columns(frame: nw.DataFrame[Any], cells: Mapping[str, Any]) -> Any:
    """A frame with other columns, in its own library."""
    new = pa.table(dict(cells))
    if not frame.implementation.is_pandas():
        own = to_polars(new) if frame.implementation.is_polars() else new
        return frame.with_columns(*nw.from_native(own, eager_only=True).iter_columns()).to_native()
    found, columns = frame.to_native().copy(deep=False), to_pandas(new).set_axis(frame.to_native().index)
    for name in found.columns:
        if str(name) in cells:
            found[name] = columns[str(name)]
    return found


def listed(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Columns as arrays of objects, None where missing."""
    return {name: np.array(column.to_pylist(), dtype=object) for name, column in cells.items()}
