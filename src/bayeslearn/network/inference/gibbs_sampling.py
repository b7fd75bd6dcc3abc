"""Gibbs sampling: one variable after the other, each given all others as they stand.

P(x_v = k | the rest) ∝ P(k | parents) · Π_{children c} P(x_c | parents of c, x_v = k)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.network.inference.forward_sampling import BLOCK, Flat, Question, keys, no_weight
from bayeslearn.network.inference.likelihood_weighting import Proposal, WeightedCounts
from bayeslearn.tables.schema import code_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.network.bayesian_network import BayesianNetwork
    from bayeslearn.network.inference.compiled_network import Compiled

#: Chains that run side by side, sweeps of each that are forgotten, and sweeps of a batch.
CHAINS, BURN_IN, BATCH = 4, 500, 32

#: Weighted rows that are drawn before the search for a possible start is given up.
START_TRIES = 1_000_000

#: Batches of a chain kept before neighbors are joined, and batches that its standard error is read off.
KEPT_BATCHES, READ_BATCHES = 1024, 32

#: Split R̂ above which the chains are said to disagree.
DISAGREE = 1.05

#: How far the chains must be from the weighted rows that they start from: absolutely, in standard errors of the
#: difference for the error to be as large, and in those for a warning.
FAR, SOME, MANY = 0.01, 2.5, 4

#: The probability of a state, or of all others, below which sweeps tell little.
RARE = 0.05

#: What the error of these rows adds to that of such a state at most, where they come to so many rows of the most weight
#: that a part of the cases without rows is unlikely.
UNSURE, ENOUGH = 0.0025, 10

#: No product of numbers that are at least this large in all underflows.
EDGE = 1e-290


@dataclass
class GibbsRun:
    """Chains of sweeps, kept as sums over batches.

    The standard error is that of batch means: with m means b of batches of equal length over all chains,

        √Σ (b − mean of all b)² / (m (m − 1))

    Chains that stay in one part of the cases agree with each other all the same. The weighted rows that they start from
    do not: where these are far from the chains, or where a state is all but certain and sweeps cannot tell how far, the
    error is as large as the difference.
    """

    network: BayesianNetwork
    flat: Flat
    question: Question
    rng: np.random.Generator
    evidence: dict[str, Any]
    draws: int = 0

    def __post_init__(self) -> None:
        self.chains = CHAINS
        self.size = int(self.flat.compiled.belief_start[-1])
        self.hidden = np.flatnonzero((self.question.seen < 0) & self.question.kept)
        self.touched = touched_tables(self.flat.compiled, self.question.kept)
        self.states = self._starts()
        self.stream, self.counter = keys(self.rng, self.chains), [0] * self.chains
        self.logs = (self.question.log_likelihood, self.flat.log_cpt, self._in_logs())
        self.length = BATCH
        self.sums = np.zeros((self.chains, 0, self.size))
        self.squares = np.zeros((self.chains, 0, self.size))
        self._sweep(1, BURN_IN)

    def _starts(self) -> NDArray[np.int64]:
        """A possible case for each chain to start from: one of START_TRIES weighted rows, as probable as it weighs."""
        stream, n = keys(self.rng, len(self.network)), 0
        proposal = Proposal.of(self.network, self.flat, self.question)
        starts = self.flat.compiled.belief_start
        while n < START_TRIES:
            codes = np.zeros((len(self.network), BLOCK), code_type(self.network.schema))
            log_weight = self.flat.sample(self.question, stream, n, 0, BLOCK, codes, proposal)
            n += BLOCK
            if log_weight.max() > -np.inf:
                self.first = WeightedCounts.of(log_weight, codes, starts=starts, asked=self.hidden)
                self.first_errors = self.first.errors_within(proposal.log_bound)
                self.unsure = UNSURE if self.first.rows_of_most_weight(proposal.log_bound) > ENOUGH else np.inf
                w = np.exp(log_weight - log_weight.max())
                rows = self.rng.choice(BLOCK, self.chains, p=w / w.sum())
                return np.ascontiguousarray(codes[:, rows].T, dtype=np.int64)
        raise no_weight(self.evidence, n)

    def _in_logs(self) -> NDArray[np.bool_]:
        """Variables whose tables hold numbers so small that their product may underflow."""
        compiled, start = self.flat.compiled, self.touched[0]
        with np.errstate(divide="ignore"):
            given = np.where(self.question.likelihood > 0, np.minimum(self.question.log_likelihood, 0.0), 0.0)
        logs = np.append(np.log(compiled.least)[self.touched[1]], 0.0)
        low = np.add.reduceat(logs, start[:-1]) * (np.diff(start) > 0)
        return low + np.minimum.reduceat(given, compiled.belief_start[:-1]) < np.log(EDGE)

    def _sweep(self, batches: int, length: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        sums, squares = np.zeros((2, self.chains, batches, self.size))

        def task(chain: int) -> None:
            self.counter[chain] = kernels.gibbs_sweeps(
                self.flat.arrays, self.touched, self.hidden, self.question.likelihood, self.logs,
                self.stream[chain], self.counter[chain], length, self.states[chain], sums[chain], squares[chain],
            )  # fmt: skip

        kernels.parallel(task, range(self.chains))
        return sums, squares

    def more(self, n: int) -> None:
        """At least n more sweeps over all chains, in a number of batches that is divisible by four."""
        batches = 2 * math.ceil(n / (2 * self.chains * self.length))
        batches += (self.sums.shape[1] + batches) % 4  # so that halves can be joined
        sums, squares = self._sweep(batches, self.length)
        self.sums = np.concatenate([self.sums, sums], axis=1)
        self.squares = np.concatenate([self.squares, squares], axis=1)
        self.draws += batches * self.length * self.chains
        if self.sums.shape[1] >= KEPT_BATCHES:
            self.length *= 2
            self.sums, self.squares = joined(self.sums, 2), joined(self.squares, 2)

    def p(self) -> NDArray[np.float64]:
        """The mean over all sweeps."""
        return self.sums.sum(axis=(0, 1)) / self.draws

    def variance(self) -> NDArray[np.float64]:
        """The squared standard error of the mean, by batch means; each chain is one batch where they disagree."""
        if self.rhat() > DISAGREE:
            return (self.sums.sum(axis=1) / (self.draws / self.chains)).var(axis=0, ddof=1) / self.chains
        size = math.ceil(self.sums.shape[1] / READ_BATCHES)
        means = joined(self.sums, size).reshape(-1, self.size) / (size * self.length)
        return means.var(axis=0, ddof=1) / len(means)

    def errors(self) -> NDArray[np.float64]:
        """At least that of a state never seen, 1 / (draws + 2); see above."""
        errors, p = np.maximum(np.sqrt(self.variance()), 1 / (self.draws + 2)), self.p()
        off = np.abs(p - self.first.p)
        unsure = np.where(
            (np.minimum(p, 1 - p) < RARE) | np.isinf(self.unsure),
            np.hypot(off, np.minimum(self.first_errors, self.unsure)),
            0.0,
        )
        return np.maximum(errors, np.where(self._far(errors, SOME), off, unsure))

    def disagreement(self) -> float:
        """How far the chains are from the weighted rows that they start from; 0 when it may be chance."""
        errors = np.maximum(np.sqrt(self.variance()), 1 / (self.draws + 2))
        return float(np.abs(self.p() - self.first.p)[self._far(errors, MANY)].max(initial=0.0))

    def _far(self, errors: NDArray[np.float64], many: float) -> NDArray[np.bool_]:
        off = np.abs(self.p() - self.first.p)
        return off > np.maximum(FAR, many * np.hypot(errors, self.first_errors))

    def rhat(self) -> float:
        """Split R̂: √((B / W + n − 1) / n) for the halves of n sweeps, between and within them; the largest of all.

        A state whose halves differ by less than a thousandth has converged whatever the ratio.
        """
        half = self.sums.shape[1] // 2
        n = half * self.length
        parts = joined(self.sums, half).reshape(-1, self.size) / n
        within = joined(self.squares, half).reshape(-1, self.size) / n - parts**2
        between, inside = n * parts.var(axis=0, ddof=1), np.maximum(within, 0).mean(axis=0)
        settled = np.ptp(parts, axis=0) < 1e-3
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.sqrt((between / inside + n - 1) / n)
        return float(np.where(settled, 1.0, ratio).max(initial=1.0))

    def facts(self) -> dict[str, Any]:
        """The effective size, and how well the chains agree."""
        return {"effective_size": self.effective_size(), "rhat": self.rhat()}

    def effective_size(self) -> float:
        """The least over the asked variables of Σ_k p(1 − p) / Σ_k error², at most the draws."""
        p, variance = self.p(), self.variance()
        starts, worth = self.flat.compiled.belief_start, float(self.draws)
        for v in self.question.asked:
            span = slice(starts[v], starts[v + 1])
            spread = float((p[span] * (1 - p[span])).sum())
            if variance[span].sum() > 0:
                worth = min(worth, spread / float(variance[span].sum()))
        return worth


def joined(sums: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Sums (chains, batches, states) over `size` neighboring batches; a rest at the end is left out."""
    chains, batches, states = sums.shape
    whole = batches // size
    return sums[:, : whole * size].reshape(chains, whole, size, states).sum(axis=2)


def touched_tables(compiled: Compiled, kept: NDArray[np.bool_]) -> tuple[NDArray[np.int64], ...]:
    """For each variable the tables it stands in, one after the other, with its stride in each."""
    found: list[list[tuple[int, int]]] = [[] for _ in compiled.names]
    for f in np.flatnonzero(kept).tolist():
        for s in range(compiled.scope_start[f], compiled.scope_start[f + 1]):
            found[compiled.scope[s]].append((f, int(compiled.scope_stride[s])))
    starts = np.cumsum([0, *(len(tables) for tables in found)])
    flat = np.array([pair for tables in found for pair in tables], np.int64).reshape(-1, 2)
    return starts, np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1])


def tables_with_zeros(network: BayesianNetwork, question: Question) -> list[str]:
    """Tables that, with the evidence in, forbid a pair of hidden states: a chain may not get past them."""
    place = {name: i for i, name in enumerate(network.variables)}
    names = []
    for v in np.flatnonzero(question.kept):
        cpt = network.cpts[v]
        seen = [question.seen[place[x.name]] for x in (*cpt.parents, cpt.variable)]
        part = cpt.probabilities[tuple(slice(None) if code < 0 else code for code in seen)]
        if sum(length > 1 for length in part.shape) > 1 and (part == 0).any():
            names.append(cpt.name)
    return names
