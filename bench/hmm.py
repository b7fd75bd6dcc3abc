"""Hidden Markov models against hmmlearn: Baum-Welch from the same start, with the same number of iterations.

Nothing counts before the data, so that both climb the same likelihood. Ours looks at the data once more than the peer,
to know where it arrived.
"""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from importlib.metadata import version
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from hmmlearn import hmm

from bayeslearn.distributions import Dirichlet, NormalInverseGamma
from bayeslearn.errors import ConvergenceWarning
from bayeslearn.hmm import CategoricalEmissions, GaussianEmissions, HiddenMarkovModel, fit_hmm
from bayeslearn.tables import DiscreteVariable
from bench.harness import Work

if TYPE_CHECKING:
    from collections.abc import Iterator

STATES, SYMBOLS, COLUMNS, ITERATIONS = 8, 20, 4, 10


#: No prior cases, as objects.
NO_PRIOR = {
    kind: {"startprob": Dirichlet.none(), "transmat": Dirichlet.none(), "emissions": none}
    for kind, none in (("categorical", Dirichlet.none()), ("gaussian", NormalInverseGamma.none()))
}


def works(*, quick: bool) -> Iterator[Work]:
    logging.getLogger("hmmlearn").setLevel(logging.CRITICAL)
    for sequences, steps, goals in ((50, 100, (2, 2, 1)), (50 if quick else 500, 1000, (20, 12, 2))):
        lengths = np.full(sequences, steps)
        size = f"{sequences} sequences of {steps:,}"
        few = {"calls": 5} if steps == 100 else {"most": 2}
        yield climbing(f"symbols, {size}", symbols(), lengths, goals[0], few)
        yield climbing(f"numbers, {size}", numbers(), lengths, goals[1], few)
        yield decoding(f"best path, symbols, {size}", symbols(), lengths, goals[2], few)
    yield tagging(500 if quick else 5_000)


def climbing(name: str, start: HiddenMarkovModel, lengths: np.ndarray, goal: float, few: dict[str, int]) -> Work:
    x, _ = truth(start).draw(lengths, 1)

    def ours() -> list[float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found = fit_hmm(
                x, init=start, lengths=lengths, prior=NO_PRIOR[start.emissions.kind], max_iter=ITERATIONS, tol=0
            )
        return [step.log_likelihood for step in found.fit_info.history]

    def theirs() -> list[float]:
        model = peer(start)
        model.fit(x.reshape(len(x), -1), lengths)
        return list(model.monitor_.history)

    def agree(a: list[float], b: list[float]) -> bool:
        return np.allclose(a[: len(b)], b, rtol=1e-9, atol=0)

    return Work(name, "hmmlearn", version("hmmlearn"), ours, theirs, agree, goal, **few)


def decoding(name: str, start: HiddenMarkovModel, lengths: np.ndarray, goal: float, few: dict[str, int]) -> Work:
    x, _ = truth(start).draw(lengths, 1)
    model = peer(start)

    def agree(a: float, b: float) -> bool:
        return np.isclose(a, b, rtol=1e-9, atol=0)

    def ours() -> float:
        return start.decode(x, lengths=lengths).log_probability.sum()

    def theirs() -> float:
        return model.decode(x.reshape(len(x), -1), lengths)[0]

    return Work(name, "hmmlearn", version("hmmlearn"), ours, theirs, agree, goal, **few)


def tagging(sentences: int) -> Work:
    """Known states are counted, with the endings of unknown words; the peer counts pairs in dicts, without them."""
    rng = np.random.default_rng(0)
    tags = [f"T{i}" for i in range(STATES)]
    states = rng.integers(STATES, size=20 * sentences)
    numbers = np.minimum(rng.exponential(300, len(states)).astype(int), 9_999)
    words = [f"w{number}{tags[s].lower()}" for s, number in zip(states, numbers, strict=True)]
    known = [tags[s] for s in states]
    lengths = np.full(sentences, 20)

    def ours() -> np.ndarray:
        return fit_hmm(words, tags, emissions="words", known_states=known, lengths=lengths, prior=None).transmat

    def theirs() -> np.ndarray:
        pairs, emitted = Counter(), Counter()
        for first in range(0, len(words), 20):
            sentence = known[first : first + 20]
            pairs.update(pairwise(sentence))
            emitted.update(zip(sentence, words[first : first + 20], strict=True))
        n = np.array([[pairs[a, b] for b in tags] for a in tags], float)
        return n / n.sum(axis=1, keepdims=True)

    def agree(a: np.ndarray, b: np.ndarray) -> bool:
        return np.allclose(a, b, rtol=1e-12)

    name = f"tagging with known states, {sentences:,} sentences"
    return Work(name, "collections.Counter", version("numpy"), ours, theirs, agree, 0.2, most=2)


### the same start on both sides


def symbols() -> HiddenMarkovModel:
    rng = np.random.default_rng(0)
    emissions = CategoricalEmissions(
        DiscreteVariable("symbol", range(SYMBOLS)), rng.dirichlet(np.ones(SYMBOLS), STATES)
    )
    return HiddenMarkovModel(range(STATES), *chain(rng), emissions)


def numbers() -> HiddenMarkovModel:
    rng = np.random.default_rng(0)
    names = tuple(f"x{j}" for j in range(COLUMNS))
    emissions = GaussianEmissions(names, rng.normal(0, 2, (STATES, COLUMNS)), rng.uniform(0.5, 2, (STATES, COLUMNS)))
    return HiddenMarkovModel(range(STATES), *chain(rng), emissions)


def chain(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.dirichlet(np.ones(STATES)), rng.dirichlet(np.ones(STATES), STATES)


def truth(start: HiddenMarkovModel) -> HiddenMarkovModel:
    """Another model of the same kind, that the data come from."""
    return start.reorder_states(range(STATES)[::-1])


def peer(start: HiddenMarkovModel) -> hmm.BaseHMM:
    options = {"n_iter": ITERATIONS, "tol": -np.inf, "init_params": "", "params": "ste"}
    if isinstance(start.emissions, CategoricalEmissions):
        model = hmm.CategoricalHMM(STATES, n_features=SYMBOLS, **options)
        model.emissionprob_ = np.array(start.emissions.theta)
    else:
        model = hmm.GaussianHMM(STATES, min_covar=0, covars_prior=0, covars_weight=1, **options | {"params": "stmc"})
        model.means_, model.covars_ = np.array(start.emissions.mean), np.array(start.emissions.var)
        model.n_features = COLUMNS
    model.startprob_, model.transmat_ = np.array(start.startprob), np.array(start.transmat)
    return model
