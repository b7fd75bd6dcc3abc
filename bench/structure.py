"""Finding structures against pyAgrum's BNLearner: K2 with an order, and hill climbing, on data in memory.

Both have read the cases before, pyAgrum into its learner and ours into a table; each makes a graph of them. Answers
agree when ours scores at least as well by the same score. The cases are drawn from the networks; those that do not ship
are read from ../shared/data/networks.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyagrum

from bayeslearn import read_network
from bayeslearn.network.structure.algorithms import find
from bayeslearn.network.structure.scoring.criteria import ScoreCache, StructureScore
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import SearchSettings
from bench.em import write
from bench.harness import Work
from bench.inference import SHARED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn.tables import Table

#: Networks to climb on, with the rows that are drawn: hailfinder, and one as large as hepar.
CLIMBS = (("hailfinder", 10_000), ("win95pts", 10_000))

#: Rows that are too few for a clock: such work is done several times in a row, by both.
SHORT = 100_000


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
    table, order = network.sample(rows, random_state=0), list(network.dag.order)
    learner = reader(table, path)
    learner.useScoreK2()
    learner.useK2([learner.idFromName(name) for name in order])
    return work(f"K2, alarm, {rows:,} rows", table, learner, "k2", "k2", order)


def hill_climbing(path: Path, name: str, rows: int) -> Work:
    table = read_network(SHARED / f"{name}.bif").sample(rows, random_state=0)
    learner = reader(table, path)
    learner.useScoreBIC()
    learner.useGreedyHillClimbing()
    return work(f"hill climbing, BIC, {name}, {rows:,} rows", table, learner, "hill_climb", "bic")


def reader(table: Table, path: Path) -> pyagrum.BNLearner:
    write(table, path)
    return pyagrum.BNLearner(str(path))


def work(
    name: str, table: Table, learner: pyagrum.BNLearner, method: str, score: str, order: list[str] | None = None
) -> Work:
    settings = SearchSettings(method, StructureScore.parse(score), order=None if order is None else tuple(order))

    def mine() -> np.ndarray:
        return find(settings, ScoreCache(FamilyCounts(table), settings.criterion)).arcs

    def agree(a: np.ndarray, b: list[tuple[str, str]]) -> bool:
        cache = ScoreCache(FamilyCounts(table), settings.criterion)
        ours, peers = (cache.graph(arcs) for arcs in (a, matrix(b, cache.counts.names)))
        return ours >= peers - 1e-9 * abs(peers)

    calls = max(1, SHORT // table.n_rows)
    return Work(name, "pyagrum", pyagrum.__version__, mine, lambda: named(learner), agree, 20, most=5, calls=calls)


def named(learner: pyagrum.BNLearner) -> list[tuple[str, str]]:
    dag = learner.learnDAG()
    return [(learner.nameFromId(a), learner.nameFromId(b)) for a, b in dag.arcs()]


def matrix(arcs: list[tuple[str, str]], names: list[str]) -> np.ndarray:
    found = np.zeros((len(names), len(names)), np.bool_)
    for parent, child in arcs:
        found[names.index(parent), names.index(child)] = True
    return found
