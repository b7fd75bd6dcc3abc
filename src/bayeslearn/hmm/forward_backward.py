"""The E step of a hidden Markov model: forward and backward through every sequence.

    γ_t(j) = P(state j at t | x)        ξ(i, j) = Σ_t P(i at t, j at t + 1 | x)        ln P(x)

    statistics: start = Σ γ_1, moves = Σ ξ, and of the emissions what γ weighs

Eight sequences go side by side through the kernels (:mod:`bayeslearn.kernels.hmm_forward_backward`), tasks of them on
all cores; they are the same tasks, added in the same order, whatever the number of cores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn import kernels
from bayeslearn.errors import ImpossibleDataError
from bayeslearn.hmm.sequences import LANES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.hmm.emission_statistics import Reading
    from bayeslearn.hmm.sequences import Lanes, Sequences

    Floats = NDArray[np.float64]

#: Bytes of a block of steps; longer chains are taken in blocks, at the price of going forward twice.
BLOCK_BYTES = 1 << 24


class Chain(NamedTuple):
    """The tables that are the same for all sequences."""

    start: Floats
    moves: Floats
    turned: Floats

    @classmethod
    def of(cls, start: Floats, moves: Floats) -> Chain:
        """Tables that kernels can read."""
        return cls(np.array(start), np.array(moves), np.ascontiguousarray(moves.T))

    @property
    def n(self) -> int:
        """The number of states."""
        return len(self.start)


class Sums(NamedTuple):
    """What a task adds up."""

    start: Floats
    pairs: Floats
    observed: Floats

    def copy(self) -> Sums:
        """The same numbers."""
        return Sums(*(part.copy() for part in self))

    def restore(self, before: Sums) -> None:
        """These numbers again."""
        for part, old in zip(self, before, strict=True):
            part[...] = old


class Expected(NamedTuple):
    """What all sequences add up to, and ln P of each."""

    start: Floats
    moves: Floats
    observed: Any
    log_p: Floats


def expect(chain: Chain, reading: Reading, data: Sequences) -> Expected:
    """The sums of an E step; a sequence that cannot be is an error that names the place."""
    log_p = np.empty(len(data))

    def work(task: list[Lanes]) -> Sums:
        walk = Walk(chain, reading, data, max(int(lanes.lengths[0]) for lanes in task))
        sums = Sums(np.zeros(chain.n), np.zeros((chain.n, chain.n)), reading.totals())
        for lanes in task:
            log_p[lanes.which] = walk.smooth(lanes, sums)[: len(lanes.which)]
        return sums

    parts = kernels.parallel(work, data.tasks)
    start, pairs, observed = (sum(part) for part in zip(*parts, strict=True))
    return Expected(start, pairs * chain.moves, reading.statistics(observed), log_p)


def log_likelihoods(chain: Chain, reading: Reading, data: Sequences) -> Floats:
    """ln P of each sequence, −inf for one that cannot be."""
    log_p = np.empty(len(data))

    def work(task: list[Lanes]) -> None:
        walk = Walk(chain, reading, data, max(int(lanes.lengths[0]) for lanes in task))
        for lanes in task:
            log_p[lanes.which] = walk.log_p(lanes)[: len(lanes.which)]

    kernels.parallel(work, data.tasks)
    return log_p


class Walk:
    """Room for the lanes of one task, and the way through them."""

    def __init__(self, chain: Chain, reading: Reading, data: Sequences, longest: int) -> None:
        self.chain, self.reading, self.data = chain, reading, data
        lanes, n = LANES, chain.n
        self.block = min(longest, max(BLOCK_BYTES // (8 * n * lanes), 1))
        self.b, self.alpha = np.empty((self.block * n, lanes)), np.empty((self.block * n, lanes))
        self.entry, self.leaving, self.room = np.empty((n, lanes)), np.empty((n, lanes)), np.empty((n + 4, lanes))
        self.scales, self.pairs = np.empty((4, lanes)), np.empty((n * n, lanes))

    # -- forward

    def enter(self) -> None:
        """Before the first step."""
        self.entry[:] = self.chain.start[:, None]

    def forward(self, lanes: Lanes, t: int, log_p: Floats, lost: NDArray[np.int64]) -> None:
        """One block of steps from t on."""
        starts, lengths = lanes.after(t, self.block)
        self.reading.lay(starts, lengths, self.b, log_p)
        if self.data.known_states is not None:
            kernels.lay_known(self.chain.n, self.data.known_states, starts, lengths, self.b)
        kernels.forward(self.chain.moves, lengths, self.b, self.alpha, self.entry, self.scales, log_p, lost)

    def log_p(self, lanes: Lanes) -> Floats:
        """ln P of the sequences in the lanes."""
        log_p, lost = np.zeros(LANES), np.full(LANES, -1)
        self.enter()
        for t in range(0, int(lanes.lengths[0]), self.block):
            self.forward(lanes, t, log_p, lost)
        for lane in np.flatnonzero(lost >= 0):
            log_p[lane] = self.in_logs(int(lanes.which[lane]))[0]
        return log_p

    # -- and back

    def smooth(self, lanes: Lanes, sums: Sums) -> Floats:
        """Add up what is expected of the sequences in the lanes; ln P of each."""
        before, weights = sums.copy(), lanes.sample_weight.copy()
        while True:
            log_p, lost = self.there_and_back(lanes, weights, sums)
            failed = np.flatnonzero((lost >= 0) & (weights > 0))
            if len(failed) == 0:
                break
            sums.restore(before)  # a lane that is lost must leave no trace
            weights[failed] = 0.0
        for lane in np.flatnonzero((weights == 0) & (lanes.lengths > 0) & (lanes.sample_weight > 0)):
            log_p[lane] = self.smooth_in_logs(int(lanes.which[lane]), float(lanes.sample_weight[lane]), sums)
        return log_p

    def there_and_back(self, lanes: Lanes, sample_weight: Floats, sums: Sums) -> tuple[Floats, NDArray[np.int64]]:
        """Forward, then backward block by block."""
        log_p, lost = np.zeros(LANES), np.full(LANES, -1)
        blocks = range(0, int(lanes.lengths[0]), self.block)
        entries = []
        self.enter()
        for t in blocks:
            entries.append(self.entry.copy())
            self.forward(lanes, t, log_p, lost)
        self.leaving[:] = 1.0
        self.pairs[:] = 0.0
        chain, nowhere = self.chain, np.zeros(LANES)
        for t, entry in zip(reversed(blocks), reversed(entries), strict=True):
            if t != blocks[-1]:  # what was there before has been written over
                self.entry[:] = entry
                self.forward(lanes, t, nowhere, lost.copy())
            starts, lengths = lanes.after(t, self.block)
            ends = np.minimum(lanes.lengths - t, self.block + 1)  # a block that is not the last has a step after it
            kernels.backward(
                chain.turned,
                lengths,
                ends,
                sample_weight,
                self.b,
                self.alpha,
                self.leaving,
                self.room,
                self.pairs,
                lost,
            )
            self.reading.take(starts, lengths, self.alpha, sums.observed)
        sums.start[:] += self.alpha[: chain.n].sum(axis=1)
        sums.pairs[:] += self.pairs.sum(axis=1).reshape(chain.n, chain.n)
        return log_p, lost

    # -- in logs

    def logs(self, i: int) -> Floats:
        """Log likelihoods of the states for the rows of a sequence, known states included."""
        rows = self.data.rows(i)
        return restricted(
            self.reading.logs(rows), None if self.data.known_states is None else self.data.known_states[rows]
        )

    def in_logs(self, i: int) -> tuple[float, int, Floats, Floats]:
        """ln P, the step that is impossible or −1, γ and ξ / A of one sequence."""
        with np.errstate(divide="ignore"):
            tables = np.log(self.chain.start), np.log(self.chain.moves)
        logs, pairs = np.array(self.logs(i)), np.zeros((self.chain.n, self.chain.n))
        gamma = np.empty(logs.shape)
        return (*kernels.smooth_logs(*tables, logs, gamma, pairs), gamma, pairs)

    def smooth_in_logs(self, i: int, weight: float, sums: Sums) -> float:
        """Add up what is expected of one sequence."""
        log_p, step, gamma, pairs = self.in_logs(i)
        if step >= 0:
            raise impossible(self.data, i, step)
        sums.start[:] += weight * gamma[0]
        sums.pairs[:] += weight * np.divide(pairs, self.chain.moves, out=np.zeros(pairs.shape), where=pairs > 0)
        self.reading.take_rows(self.data.rows(i), weight * gamma, sums.observed)
        return log_p


def around(chain: Chain, logs: Floats, t: int) -> tuple[Floats, Floats]:
    """ln P(s_t, x before t) and ln P(x after t | s_t) of one sequence, given the log-likelihoods of its rows."""
    with np.errstate(divide="ignore"):
        before, moves = np.log(chain.start), np.log(chain.moves)
    for row in logs[:t]:
        before = np.logaddexp.reduce((before + row)[:, None] + moves, axis=0)
    after = np.zeros(chain.n)
    for row in logs[:t:-1]:
        after = np.logaddexp.reduce(moves + row + after, axis=1)
    return before, after


def restricted(logs: Floats, known_states: NDArray[np.int32] | None) -> Floats:
    """Log likelihoods, −inf for all but the state that is known."""
    if known_states is None:
        return logs
    others = (known_states[:, None] >= 0) & (np.arange(logs.shape[1]) != known_states[:, None])
    return np.where(others, -np.inf, logs)


def impossible(data: Sequences, i: int, step: int) -> ImpossibleDataError:
    """The error that names the place."""
    which = f"sequence {data.ids[i]!r}" if len(data) > 1 else "the sequence"
    return ImpossibleDataError(
        f"{which} is impossible at position {step}: no state that can be there explains the observation",
        hint="give a prior, so that nothing has probability zero, or make the observation missing",
        sequence=data.ids[i],
        position=step,
    )
