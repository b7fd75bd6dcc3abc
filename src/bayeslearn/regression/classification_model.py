"""Classes as a function of the columns of a table: sigmoid units over features, or over radial units.

row → point, standardized (:mod:`.features`) → radial units, if there are any → sigmoid units (:mod:`.sigmoid`)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.codec import Saved, rename_keys
from bayeslearn.distributions.priors import cases_of
from bayeslearn.distributions.sufficient_statistics import ratio
from bayeslearn.errors import MissingValuesError, ParameterError, ShapeError
from bayeslearn.model_values import ARRAY, NAME, NUMBER, is_scatter, plain
from bayeslearn.printable import printable
from bayeslearn.regression.feature_encoding import Features
from bayeslearn.regression.inputs import read
from bayeslearn.regression.logistic import LogisticFit
from bayeslearn.regression.logistic_optimizers import NormalPrior
from bayeslearn.regression.rbf import RBFBasis
from bayeslearn.regression.rbf_fit import TriedUnits, choose
from bayeslearn.regression.targets import (
    Examples,
    coded,
    examples,
    known_classes,
    labels_of,
    probabilities,
    shares,
)
from bayeslearn.sources import with_options
from bayeslearn.tables import DiscreteVariable, Schema, as_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.tables.markers import Markers

    Floats = NDArray[np.float64]

#: The strengths of the prior that ``"evidence"`` tries.
STRENGTHS = np.geomspace(1e3, 1e-3, 13)

#: The precision of intercepts where a class that was told does not show.
ABSENT = 0.01


@dataclass(frozen=True, eq=False)
class ClassificationModel(Saved, kind="classification", version=2):
    """Probabilities of classes; :func:`fit_logistic` and :func:`fit_rbf_classifier` learn one."""

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
        what = "sigmoid units" if self.basis is None else f"{self.basis.size} radial units"
        inputs = ", ".join(self.features.schema.names)
        return printable(f"ClassificationModel({self.target} of {inputs}: {what}; {self.fit.cases:.10g} cases)")

    @property
    def coef(self) -> Floats:
        """Weights (units, d) in the units of the columns; of radial units as they are."""
        w = self.fit.weights[:, 1:]
        return w if self.basis is not None else w * ratio(1.0, self.features.spread)

    @property
    def intercept(self) -> Floats:
        """Intercepts (units,), where every column is 0."""
        level = self.fit.weights[:, 0]
        return level if self.basis is not None else level - self.coef @ self.features.mean

    # -- what it says

    def predict_proba(self, data: Any, *, missing_columns: Any = "error") -> Floats:
        """P(class | row), a column for each of `classes`."""
        return self.fit.probability(self.design(data, missing_columns=missing_columns))

    def predict(self, data: Any) -> list[Any]:
        """The most probable class of each row, the first when tied."""
        return [self.classes[code] for code in self.predict_proba(data).argmax(axis=1)]

    def interval(self, data: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Bounds of P(class | row), as well as the weights are known."""
        return self.fit.interval(self.design(data), level)

    def log_evidence(self) -> float:
        """ln p(classes | rows), nearly (Laplace), up to the constant of the free intercepts."""
        return self.fit.log_evidence()

    def design(self, data: Any, *, missing_columns: Any = "error") -> Floats:
        """What the sigmoid units see of each row."""
        x = self.features.standardized(self.features.encode(data, missing_columns=missing_columns).matrix)
        return x if self.basis is None else self.basis(x)

    # -- learning goes on

    def update(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> ClassificationModel:
        """More rows, with what is known as their prior; the encoding and the radial units stay."""
        name = self.target if target is None else target
        w = sample_weight
        if isinstance(name, str):
            table = as_table(data, schema=Schema([DiscreteVariable(name, self.classes)]), sample_weight=sample_weight)
            labels, w = table.column(name), table.sample_weight
        else:
            labels = labels_of(target)
        d = shares(coded(labels, self.classes), len(self.classes))
        return replace(self, fit=self.fit.update(self.design(data), d, sample_weight=w))

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values.

        {"features", "basis": {"centers", "widths"} or null, "target", "classes", "weights", "precision",
         "prior": {"mean", "precision"}, "log_likelihood", "iterations", "cases", "separated"}
        """
        fit = self.fit
        return {
            "features": self.features.to_dict(),
            "basis": None if self.basis is None else plain(self.basis),
            "target": self.target,
            "classes": DiscreteVariable(self.target, self.classes).to_dict()["states"],
            "weights": fit.weights,
            "precision": fit.precision,
            "prior": plain(fit.prior),
            "log_likelihood": fit.log_likelihood,
            "iterations": fit.iterations,
            "cases": fit.cases,
            "separated": fit.separated,
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> ClassificationModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "features": dict, "basis": (dict, type(None)), "target": str, "classes": [NAME], "weights": ARRAY,
            "precision": ARRAY, "prior": dict, "log_likelihood": NUMBER, "iterations": int, "cases": NUMBER,
            "separated": bool,
        }  # fmt: skip
        entry, units, target, classes, weights, precision, prior, value, steps, cases, separated = reader.entries(
            document, keys, "a model"
        )
        features = Features.checked(reader, entry)
        basis = None if units is None else RBFBasis.checked(reader, units, features.size)
        known = DiscreteVariable(target, tuple(classes)).states
        w, H = reader.numbers(weights, "weights"), reader.numbers(precision, "precision")
        size = (len(known) if len(known) > 2 else 1, 1 + (features.size if basis is None else basis.size))
        wide = size[0] * size[1]
        values = reader.entries(prior, {"mean": ARRAY, "precision": ARRAY}, "a prior")
        mean, P = (reader.numbers(part, name) for part, name in zip(values, ("mean", "precision"), strict=True))
        if w.shape != size or H.shape != (wide, wide) or mean.shape != (wide,) or P.shape != (wide, wide) or cases < 0:
            reader.wrong("the weights do not fit the inputs and classes")
        if not (is_scatter(H) and is_scatter(P)):
            reader.wrong("a precision is not symmetric, or below zero in some direction")
        fit = LogisticFit(w, H, NormalPrior(mean, P), float(value), steps, float(cases), separated)
        return cls(features, target, known, fit, basis)


### learning


def fit_logistic(
    data: Any,
    target: Any,
    *,
    prior: float | Literal["evidence"] | None = 1.0,
    soft: bool = False,
    classes: Sequence[Any] | None = None,
    method: Literal["newton", "lbfgs", "gradient"] = "newton",
    rate: float | None = None,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    tol: float = 1e-10,
    max_iter: int | None = None,
    max_states: int = 255,
    left_out: dict[str, str] | None = None,
    progress: Callable[[int, float], object] | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> ClassificationModel:
    """Learn the probabilities of classes by cross entropy.

    Parameters
    ----------
    data
        As in :func:`fit_linear`.
    target
        The name of the column of classes, or the classes themselves; with `soft`, probabilities: (n,) of the second
        class, or (n, k) of all.
    prior
        The precision of the weights of standardized features; None is maximum likelihood, ``"evidence"`` the precision
        of the highest evidence.
    classes
        The classes in their order; those that show, sorted, when not told.
    method, rate, tol, max_iter
        As in :meth:`LogisticFit.learn`.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Examples
    --------
    >>> found = fit_logistic({"dose": [1.0, 2.0, 3.0, 4.0], "well": ["no", "no", "yes", "yes"]}, "well")
    >>> found.predict({"dose": [1.5, 5.0]})
    ['no', 'yes']
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    how = {
        "columns": columns,
        "discrete": discrete,
        "sample_weight": sample_weight,
        "max_states": max_states,
        "left_out": left_out,
    }
    found, known, d = class_examples(data, target, classes, how, soft=soft)
    features = Features.learn(found.inputs, sample_weight=found.sample_weight)
    x = features.standardized(features.encode(found.inputs).matrix)
    options: dict[str, Any] = {
        "sample_weight": found.sample_weight, "method": method, "rate": rate, "tol": tol, "max_iter": max_iter,
        "progress": progress,
    }  # fmt: skip
    return ClassificationModel(features, found.names[0], known, strongest(x, d, prior, options))


def fit_rbf_classifier(
    data: Any,
    target: Any,
    k: int | Literal["auto"] = "auto",
    *,
    centers: str = "k-means",
    width: Any = "auto",
    prior: float | Literal["evidence"] | None = "evidence",
    classes: Sequence[Any] | None = None,
    columns: Iterable[str] | None = None,
    discrete: Iterable[str] = (),
    sample_weight: Any = None,
    most: int = 128,
    max_states: int = 255,
    left_out: dict[str, str] | None = None,
    random_state: np.random.Generator | int | None = 0,
    progress: Callable[[TriedUnits], object] | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> tuple[ClassificationModel, tuple[TriedUnits, ...]]:
    """Learn a radial basis function network for classes, and tell all that was tried.

    Units are chosen as in :func:`fit_rbf`, by the evidence of a linear fit to the classes; then their outputs are
    sigmoid units, learned by cross entropy.

    Parameters
    ----------
    data, target, columns, discrete, sample_weight, max_states, left_out
        As in :func:`fit_logistic`.
    k, centers, width, most, random_state, progress
        As in :func:`fit_rbf`.
    prior, classes
        Of the output units, as in :func:`fit_logistic`.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    how = {
        "columns": columns,
        "discrete": discrete,
        "sample_weight": sample_weight,
        "max_states": max_states,
        "left_out": left_out,
    }
    found, known, d = class_examples(data, target, classes, how, soft=False)
    features = Features.learn(found.inputs, sample_weight=found.sample_weight, every_state=True)
    x = features.standardized(features.encode(found.inputs).matrix)
    basis, tried = choose(
        x, d[:, 1:], k, centers=centers, width=width, sample_weight=found.sample_weight, most=most,
        random_state=validation.generator(random_state), progress=progress,
    )  # fmt: skip
    fit = strongest(basis(x), d, prior, {"sample_weight": found.sample_weight})
    return ClassificationModel(features, found.names[0], known, fit, basis), tried


def class_examples(
    data: Any, target: Any, classes: Sequence[Any] | None, how: dict[str, Any], *, soft: bool
) -> tuple[Examples, tuple[Any, ...], Floats]:
    """Rows, classes, and the share of every class in each row."""
    if soft:
        d = probabilities(target)
        inputs = read(data, **how)
        if len(inputs) != len(d):
            raise ShapeError(f"expected one target per row, got {len(d)} for {len(inputs)} rows")
        if np.isnan(d).any(axis=1).all():
            raise MissingValuesError("the target is missing in every row", hint="give rows whose target is known")
        known = tuple(range(d.shape[1])) if classes is None else tuple(classes)
        if len(known) != d.shape[1]:
            raise ParameterError(f"{len(known)} classes are told, and the targets have {d.shape[1]}")
        return Examples(inputs, d, ("class",), inputs.sample_weight), known, d
    found = examples(data, target, classes=True, **how)
    if found.sample_weight is not None and not found.sample_weight.all():  # a row that does not count shows no class
        labels = found.targets.copy()
        labels[found.sample_weight == 0] = None
        found = replace(found, targets=labels)
    known = known_classes(found.targets) if classes is None else tuple(classes)
    return found, known, shares(coded(found.targets, known), len(known))


def strongest(x: Floats, d: Floats, prior: Any, options: dict[str, Any]) -> LogisticFit:
    """The fit under a prior, or under the one of the highest evidence."""
    precision = cases_of(prior)
    if precision != "evidence":
        return LogisticFit.learn(x, d, prior=normal_prior(x, d, precision), **options)
    best: LogisticFit | None = None
    for strength in STRENGTHS:
        start = None if best is None else best.weights
        fit = LogisticFit.learn(x, d, prior=normal_prior(x, d, strength), start=start, **options)
        if best is None or fit.log_evidence() > best.log_evidence():
            best = fit
        elif strength < float(np.diagonal(best.prior.precision).max()) / 20:
            break
    assert best is not None
    return best


def normal_prior(x: Floats, d: Floats, strength: float) -> NormalPrior:
    """Weights near 0; intercepts free, but where a class does not show, so that nothing else would hold it."""
    absent = not (np.nansum(d, axis=0) > 0).all()
    n_units = d.shape[1] if d.shape[1] > 2 else 1
    return NormalPrior.of(n_units, x.shape[1], float(strength), intercept=ABSENT if absent else 0.0)


rename_keys("classification", 1, {"basis/centres": "centers"})
