"""From labeled and unlabeled cases to a model, and the indicators of each class.

One pass reads the rows that have a label, and EM those that have none:

    labeled       n_c += w                     categorical  n[c, x] = Σ w      gaussian  n, x̄, M of each class
    soft label    n_c += w · share_c           others       what their distributions gather
    no label      n_c += w · P(c | row, θ)     again and again: E, and M  θ = estimate(prior + statistics)

Blocks are collected apart, on both cores, and put together in their order. The estimates are posterior means. They
maximize the likelihood times θ^α (in place of the density's θ^(α−1)), and this is the objective of EM.

Class indicators are the states and numeric columns that distinguish a class most from all others.

    strength = p(x | c) ln p(x | c)/p(x | not c)        for a state
             = KL(p(· | c), p(· | not c))               for a column of numbers or counts

in nats: the mean gain in log odds from the column if c is the class.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from bayeslearn.components.product import normalized
from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.distributions.priors import Rule
from bayeslearn.distributions.sufficient_statistics import Assignment
from bayeslearn.errors import DataError, MissingValuesError, option
from bayeslearn.printable import printable
from bayeslearn.tables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bayeslearn.components.component import Component
    from bayeslearn.components.product import Product
    from bayeslearn.em import EMResult
    from bayeslearn.naive_bayes.tabular.model import NaiveBayesModel
    from bayeslearn.naive_bayes.tabular.row_blocks import Cases, Cells, Rows, SourceCases


@dataclass(frozen=True)
class Labeled:
    """A model of rows of which some, or all, have a label; the numbers of rows with and without one; and the EM run."""

    model: NaiveBayesModel
    n_labeled: int
    n_unlabeled: int
    em: EMResult[Any] | None = None


def labeled(frame: NaiveBayesModel, cases: Cases | SourceCases, **options: Any) -> NaiveBayesModel:
    """A model of rows of which some, or all, have a label; the frame has no data yet."""
    return fit_labeled(frame, cases, **options).model


def fit_labeled(
    frame: NaiveBayesModel, cases: Cases | SourceCases, *, unlabeled: str = "em", **em_options: Any
) -> Labeled:
    """The same, and how the model was fitted."""
    tally = cases.fold(Hard(frame))
    name = frame.target.name
    if not tally.labeled:
        raise DataError(f"no row has a label: every value of {name!r} is missing", hint="label at least some rows")
    if tally.hidden and unlabeled == "error":
        raise MissingValuesError(
            f"{tally.hidden:,} rows have no {name!r}",
            hint=f"{option('unlabeled', 'drop')} ignores them, {option('unlabeled', 'em')} uses them",
        )
    model = looked_again(replace(frame, statistics=tally.statistics), cases)
    if unlabeled != "em" or not tally.hidden:
        return Labeled(model, tally.labeled, tally.hidden)
    return Labeled(*fit_by_em(model, cases, tally, **em_options))


def looked_again(model: NaiveBayesModel, cases: Cases | SourceCases) -> NaiveBayesModel:
    """The same model; where what counts of a case depends on parameters, by those that were found, again and again."""
    again = [j for j, column in enumerate(model.columns) if column.distribution.n_passes > 1]
    for _ in range(max((model.columns[j].distribution.n_passes for j in again), default=1) - 1):
        columns = tuple(model.columns[j] for j in again)
        names = [model.target.name, *(column.name for column in columns)]
        part = replace(
            model,
            columns=columns,
            column_exponents=1.0,
            statistics=StatisticsBundle({n: model.statistics[n] for n in names}),
        )
        found = cases.only(again).fold(Hard(part)).statistics
        model = replace(model, statistics=StatisticsBundle({**model.statistics, **found}))
    return model


def added(model: NaiveBayesModel, cases: Cases | SourceCases) -> NaiveBayesModel:
    """A model with more rows."""
    return replace(model, statistics=model.statistics + collected(model, cases))


def collected(model: NaiveBayesModel, cases: Cases | SourceCases) -> StatisticsBundle:
    """What more rows add to a model; those without a label count as the model with the others expects."""
    tally = cases.fold(Hard(model))
    if not tally.hidden:
        return tally.statistics
    more = replace(model, statistics=model.statistics + tally.statistics)
    if not more.total_weight:
        raise DataError("no row has a label, and the model has seen none before", hint="label at least some rows")
    return tally.statistics + cases.fold(Expected(more))


@dataclass(frozen=True)
class Tally:
    """The statistics of rows that have a label, how many these are, and how many have none."""

    statistics: StatisticsBundle
    labeled: int
    hidden: int

    def __add__(self, other: Tally) -> Tally:
        labeled, hidden = self.labeled + other.labeled, self.hidden + other.hidden
        return Tally(self.statistics + other.statistics, labeled, hidden)


@dataclass(frozen=True)
class Hard:
    """Collects rows that have a label."""

    model: NaiveBayesModel

    def __call__(self, cases: Cases) -> Tally:
        """The tally of one batch."""
        return Tally(hard(self.model, cases), *(int(np.sum(cases.labels >= 0)), int(np.sum(cases.labels < 0))))


@dataclass(frozen=True)
class Expected:
    """Collects rows that have none, as a model expects them."""

    model: NaiveBayesModel

    def __call__(self, cases: Cases) -> StatisticsBundle:
        """The statistics of one batch."""
        return shared(self.model, cases.hidden, self.model.predict_proba(cases.hidden.rows))


def hard(model: NaiveBayesModel, cases: Cases) -> StatisticsBundle:
    """The statistics of rows that have a label."""
    size, labels, w = model.target.n_states, cases.labels, cases.sample_weight
    counts = Counts(count_labels(labels, size, w))
    given = weighing_parameters(model)
    return StatisticsBundle({model.target.name: counts, **collect(model.product, cases.rows, labels, size, w, given)})


### statistics


def collect(
    product: Product,
    rows: Rows,
    labels: NDArray[np.int32],
    n_classes: int,
    sample_weight: NDArray[np.float64] | None = None,
    parameters: Sequence[Any] | None = None,
) -> StatisticsBundle:
    """The statistics of every column; a row of label −1 is left out."""

    def block(part: slice, cells: Cells) -> list[Any]:
        w = np.ones(part.stop - part.start) if sample_weight is None else sample_weight[part]
        return product.collect(cells, Assignment(w, labels[part], n_classes), parameters)

    return product.total(rows.blocks(block), n_classes)


def collect_shares(
    product: Product,
    rows: Rows,
    shares: NDArray[np.float64],
    sample_weight: NDArray[np.float64] | None = None,
    parameters: Sequence[Any] | None = None,
) -> StatisticsBundle:
    """The same when a row belongs to all classes, to each by its share (rows, classes)."""

    def block(part: slice, cells: Cells) -> list[Any]:
        parts = shares[part] if sample_weight is None else shares[part] * sample_weight[part, None]
        return product.collect(cells, Assignment(parts), parameters)

    return product.total(rows.blocks(block), shares.shape[1])


def count_labels(
    labels: NDArray[np.int32], n_classes: int, sample_weight: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The weight of each class."""
    seen = labels >= 0
    w = None if sample_weight is None else sample_weight[seen]
    return np.bincount(labels[seen], w, minlength=n_classes).astype(np.float64)


def weighing_parameters(model: NaiveBayesModel) -> list[Any] | None:
    """The parameters of columns whose cases count by these, None for others; None before anything was seen."""
    if not model.total_weight or all(c.distribution.n_passes == 1 for c in model.columns):
        return None
    posteriors = [model.posterior(c.name) if c.distribution.n_passes > 1 else None for c in model.columns]
    return [
        None if posterior is None else c.distribution.estimate(posterior)
        for c, posterior in zip(model.columns, posteriors, strict=True)
    ]


### rows without a label


def with_shares(model: NaiveBayesModel, cases: Cases, shares: NDArray[np.float64]) -> NaiveBayesModel:
    """A model with more rows, each of which belongs to the classes by its shares."""
    return replace(model, statistics=model.statistics + shared(model, cases, shares))


def shared(model: NaiveBayesModel, cases: Cases, shares: NDArray[np.float64]) -> StatisticsBundle:
    """The statistics of rows that belong to the classes by shares."""
    counts = Counts(shares.sum(axis=0) if cases.sample_weight is None else cases.sample_weight @ shares)
    found = collect_shares(model.product, cases.rows, shares, cases.sample_weight, weighing_parameters(model))
    return StatisticsBundle({model.target.name: counts, **found})


@dataclass(frozen=True)
class Hidden:
    """The E and the M step over rows without a label, in addition to the statistics of those that have one."""

    model: NaiveBayesModel
    known: StatisticsBundle

    def expected_statistics(self, cases: Cases) -> tuple[StatisticsBundle, float]:
        """What is expected of the hidden labels, and ln P of all rows, with the label of those that have one."""
        shares, log_p = expected_shares(self.model, cases.hidden.rows)
        found = shared(self.model, cases.hidden, shares)
        return found, cases.hidden.total(log_p) + cases.seen.total(log_own(self.model, cases.seen))

    def estimate(self, _prior: Any, statistics: StatisticsBundle) -> Hidden:
        """A model with these statistics and those of the labeled rows."""
        return replace(self, model=replace(self.model, statistics=self.known + statistics))

    def log_prior(self, _prior: Any) -> float:
        """ln of what the posterior means maximize together with the likelihood."""
        shares = self.model.prior.of((self.model.target.n_states,)).alpha
        total = float(xlogy(shares, np.exp(self.model.class_log_prior)).sum())
        return total + sum(log_prior(c, self.model.statistics[c.name]) for c in self.model.columns)


def expected_shares(model: NaiveBayesModel, rows: Rows) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P(class | row) and ln P(row), for rows in blocks."""
    if not rows.n:
        return np.zeros((0, model.target.n_states)), np.zeros(0)

    def block(part: slice, cells: Cells) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        p, log_p = normalized(model.joint_of_block(cells, part.stop - part.start))
        return p.T, log_p

    shares, logs = zip(*rows.blocks(block), strict=True)
    return np.concatenate(shares), np.concatenate(logs)


def log_own(model: NaiveBayesModel, seen: Cases) -> NDArray[np.float64]:
    """ln P(own class, row) of rows with a label."""
    joint = model.map_rows(seen.rows, lambda joint: joint.T, possible=False)
    return joint[np.arange(len(seen.labels)), seen.labels]


def log_prior(column: Component, statistics: Any) -> float:
    """The log likelihood of the cases that the prior of a column stands for."""
    mean = column.distribution.estimate(column.posterior(statistics))
    return column.distribution.log_prior(column.prior_given(statistics), mean)


def fit_by_em(
    model: NaiveBayesModel, cases: Cases | SourceCases, tally: Tally, **em_options: Any
) -> tuple[NaiveBayesModel, int, int, EMResult[Any]]:
    """EM over the hidden labels; pooled priors are those of all rows, and do not change with the labels."""
    from bayeslearn import em  # noqa: PLC0415 - where labels are missing

    everything = cases.fold(Together(model.product))
    priors = [(c, _shared_prior(c, everything[c.name])) for c in model.columns]
    used = [replace(c, prior=prior) for c, prior in priors if prior is not None]
    keep = [j for j, (_, prior) in enumerate(priors) if prior is not None]
    names = [model.target.name, *(c.name for c in used)]
    known = StatisticsBundle({name: model.statistics[name] for name in names})
    start = replace(model, columns=tuple(used), statistics=known, estimate="mean", column_exponents=1.0)
    found = em.run(Hidden(start, known), cases.only(keep), **em_options)
    statistics = model.statistics + cases.fold(Shared(model, found.model.model, keep))
    return replace(model, statistics=statistics), tally.labeled, tally.hidden, found


@dataclass(frozen=True)
class Together:
    """The statistics of all rows as those of one class."""

    product: Product

    def __call__(self, cases: Cases) -> StatisticsBundle:
        """Those of one batch."""
        return collect(self.product, cases.rows, np.zeros(len(cases.labels), np.int32), 1, cases.sample_weight)


@dataclass(frozen=True)
class Shared:
    """What is expected of hidden labels, by a model of some of the columns."""

    model: NaiveBayesModel
    asked: NaiveBayesModel
    places: list[int]

    def __call__(self, cases: Cases) -> StatisticsBundle:
        """The statistics of one batch."""
        hidden = cases.hidden
        return shared(self.model, hidden, expected_shares(self.asked, hidden.only(self.places).rows)[0])


def _shared_prior(column: Component, everything: Any) -> Any:
    """A pooled prior as an object of its distribution, that of one class, which stands for each."""
    if not isinstance(column.prior, Rule):
        return column.prior
    prior = column.prior.given(column.distribution, everything)
    return None if prior is None else type(prior)(*(getattr(prior, field.name)[0] for field in fields(prior)))


@dataclass(frozen=True)
class ClassIndicator:
    """One state of a column, or the mean of a numeric column: its value in a class, and in all others."""

    column: str
    #: The state, or None for a column of numbers.
    state: Any
    #: The probability of the state, or the mean, in the class.
    in_class: float
    in_others: float
    strength: float

    def __str__(self) -> str:
        name = self.column if self.state is None else f"{self.column} = {self.state}"
        return printable(f"{name} ({self.in_class:.3g}, others {self.in_others:.3g})")


def class_indicators(model: NaiveBayesModel, *, max_results: int = 3) -> dict[Any, list[ClassIndicator]]:
    """Return the values that indicate each class most.

    Parameters
    ----------
    model
        A naive Bayes model.
    max_results
        The largest number of indicators of a class.

    Examples
    --------
    >>> from bayeslearn import fit_naive_bayes
    >>> days = {"sky": list("ssrr"), "play": ["yes", "yes", "no", "yes"]}
    >>> model = fit_naive_bayes(days, "play", prior="laplace")
    >>> print(class_indicators(model)["yes"][0])
    sky = s (0.6, others 0.333)
    """
    found: list[list[ClassIndicator]] = [[] for _ in model.classes]
    if len(model.classes) > 1:
        shares = np.exp(model.class_log_prior)
        for column in model.columns:
            posterior = model.posterior(column.name)
            if posterior is not None:
                for c, indicator in _column(column, posterior.mean(), shares):
                    found[c].append(indicator)
    best = [sorted(entries, key=lambda indicator: -indicator.strength)[:max_results] for entries in found]
    return {name: [t for t in entries if t.strength > 1e-9] for name, entries in zip(model.classes, best, strict=True)}


def _column(column: Any, mean: Any, shares: NDArray[np.float64]) -> list[tuple[int, ClassIndicator]]:
    others = shares * (1 - np.eye(len(shares)))
    others /= np.maximum(others.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    if isinstance(column.variable, DiscreteVariable):
        rest = others @ mean
        strength = xlogy(mean, mean) - xlogy(mean, np.maximum(rest, np.finfo(float).tiny))
        return [
            (c, ClassIndicator(column.name, state, float(mean[c, k]), float(rest[c, k]), float(strength[c, k])))
            for c in range(len(shares))
            for k, state in enumerate(column.variable.states)
        ]
    whole = column.distribution.average(mean, others)
    here, rest = (column.distribution.centers(parameters) for parameters in (mean, whole))
    strength = column.distribution.divergence(mean, whole)
    return [
        (c, ClassIndicator(column.name, None, float(here[c]), float(rest[c]), float(strength[c])))
        for c in range(len(shares))
    ]
