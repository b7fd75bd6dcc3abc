"""Hidden Markov models against hmmlearn: Baum-Welch from the same start, with the same number of iterations.

Nothing counts before the data, so that both climb the same likelihood. Ours looks at the data once more than the peer,
to know where it arrived.
"""

from __future__ import annotations

import logging
import warnings
from importlib.metadata import version
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
