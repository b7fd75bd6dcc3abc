"""What estimators in scikit-learn's habit share when their rows are those of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.sources.scanning import with_options
from bayeslearn.tables.markers import Missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.tables.markers import Markers


class TakesCells:
    """Cells may be numbers, words or missing, and scikit-learn is told so."""

    missing: Markers
    keep_default_na: bool

    @property
    def _markers(self) -> Missing:
        return Missing.of(self.missing, keep_default_na=self.keep_default_na)

    @property
    def _has_markers(self) -> bool:
        """Whether there are other markers than the default ones."""
        return self._markers != Missing.of()

    def _marked(self, X: Any, *, reset: bool, names: Iterable[str] | None = None) -> Any:
        """Data with the estimator's markers of missing values; the data themselves where it has only the default ones.

        Markers of single columns must name columns that are there when an estimator is fitted (`reset`). An array has
        the columns x0, x1, …, or those of `names`.
        """
        if not self._has_markers:
            return X
        if isinstance(X, np.ndarray) and X.ndim == 2:
            columns = [f"x{j}" for j in range(X.shape[1])] if names is None else list(names)
            if X.dtype.kind == "f":
                return without_markers(X, self._markers, columns)
            X = {name: X[:, j] for j, name in enumerate(columns)}
        said: dict[str, Any] = {"missing": self.missing, "keep_default_na": self.keep_default_na}
        return with_options(X, **said, require_marked=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


def without_markers(x: NDArray[Any], markers: Missing, names: Iterable[str]) -> NDArray[Any]:
    """An array of floats with NaN in place of numbers that stand for no value."""
    found = np.column_stack([np.isin(x[:, j], list(markers.of_column(n).numbers)) for j, n in enumerate(names)])
    return np.where(found, np.nan, x)
