"""Tests of independence against causal-learn: the skeleton of PC-stable, and PC as a whole.

Both test with the same statistic at the same level, and count the same degrees of freedom: causal-learn too leaves out
slices, rows and columns without cases. The network is alarm, the cases are drawn from it.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np
from causallearn.search.ConstraintBased.PC import pc as peer_pc
from causallearn.utils.cit import CIT
from causallearn.utils.PCUtils.SkeletonDiscovery import skeleton_discovery

from bayeslearn import read_network
from bayeslearn.network.structure.constraint_based.independence_tests import IndependenceTest
from bayeslearn.network.structure.constraint_based.pc import pc, skeleton
from bayeslearn.network.structure.score_based.hill_climbing import ranks
from bayeslearn.network.structure.scoring.family_counts import FamilyCounts
from bayeslearn.network.structure.search_settings import BackgroundKnowledge
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bayeslearn.tables import Table

ALPHA, GOAL = 0.05, 50

#: Our names of the tests, and the peer's.
TESTS = {"g2": "gsq", "chi2": "chisq"}


def works(*, quick: bool) -> Iterator[Work]:
    data = read_network("alarm").sample(1_000 if quick else 5_000, random_state=0)
    for kind in TESTS:
        yield compared(f"PC-stable skeleton, {kind}", data, partial(mine, data, kind), partial(peers, data, kind))
    yield compared("PC-stable with directions, g2", data, partial(mine_whole, data), partial(peers_whole, data))


def compared(name: str, data: Table, ours: Callable, theirs: Callable) -> Work:
    work = f"{name}, alarm, {data.n_rows:,} cases"
    return Work(work, "causal-learn", version("causal-learn"), ours, theirs, np.array_equal, GOAL, most=3)


### both sides give which pairs are joined


def mine(data: Table, kind: str) -> np.ndarray:
    counts = FamilyCounts(data)
    return skeleton(
        IndependenceTest(counts, kind), BackgroundKnowledge().of(counts.names), ranks(counts.names), alpha=ALPHA
    ).edges


def peers(data: Table, kind: str) -> np.ndarray:
    codes = data.codes.T.astype(np.int64)
    test = CIT(codes, TESTS[kind])  # anew each time, for it remembers its answers
    return skeleton_discovery(codes, ALPHA, test, stable=True, show_progress=False).G.graph != 0


def mine_whole(data: Table) -> np.ndarray:
    counts = FamilyCounts(data)
    joined = pc(counts, BackgroundKnowledge().of(counts.names), alpha=ALPHA).cpdag.skeleton
    return np.array([[frozenset((a, b)) in joined for b in counts.names] for a in counts.names])


def peers_whole(data: Table) -> np.ndarray:
    codes = data.codes.T.astype(np.int64)
    return peer_pc(codes, ALPHA, TESTS["g2"], stable=True, show_progress=False).G.graph != 0
