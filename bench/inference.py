"""Exact inference against pyAgrum's LazyPropagation: from process start and from file to first answer, one warm query,
a table of cases.

A case has 20 % of the variables observed at random.

Every posterior is fetched on both sides, and pyAgrum is given our tables, so that answers can be compared to 1e-9. The
networks are read from ../shared/data/networks; without them only those that ship are measured.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyagrum

from bayeslearn import kernels, read_network
from bayeslearn.tables import Table
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bayeslearn import BayesianNetwork

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "networks"

#: network: (goal of one query, goal of a table, cases of ours, cases of the peer)
GOALS = {
    "alarm": (30, 300, 2000, 40),
    "hailfinder": (30, 100, 2000, 20),
    "win95pts": (30, 100, 2000, 20),
    "insurance": (30, 100, 2000, 40),
    "andes": (20, 40, 2000, 10),
    "pigs": (20, 80, 2000, 10),
    "munin1": (1, 4, 20, 20),
    "barley": (1, 4, 20, 20),
}
QUICK = ("alarm", "hailfinder", "andes")

#: Networks read from their files, with the time to their first answer.
FIRST = ("alarm", "hailfinder", "andes", "munin1")

#: Networks asked by a process of its own, from its start to its first answer.
COLD = ("asia", "alarm", "win95pts", "andes")

#: What such a process runs: the file, the evidence and the variables come as text.
OURS = """
from bayeslearn import read_network
answer = read_network({path!r}).query({seen!r})
print([list(answer[name].values()) for name in {hidden!r}])
"""
THEIRS = """
import pyagrum
engine = pyagrum.LazyPropagation(pyagrum.loadBN({path!r}))
engine.setEvidence({seen!r})
engine.makeInference()
print([engine.posterior(name).tolist() for name in {hidden!r}])
"""


def works(*, quick: bool) -> Iterator[Work]:
    yield from (cold(name, SHARED / f"{name}.bif") for name in COLD if (SHARED / f"{name}.bif").is_file())
    assert kernels.best_plan  # loads the compiler: a first few questions are answered without it
    assert kernels.propagate
    for name, (one, many, ours, theirs) in GOALS.items():
        path = SHARED / f"{name}.bif"
        if (quick and name not in QUICK) or not (path.is_file() or name == "alarm"):
            continue
        network = read_network(path if path.is_file() else name)
        peer = as_agrum(network)
        codes = cases(network, ours)
        if path.is_file() and name in FIRST:
            yield first(name, path, network, codes[:, 0])
        yield single(name, network, peer, codes[:, 0], one)
        yield table(name, network, peer, codes, theirs, many)


def cold(name: str, path: Path) -> Work:
    """Python starts, imports, reads the file and answers; bytecode is kept between processes, as in an installation."""
    network = read_network(path)
    codes = cases(network, 1)[:, 0]
    seen = {n: network.states(n)[c] for n, c in zip(network.variables, codes, strict=True) if c >= 0}
    hidden = [n for n in network.variables if n not in seen]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}

    def run(script: str) -> list:
        call = [sys.executable, "-c", script.format(path=str(path), seen=seen, hidden=hidden)]
        done = subprocess.run(call, env=environment, capture_output=True, text=True, check=True)  # noqa: S603 - our own
        return ast.literal_eval(done.stdout)

    def agree(a: list, b: list) -> bool:
        return all(np.allclose(x, y, rtol=0, atol=1e-4) for x, y in zip(a, b, strict=True))

    work = f"process start to first answer, {name}"
    return Work(work, "pyagrum", pyagrum.__version__, lambda: run(OURS), lambda: run(THEIRS), agree, 1)


def first(name: str, path: Path, network: BayesianNetwork, codes: np.ndarray) -> Work:
    """Both parse the file, compile and answer; the file's own rounding keeps answers apart by 1e-6 or so."""
    seen = {n: network.states(n)[c] for n, c in zip(network.variables, codes, strict=True) if c >= 0}
    hidden = [n for n in network.variables if n not in seen]

    def mine() -> list:
        return [list(b.values()) for b in read_network(path).query(seen).beliefs.values()]

    def theirs() -> list:
        return posteriors(pyagrum.LazyPropagation(pyagrum.loadBN(str(path))), network, codes, hidden)

    def agree(a: list, b: list) -> bool:
        return all(np.allclose(x, y, rtol=0, atol=1e-4) for x, y in zip(a, b, strict=True))

    return Work(f"file to first answer, {name}", "pyagrum", pyagrum.__version__, mine, theirs, agree, 1)


def single(name: str, network: BayesianNetwork, peer: pyagrum.BayesNet, codes: np.ndarray, goal: float) -> Work:
    seen = {n: network.states(n)[c] for n, c in zip(network.variables, codes, strict=True) if c >= 0}
    engine = pyagrum.LazyPropagation(peer)

    def mine() -> list:
        return [list(b.values()) for b in network.query(seen).beliefs.values()]

    def theirs() -> list:
        return posteriors(engine, network, codes, [n for n in network.variables if n not in seen])

    return Work(f"one query, {name}", "pyagrum", pyagrum.__version__, mine, theirs, close, goal, calls=20)


def table(
    name: str, network: BayesianNetwork, peer: pyagrum.BayesNet, codes: np.ndarray, fewer: int, goal: float
) -> Work:
    """The peer does fewer cases, for it takes seconds; its time is scaled up."""
    data = Table(network.schema, codes, np.empty((0, codes.shape[1])))
    engine = pyagrum.LazyPropagation(peer)

    def mine() -> list:
        found = network.predict_proba(data)
        return [[found[n][i] for n in network.variables] for i in range(fewer)]

    def theirs() -> list:
        return [posteriors(engine, network, codes[:, i], network.variables) for i in range(fewer)]

    def agree(a: list, b: list) -> bool:
        return all(close(x, y) for x, y in zip(a, b, strict=True))

    work = f"{codes.shape[1]:,} cases, {name}"
    return Work(work, "pyagrum", pyagrum.__version__, mine, theirs, agree, goal, scale=codes.shape[1] / fewer)


def posteriors(engine: pyagrum.LazyPropagation, network: BayesianNetwork, codes: np.ndarray, names: object) -> list:
    engine.setEvidence({n: int(c) for n, c in zip(network.variables, codes, strict=True) if c >= 0})
    engine.makeInference()
    return [engine.posterior(n).toarray() for n in names]


def close(a: list, b: list) -> bool:
    return all(np.allclose(x, y, rtol=0, atol=1e-9) for x, y in zip(a, b, strict=True))


def cases(network: BayesianNetwork, n: int) -> np.ndarray:
    """Rows drawn from the network, each cell observed with probability 0.2."""
    rng = np.random.default_rng(0)
    drawn: dict[str, np.ndarray] = {}
    for name in network.dag.order:
        cpt = network[name]
        p = np.broadcast_to(cpt.probabilities[tuple(drawn[v.name] for v in cpt.parents)], (n, cpt.variable.n_states))
        drawn[name] = np.minimum((rng.random((n, 1)) > np.cumsum(p, axis=1)).sum(axis=1), cpt.variable.n_states - 1)
    codes = np.stack([drawn[name] for name in network.variables])
    return np.where(rng.random(codes.shape) < 0.2, codes, -1).astype(np.int16)


def as_agrum(network: BayesianNetwork) -> pyagrum.BayesNet:
    """The same network with the very same numbers."""
    peer = pyagrum.BayesNet(network.name)
    for cpt in network:
        peer.add(pyagrum.LabelizedVariable(cpt.name, cpt.name, [str(s) for s in cpt.variable.states]))
    for cpt in network:
        for parent in cpt.parents:
            peer.addArc(parent.name, cpt.name)
    for cpt in network:
        theirs = peer.cpt(cpt.name)  # its first variable varies fastest
        axes = [[*(v.name for v in cpt.parents), cpt.name].index(n) for n in reversed(theirs.names)]
        theirs.fillWith(np.transpose(cpt.probabilities, axes).reshape(-1).tolist())
    return peer
