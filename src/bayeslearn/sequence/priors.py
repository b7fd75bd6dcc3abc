"""Priors of every table of a hidden Markov model: cases seen before the data.

Told by a word for all tables, or table by table. Words are ``cases:1`` (so many cases in every row, that look like all
data; the default), ``laplace``, ``jeffreys``, ``m:2`` and ``mle`` (none).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeslearn import validation
from bayeslearn.errors import ParameterError, listed
from bayeslearn.families import Dirichlet, DirichletRule, Gamma, NormalInverseGamma, NormalInverseWishart
from bayeslearn.sequence.counts import PoissonEmissions
from bayeslearn.sequence.covariances import FullNormalEmissions
from bayeslearn.sequence.mixed import MixtureEmissions, MixturePrior
from bayeslearn.sequence.normals import NormalEmissions
from bayeslearn.sequence.symbols import CategoricalEmissions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bayeslearn.families import Moments
    from bayeslearn.sequence.emissions import Emissions

#: Cases in every row before any is seen, when nobody says otherwise.
CASES = 1.0

PARTS = ("start", "transitions", "emissions", "weights")

#: The class of prior that each kind of emissions takes, and one that says nothing.
KINDS: dict[type, tuple[tuple[type, ...], Any]] = {
    CategoricalEmissions: ((Dirichlet, DirichletRule), lambda _: Dirichlet.none()),
    PoissonEmissions: ((Gamma,), lambda _: Gamma.none()),
    NormalEmissions: ((NormalInverseGamma,), lambda _: NormalInverseGamma.none()),
    FullNormalEmissions: ((NormalInverseWishart,), lambda e: NormalInverseWishart.none(len(e.columns))),
}


@dataclass(frozen=True)
class ChainPrior:
    """A prior for each table: Dirichlets of the start and the transitions, and what the emissions take."""

    start: Any
    transitions: Any
    emissions: Any


def prior_of(told: Any, emissions: Emissions, cells: NDArray[Any] | Moments | None) -> ChainPrior:
    """The prior that a word, a dict or nothing stands for."""
    if isinstance(told, ChainPrior):
        return told
    parts = told if isinstance(told, Mapping) else dict.fromkeys(PARTS, told)
    odd = [name for name in parts if name not in PARTS]
    if odd:
        raise ParameterError(f"there is no prior of {listed(odd)}", hint=f"the tables are {', '.join(PARTS)}")
    return ChainPrior(
        dirichlet(parts.get("start")),
        dirichlet(parts.get("transitions")),
        emission_prior(parts.get("emissions"), parts.get("weights"), emissions, cells),
    )


def dirichlet(told: Any) -> Dirichlet | DirichletRule:
    """A prior of probabilities, from a word or as it is."""
    if isinstance(told, Dirichlet | DirichletRule):
        return told
    word, number = word_of(told)
    if word in {"cases", "m"}:
        return Dirichlet.m_estimate(CASES if number is None else number)
    return {"laplace": Dirichlet.laplace, "jeffreys": Dirichlet.jeffreys, "mle": Dirichlet.none}[word]()


def emission_prior(told: Any, weights: Any, emissions: Emissions, cells: NDArray[Any] | Moments | None) -> Any:
    """A prior of the emissions, from a word or as it is."""
    if isinstance(emissions, MixtureEmissions):
        if isinstance(told, MixturePrior):
            return told
        return MixturePrior(dirichlet(weights), emission_prior(told, None, emissions.parts, cells))
    takes, nothing = KINDS[type(emissions)]
    if isinstance(told, takes):
        return told
    word, number = word_of(told)
    if isinstance(emissions, CategoricalEmissions):
        return dirichlet(told)
    if word == "mle":
        return nothing(emissions)
    if word not in {"cases", "m"}:
        raise ParameterError(
            f"prior {told!r} does not fit {emissions.kind} emissions",
            hint=f"use cases:1, mle, or a {takes[0].__name__} of bayeslearn.families",
        )
    if cells is None:
        raise ParameterError("a prior that looks like the data needs data", hint="give the prior as an object")
    return emissions.default_prior(cells, CASES if number is None else number)


def word_of(told: Any) -> tuple[str, float | None]:
    """A word and its number."""
    if told is None:
        return "cases", None
    word, _, number = str(told).partition(":")
    if (
        isinstance(told, str)
        and word in {"cases", "m", "laplace", "jeffreys", "mle"}
        and (not number or word in {"cases", "m"})
    ):
        try:
            return word, validation.number("prior", float(number), least=0) if number else None
        except ValueError:
            pass
    raise ParameterError(
        f"not a prior: {told!r:.80}",
        hint="use cases:1, laplace, jeffreys, m:2, mle, or an object of bayeslearn.families that fits",
    )


def checked(prior: ChainPrior, n: int, emissions: Emissions) -> ChainPrior:
    """A prior that fits tables of n states; the error comes here, not in the middle of learning."""
    prior.start.of((n,))
    prior.transitions.of((n, n))
    emissions.log_prior(prior.emissions)
    return prior


def masked(prior: Any, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """α for every entry that can be: what is zero stays zero."""
    alpha: NDArray[np.float64] = prior.of(table.shape).alpha
    return alpha * (table > 0)
