"""Finding structures against pyAgrum's BNLearner: K2 with an order, and hill climbing, from a file to a graph.

Ours also fits the tables and weighs every arc. Answers agree when ours scores at least as well, by the same score on
the same cases. The cases are drawn from the networks; those that do not ship are read from ../shared/data/networks.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyagrum

from bayeslearn import as_table, learn, read_network
from bayeslearn.network import Dag, draw
from bayeslearn.network.structure.cache import ScoreCache
from bayeslearn.network.structure.counts import FamilyCounts
from bayeslearn.network.structure.scores import Score
from bench.em import write
from bench.harness import Work
from bench.inference import SHARED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np

#: Networks to climb on, with the rows that are drawn: hailfinder, and one as large as hepar.
CLIMBS = (("hailfinder", 10_000), ("win95pts", 10_000))

#: A climb ends where luck has it. Ours goes on so many times, so that its score is at least that of the peer.
RESTARTS = 20


def works(*, quick: bool) -> Iterator[Work]:
    few = 10 if quick else 1
    with tempfile.TemporaryDirectory() as folder:
        for rows in (3_000, 100_000):
            yield k2(Path(folder) / f"alarm-{rows}.csv", rows // few)
        for name, rows in CLIMBS:
            if (SHARED / f"{name}.bif").is_file():
                yield hill_climbing(Path(folder) / f"{name}.csv", name, rows // few)


def k2(path: Path, rows: int) -> Work:
    network = read_network("alarm")
    write(draw(network, rows, rng=0), path)
    order = list(network.dag.order)

    def theirs() -> list[tuple[str, str]]:
        learner = pyagrum.BNLearner(str(path))
        learner.useScoreK2()
        learner.useK2([learner.idFromName(name) for name in order])
        return named(learner)

    def mine() -> Dag:
        return learn(path, method="k2", score="k2", order=order).dag

    return work(f"K2, alarm, {rows:,} rows", path, "k2", mine, theirs)


def hill_climbing(path: Path, name: str, rows: int) -> Work:
    write(draw(read_network(SHARED / f"{name}.bif"), rows, rng=0), path)

    def theirs() -> list[tuple[str, str]]:
        learner = pyagrum.BNLearner(str(path))
        learner.useScoreBIC()
        learner.useGreedyHillClimbing()
        return named(learner)

    def mine() -> Dag:
        return learn(path, method="hill-climb", score="bic", restarts=RESTARTS).dag

    return work(f"hill climbing, BIC, {name}, {rows:,} rows", path, "bic", mine, theirs)


def work(
    name: str, path: Path, score: str, mine: Callable[[], Dag], theirs: Callable[[], list[tuple[str, str]]]
) -> Work:
    def agree(a: Dag, b: list[tuple[str, str]]) -> bool:
        cache = ScoreCache(FamilyCounts(as_table(path, allow_constant=True)), Score.of(score))
        ours, peers = (cache.graph(matrix(arcs, cache.counts.names)) for arcs in (a.arcs, b))
        return ours >= peers - 1e-9 * abs(peers)

    return Work(name, "pyagrum", pyagrum.__version__, mine, theirs, agree, 20, most=3)


def named(learner: pyagrum.BNLearner) -> list[tuple[str, str]]:
    dag = learner.learnDAG()
    return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in dag.arcs()]


def matrix(arcs: list[tuple[str, str]], names: list[str]) -> np.ndarray:
    import numpy as np

    found = np.zeros((len(names), len(names)), np.bool_)
    for parent, child in arcs:
        found[names.index(parent), names.index(child)] = True
    return found
