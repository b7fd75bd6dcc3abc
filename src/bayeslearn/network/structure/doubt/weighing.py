"""How probable every arc is, and every graph: from a table to the posterior over structures.

Where :func:`~bayeslearn.network.learn` keeps the one graph that scores best, this keeps all of them, each by how
probable the rows make it; :mod:`bayeslearn.network.structure.doubt.posterior` says how.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.errors import MissingValuesError
from bayeslearn.network.structure.counting.scores import Score
from bayeslearn.network.structure.doubt.posterior import sample_orders
from bayeslearn.network.structure.knowledge import Knowledge
from bayeslearn.network.structure.limits import Limits
from bayeslearn.network.structure.preparing import prepare
from bayeslearn.network.structure.reaching import scores_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import numpy as np
    from numpy.typing import ArrayLike

    from bayeslearn.network.structure.doubt.posterior import StructurePosterior
    from bayeslearn.tables import Table

#: The most parents when knowledge does not say: larger families are improbable, and very many.
MOST_PARENTS = 4


def structure_posterior(
    data: Any,
    *,
    score: str | Score = "bdeu:1",
    knowledge: Knowledge | None = None,
    samples: int = 500,
    chains: int = 4,
    states: Mapping[str, Iterable[Any]] | None = None,
    weights: ArrayLike | str | None = None,
    cut: str = "quantile",
    bins: int | None = None,
    max_states: int = 255,
    time_limit: float | None = None,
    rng: np.random.Generator | int | None = 0,
    progress: Callable[[Any], object] | None = None,
) -> StructurePosterior:
    """The probability of arcs and graphs, given complete rows.

    Parameters
    ----------
    data, states, weights, cut, bins, max_states
        As for :func:`~bayeslearn.network.learn`, sources among them, but no cell may be missing.
    score
        ``bdeu:CASES``, ``bds:CASES`` or ``k2``, which are log probabilities of the rows, or ``bic``, which is near one.
    knowledge
        Arcs that must or cannot be there, tiers, roots, leaves; and how many parents there may be, four if not said.
    samples, chains
        Orders that are looked at in each chain, and how many chains. That they agree is seen from `r_hat` and `gap`;
        if they do not, this is warned of.
    time_limit
        Seconds after which no more families and orders are looked at.
    rng
        Decides where the chains go.
    progress
        Told of every part of the chains; raising StopIteration ends them.

    >>> rows = {"rain": list("nnyy") * 30, "hose": list("nyny") * 30, "wet": list("nyyy") * 30}
    >>> found = structure_posterior(rows)
    >>> print(f"{found.arc('rain', 'wet'):.1f}, {found.edge('rain', 'wet'):.1f}, {found.edge('rain', 'hose'):.1f}")
    0.9, 1.0, 0.1
    """
    started = time.monotonic()
    late = None if time_limit is None else started + validation.number("time_limit", time_limit, least=0)
    limits, known = Limits(late, progress), knowledge or Knowledge()
    prepared = prepare(
        data, states=states, weights=weights, cut=cut, bins=bins, max_states=max_states, memory=limits.memory
    )
    table = _complete(prepared.table)
    cache = scores_of(prepared, Score.of(score), limits.memory)
    most = MOST_PARENTS if known.most_parents is None else known.most_parents
    allowed = known.of(table.schema.names)
    found = sample_orders(cache, allowed, limits, samples=samples, chains=chains, most_parents=most, rng=rng)
    return replace(found, prepared=prepared, seconds=time.monotonic() - started, stopped=limits.stopped)


def _complete(table: Table) -> Table:
    """The table, once no cell of it is seen to be missing."""
    holes = {name: cells for name, cells in table.missing().items() if cells}
    if holes:
        name, cells = next(iter(holes.items()))
        raise MissingValuesError(
            f"column {name!r} misses {cells} cells, and the posterior over structures needs complete rows",
            hint="fill them first with `impute`, or take `learn` with `bootstrap` (--bootstrap N), which keeps holes",
            column=name,
        )
    return table
