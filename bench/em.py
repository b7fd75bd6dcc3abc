"""Learning tables against pyAgrum's BNLearner: EM with 10 % of the cells missing, and counting from a file.

Both begin EM with the same tables, count the same prior (one case in every cell) and make the same number of
iterations, so that answers can be compared. The network is alarm, the cases are drawn from it.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyagrum

from bayeslearn import fit_parameters, read_network
from bayeslearn.errors import ConvergenceWarning
from bayeslearn.network import CPT, BayesianNetwork
from bayeslearn.tables import Table, as_table
from bench.harness import Work
from bench.inference import as_agrum

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Iterations that the peer makes, and those of our larger run.
FEW, MANY = 4, 20


def works(*, quick: bool) -> Iterator[Work]:
    network = read_network("alarm")
    cases, more, complete = (300, 10_000, 10_000) if quick else (3_000, 100_000, 100_000)
    with tempfile.TemporaryDirectory() as folder:
        data = with_holes(network, cases)
        yield same_iterations(network, data, Path(folder) / "holes.csv")
        yield many_more_cases(network, data, with_holes(network, more), Path(folder) / "holes.csv")
        yield counting(network, network.sample(complete, random_state=0), Path(folder) / "complete.csv")


def same_iterations(network: BayesianNetwork, data: Table, path: Path) -> Work:
    start = fitted(network, data, 1)
    theirs = peer_em(start, data, path)

    def agree(a: BayesianNetwork, b: BayesianNetwork) -> bool:
        ours, peers = (log_likelihood(n, data) for n in (a, b))
        return abs(ours - peers) <= 1e-6 * abs(peers) and a.isclose(b, rtol=0, atol=1e-9)

    work = f"EM, {data.n_rows:,} cases, 10 % missing, {FEW} iterations"
    return Work(work, "pyagrum", pyagrum.__version__, lambda: fitted(network, data, FEW, start), theirs, agree, 300)


def many_more_cases(network: BayesianNetwork, few: Table, many: Table, path: Path) -> Work:
    """Ours has the larger job, so answers cannot be compared; that ours has climbed is what agrees."""
    start = fitted(network, few, 1)
    ours = f"EM, {many.n_rows:,} cases, {MANY} iterations; the peer {few.n_rows:,} and {FEW}"

    def agree(a: BayesianNetwork, b: BayesianNetwork) -> bool:
        return log_likelihood(a, many) > log_likelihood(b, many)

    return Work(
        ours, "pyagrum", pyagrum.__version__, lambda: fitted(network, many, MANY, start), peer_em(start, few, path),
        agree, 1, most=2,
    )  # fmt: skip


def counting(network: BayesianNetwork, data: Table, path: Path) -> Work:
    write(data, path)
    template = as_agrum(network)

    def mine() -> BayesianNetwork:
        return fit_parameters(network, path, prior="laplace")

    def theirs() -> BayesianNetwork:
        learner = pyagrum.BNLearner(str(path), template)
        learner.useSmoothingPrior(1)
        return from_agrum(network, learner.learnParameters(template.dag(), False))

    work = f"counting every table from a CSV of {data.n_rows:,} rows"
    return Work(work, "pyagrum", pyagrum.__version__, mine, theirs, lambda a, b: a.isclose(b, rtol=1e-9), 5)


### both sides


def fitted(
    network: BayesianNetwork, data: Table, iterations: int, start: BayesianNetwork | str = "prior"
) -> BayesianNetwork:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit_parameters(network, data, prior="laplace", init=start, max_iter=iterations, tol=0)


def peer_em(start: BayesianNetwork, data: Table, path: Path):
    write(data, path)
    template = as_agrum(start)

    def run() -> BayesianNetwork:
        learner = pyagrum.BNLearner(str(path), template, ["?"])
        learner.useSmoothingPrior(1)
        learner.useEMWithDiffCriterion(1e-12, 0.0)
        learner.EMsetMaxIter(FEW)
        return from_agrum(start, learner.learnParameters(template, False))

    return run


def log_likelihood(network: BayesianNetwork, data: Table) -> float:
    return float(network.predict_proba(data, variables=[]).log_evidence.sum())


def with_holes(network: BayesianNetwork, rows: int) -> Table:
    full = network.sample(rows, random_state=0)
    holes = np.random.default_rng(1).random(full.codes.shape) < 0.1
    return as_table(Table(full.schema, np.where(holes, -1, full.codes), full.values))


def write(data: Table, path: Path) -> None:
    columns = [["?" if x is None else str(x) for x in data.column(name)] for name in data.schema.names]
    lines = [",".join(data.schema.names), *map(",".join, zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n")


def from_agrum(like: BayesianNetwork, peer: pyagrum.BayesNet) -> BayesianNetwork:
    """The peer's tables in our order of axes."""
    cpts = []
    for cpt in like:
        theirs = peer.cpt(cpt.name)  # its array has the axes in reverse
        axes = [list(reversed(theirs.names)).index(v.name) for v in (*cpt.parents, cpt.variable)]
        cpts.append(CPT(cpt.variable, cpt.parents, np.transpose(theirs.toarray(), axes)))
    return BayesianNetwork(tuple(cpts), like.name)
