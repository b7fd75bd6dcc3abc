"""Nearest neighbors: the examples themselves are the model.

    evidence  = statistics of what the k nearest say, weighted by nearness        :mod:`.evidence`
    posterior = prior + evidence                                                  a row for every question

For classes the family is categorical with a Dirichlet prior, for numbers it is normal, with a prior of the variance
only: Jeffreys' and so many cases whose spread is that of the target between nearest neighbors, ½ E (y − y')². Means
are plain averages.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.codec import Saved, upgrade
from bayeslearn.distributions import Categorical, Dirichlet, Normal, NormalInverseGamma
from bayeslearn.distributions.moments import require_squares
from bayeslearn.distributions.priors import cases_of, dirichlet_prior
from bayeslearn.errors import EmptyTableError, MissingValuesError, ParameterError, ShapeError
from bayeslearn.model_values import ARRAY, NUMBER, plain_prior
from bayeslearn.neighbors import inputs, search_index, voting
from bayeslearn.neighbors.distances import Distance, as_weights
from bayeslearn.neighbors.inputs import targets
from bayeslearn.printable import printable
from bayeslearn.tables import DiscreteVariable, Schema, Table
from bayeslearn.tables.labels import class_array

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.neighbors.search_index import Index
    from bayeslearn.neighbors.voting import NeighborExplanation
    from bayeslearn.tables import Variable

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

#: Numbers of neighbors that are held at a time.
ROOM = 1 << 22

#: Rows that tell how much the target differs between nearest neighbors.
PROBES = 2000


@dataclass(frozen=True, eq=False)
class NeighborsModel(Saved, kind="neighbors", version=2):
    """Examples, the distance between rows, and how their neighbors are heard.

    >>> model = NeighborsModel.from_arrays(
    ...     {"sweet": [8, 3, 3, 7], "crunch": [5, 7, 6, 3]}, ["fruit", "vegetable", "protein", "fruit"], k=1,
    ...     metric="euclidean")
    >>> tomato = {"sweet": [6], "crunch": [4]}
    >>> model.predict(tomato).tolist(), model.nearest(tomato, 4)[0].round(1).tolist()
    (['fruit'], [[1.4, 2.2, 3.6, 4.2]])
    """

    examples: Table
    target: Variable
    #: What each example says: the code of a class, or a number.
    said: NDArray[Any]
    distance: Distance
    #: How many cases are heard; None for all.
    k: int | None = 5
    weighting: Any = "uniform"
    #: Cases that the prior is worth, spread evenly over the classes; a word of the grammar; None for no prior.
    prior: Any = 1.0
    index: str = "auto"

    def __post_init__(self) -> None:
        if self.k is not None:
            validation.integer("k", self.k, min_value=1)
        if not callable(self.weighting):
            validation.choice("weighting", self.weighting, voting.WEIGHTINGS)
        validation.choice("index", self.index, ["auto", *search_index.KINDS])
        if not len(self.examples) or not len(self.examples.schema):
            raise EmptyTableError("there are no examples to find neighbors among, or they have no columns")
        object.__setattr__(self, "said", validation.owned(self.said))
        if self.said.shape != (len(self.examples),):
            raise ShapeError(f"expected a target for each of {len(self.examples)} rows, got shape {self.said.shape}")
        if isinstance(self.target, DiscreteVariable):
            validation.indices("said", self.said, self.target.size, min_value=-1)
        if not self.is_classifier:
            require_squares(f"numbers in {self.target.name!r}", self.said)
        bad = self.said < 0 if self.is_classifier else ~np.isfinite(self.said)
        if bad.any():
            raise MissingValuesError(
                f"{bad.sum()} rows have no {self.target.name!r}, row {validation.first_position(bad)} is the first",
                hint="leave them out: an example that says nothing helps nobody",
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
        attribute_weights: Any = None,
        target: str = "target",
        k: int | None = 5,
        weighting: Any = "uniform",
        prior: Any = 1.0,
        index: str = "auto",
    ) -> NeighborsModel:
        """A model of rows and their targets.

        Parameters
        ----------
        X, y
            The rows, and the target of each: text and truth values are classes, numbers are numbers.
        metric
            What numbers are divided by: ``"scaled"`` (standard deviation), ``"range"``, ``"euclidean"`` (nothing).
        attribute_weights
            Weights of the columns, by name or in order; default: all alike.
        target
            The name of the target.
        k
            The number of neighbors; None for all.
        weighting
            ``"uniform"``, ``"inverse_square"``, or a function of an array of distances.
        prior
            Pseudo-count of the prior, spread evenly over the classes; a word such as ``"m:2"`` or ``"laplace"``; None
            for no prior; or a Dirichlet, or a NormalInverseGamma.
        index
            How neighbors are searched: ``"auto"``, or a kind of :mod:`~bayeslearn.neighbors.search_index`.
        """
        table = inputs.examples(X)
        variable, said = targets(y, target)
        told = None if attribute_weights is None else as_weights(attribute_weights, table.schema)
        distance = Distance.learn(table, metric, told)
        return cls(table, variable, said, distance, k, weighting, prior, index)

    def __repr__(self) -> str:
        k = "all" if self.k is None else self.k
        return printable(
            f"NeighborsModel({self.target.name} by {k} of {len(self.examples)} examples, {self.weighting})"
        )

    @property
    def is_classifier(self) -> bool:
        """Whether the target is a class."""
        return isinstance(self.target, DiscreteVariable)

    @cached_property
    def family(self) -> Any:
        """The likelihood of the target."""
        return Categorical(self.target.size) if isinstance(self.target, DiscreteVariable) else Normal()

    @property
    def cases(self) -> Floats:
        """How many cases each example stands for."""
        return np.ones(len(self.examples)) if self.examples.sample_weight is None else self.examples.sample_weight

    @cached_property
    def points(self) -> Floats:
        """The examples as points."""
        return self.distance.points(self.examples)

    @cached_property
    def search_index(self) -> Index:
        """The index over the points."""
        return search_index.build_index(self.points, kind=self.index)

    # -- priors

    def _checked_prior(self) -> Any:
        """The prior of this target: an object or a number as it is; of a word a rule for classes, else a number."""
        if self.is_classifier and (self.prior is None or isinstance(self.prior, str)):
            return dirichlet_prior(self.prior)
        if self.family.takes(self.prior):
            return self.prior
        cases = cases_of(self.prior)
        if cases == "evidence":
            raise ParameterError("neighbors have no prior 'evidence'", hint="take none, m:CASES or a number of cases")
        return cases

    def prior_of(self) -> Any:
        """The prior as a distribution of parameters."""
        if isinstance(self.target, DiscreteVariable):
            rule = Dirichlet.m_estimate(self.prior) if isinstance(self.prior, int | float) else self.prior
            return rule.of((self.target.size,))
        if not isinstance(self.prior, int | float):
            return self.prior
        known = self.prior * self.local_variance if self.prior else 0.0
        return NormalInverseGamma(*np.array([0.0, 0.0, (self.prior - 1) / 2, known / 2]))

    @cached_property
    def local_variance(self) -> float:
        """½ E (y − y')², y' that of the nearest other example: how much the target varies where rows are alike."""
        if len(self.examples) < 2:
            return 0.0
        probes = np.linspace(0, len(self.examples) - 1, min(PROBES, len(self.examples))).astype(np.int64)
        rows = self.neighbors_of_examples(probes, 1)[1][:, 0]
        return float(np.mean((self.said[probes] - self.said[rows]) ** 2) / 2)

    # -- neighbors

    def nearest(self, data: Any, k: int | None = None) -> tuple[Floats, Rows]:
        """The distances and the numbers of the examples nearest to each row, the nearest first."""
        m = self.rows_for(self.k if k is None else validation.integer("k", k, min_value=1))
        return self._nearest(inputs.new_rows(self.examples.schema, data), m)

    def _nearest(self, rows: Table, m: int) -> tuple[Floats, Rows]:
        q, side = self.distance.queries(rows, self.points.shape[1])
        d, found = self.search_index.nearest(q, m)
        return (np.hypot(d, np.sqrt(side)[:, None]) if side.any() else d), found

    def neighbors_of_examples(self, rows: Rows, m: int) -> tuple[Floats, Rows]:
        """The nearest examples to some of the examples themselves, which are left out."""
        d, found = self._nearest(self.examples.take(rows), min(m + 1, len(self.examples)))
        itself = found == rows[:, None]
        itself[~itself.any(axis=1), -1] = True  # so many at the same place that it is not among them
        return d[~itself].reshape(len(rows), -1), found[~itself].reshape(len(rows), -1)

    def rows_for(self, k: int | None) -> int:
        """So many rows that there are k cases among them, whichever they are."""
        n, cases = len(self.examples), self.cases
        if k is None:
            return n
        if k > cases.sum() * (1 + 1e-12):
            raise ParameterError(
                f"`k` is {k}, but there are only {cases.sum():g} examples", hint="lower `k`, or add rows"
            )
        if cases.min() >= 1:
            return min(validation.integer("k", k, min_value=1), n)
        return min(int(np.searchsorted(np.cumsum(np.sort(cases)), k * (1 - 1e-12))) + 1, n)

    def weighted_neighbors(self, rows: Table) -> Iterator[tuple[Floats, Rows, Floats]]:
        """Distances, examples and their weights, some questions at a time."""
        m = self.rows_for(self.k)
        for batch in rows.batches(max(ROOM // m, 1)):
            d, found = self._nearest(batch, m)
            yield d, found, voting.weights(d, self.cases[found], self.k, self.weighting)

    def posteriors(self, data: Any) -> Iterator[tuple[Any, Rows]]:
        """What is known of the target at each row, and who said so, some rows at a time."""
        prior = self.prior_of()
        for _, found, w in self.weighted_neighbors(inputs.new_rows(self.examples.schema, data)):
            who = np.repeat(np.arange(len(found)), found.shape[1])
            evidence_ = self.family.collect(
                self.said[found].ravel(), sample_weight=w.ravel(), groups=who, n_groups=len(found)
            )
            size = (len(found), self.target.size) if isinstance(self.target, DiscreteVariable) else (len(found),)
            yield self.family.update(prior.of(size), evidence_), found

    # -- answers

    def predict(self, data: Any) -> NDArray[Any]:
        """The most probable class, or the mean of the target, of each row."""
        if not isinstance(self.target, DiscreteVariable):
            return np.concatenate([posterior.mu for posterior, _ in self.posteriors(data)])
        return class_array(self.target.states)[self.predict_codes(data)]

    def predict_codes(self, data: Any) -> NDArray[np.intp]:
        """The code of the most probable class; of tied ones, that of the nearest neighbor."""
        self._require_classes("classes")
        found = [voting.elected(p.alpha, self.said[rows]) for p, rows in self.posteriors(data)]
        return np.concatenate(found)

    def predict_proba(self, data: Any) -> Floats:
        """P(class), a column for each class."""
        self._require_classes("probabilities of classes")
        return np.concatenate([posterior.mean() for posterior, _ in self.posteriors(data)])

    def predict_interval(self, data: Any, level: float = 0.95) -> tuple[Floats, Floats]:
        """Equal-tailed bounds of the target of one more case at each row."""
        if self.is_classifier:
            raise ParameterError("intervals are for numbers, and this target is a class", hint="ask predict_proba")
        bounds = [voting.interval(posterior, level) for posterior, _ in self.posteriors(data)]
        low, high = (np.concatenate(side) for side in zip(*bounds, strict=True))
        return low, high

    def explain(self, data: Any) -> list[NeighborExplanation]:
        """For each row the neighbors that are heard, how far they are, what they weigh and what they say."""
        from bayeslearn.neighbors.voting import explanations  # noqa: PLC0415 - it asks this module

        return explanations(self, data)

    def _require_classes(self, what: str) -> None:
        if not self.is_classifier:
            raise ParameterError(f"there are no {what}: the target {self.target.name!r} is a number")

    # -- learning goes on

    def update(self, X: Any, y: Any, *, sample_weight: Any = None) -> NeighborsModel:
        """More examples; scales are those of all of them, so that batches add up to the whole."""
        table = inputs.joined(self.examples, inputs.more(self.examples.schema, X, sample_weight))
        variable, said = targets(y, self.target.name, like=self.target)
        distance = Distance.learn(table, self.distance.metric, self.distance.attribute_weights)
        both = np.concatenate([self.said, said])
        return replace(self, examples=table, target=variable, said=both, distance=distance)

    def weighted(self, weights: Any) -> NeighborsModel:
        """The same examples, with other weights of attributes."""
        return replace(self, distance=self.distance.weighted(as_weights(weights, self.examples.schema)))

    # -- files

    def to_document(self) -> dict[str, Any]:
        """Return the model as plain values: the examples, from which the distance is learned when they are read.

        {"metric", "k", "weighting", "prior", "index", "target": {"variable", "said"},
         "columns": [{"variable", "weight", "cells"}, ...], "cases": weights of the examples, or null}

        Cells are codes of states or numbers, null where they are missing.
        """
        if callable(self.weighting):
            raise ParameterError("a function cannot be written to a file", hint="name the weighting, or give none")
        weights, table = self.distance.attribute_weights, self.examples
        number = isinstance(self.prior, int | float)
        return {
            "metric": self.distance.metric,
            "k": self.k,
            "weighting": self.weighting,
            "prior": float(self.prior) if number else plain_prior(self.prior),
            "index": self.index,
            "target": {"variable": self.target.to_dict(), "said": self.said},  # type: ignore[attr-defined]
            "columns": [
                {"variable": v.to_dict(), "weight": weights[v.name], "cells": plain_cells(table, v)}  # type: ignore[attr-defined]
                for v in table.schema
            ],
            "cases": table.sample_weight,
        }

    @classmethod
    def from_document(cls, reader: Reader, document: dict[str, Any]) -> NeighborsModel:
        """Return the model of a document, all of which is checked."""
        keys: dict[str, Any] = {
            "metric": str, "k": (int, type(None)), "weighting": str, "prior": (*NUMBER, dict), "index": str,
            "target": dict, "columns": [dict], "cases": (*ARRAY, type(None)),
        }  # fmt: skip
        metric, k, weighting, prior, index, target, columns, cases = reader.entries(document, keys, "a model")
        variable, given = reader.entries(target, {"variable": dict, "said": ARRAY}, "the target")
        cells: dict[str, Any] = {"variable": dict, "weight": NUMBER, "cells": ARRAY}
        entries = [reader.entries(column, cells, "a column") for column in columns]
        what: Any = reader.variable(variable)
        said = read_cells(reader, what, given, None)
        n = len(said)
        schema = Schema(reader.variable(entry) for entry, _, _ in entries)
        found = {v.name: read_cells(reader, v, entry[2], n) for v, entry in zip(schema, entries, strict=True)}
        codes = np.array([found[v.name] for v in schema.discrete], np.int64).reshape(len(schema.discrete), n)
        values = np.array([found[v.name] for v in schema.numeric]).reshape(len(schema.numeric), n)
        table = Table(schema, codes, values, None if cases is None else reader.numbers(cases, "cases"))
        weights = {v.name: entry[1] for v, entry in zip(schema, entries, strict=True)}
        return cls(
            table, what, said, Distance.learn(table, metric, weights), k, weighting,
            reader.prior(prior, of="a target") if isinstance(prior, dict) else prior, index,
        )  # fmt: skip


def plain_cells(table: Table, variable: Any) -> NDArray[Any]:
    """A column, masked where it is missing."""
    if isinstance(variable, DiscreteVariable):
        return np.ma.masked_less(table.codes_of(variable.name), 0)
    return np.ma.masked_invalid(table.values_of(variable.name))


def read_cells(reader: Reader, variable: Any, entry: Any, n: int | None) -> NDArray[Any]:
    """Codes or numbers of one column, as many as there are examples."""
    x = reader.array(entry, variable.name, missing=True)
    if x.ndim != 1:
        reader.wrong(f"the cells of column {variable.name!r} are not numbers")
    if n is not None and len(x) != n:
        reader.wrong(f"column {variable.name!r} has {len(x)} cells, and there are {n} examples")
    if not isinstance(variable, DiscreteVariable):
        return x.astype(np.float64)
    codes = np.where(np.isnan(x), -1, x)
    if (codes != np.round(codes)).any() or (codes < -1).any() or (codes >= variable.size).any():
        reader.wrong(f"the codes of column {variable.name!r} must be whole numbers below {variable.size}")
    return codes.astype(np.int64)


@upgrade("neighbors", 1)
def with_underscore(_reader: Reader, parts: dict[str, Any]) -> dict[str, Any]:
    """Name the weighting as it is named now."""
    return parts | {"weighting": "inverse_square"} if parts.get("weighting") == "inverse-square" else parts
