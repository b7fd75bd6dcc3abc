"""Hold-out comparison of a fitted network with baselines.

The structure is fitted again to a part of the rows:

    difference       mean of d over the rows held out        d = ln P(row | fitted) − ln P(row | baseline)
    standard error   √ Σ (d − mean)² / n                     of that mean

The baselines are the network without arcs, and the naive Bayes structure around a single variable.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import ConvergenceWarning, ParameterError
from bayeslearn.network.dag import DAG
from bayeslearn.network.parameters.fit import uniform
from bayeslearn.network.parameters.training_cases import weights_of
from bayeslearn.network.structure.fit import fit_prepared, structure_info
from bayeslearn.network.structure.missing_data.incomplete_rows import IncompleteTable
from bayeslearn.network.structure.missing_data.structural_em_iterations import MANY, SLIGHT, by_position
from bayeslearn.network.structure.results import marginals, tables_of
from bayeslearn.network.structure.search_settings import Budget
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.results import Backend
    from bayeslearn.network.parameters.priors import Prior
    from bayeslearn.network.structure.results import StructureFitInfo
    from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
    from bayeslearn.network.structure.search_settings import SearchSettings
    from bayeslearn.progress import Progress
    from bayeslearn.tables import Table

    Floats = NDArray[np.float64]
    NetworkLearner = Callable[[Table], Any]


#: The minimum number of rows on either side of a hold-out comparison.
MIN_ROWS = 10

#: One row in so many is scored to measure how long that takes.
PROBE = 16


@dataclass(frozen=True)
class BaselineComparison:
    """A baseline structure on the rows held out."""

    #: The mean log-likelihood of a row.
    log_likelihood: float
    #: The mean difference of the fitted network to the baseline, and its standard error.
    difference: float
    standard_error: float


@dataclass(frozen=True, repr=False)
class HoldoutScore(Reported):
    """The log-likelihood of rows held out, of a network that was fitted to the others and of two baselines.

    Attributes
    ----------
    n_rows, n_training_rows
        The number of rows held out, and of those that the network was fitted to.
    log_likelihood
        The mean log-likelihood of a row held out.
    empty, naive_bayes
        The network without arcs, and the naive Bayes structure around `center`.
    center
        The class variable of the naive Bayes structure.
    """

    n_rows: int
    n_training_rows: int
    log_likelihood: float
    empty: BaselineComparison
    naive_bayes: BaselineComparison
    center: str

    def report(self) -> Report:
        """Return the mean log-likelihoods and their differences."""
        return Report(f"Hold-out comparison with {self.n_rows:,} rows", self.grid())

    def grid(self) -> Grid:
        """The mean log-likelihoods and their differences, as a block."""
        others = {f"naive Bayes around {self.center}": self.naive_bayes, "no arcs": self.empty}
        rows = [("fitted network", f"{self.log_likelihood:.4g}", "")]
        rows += [
            (name, f"{other.log_likelihood:.4g}", f"{other.difference:.3g} ± {other.standard_error:.2g}")
            for name, other in others.items()
        ]
        head = [f"Hold-out ({self.n_rows:,} rows)", "Mean log-likelihood", "Fitted network ahead by (± SE)"]
        return Grid(head, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers as plain values."""
        return asdict(self)

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each structure: structure, log_likelihood, difference, standard_error."""
        others = {"naive_bayes": self.naive_bayes, "empty": self.empty}
        rows = [("fitted", self.log_likelihood, 0.0, 0.0)]
        rows += [(name, o.log_likelihood, o.difference, o.standard_error) for name, o in others.items()]
        names = ["structure", "log_likelihood", "difference", "standard_error"]
        return frame_of({name: [row[j] for row in rows] for j, name in enumerate(names)}, backend)


def evaluate_holdout(
    network: BayesianNetwork,
    *,
    test_size: float = 0.2,
    random_state: np.random.Generator | int | None = 0,
    time_limit: float | None = None,
    progress: Callable[[Any], object] | None = None,
) -> HoldoutScore | None:
    """Fit the structure again to a part of the rows, and compare it with baselines on the rows held out.

    Columns without values in the part are dropped. Counts of complete rows are the difference of those of all rows and
    those of the rows held out, as far as they are known.

    Parameters
    ----------
    network
        A network that :func:`~bayeslearn.fit_network` returned; settings, bins and states are taken from its fit_info.
        The naive Bayes baseline has its target as class variable, or else the variable with most arcs.
    test_size
        The share of the rows that is held out.
    random_state
        Seed or generator of the split and of the fit.
    time_limit
        Seconds for the whole comparison.
    progress
        Called with every step of the search; raising StopIteration ends it with the best so far.

    Returns
    -------
    HoldoutScore or None
        None if there are too few rows.

    Examples
    --------
    >>> from bayeslearn.network import fit_network
    >>> rows = {"rain": list("nnyy") * 30, "hose": list("nyny") * 30, "wet": list("nyyy") * 30}
    >>> found = evaluate_holdout(fit_network(rows))
    >>> found.n_rows, found.center, found.empty.difference > 3 * found.empty.standard_error
    (24, 'wet', True)
    """
    test_size, info = validation.number("test_size", test_size, above=0, below=1), structure_info(network)
    if not info.prepared_data.in_memory:
        raise ParameterError(
            "rows are held out of a table, not of a source",
            hint="keep some files apart and score them: network.score(scan(others))",
        )
    table, settings = info.table, info.settings
    dice = validation.generator(random_state)
    order, cut = dice.permutation(table.n_rows), round(test_size * table.n_rows)
    if min(cut, table.n_rows - cut) < MIN_ROWS:
        return None
    rest, part = table.take(np.sort(order[:cut])), table.take(np.sort(order[cut:]))
    seed = int(validation.generator(int(dice.integers(1 << 62))).integers(1 << 62))
    names = [name for name, n in part.missing().items() if n < part.n_rows]
    center = settings.target or most_joined(network.dag, table.schema.names)
    if center not in names:
        return None
    settings = settings.without(set(part.schema.names) - set(names))
    rest, part = rest.select(names), part.select(names)
    budget = replace(Budget.from_time_limit(time_limit), progress=progress, memory=settings.budget.memory)
    counts = None if info.counts is None else info.counts.without(rest, part)
    rows = None if counts is not None else IncompleteTable(part)
    forms = [DAG(dict.fromkeys(names, ())), DAG({name: () if name == center else (center,) for name in names})]
    empty, naive = (baseline(form, rows, settings.prior, budget, counts).log_likelihood(rest) for form in forms)
    if budget.deadline is not None:
        begin = time.monotonic()
        network.log_likelihood(rest.take(np.arange(0, rest.n_rows, PROBE)))  # how long that takes
        budget = replace(budget, deadline=budget.deadline - PROBE * (time.monotonic() - begin))
    settings = replace(settings, seed=seed, budget=budget)
    fitted = fitted_to_part(info, part, counts, rows, settings).log_likelihood(rest)
    weights = weights_of(rest)
    return HoldoutScore(
        rest.n_rows, part.n_rows, weighted_mean(fitted, weights), compared(fitted, empty, weights),
        compared(fitted, naive, weights), center,
    )  # fmt: skip


def fitted_to_part(
    info: StructureFitInfo,
    part: Table,
    counts: FamilyCounts | None,
    rows: IncompleteTable | None,
    settings: SearchSettings,
) -> BayesianNetwork:
    """Fit a network to a part of the rows in the same way."""
    prepared, n = replace(info.prepared_data, table=part), info.n_averaged
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the search over all rows has given it
        return fit_prepared(settings, prepared, info.hidden, counts, rows=rows, rounds=n, average=bool(n))


def most_joined(dag: DAG, names: Iterable[str]) -> str:
    """The variable with most arcs among the observed ones; of equals the first by name."""
    count = dict.fromkeys(sorted(names), 0)
    for name in (end for arc in dag.arcs for end in arc if end in count):
        count[name] += 1
    return max(count, key=count.__getitem__)


### baselines


def baseline(
    form: DAG, rows: IncompleteTable | None, prior: Prior, budget: Budget, counts: FamilyCounts | None
) -> BayesianNetwork:
    """The network of a baseline structure, by counts or by EM, which may take a quarter of the time that is left."""
    if counts is not None:
        return tables_of(counts, by_position(form, counts.names), prior)
    assert rows is not None
    if not form.arcs:
        return marginals(rows.table, prior)
    soon = budget.reserve(0.75 * budget.left())

    def progress(now: Progress) -> None:
        if now.detail.iteration >= MANY or soon.reached():
            raise StopIteration

    tol = max(1e-3, SLIGHT * rows.total)
    frame = uniform(form, {v.name: v for v in rows.table.schema})
    return rows.fit(frame, prior=prior, hidden=(), tol=tol, max_iter=MANY + 1, progress=progress)


### means


def weighted_mean(x: NDArray[np.float64], sample_weight: NDArray[np.float64]) -> float:
    """The weighted mean; rows of weight 0 do not count, even if their value is −∞."""
    counted = sample_weight > 0
    total = sample_weight.sum()
    return float(sample_weight[counted] @ x[counted] / total) if total > 0 else float("nan")


def compared(
    fitted: NDArray[np.float64], other: NDArray[np.float64], sample_weight: NDArray[np.float64]
) -> BaselineComparison:
    """The mean difference of two networks, not a number if a row is impossible under one of them."""
    both = np.isfinite(fitted) & np.isfinite(other)
    if not both[sample_weight > 0].all():
        return BaselineComparison(weighted_mean(other, sample_weight), float("nan"), float("nan"))
    d = np.where(both, fitted, 0.0) - np.where(both, other, 0.0)
    mean = weighted_mean(d, sample_weight)
    error = np.sqrt((sample_weight**2 * (d - mean) ** 2).sum()) / sample_weight.sum()
    return BaselineComparison(weighted_mean(other, sample_weight), mean, float(error))
