"""Answers of a hidden Markov model: likelihoods, smoothed beliefs, the best path, samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.capacity import require_numbers
from bayeslearn.errors import ShapeError
from bayeslearn.hmm.emission_statistics import Rows
from bayeslearn.hmm.forward_backward import expect, impossible, log_likelihoods, told
from bayeslearn.hmm.sequences import checked_lengths

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.hmm.model import HiddenMarkovModel
    from bayeslearn.hmm.sequences import Sequences

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class StatePosterior:
    """P(state | whole sequence) of every row (rows, S) as they came, and ln P(x) of each sequence."""

    model: HiddenMarkovModel
    data: Sequences
    probabilities: Floats
    log_likelihood: Floats

    @property
    def states(self) -> list[Any]:
        """The most probable state of each row by itself (posterior decoding), the first when tied."""
        return [self.model.states[k] for k in self.probabilities.argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class StatePath:
    """The most probable states of each sequence, a code for each row as they came, and ln P(states, x) of each."""

    model: HiddenMarkovModel
    data: Sequences
    codes: NDArray[np.int64]
    log_p: Floats

    @property
    def states(self) -> list[Any]:
        """The states by name."""
        return [self.model.states[k] for k in self.codes]

    def split(self) -> dict[Any, list[Any]]:
        """The states of each sequence by itself."""
        codes = self.codes if self.data.order is None else self.codes[self.data.order]
        names = [self.model.states[k] for k in codes]
        return {name: names[self.data.rows(i)] for i, name in enumerate(self.data.ids)}


def log_likelihood(model: HiddenMarkovModel, data: Sequences) -> Floats:
    """ln P of each sequence."""
    return log_likelihoods(model.chain, model.emissions.reading(data.cells), data)


class StepBeliefs(Rows):
    """A reading that keeps γ of every row, whatever the emissions."""

    def __init__(self, reading: Any, shape: tuple[int, int]) -> None:
        super().__init__(np.empty((0, 0)), lambda gamma: gamma)
        self.lay, self.logs = reading.lay, reading.logs  # type: ignore[method-assign]
        self.gamma = np.zeros(shape)


def posterior(model: HiddenMarkovModel, data: Sequences) -> StatePosterior:
    """γ of every row."""
    once = type(data)(data.cells, data.lengths, data.ids, known=data.known)
    found = expect(
        model.chain, StepBeliefs(model.emissions.reading(data.cells), (data.n_rows, len(model.states))), once
    )
    return StatePosterior(model, data, data.as_given(found.observed), found.log_p)


def decode(model: HiddenMarkovModel, data: Sequences) -> StatePath:
    """Viterbi, sequence by sequence."""
    codes, log_p = np.empty(data.n_rows, np.int64), np.empty(len(data))
    with np.errstate(divide="ignore"):
        tables = np.log(np.array(model.start)), np.log(np.array(model.transitions))
    reading = model.emissions.reading(data.cells)

    def work(part: slice) -> None:
        rows = slice(data.rows(part.start).start, data.rows(part.stop - 1).stop)
        logs = told(reading.logs(rows), None if data.known is None else data.known[rows])
        failed, step = kernels.best_paths(*tables, np.array(logs), data.lengths[part].copy(), codes[rows], log_p[part])
        if failed >= 0:
            raise impossible(data, part.start + failed, step)

    kernels.parallel(work, data.stretches)
    return StatePath(model, data, data.as_given(codes), log_p)


def sample(
    model: HiddenMarkovModel, lengths: int | ArrayLike, random_state: np.random.Generator | int | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """A path through the states, then an observation for each step."""
    random_state = validation.generator(random_state)
    each = np.atleast_1d(np.asarray(lengths))
    if not np.issubdtype(each.dtype, np.integer):
        raise ShapeError(f"`lengths` must be whole numbers, got {lengths!r:.80}")
    each = checked_lengths(each, int(each.sum()) if each.size else 0)
    total = sum(each.tolist())
    require_numbers(f"{total:,} observations", (total, 2 + len(model.emissions.names)), copies=2)
    last = len(model.states) - 1
    start, moves = np.cumsum(model.start), np.cumsum(model.transitions, axis=1)
    codes = np.empty(each.sum(), np.intp)
    u, t = random_state.random(len(codes)), 0
    for length in each:
        for step in range(length):
            row = start if step == 0 else moves[codes[t - 1]]
            codes[t] = min(int(np.searchsorted(row, u[t], side="right")), last)
            t += 1
    names = np.empty(last + 1, dtype=object)
    names[:] = model.states
    return model.emissions.draw(codes, random_state), names[codes]


def long_run(start: Floats, moves: Floats) -> Floats:
    """The mean of π Aᵗ over all t: lazy steps doubled until they settle, which also chains with a period do."""
    n = len(start)
    lazy = (np.eye(n) + moves) / 2  # the same long run, without a period
    for _ in range(60):
        lazy = lazy @ lazy
        lazy /= lazy.sum(axis=1, keepdims=True)
    return start @ lazy
