"""How well a model predicts rows whose target is known: one call for every classifier and every regressor.

    evaluate(model, data)    Metrics of classes: accuracy, log loss, Brier score, calibration, confusion
                             NumericMetrics of numbers: RMSE, mean absolute error, R², coverage of the intervals

Both are sums over rows, which add: metrics of parts of the data are those of the whole.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, validation
from bayeslearn.errors import EvidenceError, ParameterError, listed
from bayeslearn.evaluation import Metrics, require_known
from bayeslearn.reports import Pairs, Report, Reported
from bayeslearn.tables import DiscreteVariable, NumericVariable, Schema, Table, as_table
from bayeslearn.tables.frames import frame_of
from bayeslearn.tables.schema import require_known as require_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]

#: It loads when a learner is cross-validated.
model_comparison: Any = lazy_imports.Deferred("bayeslearn.model_comparison")

__all__ = ["Evaluation", "NumericMetrics", "evaluate"]


def __dir__() -> list[str]:
    return __all__


### metrics of numbers


@dataclass(frozen=True, eq=False, repr=False)
class NumericMetrics(Reported):
    """How rows of known numeric targets were predicted; metrics of parts add up to those of the whole.

    >>> a = NumericMetrics.of("y", [1.0, 2.0], [1.5, 2.0])
    >>> b = NumericMetrics.of("y", [4.0], [3.0])
    >>> round((a + b).rmse, 4), round((a + b).r_squared, 4)
    (0.6455, 0.7321)
    """

    target: str
    #: The weight of the rows.
    weight: float
    #: Σ w e² and Σ w |e| of the errors.
    squares: float
    absolutes: float
    #: The mean of the target, and Σ w (y − mean)².
    mean: float
    scatter: float
    #: The level of the intervals, the weight of the rows that have one, and of those within it.
    level: float = 0.95
    bounded: float = 0.0
    within: float = 0.0

    @classmethod
    def of(
        cls, target: str, truth: Any, predicted: Any, *, interval: Any = None, sample_weight: Any = None,
        level: float = 0.95,
    ) -> NumericMetrics:  # fmt: skip
        """Return the metrics of some rows; rows whose target is NaN are left out.

        Parameters
        ----------
        target
            The name of the target.
        truth, predicted
            The target of each row, and what was predicted.
        interval
            Low and high bounds of each row; NaN where they are unknown.
        sample_weight
            The weight of each row; 1 if not given.
        level
            The level of the intervals.
        """
        y, found = np.asarray(truth, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
        known = ~np.isnan(y)
        w = validation.weights(sample_weight, len(y))[known]
        y, off, total = y[known], (y - found)[known], float(w.sum())
        mean = float(w @ y / total) if total else 0.0
        bounded = within = 0.0
        if interval is not None:
            low, high = (np.asarray(bound, dtype=np.float64)[known] for bound in interval)
            bounded, within = float(w[~np.isnan(low + high)].sum()), float(w[(low <= y) & (y <= high)].sum())
        return cls(
            target, total, float(w @ off**2), float(w @ np.abs(off)), mean, float(w @ (y - mean) ** 2), level, bounded,
            within,
        )  # fmt: skip

    def __add__(self, other: NumericMetrics) -> NumericMetrics:
        if not isinstance(other, NumericMetrics):
            return NotImplemented
        if (self.target, self.level) != (other.target, other.level):
            raise ParameterError("metrics of different targets or levels do not add")
        total = self.weight + other.weight
        share = other.weight / total if total else 0.0
        apart = other.mean - self.mean
        return NumericMetrics(
            self.target, total, self.squares + other.squares, self.absolutes + other.absolutes,
            self.mean + share * apart, self.scatter + other.scatter + apart**2 * self.weight * share, self.level,
            self.bounded + other.bounded, self.within + other.within,
        )  # fmt: skip

    @property
    def rmse(self) -> float:
        """The root of the mean squared error."""
        return float((self.squares / require_known(self.weight)) ** 0.5)

    @property
    def mean_absolute_error(self) -> float:
        """The mean of |error|."""
        return self.absolutes / require_known(self.weight)

    @property
    def r_squared(self) -> float:
        """1 − Σ e² / Σ (y − mean)²; of a constant target 1 if all rows are predicted, else 0."""
        require_known(self.weight)
        return 1 - self.squares / self.scatter if self.scatter else float(self.squares == 0)

    @property
    def coverage(self) -> float | None:
        """The share of the rows within their interval; None without intervals."""
        return self.within / self.bounded if self.bounded else None

    def report(self) -> Report:
        """Return the errors and the coverage of the intervals."""
        if not self.weight:
            return Report(f"{self.target}: no rows with a known target")
        pairs = {"Rows": self.weight, "RMSE": self.rmse, "Mean absolute error": self.mean_absolute_error}
        pairs |= {"R²": self.r_squared}
        if self.coverage is not None:
            pairs[f"Within the {self.level:.0%} interval"] = self.coverage
        return Report(f"{self.target}: RMSE {self.rmse:.4g} on {self.weight:,.10g} rows", Pairs(pairs))

    def to_dict(self) -> dict[str, Any]:
        """Return all metrics as plain values."""
        known = bool(self.weight)
        return {
            "target": self.target, "total_weight": self.weight, "rmse": self.rmse if known else None,
            "mean_absolute_error": self.mean_absolute_error if known else None,
            "r_squared": self.r_squared if known else None, "level": self.level, "coverage": self.coverage,
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with one row: the metrics of the target."""
        return frame_of({name: [value] for name, value in self.to_dict().items()}, backend)


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(Reported):
    """The metrics of several numeric targets, by target; evaluations of parts add up to those of the whole."""

    metrics: dict[str, Any]

    def __add__(self, other: Evaluation) -> Evaluation:
        return Evaluation({name: found + other.metrics[name] for name, found in self.metrics.items()})

    def __getitem__(self, target: str) -> Any:
        return self.metrics[target]

    def alone(self) -> Any:
        """Return the metrics themselves where there is one target."""
        return self if len(self.metrics) > 1 else next(iter(self.metrics.values()))

    def report(self) -> Report:
        """Return the metrics of each target."""
        parts = [found.report() for found in self.metrics.values()]
        return Report("", *(replace(block, title=part.title) for part in parts for block in part.blocks))

    def to_dict(self) -> dict[str, Any]:
        """Return the metrics of each target as plain values."""
        return {name: found.to_dict() for name, found in self.metrics.items()}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each target."""
        rows = list(self.to_dict().values())
        return frame_of({name: [row[name] for row in rows] for name in rows[0]}, backend)


### what a model predicts


def takes_target(model: Any) -> bool:
    """Whether a model predicts any of its variables, one of which has to be named."""
    if not hasattr(model, "predict"):
        raise ParameterError(f"a {type(model).__name__} predicts no column of the data", hint="give a fitted model")
    return "target" in inspect.signature(model.predict).parameters


def targets_of(model: Any, target: str | None = None) -> tuple[Any, ...]:
    """The variables that a model predicts; none of a mixture, whose components no column has."""
    if takes_target(model):
        names = model.schema.names
        if target is None:
            raise ParameterError("no `target` is given", hint=f"the variables are {listed(names)}")
        require_column([target], names)
        return (model.schema[target],)
    found = getattr(model, "target", None)
    own: tuple[Any, ...] = () if found is None or callable(found) else (found,)
    if isinstance(found, str):
        own = (DiscreteVariable(found, model.classes),)
    elif found is None and isinstance(getattr(model, "targets", None), tuple):
        own = tuple(NumericVariable(name) for name in model.targets)
    if target is not None and target not in [v.name for v in own]:
        raise ParameterError(
            f"`target` is {target!r}, and this model predicts {listed(v.name for v in own) if own else 'no column'}"
        )
    return own


def is_classifier(model: Any, targets: tuple[Any, ...]) -> bool:
    """Whether the target has classes."""
    return len(targets) == 1 and isinstance(targets[0], DiscreteVariable) and hasattr(model, "predict_proba")


def probabilities(model: Any, data: Any, target: Any) -> Any:
    """P(class | row), (n, classes); the column of the class itself is not read."""
    if not takes_target(model):
        return model.predict_proba(data)
    rows = as_table(data, schema=model.schema, missing_columns="missing", handle_unknown="missing")
    return model.predict_proba(rows.mask([target.name]), target.name)[target.name]


def bounded(model: Any, data: Any, level: float) -> tuple[Floats, Floats, Floats]:
    """Means and bounds of numeric targets, (n, m) each; bounds that are unknown are NaN."""
    mean = model.predict(data)
    try:
        bounds = model.predict_interval(data, level)
    except EvidenceError:  # too few rows
        bounds = (np.full(mean.shape, np.nan),) * 2
    mean, low, high = (np.reshape(a, (len(mean), -1)) for a in (mean, *bounds))
    return mean, low, high


### evaluation


def evaluate(
    model: Any,
    data: Any,
    *,
    target: str | None = None,
    sample_weight: Any = None,
    level: float = 0.95,
    cv: int = 0,
    random_state: Any = 0,
) -> Any:
    """Return how well a model predicts rows whose target is known.

    Parameters
    ----------
    model
        A model with `predict_proba` of classes, or with `predict` and `predict_interval` of numbers.
    data
        Rows with the columns of the model and its target, as the model takes them.
    target
        The variable to predict, for models that predict any of their variables, as networks do.
    sample_weight
        The weight of each row, or the column that holds it; 1 by default.
    level
        The level of the intervals of numbers.
    cv, random_state
        With at least 2 folds the learner is evaluated instead: :func:`~bayeslearn.model_comparison.cross_validate`.

    Returns
    -------
    :class:`~bayeslearn.evaluation.Metrics` of classes, :class:`NumericMetrics` of a number, or the
    :class:`Evaluation` of several numbers, which has the metrics of each by its name.

    Examples
    --------
    >>> from bayeslearn import fit_naive_bayes
    >>> days = {"sky": ["sun", "sun", "rain", "rain"], "play": list("yynn")}
    >>> evaluate(fit_naive_bayes(days, "play"), days).accuracy
    1.0
    """
    if cv:
        return model_comparison.cross_validate(
            model, data, target=target, cv=cv, sample_weight=sample_weight, level=level, random_state=random_state
        )
    targets = targets_of(model, target)
    if not targets:
        raise ParameterError(
            f"a {type(model).__name__} predicts no column of the data", hint="score(data) is its mean log-likelihood"
        )
    validation.number("level", level, above=0, below=1)
    truth = as_table(data, schema=Schema(targets), sample_weight=sample_weight)
    return Evaluation(metrics_of_rows(model, data, truth, targets, level)).alone()


def metrics_of_rows(
    model: Any, data: Any, truth: Table, targets: tuple[Any, ...], level: float
) -> dict[str, Metrics | NumericMetrics]:
    """The metrics of some rows by target; `truth` has the targets and the weights of the rows."""
    w = truth.sample_weight
    if is_classifier(model, targets):
        (target,) = targets
        p, codes = probabilities(model, data, target), truth.codes_of(target.name)
        return {target.name: Metrics.of(p, codes, classes=target.states, sample_weight=w)}
    found = zip(targets, *(side.T for side in bounded(model, data, level)), strict=True)
    return {
        v.name: NumericMetrics.of(
            v.name, truth.values_of(v.name), mean, interval=(low, high), sample_weight=w, level=level
        )
        for v, mean, low, high in found
    }
