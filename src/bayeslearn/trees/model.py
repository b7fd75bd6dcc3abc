"""Bayesian forests: trees whose nodes hold statistics, predictions averaged over all prunings and over the trees.

    p(c | row) ∝ [1/T Σ_t p_t(c | row)]^τ              classes; τ is learned out of bag
    p(y | row) = 1/T Σ_t Student's t of tree t         numbers, all distances from the mean times a factor learned
                                                       out of bag

The trees are fixed when a forest is fitted. Rows that are added or removed later change the statistics of their leaves
and with them the weights of all prunings: the sum of two forests of the same trees is the forest of all their rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, significance, validation
from bayeslearn.codec import Saved
from bayeslearn.distributions import lineage as lineages
from bayeslearn.errors import MismatchError, ParameterError, ShapeError
from bayeslearn.fit_info import Fitted
from bayeslearn.printable import printable
from bayeslearn.reports import Reported
from bayeslearn.tables import DiscreteVariable
from bayeslearn.tables.frames import probabilities
from bayeslearn.tables.markers import class_array
from bayeslearn.trees import inputs, predictive, reporting
from bayeslearn.trees.explanation import explanations
from bayeslearn.trees.prunings import ClassLeaves, NumberLeaves, PruningPrior

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.lineage import Lineage
    from bayeslearn.model_values import Reader
    from bayeslearn.regression.explanation import FeatureExplanation
    from bayeslearn.reports import Report
    from bayeslearn.tables import Schema, Table, Variable
    from bayeslearn.tables.frames import Backend
    from bayeslearn.trees.prunings import Leaves
    from bayeslearn.trees.structure import Trees

    Floats = NDArray[np.float64]

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")


#: The prior of prunings unless another is given.
DEFAULT = PruningPrior()


@dataclass(frozen=True, eq=False, repr=False)
class BayesianForestModel(Fitted, Reported, Saved, kind="forest"):
    """A forest of trees over the columns of a table; :func:`fit_forest` fits one.

    >>> from bayeslearn import fit_forest
    >>> x = list(range(40))
    >>> model = fit_forest({"x": x, "side": ["in" if 10 <= v < 30 else "out" for v in x]}, "side", random_state=0)
    >>> model.predict({"x": [3, 20, 35]}).tolist()
    ['out', 'in', 'out']
    """

    trees: Trees
    target: Variable
    #: The statistics of the leaves: Counts of classes, or Moments of numbers.
    statistics: Any
    prior: PruningPrior = DEFAULT
    #: The exponent of the probabilities of classes; of numbers the factor of the distances from the mean.
    temperature: float = 1.0
    #: The unit in which numbers are standardized.
    center: float = 0.0
    scale: float = 1.0
    #: The updates that the statistics consist of.
    lineage: Lineage | None = None

    def __post_init__(self) -> None:
        for name in ("temperature", "scale"):
            object.__setattr__(self, name, float(validation.number(name, getattr(self, name), above=0)))
        object.__setattr__(self, "center", float(validation.number("center", self.center)))
        expected = (len(self.trees.leaf_nodes), *((len(self.classes),) if self.is_classifier else ()))
        if self.statistics.n.shape != expected:
            raise ShapeError(f"expected statistics of shape {expected}, got {self.statistics.n.shape}")

    def __repr__(self) -> str:
        names = ", ".join(self.feature_names)
        return printable(f"BayesianForestModel({self.target.name} of {names}: {len(self.trees)} trees)")

    # -- what it consists of

    @property
    def schema(self) -> Schema:
        """The columns that rows are read by."""
        return self.trees.bins.schema

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.schema.names

    @property
    def is_classifier(self) -> bool:
        """Whether the target is a class."""
        return isinstance(self.target, DiscreteVariable)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of the target; none of a numeric target."""
        return self.target.states if isinstance(self.target, DiscreteVariable) else ()

    @property
    def n_trees(self) -> int:
        """The number of trees."""
        return len(self.trees)

    @property
    def total_weight(self) -> float:
        """The total weight of the rows in the statistics."""
        first = int(np.searchsorted(self.trees.leaf_nodes, self.trees.sizes[0]))
        return float(self.statistics.n[:first].sum())

    @cached_property
    def leaves(self) -> Leaves:
        """The leaves with what they predict."""
        if self.is_classifier:
            return ClassLeaves(self.trees, self.statistics, self.prior)
        return NumberLeaves(self.trees, self.statistics, self.prior, self.center, self.scale)

    @cached_property
    def feature_importances(self) -> dict[str, float]:
        """The share of each column in what all splits explain; the shares sum to 1, or are 0 without a split."""
        return reporting.importances(self)

    # -- answers

    def predict(self, data: Any) -> NDArray[Any]:
        """Return the most probable class, or the mean of the target, of each row."""
        if not self.is_classifier:
            return self._numbers(self._codes(data))[:, 0] * self.scale + self.center
        return class_array(self.classes)[self.predict_codes(data)]

    def predict_codes(self, data: Any) -> NDArray[np.intp]:
        """Return the code of the most probable class of each row, the first of tied classes."""
        return np.asarray(self.predict_proba(data).argmax(axis=1))

    def predict_proba(self, data: Any, *, backend: Backend | None = None) -> Any:
        """Return P(class | row), a column for each of `classes`: an array, or a data frame of `backend`."""
        self._require_classes("probabilities of classes")
        p = self.trees.mean_of(self.leaves.values, self._codes(data))
        return probabilities(predictive.tempered(p, self.temperature), self.classes, backend)

    def predict_interval(self, data: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return equal-tailed bounds of the target of one more row at each row, a numeric target's."""
        if self.is_classifier:
            raise ParameterError("intervals are for numeric targets", hint="predict_proba has the classes")
        validation.number("level", level, above=0, below=1)
        low, high = predictive.bounds(self.leaves, self._codes(data), self.temperature, level)
        return low * self.scale + self.center, high * self.scale + self.center

    def log_likelihood(self, data: Any, target: Any = None) -> Floats:
        """Return ln P(target | row) of each row; 0 where the target is missing.

        `target` is a column of `data`, by default the one that the model predicts, or an array.
        """
        rows, truth = self._labeled(data, target)
        if self.is_classifier:
            p = np.column_stack([self.predict_proba(rows), np.zeros(len(rows))])  # the last is any other class
            with np.errstate(divide="ignore"):
                return np.where(truth < 0, 0.0, np.log(p[np.arange(len(rows)), truth]))
        y = np.where(np.isnan(truth), self.center, truth)
        found = predictive.log_density(
            self.leaves, self.trees.bins.codes(rows), self.temperature, (y - self.center) / self.scale
        )
        return np.where(np.isnan(truth), 0.0, found - np.log(self.scale))

    def score(self, data: Any, target: Any = None, *, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, or R² of a numeric target, on rows whose target is known."""
        rows, truth = self._labeled(data, target)
        predicted = self.predict_codes(rows) if self.is_classifier else self.predict(rows)
        return significance.score(predicted, truth, sample_weight, classes=self.is_classifier)

    def explain(self, data: Any) -> list[FeatureExplanation]:
        """Return for each row what every column adds to the prediction, from the prediction without any column.

        Of classes these are log odds of the predicted class against all others. They add up exactly.
        """
        return explanations(self, inputs.new_rows(self.schema, data))

    def _codes(self, data: Any) -> NDArray[np.uint8]:
        """The codes of new rows."""
        return self.trees.bins.codes(inputs.new_rows(self.schema, data))

    def _numbers(self, codes: NDArray[np.uint8]) -> Floats:
        """The mean over the trees of mean, E y² and 1/ν of standardized numbers."""
        return self.trees.mean_of(self.leaves.values, codes)

    def _labeled(self, data: Any, target: Any) -> tuple[Table, NDArray[Any]]:
        """New rows, and their targets: codes, −1 where missing, or numbers, NaN where missing."""
        rows = inputs.new_rows(self.schema, data)
        truth = inputs.targets_of(data, self.target.name if target is None else target, self.target)
        if len(truth) != len(rows):
            raise ShapeError(f"expected a target for each of {len(rows)} rows, got {len(truth)}")
        return rows, truth

    def _require_classes(self, what: str) -> None:
        if not self.is_classifier:
            raise ParameterError(f"there are no {what}: the target {self.target.name!r} is a number")

    # -- more rows, fewer rows

    def statistics_of(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> Any:
        """Return what rows add to the statistics of the leaves: counts of classes, or moments."""
        rows, truth, w = inputs.more_rows(self, data, target, sample_weight)
        return inputs.collected(self, self.trees.bins.codes(rows), truth, w)

    def update(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> BayesianForestModel:
        """Return the model with more rows in the leaves of its trees, which do not change.

        Parameters
        ----------
        data
            Rows with the columns of the model; rows without a target add nothing.
        target
            The column of `data` with the targets, by default the one that the model predicts, or an array of them.
        sample_weight
            The weight of each row, or the column that holds it.
        """
        more = self.statistics_of(data, target, sample_weight=sample_weight)
        lineage = lineages.after_update(self.lineage, self.statistics, more)
        return replace(self, statistics=self.statistics + more, lineage=lineage)

    def remove(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> BayesianForestModel:
        """Return the model without some of its rows."""
        gone = self.statistics_of(data, target, sample_weight=sample_weight)
        left = self.statistics - gone
        return replace(self, statistics=left, lineage=lineages.without_rows(self.lineage, gone, left))

    def merge(self, *others: BayesianForestModel) -> BayesianForestModel:
        """Return the model with the rows of others; rows that several were updated from count once."""
        return reduce(lambda one, other: one + other, others, self)

    def __add__(self, other: BayesianForestModel) -> BayesianForestModel:
        if not isinstance(other, BayesianForestModel):
            return NotImplemented
        settings = [(m.target, m.prior, m.temperature, m.center, m.scale) for m in (self, other)]
        if settings[0] != settings[1] or not self.trees.same(other.trees):
            raise MismatchError(
                "the forests have different trees or targets", hint="update both from one forest", differs="trees"
            )
        statistics, lineage = lineages.merged(self.statistics, other.statistics, self.lineage, other.lineage)
        return replace(self, statistics=statistics, lineage=lineage)

    def discount(self, forgetting_factor: float) -> BayesianForestModel:
        """Return the model with the weights of its rows multiplied by a factor in (0, 1]."""
        factor = validation.number("forgetting_factor", forgetting_factor, above=0, max_value=1)
        return replace(self, statistics=self.statistics * factor, lineage=lineages.scaled(self.lineage, factor))

    # -- what it shows

    def report(self) -> Report:
        """Return the settings, the size of the trees, and the columns with their importances."""
        return reporting.model_report(self)

    def to_dict(self) -> dict[str, Any]:
        """Return settings, sizes and importances as plain values."""
        return reporting.plain_model(self)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each column: feature, importance, number of splits."""
        return reporting.frame(self, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the importances of the columns (:func:`bayeslearn.plots.plot_importances`)."""
        return plots.plot_importances(self, ax=ax)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values and arrays.

        {"target", "columns": [{"variable", "cuts"}, ...], "trees": {"sizes", "column", "threshold", "missing_left",
         "masks"}, "statistics", "split_probability", "equivalent_sample_size", "temperature", "center", "scale",
         "lineage"?}
        """
        return reporting.to_document(self)

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> BayesianForestModel:
        """Return the model of a document, all of which is checked."""
        return cls(*reporting.from_document(reader, document))
