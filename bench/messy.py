"""A large messy table within its minute: departures with 7.5 % of the cells missing, see :mod:`bench.messy_data`.

Ours learns from all rows in a minute; the peer is our own hill climbing on the rows in which nothing is missing, as is
done in a hurry. Answers agree when ours keeps its limit within a tenth and gives rows that were held
out, with their missing cells summed over, at least the probability that the peer gives them. A line that begins with #
has the figures.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

import bayeslearn
from bayeslearn.network import fit_network
from bayeslearn.network.structure.preprocessing import prepare
from bench.harness import Work
from bench.messy_data import ROWS, departures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.network import BayesianNetwork
    from bayeslearn.tables import Table

#: Seconds that learning may take, and by how much it may take more.
LIMIT, SLACK = 60.0, 1.1

#: The share of the rows that is held out.
HELD_OUT = 0.2


def works(*, quick: bool) -> Iterator[Work]:
    rows, limit = (ROWS // 8, LIMIT / 4) if quick else (ROWS, LIMIT)
    table = prepare(departures(rows)).table
    order, cut = np.random.default_rng(0).permutation(table.n_rows), round(HELD_OUT * table.n_rows)
    rest, part = table.take(np.sort(order[:cut])), table.take(np.sort(order[cut:]))
    complete = part.take(np.flatnonzero((part.codes >= 0).all(axis=0)))
    yield within_its_minute(part, complete, rest, limit)


def within_its_minute(part: Table, complete: Table, rest: Table, limit: float) -> Work:
    missing = float((part.codes < 0).mean())
    took = []

    def ours() -> BayesianNetwork:
        begin = time.perf_counter()
        fit = fit_network(part, time_limit=limit)
        took.append(time.perf_counter() - begin)
        return fit

    def theirs() -> BayesianNetwork:
        return fit_network(complete, algorithm="hill_climb")

    def agree(a: BayesianNetwork, b: BayesianNetwork) -> bool:
        one, other = (fit.score(rest).log_likelihood / rest.n_rows for fit in (a, b))
        print(
            f"# held out, ln P a row: ours {one:.4f} with {len(a.arcs)} arcs in {took[0]:.1f} s of {limit:.0f}, "
            f"complete rows ({complete.n_rows:,}) {other:.4f} with {len(b.arcs)} arcs",
            flush=True,
        )
        return one >= other and took[0] <= SLACK * limit

    name = f"{part.n_rows:,} x {len(part.schema)}, {100 * missing:.1f} % missing"
    return Work(name, "complete rows", bayeslearn.__version__, ours, theirs, agree, 0, most=1)
