"""What a learned structure is worth on rows that it was not learned from.

    held out     a random share of the rows; from the others the network is learned once more, in the same way
    ahead        mean of d over the rows held out        d = ln P(row | learned) − ln P(row | other)
    error        √ Σ (d − mean)² / n                     of that mean

The others are a network without arcs, which knows each variable by itself, and the naive one around a single variable.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import NotConvergedWarning, ParameterError
from bayeslearn.network.graph import Dag
from bayeslearn.network.learning.fit import fit_tables, uniform
from bayeslearn.network.structure.holes.turns import MANY, SLIGHT
from bayeslearn.network.structure.learning import learn
from bayeslearn.network.structure.limits import Limits
from bayeslearn.tables import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.em import Step
    from bayeslearn.network.learning.priors import Prior
    from bayeslearn.network.network import BayesianNetwork
    from bayeslearn.network.structure.results import StructureFit

#: With fewer rows than this on either side, nothing is to be seen.
LEAST_ROWS = 10

#: One row in so many is scored to see how long that takes.
PROBE = 16


@dataclass(frozen=True)
class Beside:
    """Another structure on the same rows."""

    #: ln P of a row, on average.
    log_likelihood: float
    #: By how much the learned network is ahead of it, and the standard error of that.
    ahead: float
    error: float


@dataclass(frozen=True)
class HeldOut:
    """How probable rows are that were held out, under what was learned from the others."""

    rows: int
    #: How many rows it was learned from.
    learned_from: int
    #: ln P of a row, on average, under the network that was learned.
    log_likelihood: float
    empty: Beside
    naive: Beside
    #: The variable that the naive network is built around.
    centre: str


def held_out(
    fit: StructureFit, *, share: float = 0.2, rng: np.random.Generator | int | None = 0, **settings: Any
) -> HeldOut | None:
    """Learn from a part of the rows as it was learned from all, and see how probable the rest is.

    None when there are too few rows for that.

    Parameters
    ----------
    fit
        What was learned from all rows; cuts and states are taken from it.
    share
        How much of the rows to hold out.
    rng
        For the rows held out, and for learning.
    settings
        Those of :func:`learn` that `fit` was learned with, but for what concerns reading the data; a `time_limit` is
        that of all that is done here. The naive network is
        built around ``target``, or else around the variable with most arcs.

    >>> rows = {"rain": list("nnyy") * 30, "hose": list("nyny") * 30, "wet": list("nyyy") * 30}
    >>> found = held_out(learn(rows))
    >>> found.rows, found.centre, found.empty.ahead > 3 * found.empty.error
    (24, 'wet', True)
    """
    share = validation.number("share", share, above=0, below=1)
    table = fit.table
    if not isinstance(table, Table):
        raise ParameterError(
            "rows are held out of a table, not of a source",
            hint="keep some files apart, and score them: fit.network.score(scan(others))",
        )
    dice = validation.generator(rng)
    order, cut = dice.permutation(table.n_rows), round(share * table.n_rows)
    if min(cut, table.n_rows - cut) < LEAST_ROWS:
        return None
    rest, part = table.take(np.sort(order[:cut])), table.take(np.sort(order[cut:]))
    seed = int(dice.integers(1 << 62))
    centre = settings.get("target") or most_joined(fit)
    limits, names = Limits.within(settings.get("time_limit")), part.schema.names
    forms = [Dag(dict.fromkeys(names, ())), Dag({name: () if name == centre else (centre,) for name in names})]
    empty, naive = (_cases(_tables(form, part, settings.get("prior", "bdeu:1"), limits), rest) for form in forms)
    begin = time.monotonic()
    _cases(fit.network, rest.take(np.arange(0, rest.n_rows, PROBE)))  # how long that takes
    again = settings if limits.deadline is None else settings | {"time_limit": _left(limits, time.monotonic() - begin)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConvergedWarning)  # of this the search over all rows has warned
        learned = _cases(learn(part, rng=seed, **again).network, rest)
    weights = np.ones(rest.n_rows) if rest.weights is None else rest.weights
    return HeldOut(
        rest.n_rows, part.n_rows, _mean(learned, weights), _beside(learned, empty, weights),
        _beside(learned, naive, weights), centre,
    )  # fmt: skip


def most_joined(fit: StructureFit) -> str:
    """The variable with most arcs among those that rows show; of equals the first by name."""
    count = dict.fromkeys(sorted(fit.table.schema.names), 0)
    for name in (end for arc in fit.dag.arcs for end in arc if end in count):
        count[name] += 1
    return max(count, key=count.__getitem__)


### tables, and the time for them


def _tables(form: Dag, rows: Table, prior: Prior, limits: Limits) -> BayesianNetwork:
    """The tables of a form by counting, or by EM, which may take a quarter of what time is left."""
    soon = limits.sooner(0.75 * limits.left())

    def progress(step: Step) -> None:
        if step.iteration >= MANY or soon.reached():
            raise StopIteration

    tol = max(1e-3, SLIGHT * rows.total_weight)
    frame = uniform(form, {v.name: v for v in rows.schema})
    return fit_tables(frame, rows, prior=prior, tol=tol, max_iter=MANY + 1, progress=progress).network


def _left(limits: Limits, probe: float) -> float:
    """Seconds for learning, when those to score rows are kept back."""
    return max(limits.left() - PROBE * probe, 0.0)


### means


def _cases(network: BayesianNetwork, rows: Table) -> NDArray[np.float64]:
    return network.score(rows).cases


def _mean(x: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """The weighted mean; what weighs nothing says nothing, even if it is −∞."""
    counted = weights > 0
    total = weights.sum()
    return float(weights[counted] @ x[counted] / total) if total > 0 else float("nan")


def _beside(learned: NDArray[np.float64], other: NDArray[np.float64], weights: NDArray[np.float64]) -> Beside:
    both = np.isfinite(learned) & np.isfinite(other)
    if not both[weights > 0].all():  # a row is impossible under one of them: no mean tells how far they are apart
        return Beside(_mean(other, weights), float("nan"), float("nan"))
    d = np.where(both, learned, 0.0) - np.where(both, other, 0.0)
    ahead = _mean(d, weights)
    error = np.sqrt((weights**2 * (d - ahead) ** 2).sum()) / weights.sum()
    return Beside(_mean(other, weights), ahead, float(error))
