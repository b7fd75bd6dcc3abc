"""k-nearest neighbors: the training rows themselves are the model.

    statistics = those of the targets of the k nearest rows, weighted by distance        :mod:`.voting`
    posterior  = prior + statistics                                                      one for each new row

For classes the distribution is categorical with a Dirichlet prior. For numbers it is Gaussian, with a prior of the
variance only: Jeffreys' and an equivalent sample size whose variance is that of the target between nearest neighbors,
½ E (y − y')². Means are plain averages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import lazy_imports, significance, validation
from bayeslearn.codec import Saved
from bayeslearn.distributions import Categorical, Dirichlet, Normal, NormalInverseGamma
from bayeslearn.distributions.moments import require_squares
from bayeslearn.distributions.priors import cases_of, dirichlet_prior
from bayeslearn.errors import EmptyTableError, MissingValuesError, ParameterError, ShapeError
from bayeslearn.fit_info import Fitted
from bayeslearn.neighbors import inputs, reporting, search_index, voting
from bayeslearn.neighbors.distances import Distance, as_weights
from bayeslearn.neighbors.inputs import read_targets
from bayeslearn.printable import printable
from bayeslearn.reports import Reported
from bayeslearn.tables import DiscreteVariable, Table
from bayeslearn.tables.frames import probabilities
from bayeslearn.tables.markers import class_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.distributions.row_lineage import RowLineage
    from bayeslearn.model_values import Reader
    from bayeslearn.neighbors.search_index import Index
    from bayeslearn.neighbors.voting import NeighborExplanation
    from bayeslearn.reports import Report
    from bayeslearn.tables import Variable
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Numbers of neighbors that are held at a time.
ROOM = 1 << 22

#: Rows from which the local variance of the target is estimated.
PROBES = 2000


@dataclass(frozen=True, eq=False, repr=False)
class NeighborsModel(Fitted, Reported, Saved, kind="neighbors", version=3):
    """Training rows, the distance between rows, and how neighbors are weighted.

    :func:`fit_neighbors` fits one to a table and selects its settings; :meth:`from_arrays` keeps rows unchanged.

    >>> model = NeighborsModel.from_arrays(
    ...     {"sweet": [8, 3, 3, 7], "crunch": [5, 7, 6, 3]}, ["fruit", "vegetable", "protein", "fruit"], n_neighbors=1,
    ...     metric="euclidean")
    >>> tomato = {"sweet": [6], "crunch": [4]}
    >>> model.predict(tomato).tolist(), model.nearest(tomato, 4)[0].round(1).tolist()
    (['fruit'], [[1.4, 2.2, 3.6, 4.2]])
    """

    examples: Table
    target: Variable
    #: The target of each training row: the code of a class, or a number.
    targets: NDArray[Any]
    distance: Distance
    #: The number of neighbors; None for all.
    n_neighbors: int | None = 5
    weights: Any = "uniform"
    #: Equivalent sample size of the prior, spread evenly over the classes; a word of the grammar; None for no prior.
    prior: Any = 1.0
    algorithm: str = "auto"
    #: The update that each row came with, where the model was updated.
    lineage: RowLineage | None = None
    #: Calibration: probabilities of classes are raised to this power, and divided by their sum.
    exponent: float = 1.0

    def __post_init__(self) -> None:
        validation.number("exponent", self.exponent, above=0)
        if self.n_neighbors is not None:
            validation.integer("n_neighbors", self.n_neighbors, min_value=1)
        if not callable(self.weights):
            object.__setattr__(self, "weights", validation.choice("weights", self.weights, voting.WEIGHTS))
        object.__setattr__(
            self, "algorithm", validation.choice("algorithm", self.algorithm, ["auto", *search_index.KINDS])
        )
        if not len(self.examples) or not len(self.examples.schema):
            raise EmptyTableError("there are no training rows to find neighbors among, or they have no columns")
        object.__setattr__(self, "targets", validation.owned(self.targets))
        if self.targets.shape != (len(self.examples),):
            raise ShapeError(f"expected a target for each of {len(self.examples)} rows, got shape {self.targets.shape}")
        if isinstance(self.target, DiscreteVariable):
            validation.indices("targets", self.targets, self.target.n_states, min_value=-1)
        if not self.is_classifier:
            require_squares(f"numbers in {self.target.name!r}", self.targets)
        bad = self.targets < 0 if self.is_classifier else ~np.isfinite(self.targets)
        if bad.any():
            raise MissingValuesError(
                f"{bad.sum()} rows have no {self.target.name!r}, the first is row {validation.first_position(bad)}",
                hint="drop the rows without a target",
            )
        object.__setattr__(self, "prior", self._checked_prior())
        if self.is_classifier:
            self.prior_of()  # it fits

    @classmethod
    def from_arrays(
        cls,
        X: Any,
        y: Any,
        *,
        metric: str = "scaled",
        feature_weights: Any = None,
        target: str = "target",
        n_neighbors: int | None = 5,
        weights: Any = "uniform",
        prior: Any = 1.0,
        algorithm: str = "auto",
        exponent: float = 1.0,
    ) -> NeighborsModel:
        """Return a model of rows and their targets, with settings as given.

        Parameters
        ----------
        X, y
            The rows, and the target of each: text and truth values are classes, numbers are numbers.
        metric
            The unit of numeric columns: ``"scaled"`` (standard deviation), ``"range"``, ``"euclidean"`` (1).
        feature_weights
            Weights of the columns, by name or in order; 1 for each by default.
        target
            The name of the target.
        n_neighbors
            The number of neighbors; None for all rows.
        weights
            ``"uniform"``, ``"inverse_square"``, or a function of an array of distances.
        prior
            Equivalent sample size of the prior, spread evenly over the classes; a word such as ``"m:2"`` or
            ``"laplace"``; None for no prior; or a Dirichlet, or a NormalInverseGamma.
        algorithm
            The search index: ``"auto"``, or a name of :func:`build_index`.
        exponent
            The power that probabilities of classes are raised to, as calibration estimates it.
        """
        table = inputs.examples(X)
        variable, found = read_targets(y, target)
        named = None if feature_weights is None else as_weights(feature_weights, table.schema)
        distance = Distance.fit(table, metric, named)
        return cls(table, variable, found, distance, n_neighbors, weights, prior, algorithm, exponent=exponent)

    def __repr__(self) -> str:
        k = "all" if self.n_neighbors is None else self.n_neighbors
        return printable(f"NeighborsModel({self.target.name} by {k} of {len(self.examples)} rows, {self.weights})")

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def is_classifier(self) -> bool:
        """Whether the target is a class."""
        return isinstance(self.target, DiscreteVariable)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes of the target; none of a numeric target."""
        return self.target.states if isinstance(self.target, DiscreteVariable) else ()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The columns that distances are computed from."""
        return self.examples.schema.names

    @property
    def feature_weights(self) -> dict[str, float]:
        """The weight of every column in the distance."""
        return self.distance.feature_weights

    @cached_property
    def _distribution(self) -> Any:
        """The likelihood of the target."""
        return Categorical(self.target.n_states) if isinstance(self.target, DiscreteVariable) else Normal()

    @property
    def sample_weight(self) -> Floats:
        """The weight of each training row."""
        return np.ones(len(self.examples)) if self.examples.sample_weight is None else self.examples.sample_weight

    @property
    def total_weight(self) -> float:
        """The total weight of the training rows."""
        return float(self.sample_weight.sum())

    @cached_property
    def points(self) -> Floats:
        """The training rows as points."""
        return self.distance.points(self.examples)

    @cached_property
    def search_index(self) -> Index:
        """The index over the points."""
        return search_index.build_index(self.points, algorithm=self.algorithm)

    # -- priors

    def _checked_prior(self) -> Any:
        """The prior of this target: an object or a number; of a word a rule for classes, else a number."""
        if self.is_classifier and (self.prior is None or isinstance(self.prior, str)):
            return dirichlet_prior(self.prior)
        if self._distribution.takes(self.prior):
            return self.prior
        size = cases_of(self.prior)
        if size == "evidence":
            raise ParameterError(
                "there is no prior 'evidence' for neighbors", hint="use none, m:SIZE or an equivalent sample size"
            )
        return size

    def prior_of(self) -> Any:
        """Return the prior as a distribution of parameters."""
        if isinstance(self.target, DiscreteVariable):
            rule = Dirichlet.m_estimate(self.prior) if isinstance(self.prior, int | float) else self.prior
            return rule.of((self.target.n_states,))
        if not isinstance(self.prior, int | float):
            return self.prior
        known = self.prior * self.local_variance if self.prior else 0.0
        return NormalInverseGamma(*np.array([0.0, 0.0, (self.prior - 1) / 2, known / 2]))

    @cached_property
    def local_variance(self) -> float:
        """½ E (y − y')², y' the target of the nearest other row: the variance of the target among similar rows."""
        if len(self.examples) < 2:
            return 0.0
        probes = np.linspace(0, len(self.examples) - 1, min(PROBES, len(self.examples))).astype(np.int64)
        rows = self.neighbors_of_rows(probes, 1)[1][:, 0]
        return float(np.mean((self.targets[probes] - self.targets[rows]) ** 2) / 2)

    # -- neighbors

    def nearest(self, data: Any, n_neighbors: int | None = None) -> tuple[Floats, Rows]:
        """Return the distances and the positions of the training rows nearest to each row, the nearest first."""
        k = self.n_neighbors if n_neighbors is None else validation.integer("n_neighbors", n_neighbors, min_value=1)
        return self._nearest(inputs.new_rows(self.examples.schema, data), self.rows_for(k))

    def _nearest(self, rows: Table, m: int) -> tuple[Floats, Rows]:
        q, side = self.distance.queries(rows, self.points.shape[1])
        d, found = self.search_index.nearest(q, m)
        return (np.hypot(d, np.sqrt(side)[:, None]) if side.any() else d), found

    def neighbors_of_rows(self, rows: Rows, m: int) -> tuple[Floats, Rows]:
        """Return the nearest training rows to some of the training rows, without these."""
        d, found = self._nearest(self.examples.take(rows), min(m + 1, len(self.examples)))
        itself = found == rows[:, None]
        itself[~itself.any(axis=1), -1] = True  # so many at the same place that it is not among them
        return d[~itself].reshape(len(rows), -1), found[~itself].reshape(len(rows), -1)

    def rows_for(self, n_neighbors: int | None) -> int:
        """Return how many rows hold n neighbors by weight, whichever they are."""
        n, weights = len(self.examples), self.sample_weight
        if n_neighbors is None:
            return n
        if n_neighbors > weights.sum() * (1 + 1e-12):
            raise ParameterError(
                f"`n_neighbors` is {n_neighbors}, but there are only {weights.sum():g} training rows",
                hint="reduce `n_neighbors`, or add rows",
            )
        if weights.min() >= 1:
            return min(validation.integer("n_neighbors", n_neighbors, min_value=1), n)
        return min(int(np.searchsorted(np.cumsum(np.sort(weights)), n_neighbors * (1 - 1e-12))) + 1, n)

    def weighted_neighbors(self, rows: Table) -> Iterator[tuple[Floats, Rows, Floats]]:
        """Return distances, training rows and their weights, some new rows at a time."""
        m = self.rows_for(self.n_neighbors)
        for batch in rows.batches(max(ROOM // m, 1)):
            d, found = self._nearest(batch, m)
            yield d, found, voting.weights(d, self.sample_weight[found], self.n_neighbors, self.weights)

    def _posteriors(self, data: Any) -> Iterator[tuple[Any, Rows]]:
        """The posterior of the target at each row, and its neighbors, some rows at a time."""
        prior = self.prior_of()
        for _, found, w in self.weighted_neighbors(inputs.new_rows(self.examples.schema, data)):
            groups = np.repeat(np.arange(len(found)), found.shape[1])
            statistics = self._distribution.collect(
                self.targets[found].ravel(), sample_weight=w.ravel(), groups=groups, n_groups=len(found)
            )
            size = (len(found), self.target.n_states) if isinstance(self.target, DiscreteVariable) else (len(found),)
            yield self._distribution.update(prior.of(size), statistics), found

    # -- answers

    def predict(self, data: Any) -> NDArray[Any]:
        """Return the most probable class, or the mean of the target, of each row."""
        if not isinstance(self.target, DiscreteVariable):
            return np.concatenate([posterior.mu for posterior, _ in self._posteriors(data)])
        return class_array(self.target.states)[self.predict_codes(data)]

    def predict_codes(self, data: Any) -> NDArray[np.intp]:
        """Return the code of the most probable class; of tied classes, that of the nearest neighbor."""
        self._require_classes("classes")
        found = [voting.elected(p.alpha, self.targets[rows]) for p, rows in self._posteriors(data)]
        return np.concatenate(found)

    def predict_proba(self, data: Any, *, backend: Backend | None = None) -> Any:
        """Return P(class | row), a column for each of `classes`: an array, or a data frame of `backend`."""
        self._require_classes("probabilities of classes")
        p = np.concatenate([posterior.mean() for posterior, _ in self._posteriors(data)])
        p = voting.tempered(p, self.exponent)
        return probabilities(p, self.classes, backend)

    def predict_interval(self, data: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Return equal-tailed bounds of the target of one more row at each row, a numeric target's."""
        if self.is_classifier:
            raise ParameterError("intervals are for numeric targets", hint="predict_proba has the classes")
        bounds = [voting.interval(posterior, level) for posterior, _ in self._posteriors(data)]
        low, high = (np.concatenate(side) for side in zip(*bounds, strict=True))
        return low, high

    def log_likelihood(self, data: Any, target: Any = None) -> Floats:
        """Return ln P(target | row) of each row; 0 where the target is missing.

        `target` is a column of `data`, by default the one that the model predicts, or an array.
        """
        rows, truth = self._labeled(data, target)
        parts, at = [], 0
        for posterior, found in self._posteriors(rows):
            some = truth[at : at + len(found)]
            parts.append(voting.log_likelihood(posterior, some, classes=self.is_classifier, exponent=self.exponent))
            at += len(found)
        return np.concatenate(parts)

    def score(self, data: Any, target: Any = None, *, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy, or R² of a numeric target, on rows whose target is known."""
        rows, truth = self._labeled(data, target)
        predicted = self.predict_codes(rows) if self.is_classifier else self.predict(rows)
        return significance.score(predicted, truth, sample_weight, classes=self.is_classifier)

    def explain(self, data: Any, *, max_results: int = 20) -> list[NeighborExplanation]:
        """Return an explanation for each row: its neighbors, their distances, weights and targets."""
        return voting.explanations(self, data, max_results)

    def _labeled(self, data: Any, target: Any) -> tuple[Table, NDArray[Any]]:
        """New rows, and their targets: codes, −1 where missing, or numbers, NaN where missing."""
        rows = inputs.new_rows(self.examples.schema, data)
        truth = inputs.targets_of(data, self.target.name if target is None else target, self.target)
        if len(truth) != len(rows):
            raise ShapeError(f"expected a target for each of {len(rows)} rows, got {len(truth)}")
        return rows, truth

    def _require_classes(self, what: str) -> None:
        if not self.is_classifier:
            raise ParameterError(f"there are no {what}: the target {self.target.name!r} is a number")

    # -- more rows, fewer rows

    def update(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> NeighborsModel:
        """Return the model with more rows; scales are those of all rows, so that batches add up to the whole.

        Parameters
        ----------
        data
            Rows with the columns of the model.
        target
            The column of `data` with the targets, by default the one that the model predicts, or an array of them.
        sample_weight
            The weight of each row, or the column that holds it.
        """
        return inputs.with_rows(self, data, target, sample_weight)

    def remove(self, data: Any, target: Any = None, *, sample_weight: Any = None) -> NeighborsModel:
        """Return the model without some of its rows, each of which must be among them with the same target."""
        return inputs.without_rows(self, data, target, sample_weight)

    def merge(self, *others: NeighborsModel) -> NeighborsModel:
        """Return the model with the rows of others; rows that several were updated from count once."""
        return reduce(inputs.merged, others, self)

    def __add__(self, other: NeighborsModel) -> NeighborsModel:
        return inputs.merged(self, other) if isinstance(other, NeighborsModel) else NotImplemented

    def discount(self, forgetting_factor: float) -> NeighborsModel:
        """Return the model with the weights of its rows multiplied by a factor in (0, 1]."""
        factor = validation.number("forgetting_factor", forgetting_factor, above=0, max_value=1)
        return inputs.with_weights(self, self.sample_weight * factor, np.arange(len(self)))

    def weighted(self, feature_weights: Any) -> NeighborsModel:
        """Return the model with other weights of columns."""
        return replace(self, distance=self.distance.weighted(as_weights(feature_weights, self.examples.schema)))

    # -- what it shows

    def report(self) -> Report:
        """Return the settings, and the columns with their weights."""
        return reporting.model_report(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings and the number of rows as plain values."""
        return reporting.plain_model(self)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return the training rows with their targets as a data frame."""
        return reporting.frame(self, backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the predictions over two numeric columns, with Voronoi cells; else the error by number of neighbors."""
        return plots.plot_neighbors(self, ax=ax)

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values and arrays: settings, and columns with their cells."""
        return reporting.to_document(self)

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> NeighborsModel:
        """Return the model of a document, all of which is checked."""
        return cls(*reporting.from_document(reader, document))
