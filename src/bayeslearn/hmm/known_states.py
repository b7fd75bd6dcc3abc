"""Sequences whose states are all known: their statistics are counts, and nothing is inferred.

start = Σ [s_1 = j]        moves = Σ_t [s_t = i, s_{t+1} = j]        observations weighted by their own state
ln P(x, s) = ln π(s_1) + Σ_t ln A(s_{t−1}, s_t) + Σ_t ln b_{s_t}(x_t)
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeslearn.distributions import Counts, StatisticsBundle

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.hmm.model import HiddenMarkovModel
    from bayeslearn.hmm.sequences import Sequences

    Floats = NDArray[np.float64]


class Parts(NamedTuple):
    """The sequences whose states are all known, and the others; None for no sequence."""

    known: Sequences | None
    others: Sequences | None


def parts_of(data: Sequences) -> Parts:
    """Both parts of the sequences, which are found once."""
    found = vars(data).get("_parts")
    if found is None:
        found = vars(data)["_parts"] = divided(data)
    return found


def divided(data: Sequences) -> Parts:
    """Sequences with all states known, and the others."""
    if data.known_states is None:
        return Parts(None, data)
    known = np.logical_and.reduceat(data.known_states >= 0, data.starts)
    if known.all():
        return Parts(data, None)
    return Parts(taken(data, known), taken(data, ~known)) if known.any() else Parts(None, data)


def taken(data: Sequences, which: NDArray[np.bool_]) -> Sequences:
    """Some of the sequences."""
    rows = np.repeat(which, data.lengths)
    weights = None if data.sample_weight is None else data.sample_weight[which]
    ids = tuple(name for name, kept in zip(data.ids, which, strict=True) if kept)
    states = None if data.known_states is None else data.known_states[rows]
    return replace(
        data, cells=data.cells[rows], lengths=data.lengths[which], ids=ids, sample_weight=weights, known_states=states,
        order=None,
    )  # fmt: skip


def counted(model: HiddenMarkovModel, data: Sequences) -> StatisticsBundle:
    """The statistics of sequences whose states are all known."""
    n, states = model.n_states, np.asarray(data.known_states, np.intp)
    w = np.ones(len(data)) if data.sample_weight is None else data.sample_weight
    each = np.repeat(w, data.lengths)
    start = np.bincount(states[data.starts], w, minlength=n)
    inside = inner_steps(data)
    pairs = states[:-1][inside] * n + states[1:][inside]
    moves = np.bincount(pairs, each[1:][inside], minlength=n * n).reshape(n, n)
    observed = model.emissions.gather_known(data.cells, states, each)
    return StatisticsBundle(
        startprob=Counts(start.astype(float)), transmat=Counts(moves.astype(float)), emissions=observed
    )


def inner_steps(data: Sequences) -> NDArray[np.bool_]:
    """Whether each row and the next one are of one sequence."""
    inside = np.ones(data.n_rows - 1, np.bool_)
    inside[data.starts[1:] - 1] = False
    return inside


def log_likelihoods(model: HiddenMarkovModel, data: Sequences) -> Floats:
    """ln P(x, s) of each sequence, −inf for one that cannot be."""
    states = np.asarray(data.known_states, np.intp)
    with np.errstate(divide="ignore"):
        start, moves = np.log(model.startprob), np.log(model.transmat)
    steps = model.emissions.log_prob_known(data.cells, states)
    inside = inner_steps(data)
    steps[1:][inside] += moves[states[:-1][inside], states[1:][inside]]
    return np.add.reduceat(steps, data.starts) + start[states[data.starts]]


def is_possible(model: HiddenMarkovModel, statistics: Any) -> bool:
    """Whether all starts and moves are possible."""
    pairs = ((statistics["startprob"].n, model.startprob), (statistics["transmat"].n, model.transmat))
    return not any((n[p == 0] > 0).any() for n, p in pairs)
