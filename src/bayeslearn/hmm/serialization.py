"""Hidden Markov models as documents; see :mod:`bayeslearn.codec`.

{"states", "startprob", "transmat", "frozen", "emissions": {"kind": ..., parameters}, "prior": null or {...},
"statistics": null or {...}, "lineage": {"shares", "bases", "parts"}}            the last only where it was updated
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bayeslearn.distributions import Counts, StatisticsBundle
from bayeslearn.hmm.emissions import emissions_of
from bayeslearn.hmm.model import HiddenMarkovModel
from bayeslearn.hmm.priors import HMMPrior, checked
from bayeslearn.model_values import ARRAY, NAME, PRIORS, plain_lineage, plain_prior, plain_statistics
from bayeslearn.tables import DiscreteVariable

if TYPE_CHECKING:
    from bayeslearn.model_values import Reader

DIRICHLETS = {name: PRIORS[name] for name in ("dirichlet", "rule")}

### to a document


def document_of(model: HiddenMarkovModel) -> dict[str, Any]:
    """The model as plain values."""
    prior, statistics = model.prior, model.statistics
    return {
        "states": DiscreteVariable("state", model.states).to_dict()["states"],
        "startprob": model.startprob,
        "transmat": model.transmat,
        "frozen": sorted(model.frozen),
        "emissions": model.emissions.to_document(),
        "prior": None
        if prior is None
        else {
            "startprob": plain_prior(prior.startprob),
            "transmat": plain_prior(prior.transmat),
            "emissions": model.emissions.plain_prior(prior.emissions),
        },
        "statistics": None if statistics is None else plain_statistics(statistics),
        **plain_lineage(model.lineage),
    }


### from a document


def model_of(reader: Reader, document: dict[str, Any]) -> HiddenMarkovModel:
    """The model of a document, all of which is checked."""
    either = (dict, type(None))
    keys: dict[str, Any] = {
        "states": [NAME], "startprob": ARRAY, "transmat": ARRAY, "frozen": [str], "emissions": dict, "prior": either,
        "statistics": either,
    }  # fmt: skip
    states, start, moves, frozen, emissions, prior, statistics = reader.model(document, keys)
    tables = (reader.numbers(start, "startprob"), reader.numbers(moves, "transmat"))
    model = HiddenMarkovModel(
        tuple(states), *tables, emissions_of(reader, emissions, len(states)), frozen=frozenset(frozen)
    )
    n, emits = len(states), model.emissions
    if prior is not None:
        three = dict.fromkeys(("startprob", "transmat", "emissions"), dict)
        first, ahead, emitted = reader.entries(prior, three, "a prior")
        chain = HMMPrior(
            reader.prior(first, DIRICHLETS), reader.prior(ahead, DIRICHLETS), emits.read_prior(reader, emitted)
        )
        model = replace(model, prior=checked(chain, n, emits))
    if statistics is not None:
        nothing = StatisticsBundle(startprob=Counts.zero((n,)), transmat=Counts.zero((n, n)), emissions=emits.zero())
        rests_on = reader.statistics(statistics, nothing)
        model.estimate(model.prior, rests_on)  # the parts fit each other
        model = replace(model, statistics=rests_on)
    return replace(model, lineage=reader.lineage(document, model.statistics))
