"""What a naive Bayes model answers about rows: classes, probabilities, contributions, samples, reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import kernels, lazy_imports
from bayeslearn.components.product import normalized
from bayeslearn.errors import ImpossibleDataError, option
from bayeslearn.naive_bayes.tabular import row_blocks as blocks
from bayeslearn.reports import Reported
from bayeslearn.sources import with_options
from bayeslearn.tables import DiscreteVariable, Schema, as_table
from bayeslearn.tables.frames import probabilities
from bayeslearn.tables.markers import class_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from functools import cached_property

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.components.product import ProductDensity
    from bayeslearn.evaluation import Metrics
    from bayeslearn.naive_bayes.tabular.explanation import CellContributions
    from bayeslearn.naive_bayes.tabular.row_blocks import Cells, Rows
    from bayeslearn.reports import Report
    from bayeslearn.tables import Table
    from bayeslearn.tables.frames import Backend
    from bayeslearn.tables.markers import Markers

    Absent = Literal["error", "missing"]
    Answer = Callable[[NDArray[np.float64]], NDArray[Any]]


def best(joint: NDArray[np.float64]) -> NDArray[np.int64]:
    """The position of the most probable class of each row, the first when tied."""
    found = np.empty(joint.shape[1], np.int64)
    kernels.best_class(joint, found)
    return found


def require_possible(joint: NDArray[np.float64], start: int) -> None:
    """Some class can show what a row shows."""
    lost = np.flatnonzero(~np.isfinite(joint.max(axis=0, initial=-np.inf)))
    if len(lost):
        raise ImpossibleDataError(
            f"row {start + int(lost[0])} has probability zero in every class",
            hint=f"learn with a prior, for instance {option('prior', 'laplace')}, or make infinite numbers missing",
            row=start + int(lost[0]),
        )


def moved(array: NDArray[np.float64], place: list[int], *, axis: int, size: int | None = None) -> NDArray[np.float64]:
    """Entries of the old states at their new places."""
    shape = list(array.shape)
    shape[axis] = shape[axis] if size is None else size
    new = np.zeros(shape)
    index: list[Any] = [slice(None)] * array.ndim
    index[axis] = place
    new[tuple(index)] = array[(slice(None),) * axis + (slice(len(place)),)]
    return new


plots: Any = lazy_imports.Deferred("bayeslearn.plots")


class ClassPredictions(Reported):
    """The methods of a model that read it and return no other model."""

    target: DiscreteVariable
    columns: tuple[Component, ...]

    if TYPE_CHECKING:

        @property
        def classes(self) -> tuple[Any, ...]: ...  # noqa: D102
        @cached_property
        def class_log_prior(self) -> NDArray[np.float64]: ...  # noqa: D102
        @cached_property
        def density(self) -> ProductDensity: ...  # noqa: D102

    @property
    def _model(self) -> Any:
        return self

    # -- predicting

    def log_joint(
        self, data: Any, *, missing_columns: Absent = "error", na_values: Markers = (), keep_default_na: bool = True
    ) -> NDArray[np.float64]:
        """Return ln P(class, row), shape (rows, classes); parameters as in :meth:`predict_proba`."""
        data = marked(data, na_values, keep_default_na=keep_default_na)
        return self.map_data(data, lambda joint: joint.T, missing_columns)

    def predict_proba(
        self, data: Any, *, missing_columns: Absent = "error", na_values: Markers = (), keep_default_na: bool = True,
        backend: Backend | None = None,
    ) -> Any:  # fmt: skip
        """Return P(class | row), an array of shape (rows, classes).

        Parameters
        ----------
        data
            Rows with the columns of the model; missing values and unknown states are marginalized out.
        missing_columns
            ``"error"`` refuses data without a column of the model, ``"missing"`` treats its values as missing.
        na_values, keep_default_na
            Markers of missing values, as in :func:`~bayeslearn.as_table`.
        backend
            ``"pandas"``, ``"polars"`` or ``"pyarrow"`` returns a data frame with a column for each class.

        Raises
        ------
        ImpossibleDataError
            A row has probability zero in every class.
        """
        data = marked(data, na_values, keep_default_na=keep_default_na)
        p = self.map_data(data, lambda joint: normalized(joint)[0].T, missing_columns)
        return probabilities(p, self.classes, backend)

    def predict_codes(self, data: Any, *, missing_columns: Absent = "error") -> NDArray[np.intp]:
        """Return the position of the most probable class of each row in `classes`, the first of equal ones."""
        return self.map_data(data, best, missing_columns)

    def predict(
        self, data: Any, *, missing_columns: Absent = "error", na_values: Markers = (), keep_default_na: bool = True
    ) -> NDArray[Any]:
        """Return the most probable class of each row; parameters as in :meth:`predict_proba`."""
        data = marked(data, na_values, keep_default_na=keep_default_na)
        return class_array(self.classes)[self.predict_codes(data, missing_columns=missing_columns)]

    def log_likelihood(
        self, data: Any, *, missing_columns: Absent = "error", na_values: Markers = (), keep_default_na: bool = True
    ) -> NDArray[np.float64]:
        """Return ln P(row) of each row, the class summed out; parameters as in :meth:`predict_proba`."""
        data = marked(data, na_values, keep_default_na=keep_default_na)
        return self.map_data(data, lambda joint: normalized(joint)[1], missing_columns)

    def evaluate(
        self, data: Any, *, sample_weight: Any = None, missing_columns: Absent = "error", na_values: Markers = (),
        keep_default_na: bool = True,
    ) -> Metrics:  # fmt: skip
        """Return accuracy, log loss, confusion and calibration on rows with labels.

        Parameters
        ----------
        data, missing_columns, na_values, keep_default_na
            As in :meth:`predict_proba`, with the column of the target. Rows without a label are ignored.
        sample_weight
            The weight of each row, or the column that holds it; 1 by default.
        """
        from bayeslearn.evaluation import Metrics  # noqa: PLC0415 - fits do without it

        data = marked(data, na_values, keep_default_na=keep_default_na)
        labels = as_table(data, schema=Schema([self.target]), sample_weight=sample_weight)
        p = self.predict_proba(data, missing_columns=missing_columns)
        codes = labels.codes_of(self.target.name)
        return Metrics.of(p, codes, classes=self.classes, sample_weight=labels.sample_weight)

    def score(
        self, data: Any, *, sample_weight: Any = None, missing_columns: Absent = "error", na_values: Markers = (),
        keep_default_na: bool = True,
    ) -> float:  # fmt: skip
        """Return the accuracy on rows with labels; parameters as in :meth:`evaluate`."""
        return self.evaluate(
            data, sample_weight=sample_weight, missing_columns=missing_columns, na_values=na_values,
            keep_default_na=keep_default_na,
        ).accuracy  # fmt: skip

    def map_data(self, data: Any, function: Answer, missing_columns: Absent = "error") -> NDArray[Any]:
        """Return what a function makes of ln P(class, row), shape (classes, rows), of new data."""
        found: list[NDArray[Any]] = []
        for rows in blocks.each(data, self.columns, missing_columns=missing_columns):
            found.append(self.map_rows(rows, function, first=sum(map(len, found))))
        return found[0] if len(found) == 1 else np.concatenate(found)

    def joint_of_block(self, cells: Cells, n: int) -> NDArray[np.float64]:
        """Return ln P(class, row) of one block, shape (classes, n)."""
        joint = np.zeros((self.target.n_states, n))
        self.density.add(cells, joint)
        joint += self.class_log_prior[:, None]
        return joint

    def map_rows(self, rows: Rows, function: Answer, *, possible: bool = True, first: int = 0) -> NDArray[Any]:
        """Return what a function makes of ln P(class, row), block by block; some class must be `possible`."""

        def block(part: slice, cells: Cells) -> NDArray[Any]:
            joint = self.joint_of_block(cells, part.stop - part.start)
            if possible:
                require_possible(joint, first + part.start)
            return function(joint)

        found = rows.blocks(block)
        return np.concatenate(found) if found else function(np.zeros((self.target.n_states, 0)))

    # -- more

    def explain(
        self, data: Any, *, of: Any = None, against: Any = None, missing_columns: Absent = "error",
        na_values: Markers = (), keep_default_na: bool = True,
    ) -> CellContributions:  # fmt: skip
        """Return the contribution of each cell to the log odds of a class; contributions add up.

        Parameters
        ----------
        data, missing_columns, na_values, keep_default_na
            As in :meth:`predict_proba`.
        of
            The class; by default the most probable class of each row.
        against
            Another class; by default all others.
        """
        from bayeslearn.naive_bayes.tabular.explanation import contributions  # noqa: PLC0415 - it reads models

        data = marked(data, na_values, keep_default_na=keep_default_na)
        return contributions(self._model, data, of=of, against=against, missing_columns=missing_columns)

    def sample(self, n_samples: int = 1, *, random_state: Any = None) -> Table:
        """Return random rows as a Table: a class by its probability, and the columns given the class.

        Parameters
        ----------
        n_samples
            The number of rows.
        random_state
            Seed or generator.
        """
        from bayeslearn.naive_bayes.tabular.sampling import sample  # noqa: PLC0415 - it reads models

        return sample(self._model, n_samples, random_state)

    def impute(
        self, data: Any, *, method: Literal["most_probable", "sample"] = "most_probable", random_state: Any = None,
        columns: Iterable[str] | None = None, na_values: Markers = (), keep_default_na: bool = True,
    ) -> Any:  # fmt: skip
        """Return the data, in their kind, with missing values filled given the other values of the row.

        Parameters
        ----------
        data
            A frame, a dict of columns, a list of rows, a NumPy array or a Table.
        method
            ``"most_probable"`` fills in the most probable state, and the mean of a numeric column;
            ``"sample"`` draws the class and then each missing value given the class.
        random_state
            Seed or generator of the draws.
        columns
            The columns to fill, the target among them; all by default.
        na_values, keep_default_na
            Markers of missing values, as in :func:`~bayeslearn.as_table`.
        """
        from bayeslearn.naive_bayes.tabular.sampling import impute  # noqa: PLC0415 - it reads models

        given = marked(data, na_values, keep_default_na=keep_default_na)
        return impute(self._model, data, given, method, random_state, columns)

    # -- showing

    def report(self) -> Report:
        """Return the columns with their distributions, and the classes with their most indicative values."""
        from bayeslearn.naive_bayes.tabular.reporting import model_report  # noqa: PLC0415 - when it is shown

        return model_report(self._model)

    def to_dict(self) -> dict[str, Any]:
        """Return the classes, their probabilities, and the parameters of each column as plain values."""
        from bayeslearn.naive_bayes.tabular.reporting import model_dict  # noqa: PLC0415 - when it is asked for

        return model_dict(self._model)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame: class, column, state and its probability, or the parameters of a number as text."""
        from bayeslearn.naive_bayes.tabular.reporting import model_frame  # noqa: PLC0415 - when it is asked for

        return model_frame(self._model, backend)

    def plot(self, *, max_results: int = 10, ax: Any = None) -> Any:
        """Draw the values that indicate the classes most (:func:`bayeslearn.plots.plot_class_indicators`)."""
        return plots.plot_class_indicators(self._model, max_results=max_results, ax=ax)


def marked(data: Any, na_values: Markers, *, keep_default_na: bool) -> Any:
    """The data with markers of missing values; the data themselves if these are the usual ones."""
    if not na_values and keep_default_na:
        return data
    return with_options(data, na_values=na_values, keep_default_na=keep_default_na)
