"""Classification models: logistic units over features, or over radial units.

row → point, standardized (:mod:`.feature_encoding`) → radial units (:mod:`.rbf`), if any → logistic units
(:mod:`.logistic`)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, significance
from bayeslearn.codec import Saved, rename_keys, upgrade
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import MismatchError, ParameterError, ShapeError
from bayeslearn.fit_info import Fitted
from bayeslearn.model_values import ARRAY, NAME, NUMBER, is_scatter, plain
from bayeslearn.printable import printable
from bayeslearn.regression import diagnostics
from bayeslearn.regression.explanation import explanations
from bayeslearn.regression.feature_encoding import Features
from bayeslearn.regression.logistic import LogisticFit
from bayeslearn.regression.logistic_optimizers import Codes, NormalPrior
from bayeslearn.regression.rbf import RBFBasis
from bayeslearn.regression.targets import coded, labels_of
from bayeslearn.reports import Reported
from bayeslearn.tables import DiscreteVariable, Schema, as_table
from bayeslearn.tables.frames import probabilities
from bayeslearn.tables.markers import class_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.regression.explanation import FeatureExplanation
    from bayeslearn.reports import Report
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationModel(Fitted, Reported, Saved, kind="classification", version=3):
    """Probabilities of classes; :func:`fit_logistic` and :func:`fit_rbf_classifier` fit one."""

    features: Features
    target: str
    classes: tuple[Any, ...]
    fit: LogisticFit
    basis: RBFBasis | None = None

    def __post_init__(self) -> None:
        wide = self.features.size if self.basis is None else self.basis.size
        if self.fit.dim != wide or self.fit.n_classes != len(self.classes):
            raise ShapeError(
                f"{wide} inputs and {len(self.classes)} classes do not fit {self.fit.dim} and {self.fit.n_classes}"
            )

    def __repr__(self) -> str:
        what = "logistic units" if self.basis is None else f"{self.basis.size} radial units"
        inputs = ", ".join(self.features.schema.names)
        return printable(f"ClassificationModel({self.target} of {inputs}: {what}; {self.total_weight:.10g} rows)")

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
        """The coefficients (units, d) in the units of the columns; of radial units unchanged."""
        w = self.fit.coefficients[:, 1:]
        return w if self.basis is not None else w * ratio(1.0, self.features.spread)

    @property
    def intercept(self) -> Floats:
        """The intercepts (units,), where every column is 0."""
        level = self.fit.coefficients[:, 0]
        return level if self.basis is not None else level - self.coef @ self.features.mean

    # -- answers

    def predict_proba(self, data: Any, *, missing_columns: Any = "error", backend: Backend | None = None) -> Any:
        """Return P(class | row), a column for each of `classes`: an array, or a data frame of `backend`."""
        p = self.fit.probability(self.design(data, missing_columns=missing_columns))
        return probabilities(p, self.classes, backend)

    def predict(self, data: Any) -> NDArray[Any]:
        """Return the most probable class of each row, the first of tied classes."""
        return class_array(self.classes)[self.predict_proba(data).argmax(axis=1)]

    def predict_interval(self, data: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return bounds of P(class | row) by the posterior of the coefficients, a column for each class."""
        return self.fit.interval(self.design(data), level)

    def log_likelihood(self, data: Any, target: Any = None) -> Floats:
        """Return ln P(target | row) of each row; 0 where the target is missing.

        `target` is a column of `data`, by default the one that the model predicts, or an array of classes.
        """
        codes, log_p = self._codes(data, target), self.fit.log_probability(self.design(data))
        return np.where(codes < 0, 0.0, log_p[np.arange(len(codes)), codes])

    def score(self, data: Any, target: Any = None, *, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy on rows whose class is known."""
        predicted = self.predict_proba(data).argmax(axis=1)
        return significance.score(predicted, self._codes(data, target), sample_weight, classes=True)

    def explain(self, data: Any) -> list[FeatureExplanation]:
        """Return for each row what every feature adds to the log odds of its predicted class.

        Of two classes these are the log odds; of more, the activation of the class.
        """
        if self.basis is not None:
            raise ParameterError("radial units have no contributions of features", hint="explain a linear model")
        x, best = self.features.encode(data).matrix, self.predict_proba(data).argmax(axis=1)
        coef, intercept = self.coef, self.intercept
        if len(coef) == 1:
            coef, intercept = np.vstack([-coef, coef]), np.append(-intercept, intercept)
        names = [f"{self.target}={label} (log odds)" for label in self.classes]
        return [
            explanations(self.features, x[i : i + 1], coef[k : k + 1], intercept[k : k + 1], names[k : k + 1])[0]
            for i, k in enumerate(best.tolist())
        ]

    def log_marginal_likelihood(self) -> float:
        """Return ln p(classes | rows) by Laplace's approximation, up to the constant of the free intercepts."""
        return self.fit.log_marginal_likelihood()

    def design(self, data: Any, *, missing_columns: Any = "error") -> Floats:
        """Return the inputs of the logistic units for each row."""
        x = self.features.standardized(self.features.encode(data, missing_columns=missing_columns).matrix)
        return x if self.basis is None else self.basis(x)

    def _labels(self, data: Any, target: Any, sample_weight: Any) -> tuple[Any, Any]:
        """The classes of rows, and their weights."""
        name = self.target if target is None else target
        if not isinstance(name, str):
            return labels_of(target), sample_weight
        schema = Schema([DiscreteVariable(name, self.classes)])
        table = as_table(data, schema=schema, sample_weight=sample_weight)
        return table.column(name), table.sample_weight

    def _codes(self, data: Any, target: Any) -> NDArray[np.intp]:
        """The codes of the classes of rows, −1 where missing."""
        return coded(self._labels(data, target, None)[0], self.classes)

    # -- more rows

    def update(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> ClassificationModel:
        """Return the model with more rows, its posterior as their prior; the encoding and the units stay.

        Parameters
        ----------
        data
            Rows with the columns of the model.
        target
            The column of `data` with the classes, by default the one that the model predicts, or an array of them.
        sample_weight
            The weight of each row, or the column that holds it.
        """
        labels, w = self._labels(data, target, sample_weight)
        d = Codes(coded(labels, self.classes), len(self.classes))
        return replace(self, fit=self.fit.update(self.design(data), d, sample_weight=w))

    def merge(self, *others: ClassificationModel) -> ClassificationModel:
        """Return the model of the rows of several models, each updated once from one model, which counts once."""
        return reduce(lambda one, other: one + other, others, self)

    def __add__(self, other: ClassificationModel) -> ClassificationModel:
        if not isinstance(other, ClassificationModel):
            return NotImplemented
        self.features.require_same(other.features)
        mine, theirs = (
            (m.target, m.classes, m.features.mean.tolist(), m.features.spread.tolist()) for m in (self, other)
        )
        same_units = self.basis is other.basis or bool(self.basis and other.basis and self.basis.same(other.basis))
        if mine != theirs or not same_units:
            raise MismatchError(
                "the models have different classes, encodings or units", hint="update both from one model",
                differs="encoding",
            )  # fmt: skip
        return replace(self, fit=self.fit + other.fit)

    # -- what it shows

    def report(self) -> Report:
        """Return the coefficients with intervals, and what the model was fitted to."""
        return diagnostics.classification_report(self)

    def to_dict(self) -> dict[str, Any]:
        """Return target, classes, features and coefficients as plain values."""
        return diagnostics.plain_classification(self)

    def to_frame(self, backend: Backend = "pandas", *, level: float = 0.95) -> Any:
        """Return a data frame with a row for each coefficient: target (the class), name, mean, low, high, effect."""
        return diagnostics.coefficient_frame(self, level, backend)

    def plot(self, data: Any = None, target: Any = None, *, level: float = 0.95, ax: Any = None) -> Any:
        """Draw the probability of the last class over its only numeric column, or for these rows; else coefficients."""
        return plots.plot_regression(self, data, target, level=level, ax=ax)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values.

        {"features", "basis": {"centers", "widths"} or null, "target", "classes", "coefficients", "precision",
         "prior": {"mean", "precision"}, "log_likelihood", "n_iter", "total_weight", "prior_weight", "separated"}
        """
        fit = self.fit
        return {
            "features": self.features.to_dict(),
            "basis": None if self.basis is None else plain(self.basis),
            "target": self.target,
            "classes": DiscreteVariable(self.target, self.classes).to_dict()["states"],
            "coefficients": fit.coefficients,
            "precision": fit.precision,
            "prior": plain(fit.prior),
            "log_likelihood": fit.log_likelihood,
            "n_iter": fit.n_iter,
            "total_weight": fit.total_weight,
            "prior_weight": fit.prior_weight,
            "separated": fit.separated,
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> ClassificationModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "features": dict, "basis": (dict, type(None)), "target": str, "classes": [NAME],
            "coefficients": ARRAY, "precision": ARRAY, "prior": dict, "log_likelihood": NUMBER, "n_iter": int,
            "total_weight": NUMBER, "prior_weight": NUMBER, "separated": bool,
        }  # fmt: skip
        (
            entry, units, target, classes, weights, precision, prior, value, steps, total, before, separated,
        ) = reader.entries(document, keys, "a model")  # fmt: skip
        features = Features.checked(reader, entry)
        basis = None if units is None else RBFBasis.checked(reader, units, features.size)
        known = DiscreteVariable(target, tuple(classes)).states
        w, H = reader.numbers(weights, "coefficients"), reader.numbers(precision, "precision")
        size = (len(known) if len(known) > 2 else 1, 1 + (features.size if basis is None else basis.size))
        wide = size[0] * size[1]
        values = reader.entries(prior, {"mean": ARRAY, "precision": ARRAY}, "a prior")
        mean, P = (reader.numbers(part, name) for part, name in zip(values, ("mean", "precision"), strict=True))
        if (
            w.shape != size
            or H.shape != (wide, wide)
            or mean.shape != (wide,)
            or P.shape != (wide, wide)
            or min(total, before) < 0
        ):
            reader.wrong("the coefficients do not fit the inputs and classes")
        if not (is_scatter(H) and is_scatter(P)):
            reader.wrong("a precision is not symmetric, or below zero in some direction")
        fit = LogisticFit(w, H, NormalPrior(mean, P), float(value), steps, float(total), float(before), separated)
        return cls(features, target, known, fit, basis)


### files of earlier versions


rename_keys("classification", 1, {"basis/centres": "centers"})


#: Keys as version 2 named them.
RENAMED = {"weights": "coefficients", "iterations": "n_iter", "cases": "total_weight"}


@upgrade("classification", 2)
def with_full_names(_reader: Reader, parts: dict[str, Any]) -> dict[str, Any]:
    """Name the values as fields are named; what the prior holds was not known."""
    return {"prior_weight": 0.0} | {RENAMED.get(key, key): value for key, value in parts.items()}
