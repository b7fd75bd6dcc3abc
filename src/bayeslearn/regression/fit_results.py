"""What fits of regression models found out: coefficients with intervals, held-out errors, what was tried.

Errors on held-out rows are computed when they are first asked for, from the training rows, which a fit keeps for that;
copies by pickle do not have the rows.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ImproperPriorError
from bayeslearn.fit_info import FitInfo, plain, with_fit_info
from bayeslearn.regression import diagnostics
from bayeslearn.regression.bayesian_linear import undetermined
from bayeslearn.regression.targets import coded
from bayeslearn.reports import Grid, Pairs, Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bayeslearn.evaluation import Metrics
    from bayeslearn.regression.diagnostics import Coefficient, PredictionError
    from bayeslearn.tables import Table

M = TypeVar("M")

#: Rows of a local regression that are left out to estimate its error.
MAX_LEFT_OUT = 5000


@dataclass(frozen=True)
class TriedUnits:
    """A number of radial units that was tried, the factor of their widths, and the log marginal likelihood."""

    n_units: int
    factor: float
    log_marginal_likelihood: float


def with_info(
    model: M, kind: type[RegressionFitInfo], found: Any, *, began: float, keep_rows: bool = True, **more: Any
) -> M:
    """The model with what its fit to these rows found out; both share what is computed later."""
    missing = found.inputs.missing() if hasattr(found.inputs, "missing") else {}
    info = kind(
        n_rows=len(found.targets), n_missing_targets=found.missing, targets=tuple(found.names),
        filled={name: n for name, n in missing.items() if n}, dropped_columns=dict(found.dropped),
        seconds=time.perf_counter() - began, _model=model, **more,
        _rows=owned(found) if keep_rows and kind is not LocalFitInfo else None,
    )  # fmt: skip
    return attached(model, info)


def attached(model: M, info: RegressionFitInfo) -> M:
    """The model with what its fit found out."""
    found = with_fit_info(model, info)
    object.__setattr__(info, "_model", found)
    return found


def owned(rows: Any) -> Any:
    """Rows that no other code can change."""
    arrays = {name: getattr(rows, name) for name in ("inputs", "targets", "sample_weight")}
    return replace(rows, **{n: validation.owned(a) for n, a in arrays.items() if isinstance(a, np.ndarray)})


def without_rows(model: M, **changes: Any) -> M:
    """The model of an estimator, with other fields: its fit keeps no rows."""
    targets = {"targets": (changes["target"],)} if "target" in changes else {}
    info = replace(model.fit_info, _rows=None, **targets)  # type: ignore[attr-defined]
    return attached(replace(model, **changes), info)  # type: ignore[type-var]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RegressionFitInfo(FitInfo):
    """What every fit of a regression model reports."""

    targets: tuple[str, ...] = ()
    #: Rows without a target, which add nothing.
    n_missing_targets: int = 0
    #: Missing values of each column, which the mean replaces.
    filled: Mapping[str, int]
    _model: Any
    _rows: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_rows": None}

    def coefficients(self, level: float = 0.95) -> list[Coefficient]:
        """Return the coefficients with their intervals, those with the largest effects first."""
        return diagnostics.coefficients(self._model, level) if hasattr(self._model, "basis") else []

    def to_dict(self, *, level: float = 0.95) -> dict[str, Any]:
        """Return all that the fit found out as plain values; intervals have this level."""
        features = self._model.features
        return plain({
            "targets": self.targets, "n_rows": self.n_rows, "n_missing_targets": self.n_missing_targets,
            "columns": features.schema.names, "features": features.names, "constant_features": features.constant,
            "filled": self.filled, "dropped_columns": self.dropped_columns, **self._facts(),
            "coefficients": [asdict(w) for w in self.coefficients(level)],
            "notes": self.notes, "seconds": self.seconds,
        })  # fmt: skip

    def report(self, *, level: float = 0.95) -> Report:
        """Return what the fit found out, as blocks; intervals have this level."""
        grid = diagnostics.coefficient_grid(self.coefficients(level), level)
        return Report(self._title(), Pairs(self._pairs()), *self._blocks(), grid, self._dropped(), self._noted())

    def _facts(self) -> dict[str, Any]:
        """Plain values of this kind of model."""
        return {}

    def _pairs(self) -> dict[str, Any]:
        features = self._model.features
        pairs: dict[str, Any] = {"Rows": self.n_rows}
        if self.n_missing_targets:
            pairs["Rows without a target"] = self.n_missing_targets
        pairs |= {"Columns": len(features.schema), "Features": features.size}
        if self.filled:
            pairs["Missing values, replaced by the mean"] = [f"{name}: {n}" for name, n in self.filled.items()]
        if features.constant:
            pairs["Constant features"] = list(features.constant)
        return pairs

    def _named(self, what: str, target: str) -> str:
        """A name with its target, where there are several."""
        return what if len(self.targets) == 1 else f"{what} of {target}"


def error_pairs(info: Any, kind: str, errors: Mapping[str, PredictionError | None]) -> dict[str, str]:
    """The errors on held-out rows, in one line for each target."""
    words = {
        name: "undefined: the other rows do not determine it" if e is None
        else f"{e.rmse:.4g} (of the mean: {e.rmse_of_mean:.4g}, R² {e.r_squared:.3f})"
        for name, e in errors.items()
    }  # fmt: skip
    return {info._named(f"{kind} RMSE", name): text for name, text in words.items()}  # noqa: SLF001 - its own helper


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LinearFitInfo(RegressionFitInfo):
    """What the fit of a linear model, or of radial units with a linear output, found out."""

    prior: Any = "auto"
    #: The number of radial units that were tried, with the marginal likelihood.
    tried: tuple[TriedUnits, ...] = ()

    @cached_property
    def prior_used(self) -> tuple[str, str | None]:
        """The name of the prior, and why ``"auto"`` selected it."""
        if not (isinstance(self.prior, str) and self.prior == "auto"):
            return diagnostics.prior_name(self.prior), None
        why = undetermined(self._model.fit.statistics, self._model.fit.dim)
        return ("reference" if why is None else "weak"), why

    @cached_property
    def error_kind(self) -> str | None:
        """How the errors on held-out rows are estimated: leave_one_out, cross_validation, or None without the rows."""
        if self._rows is None:
            return None
        crossed = diagnostics.needs_cross_validation(self._model, self._rows, self.prior)
        return "cross_validation" if crossed else "leave_one_out"

    @cached_property
    def errors(self) -> dict[str, PredictionError | None]:
        """The error of each target on held-out rows; None where the other rows do not determine it."""
        if self.error_kind is None:
            return {}
        crossed = self.error_kind == "cross_validation"
        found = (
            diagnostics.cross_validated(self._model, self._rows, self.prior)
            if crossed
            else diagnostics.leave_one_out(self._model, self._rows)
        )
        return dict(zip(self.targets, found, strict=True))

    @cached_property
    def log_marginal_likelihood(self) -> float | None:
        """ln p(targets | rows); None of an improper prior."""
        try:
            return float(self._model.log_marginal_likelihood())
        except ImproperPriorError:
            return None

    @cached_property
    def shrinkage(self) -> dict[str, float]:
        """The length of the coefficients of each target, relative to least squares."""
        return dict(zip(self.targets, diagnostics.shrinkage(self._model).tolist(), strict=True))

    @property
    def noise(self) -> dict[str, float]:
        """The standard deviation of the noise of each target; NaN of too few rows."""
        return dict(zip(self.targets, self._model.fit.noise.tolist(), strict=True))

    def _facts(self) -> dict[str, Any]:
        basis, (prior, why) = self._model.basis, self.prior_used
        units = {} if basis is None else {"n_units": basis.size, "widths": basis.widths}
        return {
            "prior": prior, "prior_reason": why, "rank": self._model.fit.rank, "noise": self.noise,
            "log_marginal_likelihood": self.log_marginal_likelihood, "shrinkage": self.shrinkage,
            "error_kind": self.error_kind, "errors": self.errors, **units, "tried": self.tried,
        }  # fmt: skip

    def _title(self) -> str:
        what = "Linear regression" if self._model.basis is None else "Radial basis function network"
        return f"{what} of {', '.join(self.targets)}"

    def _pairs(self) -> dict[str, Any]:
        basis, fit, (prior, why) = self._model.basis, self._model.fit, self.prior_used
        pairs = super()._pairs()
        if basis is not None:
            pairs["Radial units"] = basis.size
        pairs["Prior"] = prior if why is None else f"{prior} ({why})"
        if basis is None and prior not in {"none", "reference"}:
            for name, share in self.shrinkage.items():
                pairs[self._named("Coefficients relative to least squares", name)] = share
        wide = fit.dim
        if fit.rank < wide:
            pairs["Determined coefficients"] = f"{fit.rank} of {wide}; the others are the shortest possible"
        if self.log_marginal_likelihood is not None:
            pairs["Log marginal likelihood"] = self.log_marginal_likelihood
        for name, value in self.noise.items():
            words = "unknown: too few rows" if math.isnan(value) else value
            pairs[self._named("Noise (standard deviation)", name)] = words
        kind = "Cross-validated" if self.error_kind == "cross_validation" else "Leave-one-out"
        return pairs | error_pairs(self, kind, self.errors)

    def _blocks(self) -> tuple[Any, ...]:
        return (tried_grid(self.tried),)


class RBFFitInfo(LinearFitInfo):
    """What the fit of a radial basis function network found out; `tried` has the numbers of units."""


def tried_grid(tried: tuple[TriedUnits, ...]) -> Grid | None:
    """The highest marginal likelihood of every number of units."""
    best: dict[int, float] = {}
    for one in tried:
        best[one.n_units] = max(one.log_marginal_likelihood, best.get(one.n_units, -math.inf))
    return Grid(["Units", "Log marginal likelihood"], list(best.items()), "Units tried") if best else None


def of_source(model: Any, source: Any, dropped: dict[str, str], *, prior: Any, began: float) -> LinearFitInfo:
    """What a fit to a source found out; nothing is kept of the rows."""
    names, missing = model.targets, source.missing()
    gone = missing[names[0]] if len(names) == 1 else source.fold(partial(rows_without_any, names))
    return LinearFitInfo(
        n_rows=source.n_rows, n_missing_targets=int(gone), targets=names, prior=prior, dropped_columns=dict(dropped),
        filled={name: n for name, n in missing.items() if n and name not in names}, _model=model,
        notes=("the error on held-out rows was not computed: it needs all rows in memory",),
        seconds=time.perf_counter() - began,
    )  # fmt: skip


def rows_without_any(names: tuple[str, ...], table: Table) -> int:
    """The number of rows that lack one of these numbers."""
    return int(np.isnan([table.values_of(name) for name in names]).any(axis=0).sum())


### classes


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ClassificationFitInfo(RegressionFitInfo):
    """What the fit of logistic units, over features or radial units, found out."""

    prior: Any = 1.0
    tried: tuple[TriedUnits, ...] = ()

    @cached_property
    def metrics(self) -> Metrics | None:
        """Accuracy, log loss and confusion on the training rows; None where these are soft, or not kept."""
        from bayeslearn.evaluation import Metrics  # noqa: PLC0415 - loads when it is asked for

        rows, model = self._rows, self._model
        if rows is None or rows.targets.ndim != 1:
            return None
        p = model.predict_proba(rows.inputs)
        return Metrics.of(p, coded(rows.targets, model.classes), classes=model.classes)

    @property
    def precision(self) -> float:
        """The precision of the prior of the standardized coefficients."""
        return float(self._model.fit.prior.precision.diagonal().max())

    @property
    def separated(self) -> bool:
        """Whether the classes are separated, so that without a prior the coefficients have no maximum."""
        return bool(self._model.fit.separated)

    def _facts(self) -> dict[str, Any]:
        model, found = self._model, self.metrics
        facts: dict[str, Any] = {
            "classes": model.classes, "prior": diagnostics.prior_name(self.prior), "precision": self.precision,
            "separated": self.separated, "n_iter": model.fit.n_iter, "log_likelihood": model.fit.log_likelihood,
            "log_marginal_likelihood": model.log_marginal_likelihood(),
        }  # fmt: skip
        if found is not None:
            counts = found.confusion.sum(axis=1)
            facts["class_counts"] = dict(zip(map(str, model.classes), counts.tolist(), strict=True))
            facts |= {"training_accuracy": found.accuracy, "training_log_loss": found.log_loss}
            facts["largest_class"] = float(counts.max() / counts.sum())
        units = {} if model.basis is None else {"n_units": model.basis.size}
        return facts | units | {"tried": self.tried}

    def _title(self) -> str:
        what = "Logistic regression" if self._model.basis is None else "Radial basis function network"
        return f"{what} of {self._model.target}"

    def _pairs(self) -> dict[str, Any]:
        model, facts = self._model, self._facts()
        pairs = super()._pairs()
        counts = facts.get("class_counts")
        classes = model.classes if counts is None else [f"{name}: {n:g}" for name, n in counts.items()]
        pairs["Classes"] = list(classes)
        if model.basis is not None:
            pairs["Radial units"] = model.basis.size
        pairs["Prior"] = "none" if self.precision == 0 else f"precision {self.precision:.4g}"
        if self.separated:
            pairs["Separated classes"] = "the coefficients have no maximum without a prior; use prior=1"
        pairs["Log marginal likelihood (Laplace)"] = facts["log_marginal_likelihood"]
        if counts is not None:
            share = f" (largest class: {facts['largest_class']:.4g})"
            pairs["Training accuracy"] = f"{facts['training_accuracy']:.4g}{share}"
            pairs["Training log loss"] = facts["training_log_loss"]
        return pairs

    def _blocks(self) -> tuple[Any, ...]:
        return (tried_grid(self.tried),)


### local regression


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class LocalFitInfo(RegressionFitInfo):
    """What the fit of a local regression found out: settings by leave-one-out, noise and errors."""

    @property
    def settings(self) -> Any:
        """How the fits are made."""
        return self._model.settings

    @property
    def tried(self) -> tuple[Any, ...]:
        """The settings that leave-one-out tried, the best first."""
        return tuple(self._model.tried)

    @cached_property
    def noise(self) -> dict[str, float]:
        """The standard deviation of the noise of each target; NaN of one row."""
        model = self._model
        noise = (model.noise**0.5).tolist() if len(model.rows) > 1 else [math.nan] * len(self.targets)
        return dict(zip(self.targets, noise, strict=True))

    @cached_property
    def errors(self) -> dict[str, PredictionError | None]:
        """The leave-one-out error of each target; of many rows, of a random sample."""
        model = self._model
        if len(model.rows) < 2:
            return dict.fromkeys(self.targets)
        rows, fit = model.leave_one_out_rows(MAX_LEFT_OUT)
        y, w = model.outputs.reshape(len(model.rows), -1)[rows], model.sample_weight[rows]
        mean = fit.mean.reshape(len(fit.mean), -1)
        found = [diagnostics.judged(y[:, j] - mean[:, j], y[:, j], w) for j in range(y.shape[1])]
        return dict(zip(self.targets, found, strict=True))

    def _facts(self) -> dict[str, Any]:
        return {"settings": self.settings, "noise": self.noise, "error_kind": "leave_one_out", "errors": self.errors}

    def _title(self) -> str:
        return f"Local regression of {', '.join(self.targets)}"

    def _pairs(self) -> dict[str, Any]:
        pairs = super()._pairs() | diagnostics.settings(self._model)
        for name, value in self.noise.items():
            words = "unknown: too few rows" if math.isnan(value) else value
            pairs[self._named("Noise (standard deviation)", name)] = words
        return pairs | error_pairs(self, "Leave-one-out", self.errors)
