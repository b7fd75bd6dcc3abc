"""Hidden Markov models as documents; see :mod:`bayeslearn.codec`.

{"states", "start", "transitions", "frozen", "emissions": {"kind": ..., parameters}, "prior": null or {...},
"statistics": null or {...}, "lineage": {"shares", "bases", "parts"}}            the last only where it was updated
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import Bundle, Counts
from bayeslearn.distributions.distribution import by_name, column_names
from bayeslearn.model_values import ARRAY, NAME, PRIORS, plain_lineage, plain_prior, plain_statistics
from bayeslearn.sequence.counts import PoissonEmissions
from bayeslearn.sequence.covariances import FullNormalEmissions
from bayeslearn.sequence.emissions import ColumnEmissions
from bayeslearn.sequence.mixed import MixtureEmissions, MixturePrior
from bayeslearn.sequence.model import HiddenMarkovModel
from bayeslearn.sequence.normals import NormalEmissions
from bayeslearn.sequence.priors import ChainPrior, checked
from bayeslearn.sequence.symbols import CategoricalEmissions
from bayeslearn.tables import Discrete, Numeric

if TYPE_CHECKING:
    from bayeslearn.model_values import Reader
    from bayeslearn.sequence.emissions import Emissions

DIRICHLETS = {name: PRIORS[name] for name in ("dirichlet", "rule")}

#: Emissions with a class of their own, by their names in files.
EMISSIONS: dict[str, type] = {
    kind.kind: kind for kind in (CategoricalEmissions, PoissonEmissions, NormalEmissions, FullNormalEmissions)
}

### to a document


def document_of(model: HiddenMarkovModel) -> dict[str, Any]:
    """The model as plain values."""
    prior, statistics = model.prior, model.statistics
    return {
        "states": Discrete("state", model.states).to_dict()["states"],
        "start": model.start,
        "transitions": model.transitions,
        "frozen": sorted(model.frozen),
        "emissions": plain_emissions(model.emissions),
        "prior": None if prior is None else {f.name: plain_part(getattr(prior, f.name)) for f in fields(prior)},
        "statistics": None if statistics is None else plain_statistics(statistics),
        **plain_lineage(model.lineage),
    }


def plain_emissions(emissions: Any) -> dict[str, Any]:
    """Emissions as plain values."""
    entry: dict[str, Any] = {"kind": emissions.kind}
    if isinstance(emissions, ColumnEmissions):
        parameters = emissions.parameters if isinstance(emissions.parameters, tuple) else (emissions.parameters,)
        return entry | {"name": emissions.name, "parameters": [np.asarray(p) for p in parameters]}
    for field in fields(emissions):
        value = getattr(emissions, field.name)
        if field.name == "parts":
            entry["parts"] = plain_emissions(value)
        elif isinstance(value, Discrete):
            entry[field.name] = value.to_dict()
        else:
            entry[field.name] = value if isinstance(value, str) else np.asarray(value)
    return entry


def plain_part(prior: Any) -> dict[str, Any]:
    """A prior as plain values; that of a mixture has two parts."""
    if isinstance(prior, MixturePrior):
        return {name: plain_part(value) for name, value in prior._asdict().items()}
    return plain_prior(prior)


### from a document


def model_of(reader: Reader, document: dict[str, Any]) -> HiddenMarkovModel:
    """The model of a document, all of which is checked."""
    either = (dict, type(None))
    keys: dict[str, Any] = {
        "states": [NAME], "start": ARRAY, "transitions": ARRAY, "frozen": [str], "emissions": dict, "prior": either,
        "statistics": either,
    }  # fmt: skip
    states, start, moves, frozen, emissions, prior, statistics = reader.model(document, keys)
    tables = (reader.numbers(start, "start"), reader.numbers(moves, "transitions"))
    model = HiddenMarkovModel(
        tuple(states), *tables, emissions_of(reader, emissions, len(states)), frozen=frozenset(frozen)
    )
    n, emits = len(states), model.emissions
    if prior is not None:
        three = dict.fromkeys(("start", "transitions", "emissions"), dict)
        first, ahead, emitted = reader.entries(prior, three, "a prior")
        chain = ChainPrior(
            reader.prior(first, DIRICHLETS), reader.prior(ahead, DIRICHLETS), prior_of(reader, emitted, emits)
        )
        model = replace(model, prior=checked(chain, n, emits))
    if statistics is not None:
        nothing = Bundle(start=Counts.zero((n,)), transitions=Counts.zero((n, n)), emissions=no_statistics(emits))
        rests_on = reader.statistics(statistics, nothing)
        model.estimate(model.prior, rests_on)  # the parts fit each other
        model = replace(model, statistics=rests_on)
    return replace(model, lineage=reader.lineage(document, model.statistics))


def emissions_of(reader: Reader, entry: dict[str, Any], size: int) -> Emissions:
    """What the states emit."""
    kind = entry.get("kind")
    if kind == "mixture":
        _, weights, parts = reader.entries(entry, {"kind": str, "weights": ARRAY, "parts": dict}, "a mixture")
        if parts.get("kind") == "mixture":
            reader.wrong("a mixture of mixtures")
        shares = reader.numbers(weights, "weights")
        return MixtureEmissions(shares, emissions_of(reader, parts, shares.size))
    if not isinstance(kind, str) or kind not in {*EMISSIONS, *column_names()}:
        reader.wrong(f"there are no emissions {kind!r:.40}")
    if kind not in EMISSIONS:
        keys = {"kind": str, "name": str, "parameters": list}
        _, name, parameters = reader.entries(entry, keys, f"{kind} emissions")
        distribution = by_name(kind).over([Numeric(name)])
        return ColumnEmissions(name, distribution, reader.parameters(parameters, distribution, [Numeric(name)], size))
    cls = EMISSIONS[kind]
    kinds: dict[str, Any] = {"variable": dict, "name": str, "columns": [str]}
    keys = {"kind": str, **{f.name: kinds.get(f.name, ARRAY) for f in fields(cls)}}
    values = dict(zip(keys, reader.entries(entry, keys, f"{kind} emissions"), strict=True))
    del values["kind"]
    for name, value in values.items():
        if name == "variable":
            values[name] = reader.discrete(value, "the symbol")
        elif name == "columns":
            values[name] = tuple(value)
        elif name != "name":
            values[name] = reader.numbers(value, name)
            if name in {"var", "floor"}:
                reader.require_units(name, values[name])
    return cls(**values)


def prior_of(reader: Reader, entry: dict[str, Any], emissions: Emissions) -> Any:
    """A prior that the emissions take."""
    if isinstance(emissions, MixtureEmissions):
        weights, parts = reader.entries(entry, {"weights": dict, "parts": dict}, "a prior of mixtures")
        return MixturePrior(reader.prior(weights, DIRICHLETS), prior_of(reader, parts, emissions.parts))
    kinds = emissions.distribution.prior_types
    takes = {name: PRIORS[name] for name in PRIORS if PRIORS[name] in kinds}
    return reader.prior(entry, takes, of=f"{emissions.kind} emissions")


def no_statistics(emissions: Emissions) -> Any:
    """The statistics of no observations."""
    if isinstance(emissions, MixtureEmissions):
        return Bundle(weights=Counts.zero(emissions.weights.shape), parts=no_statistics(emissions.parts))
    return emissions.distribution.zero((emissions.size,))
