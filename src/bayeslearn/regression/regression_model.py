"""Regression models: least squares, or radial units with a linear output.

    row → point (:mod:`.feature_encoding`) → radial units (:mod:`.rbf`), if any → linear fit (:mod:`.bayesian_linear`)

A model is a value that keeps its prior and statistics: rows are added (:meth:`~RegressionModel.update`) and removed
(:meth:`~RegressionModel.remove`), models are merged (``a + b``), subtracted (``a − b``) and discounted (``0.9 * a``).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.capacity import require_numbers
from bayeslearn.codec import Saved, rename_keys
from bayeslearn.distributions import JointMoments, RegressionPrior
from bayeslearn.distributions.moments import in_range, require_range
from bayeslearn.distributions.student_t import StudentT
from bayeslearn.errors import MismatchError, ParameterError, ShapeError, listed
from bayeslearn.fit_info import Fitted
from bayeslearn.model_values import ARRAY, is_scatter, plain, plain_lineage
from bayeslearn.printable import printable
from bayeslearn.regression import diagnostics
from bayeslearn.regression.bayesian_linear import LinearFit, collect, prior_of
from bayeslearn.regression.explanation import NumericPredictions, explanations
from bayeslearn.regression.feature_encoding import Features
from bayeslearn.regression.fit_results import LinearFitInfo, attached, of_source, with_info
from bayeslearn.regression.out_of_core import collected_from, more_of, opened
from bayeslearn.regression.rbf import RBFBasis
from bayeslearn.regression.targets import Examples, examples, numbers_in, numbers_of, require_rows, target_names
from bayeslearn.reports import Reported
from bayeslearn.sources import with_options
from bayeslearn.sources.scanning import is_source
from bayeslearn.tables import Schema, as_table
from bayeslearn.tables.variables import NumericVariable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.regression.explanation import FeatureExplanation
    from bayeslearn.reports import Report
    from bayeslearn.tables.frames import Backend
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Numbers in the largest block of units that is held at once.
BLOCK = 1 << 22


@dataclass(frozen=True, eq=False, repr=False)
class RegressionModel(NumericPredictions, Fitted, Reported, Saved, kind="regression", version=2):
    """Numbers as a function of columns; :func:`fit_linear` and :func:`~bayeslearn.regression.fit_rbf` fit one."""

    features: Features
    #: The names of the predicted columns.
    targets: tuple[str, ...]
    fit: LinearFit
    basis: RBFBasis | None = None

    def __post_init__(self) -> None:
        wide = self.features.size if self.basis is None else self.basis.size
        if self.fit.dim != wide or self.fit.n_outputs != len(self.targets):
            raise ShapeError(
                f"{wide} inputs and {len(self.targets)} targets do not fit {self.fit.dim} and {self.fit.n_outputs}"
            )

    def __repr__(self) -> str:
        what = "least squares" if self.basis is None else f"{self.basis.size} radial units"
        inputs = ", ".join(self.features.schema.names)
        return printable(
            f"RegressionModel({', '.join(self.targets)} of {inputs}: {what}; {self.total_weight:.10g} rows)"
        )

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features: of a numeric column, or column=state."""
        return self.features.names

    @property
    def total_weight(self) -> float:
        """The total weight of the training rows."""
        return self.fit.total_weight

    @property
    def coef(self) -> Floats:
        """The coefficients of the features, or of the radial units: (d,), or (m, d) of m targets."""
        return self.fit.coef[0] if len(self.targets) == 1 else self.fit.coef

    @property
    def intercept(self) -> Any:
        """The intercept: a number, or (m,) of m targets."""
        return float(self.fit.intercept[0]) if len(self.targets) == 1 else self.fit.intercept

    # -- answers

    def _means(self, data: Any) -> Floats:
        with in_range():
            found = np.concatenate([self.fit.mean(x) for x in self._blocks(data)])
        require_range(found)
        return found

    def predictive(self, data: Any) -> StudentT:
        """Return the distribution of the targets of one more row at each row, Student t of shape (n, m)."""
        parts = [self.fit.predictive(x) for x in self._blocks(data)]
        dof, location, scale = (np.concatenate([getattr(p, name) for p in parts]) for name in STUDENT)
        return StudentT(dof, location, scale)

    def predict_std(self, data: Any) -> Floats:
        """Return the standard deviation of the target of one more row; infinite below two degrees of freedom."""
        found = self.predictive(data)
        inflation = np.sqrt(np.where(found.dof > 2, found.dof / np.where(found.dof > 2, found.dof - 2, 1.0), np.inf))
        return self._shaped(np.where(found.scale > 0, found.scale * inflation, 0.0))

    def explain(self, data: Any) -> list[FeatureExplanation]:
        """Return for each row and target what every feature adds to the prediction for the average row."""
        if self.basis is not None:
            raise ParameterError("radial units have no contributions of features", hint="explain a linear model")
        return explanations(self.features, self.features.encode(data).matrix, self.fit.coef, self.fit.intercept,
                            self.targets)  # fmt: skip

    def log_marginal_likelihood(self) -> float:
        """Return ln p(targets | rows), all parameters integrated out; needs a proper prior."""
        return float(self.fit.log_marginal_likelihood().sum())

    def leave_one_out_residuals(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> Floats:
        """Return the residual of each training row when it is predicted from all others: (n,) or (n, m); see PRESS."""
        found = data if isinstance(data, Examples) else self._examples(data, target, sample_weight)
        w = np.ones(len(found.targets)) if found.sample_weight is None else found.sample_weight
        parts, at = [], 0
        for x in self._blocks(found.inputs):
            rows = slice(at, at + len(x))
            parts.append(self.fit.leave_one_out_residuals(x, found.targets[rows], sample_weight=w[rows]))
            at += len(x)
        return self._shaped(np.concatenate(parts))

    # -- rows

    def design(self, data: Any) -> Floats:
        """Return the inputs of the linear fit for each row: features, or the activations of the radial units."""
        return np.concatenate(list(self._blocks(data)))

    def _blocks(self, data: Any) -> Iterator[Floats]:
        """The same, some rows at a time."""
        return design_blocks(self.features, self.basis, self.features.encode(data).matrix)

    def _examples(self, data: Any, target: Any = None, sample_weight: Any = None) -> Examples:
        """Rows with their targets, by the columns of training; `target` where these are not columns of the data."""
        names = self.targets if target is None else target_names(target)
        w = sample_weight
        if names is None:
            found = numbers_of(target)
        else:
            schema = Schema(NumericVariable(name) for name in names)
            table = as_table(data, schema=schema, sample_weight=sample_weight)
            found, w = np.column_stack([numbers_in(table, name) for name in names]), table.sample_weight
        return Examples(data, found, self.targets, None if w is None else np.asarray(w, dtype=float))

    # -- more rows, fewer rows

    def update(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> RegressionModel:
        """Return the model with more rows, or a source of them; the encoding, the centers and the prior stay.

        Parameters
        ----------
        data
            Rows with the columns of the model.
        target
            Columns of `data` with the targets, by default those that the model predicts, or the targets themselves.
        sample_weight
            The weight of each row, or the column that holds it.
        """
        return replace(self, fit=self.fit.with_more(self._moments(data, target, sample_weight)))

    def remove(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> RegressionModel:
        """Return the model without rows that were added before; parameters as in :meth:`update`."""
        return replace(self, fit=self.fit.without(self._moments(data, target, sample_weight)))

    def merge(self, *others: RegressionModel) -> RegressionModel:
        """Return the model of the rows of several models; what they were updated from in common counts once."""
        return reduce(lambda one, other: one + other, others, self)

    def discount(self, forgetting_factor: float) -> RegressionModel:
        """Return the model with the weight of its rows multiplied by a factor in (0, 1]."""
        return self * validation.number("forgetting_factor", forgetting_factor, above=0, max_value=1)

    def _moments(self, data: Any, target: Any, sample_weight: Any) -> JointMoments:
        """The moments of rows, encoded as the training rows."""
        if self.basis is None and is_source(data):
            return more_of(data, self.features, self.targets, target, sample_weight)
        require_rows(data)
        found = self._examples(data, target, sample_weight)
        x = self.features.encode(found.inputs).matrix
        return collected(self.features, self.basis, x, found.targets, found.sample_weight)

    def __add__(self, other: RegressionModel) -> RegressionModel:
        if not isinstance(other, RegressionModel):
            return NotImplemented
        self.require_same(other)
        return replace(self, fit=self.fit + other.fit)

    def __sub__(self, other: RegressionModel) -> RegressionModel:
        if not isinstance(other, RegressionModel):
            return NotImplemented
        self.require_same(other)
        return replace(self, fit=self.fit - other.fit)

    def __mul__(self, factor: float) -> RegressionModel:
        return replace(self, fit=self.fit * factor)

    __rmul__ = __mul__

    def require_same(self, other: RegressionModel) -> None:
        """Refuse a model of other columns, targets or centers."""
        self.features.require_same(other.features)
        if self.targets != other.targets:
            raise MismatchError(
                f"the models have different targets: {listed(self.targets)} and {listed(other.targets)}",
                differs="targets",
            )
        if self.basis is not other.basis and (
            self.basis is None or other.basis is None or not self.basis.same(other.basis)
        ):
            raise MismatchError(
                "the models have different radial units", hint="update both from one model", differs="units"
            )

    # -- what it shows

    def report(self) -> Report:
        """Return the coefficients with intervals, and what the model was fitted to."""
        return diagnostics.regression_report(self)

    def to_dict(self) -> dict[str, Any]:
        """Return targets, features and coefficients as plain values."""
        return diagnostics.plain_regression(self)

    def to_frame(self, backend: Backend = "pandas", *, level: float = 0.95) -> Any:
        """Return a data frame with a row for each coefficient: target, name, mean, low, high, effect."""
        return diagnostics.coefficient_frame(self, level, backend)

    def plot(self, data: Any = None, target: Any = None, *, level: float = 0.95, ax: Any = None) -> Any:
        """Draw the function over its only numeric column, or predicted against observed values; else coefficients."""
        return plots.plot_regression(self, data, target, level=level, ax=ax)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values.

        {"features", "basis": {"centers", "widths"} or null, "outputs", "prior", "statistics", "lineage"}
        """
        return {
            "features": self.features.to_dict(),
            "basis": None if self.basis is None else plain(self.basis),
            "outputs": list(self.targets),
            "prior": plain(self.fit.prior),
            "statistics": plain(self.fit.statistics),
            **plain_lineage(self.fit.lineage),
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> RegressionModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "features": dict, "basis": (dict, type(None)), "outputs": [str], "prior": dict, "statistics": dict,
        }  # fmt: skip
        entry, units, outputs, prior, statistics = reader.model(document, keys)
        features = Features.checked(reader, entry)
        basis = None if units is None else RBFBasis.checked(reader, units, features.size)
        if not outputs:
            reader.wrong(f"{outputs!r:.60} are no names of outputs")
        d, m = (features.size if basis is None else basis.size), len(outputs)
        require_numbers("the moments of the inputs and outputs", (d + m, d + m))
        found = reader.statistics(statistics, JointMoments.zero((d + m,)))
        reader.require_units("n", np.asarray(found.n))
        shapes = {"kappa": (m,), "center": (m, d + 1), "scatter": (m, d + 1, d + 1), "alpha": (m,)}
        values = reader.entries(prior, dict.fromkeys(shapes, ARRAY), "a prior")
        arrays = {name: reader.numbers(value, name, shapes[name]) for name, value in zip(shapes, values, strict=True)}
        reader.require_units("kappa", arrays["kappa"])
        if not is_scatter(arrays["scatter"]):
            reader.wrong("the scatter of the prior is not symmetric, or below zero in some direction")
        fit = LinearFit(RegressionPrior(**arrays), found, d, reader.lineage(document, found))
        return cls(features, tuple(outputs), fit, basis)


#: The fields of a Student t.
STUDENT = ("dof", "location", "scale")


def fit_linear(
    data: Any,
    target: Any,
    *,
    prior: RegressionPrior | str | float | None = "auto",
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    max_states: int = 255,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> RegressionModel:
    """Fit Bayesian linear regression: least squares with intervals.

    Parameters
    ----------
    data
        A table, a frame, an array, a dict of columns, a list of rows, or the path of a file; or a source
        (:func:`~bayeslearn.scan`, or the pattern of files), which is read twice.
    target
        The column to predict, several columns, or the targets themselves, (n,) or (n, m).
    prior
        ``"auto"``: ``"reference"`` (least squares with the textbooks' intervals) where the rows determine every weight,
        else ``"weak"``. Or ``"none"`` (maximum likelihood), an equivalent sample size (ridge), ``"evidence"`` (the
        sample size of the highest marginal likelihood), or a prior; see :mod:`bayeslearn.regression.bayesian_linear`.
    columns, discrete, sample_weight, max_states
        As in :meth:`Features.fit`.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    RegressionModel
        With `fit_info`: coefficients with intervals, the error on held-out rows, dropped columns.

    Examples
    --------
    >>> line = fit_linear({"hours": [1.0, 2.0, 3.0, 4.0], "grade": [2.0, 4.0, 5.0, 8.0]}, "grade")
    >>> line
    RegressionModel(grade of hours: least squares; 4 rows)
    >>> line.predict({"hours": [5.0]}).tolist()
    [9.5]
    """
    began = time.perf_counter()
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    how: dict[str, Any] = {
        "columns": columns, "discrete": discrete, "sample_weight": sample_weight, "max_states": max_states,
    }  # fmt: skip
    if is_source(data):
        return linear_of_source(*opened(data, target, **how), prior, began)
    found = examples(data, target, **how)
    features = Features.fit(found.inputs, sample_weight=found.sample_weight)
    model = learned(features, None, found, prior)
    return with_info(model, LinearFitInfo, found, prior=prior, began=began)


def linear_of_source(
    source: Any, names: tuple[str, ...], dropped: dict[str, str], prior: Any, began: float
) -> RegressionModel:
    """Least squares of a source: moments are added up, and nothing else is kept of the rows."""
    features, moments = collected_from(source, names)
    fit = LinearFit(prior_of(prior, moments, features.size), moments, features.size)
    model = RegressionModel(features, names, fit)
    return attached(model, of_source(model, source, dropped, prior=prior, began=began))


def learned(features: Features, basis: RBFBasis | None, found: Examples, prior: Any) -> RegressionModel:
    """The model of these rows."""
    x = features.encode(found.inputs).matrix
    moments = collected(features, basis, x, found.targets, found.sample_weight)
    dim = features.size if basis is None else basis.size
    return RegressionModel(features, found.names, LinearFit(prior_of(prior, moments, dim), moments, dim), basis)


def collected(
    features: Features, basis: RBFBasis | None, matrix: Floats, targets: Floats, sample_weight: Floats | None
) -> JointMoments:
    """The moments of points and targets, block by block."""
    total: Any = 0
    at = 0
    for x in design_blocks(features, basis, matrix):
        rows = slice(at, at + len(x))
        total = total + collect(x, targets[rows], None if sample_weight is None else sample_weight[rows])[0]
        at += len(x)
    return total


def design_blocks(features: Features, basis: RBFBasis | None, matrix: Floats) -> Iterator[Floats]:
    """The inputs of the linear fit, some rows at a time."""
    if basis is None:
        yield matrix
        return
    step = max(BLOCK // basis.size, 1)
    for start in range(0, max(len(matrix), 1), step):
        yield basis(features.standardized(matrix[start : start + step]))


rename_keys("regression", 1, {"basis/centres": "centers", "prior/centre": "center"})
