"""Models as files: JSON that keeps parameters, priors and statistics, so that learning goes on.

    {"format": "bayeslearn hidden Markov model", "version": 1, "states", "start", "transitions", "frozen",
     "emissions": {"kind": ..., parameters}, "prior": null or {...}, "statistics": null or {...},
     "lineage": {"shares", "bases", "parts"}}                                     only where it was updated

How files are written, bounded and checked is said in :mod:`bayeslearn.model_files`.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import model_files
from bayeslearn.families import Bundle, Counts, JointMoments, Moments, Totals
from bayeslearn.model_files import PRIORS, Reader, plain_prior
from bayeslearn.sequence.counts import PoissonEmissions
from bayeslearn.sequence.covariances import FullNormalEmissions
from bayeslearn.sequence.mixed import MixtureEmissions, MixturePrior
from bayeslearn.sequence.model import HiddenMarkovModel
from bayeslearn.sequence.normals import NormalEmissions
from bayeslearn.sequence.priors import ChainPrior, checked
from bayeslearn.sequence.symbols import CategoricalEmissions
from bayeslearn.tables import Discrete
from bayeslearn.tables.variables import variable_from_dict

if TYPE_CHECKING:
    import os

    from bayeslearn.sequence.emissions import Emissions

LABEL = "bayeslearn hidden Markov model"

DIRICHLETS = {name: PRIORS[name] for name in ("dirichlet", "rule")}
#: Emissions by name, with the priors they take and their statistics.
EMISSIONS: dict[str, tuple[type, dict[str, type], type]] = {
    "categorical": (CategoricalEmissions, DIRICHLETS, Counts),
    "poisson": (PoissonEmissions, {"gamma": PRIORS["gamma"]}, Totals),
    "gaussian": (NormalEmissions, {"normal-inverse-gamma": PRIORS["normal-inverse-gamma"]}, Moments),
    "full": (FullNormalEmissions, {"normal-inverse-wishart": PRIORS["normal-inverse-wishart"]}, JointMoments),
}

### writing


def write(model: HiddenMarkovModel, path: str | os.PathLike[str]) -> None:
    """Write a model to a .json or .json.gz file, all or nothing."""
    prior, statistics = model.prior, model.statistics
    parts = {
        "states": Discrete("state", model.states).to_dict()["states"],
        "start": model.start.tolist(),
        "transitions": model.transitions.tolist(),
        "frozen": sorted(model.frozen),
        "emissions": plain_emissions(model.emissions),
        "prior": None if prior is None else {f.name: plain(getattr(prior, f.name)) for f in fields(prior)},
        "statistics": None if statistics is None else plain(statistics),
        **model_files.plain_lineage(model.lineage),
    }
    model_files.write(path, LABEL, parts)


def plain_emissions(emissions: Any) -> dict[str, Any]:
    """Emissions as plain values."""
    entry: dict[str, Any] = {"kind": emissions.kind}
    for field in fields(emissions):
        value = getattr(emissions, field.name)
        if field.name == "parts":
            entry["parts"] = plain_emissions(value)
        elif isinstance(value, Discrete):
            entry[field.name] = value.to_dict()
        else:
            entry[field.name] = value if isinstance(value, str) else np.asarray(value).tolist()
    return entry


def plain(part: Any) -> dict[str, Any]:
    """Priors and statistics as plain values; those of mixtures have two parts."""
    if isinstance(part, MixturePrior):
        return {name: plain(value) for name, value in part._asdict().items()}
    if isinstance(part, Bundle):
        return {name: plain(value) for name, value in part.items()}
    return plain_prior(part) if type(part) in PRIORS.values() else model_files.plain(part)


### reading


def read(path: str | os.PathLike[str]) -> HiddenMarkovModel:
    """The model of a file, checked in full."""
    return model_files.read(path, LABEL, model_of)


def model_of(reader: Reader, document: dict[str, Any]) -> HiddenMarkovModel:
    """The whole document."""
    either = (dict, type(None))
    keys = {"states": list, "start": list, "transitions": list, "frozen": list, "emissions": dict}
    own = {key: value for key, value in document.items() if key not in {"lineage", "bases"}}
    states, start, moves, frozen, emissions, prior, statistics = reader.entries(
        own, {**keys, "prior": either, "statistics": either}, "a model"
    )
    if not all(isinstance(s, str | int | float) for s in states) or not all(isinstance(f, str) for f in frozen):
        reader.wrong(f"states are {states!r:.60}, frozen parts {frozen!r:.60}")
    tables = (reader.numbers(start, "start"), reader.numbers(moves, "transitions"))
    model = HiddenMarkovModel(tuple(states), *tables, emissions_of(reader, emissions), frozen=frozenset(frozen))
    n, emits = len(states), model.emissions
    three = dict.fromkeys(("start", "transitions", "emissions"), dict)
    if prior is not None:
        first, ahead, emitted = reader.entries(prior, three, "a prior")
        chain = ChainPrior(
            reader.prior(first, DIRICHLETS), reader.prior(ahead, DIRICHLETS), prior_of(reader, emitted, emits)
        )
        model = replace(model, prior=checked(chain, n, emits))
    if statistics is not None:
        first, ahead, emitted = reader.entries(statistics, three, "statistics")
        rests_on = Bundle(
            start=reader.statistics(first, Counts, [(n,)]),
            transitions=reader.statistics(ahead, Counts, [(n, n)]),
            emissions=statistics_of(reader, emitted, emits),
        )
        model.estimate(model.prior, rests_on)  # the parts fit each other
        model = replace(model, statistics=rests_on)
    return replace(model, lineage=reader.lineage(document, model.statistics))


def emissions_of(reader: Reader, entry: dict[str, Any]) -> Emissions:
    """What the states emit."""
    kind = entry.get("kind")
    if kind == "mixture":
        _, weights, parts = reader.entries(entry, {"kind": str, "weights": list, "parts": dict}, "a mixture")
        if parts.get("kind") == "mixture":
            reader.wrong("a mixture of mixtures")
        return MixtureEmissions(reader.numbers(weights, "weights"), emissions_of(reader, parts))
    if not isinstance(kind, str) or kind not in EMISSIONS:
        reader.wrong(f"there are no emissions {kind!r:.40}")
    cls = EMISSIONS[kind][0]
    kinds = {"variable": dict, "name": str}
    keys = {"kind": str, **{f.name: kinds.get(f.name, list) for f in fields(cls)}}
    values = dict(zip(keys, reader.entries(entry, keys, f"{kind} emissions"), strict=True))
    del values["kind"]
    for name, value in values.items():
        if name == "variable":
            values[name] = variable_from_dict(value)
        elif name == "columns":
            values[name] = tuple(map(str, value))
        elif name != "name":
            values[name] = reader.numbers(value, name)
    if not isinstance(values.get("variable", Discrete("", ("",))), Discrete):
        reader.wrong("symbols are not discrete")
    return cls(**values)


def prior_of(reader: Reader, entry: dict[str, Any], emissions: Emissions) -> Any:
    """A prior that the emissions take."""
    if isinstance(emissions, MixtureEmissions):
        weights, parts = reader.entries(entry, {"weights": dict, "parts": dict}, "a prior of mixtures")
        return MixturePrior(reader.prior(weights, DIRICHLETS), prior_of(reader, parts, emissions.parts))
    return reader.prior(entry, EMISSIONS[emissions.kind][1], of=f"{emissions.kind} emissions")


def statistics_of(reader: Reader, entry: dict[str, Any], emissions: Emissions) -> Any:
    """Statistics of the emissions."""
    if isinstance(emissions, MixtureEmissions):
        weights, parts = reader.entries(entry, {"weights": dict, "parts": dict}, "statistics of mixtures")
        counts = reader.statistics(weights, Counts, [emissions.weights.shape])
        return Bundle(weights=counts, parts=statistics_of(reader, parts, emissions.parts))
    return reader.statistics(entry, EMISSIONS[emissions.kind][2])
