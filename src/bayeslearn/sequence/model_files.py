"""Models as files; see :mod:`bayeslearn.model_files`.

{"states", "start", "transitions", "frozen", "emissions": {"kind": ..., parameters},
 "prior": null or {...}, "statistics": null or {...}}
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import model_files
from bayeslearn.families import Bundle, Counts, JointMoments, Moments, Totals
from bayeslearn.model_files import PRIORS
from bayeslearn.sequence.mixed import MixtureEmissions, MixturePrior
from bayeslearn.sequence.model import HiddenMarkovModel
from bayeslearn.sequence.normals import FullNormalEmissions, NormalEmissions
from bayeslearn.sequence.priors import ChainPrior, checked
from bayeslearn.sequence.symbols import CategoricalEmissions, PoissonEmissions
from bayeslearn.tables import Discrete
from bayeslearn.tables.variables import variable_from_dict

if TYPE_CHECKING:
    import os

    from bayeslearn.sequence.emissions import Emissions

LABEL = "bayeslearn hidden Markov model"

#: Kinds of priors of a table of probabilities.
TABLE = ("dirichlet", "rule")
#: Emissions by name, with the priors they take and their statistics.
EMISSIONS: dict[str, tuple[type, tuple[str, ...], type]] = {
    "categorical": (CategoricalEmissions, TABLE, Counts),
    "poisson": (PoissonEmissions, ("gamma",), Totals),
    "gaussian": (NormalEmissions, ("normal-inverse-gamma",), Moments),
    "full": (FullNormalEmissions, ("normal-inverse-wishart",), JointMoments),
}

### writing


def write(model: HiddenMarkovModel, path: str | os.PathLike[str]) -> None:
    """Write a model to a .json or .json.gz file, all or nothing."""
    model_files.write(path, LABEL, parts_of(model))


def parts_of(model: HiddenMarkovModel) -> dict[str, Any]:
    """The model as plain values."""
    prior, statistics = model.prior, model.statistics
    return {
        "states": Discrete("state", model.states).to_dict()["states"],
        "start": model.start.tolist(),
        "transitions": model.transitions.tolist(),
        "frozen": sorted(model.frozen),
        "emissions": plain(model.emissions),
        "prior": None if prior is None else {f.name: plain(getattr(prior, f.name)) for f in fields(prior)},
        "statistics": None if statistics is None else plain(statistics),
    }


def plain(part: Any) -> Any:
    """Emissions, priors and statistics as plain values, named by their kind where that is not clear."""
    if isinstance(part, MixturePrior):
        return {"weights": plain(part.weights), "parts": plain(part.parts)}
    if isinstance(part, Bundle):
        return {name: plain(value) for name, value in part.items()}
    if isinstance(part, Discrete):
        return part.to_dict()
    if not hasattr(part, "__dataclass_fields__"):
        return np.asarray(part).tolist() if isinstance(part, np.ndarray) else part
    values = {f.name: plain(getattr(part, f.name)) for f in fields(part) if getattr(part, f.name) is not None}
    kind = getattr(part, "kind", None) or next((k for k, cls in PRIORS.items() if type(part) is cls), None)
    return values if kind is None else {"kind": kind, **values}


### reading


def read(path: str | os.PathLike[str]) -> HiddenMarkovModel:
    """The model of a file, checked in full."""
    return model_files.read(path, LABEL, lambda reader, document: Reader(reader.path, LABEL).model(document))


class Reader(model_files.Reader):
    """The parts of a hidden Markov model."""

    def part(self, entry: Any, keys: tuple[str, ...], what: str) -> list[Any]:
        """The values of an object that has exactly these keys."""
        return self.entries(entry, dict.fromkeys(keys, object), what)

    def model(self, document: dict[str, Any]) -> HiddenMarkovModel:
        """The whole document."""
        keys = ("states", "start", "transitions", "frozen", "emissions", "prior", "statistics")
        states, start, moves, frozen, emissions, prior, statistics = self.part(document, keys, "a model")
        if not isinstance(states, list) or not all(isinstance(s, str | int | float) for s in states):
            self.wrong(f"states are {states!r:.60}")
        if not isinstance(frozen, list) or not all(isinstance(name, str) for name in frozen):
            self.wrong(f"frozen parts are {frozen!r:.60}")
        model = HiddenMarkovModel(
            tuple(states),
            self.numbers(start, "start"),
            self.numbers(moves, "transitions"),
            self.emissions(emissions),
            frozen=frozenset(frozen),
        )
        n, what = len(states), model.emissions
        if prior is not None:
            model = replace(model, prior=self.chain_prior(prior, n, what))
        if statistics is None:
            return model
        first, moved, seen = self.part(statistics, ("start", "transitions", "emissions"), "statistics")
        rests_on = Bundle(
            start=self.statistics(first, Counts, [(n,)]),
            transitions=self.statistics(moved, Counts, [(n, n)]),
            emissions=self.observed(seen, what),
        )
        model.estimate(model.prior, rests_on)  # the parts fit each other
        return replace(model, statistics=rests_on)

    def emissions(self, entry: Any) -> Emissions:
        """What the states emit."""
        kind = entry.get("kind") if isinstance(entry, dict) else None
        if kind == "mixture":
            _, weights, parts = self.part(entry, ("kind", "weights", "parts"), "a mixture")
            if not isinstance(parts, dict) or parts.get("kind") == "mixture":
                self.wrong("a mixture of mixtures")
            return MixtureEmissions(self.numbers(weights, "weights"), self.emissions(parts))
        if kind not in EMISSIONS:
            self.wrong(f"there are no emissions {kind!r:.40}")
        cls = EMISSIONS[kind][0]
        names = tuple(f.name for f in fields(cls))
        values = dict(zip(names, self.part(entry, ("kind", *names), f"{kind} emissions")[1:], strict=True))
        for name, value in values.items():
            if name == "variable":
                values[name] = variable_from_dict(value)
                if not isinstance(values[name], Discrete):
                    self.wrong("symbols are not discrete")
            elif name == "columns":
                if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
                    self.wrong(f"columns are {value!r:.60}")
                values[name] = tuple(value)
            elif name == "name":
                values[name] = str(value)
            else:
                values[name] = self.numbers(value, name)
        return cls(**values)

    def chain_prior(self, entry: Any, n: int, emissions: Emissions) -> ChainPrior:
        """Priors of all tables."""
        start, moves, emitted = self.part(entry, ("start", "transitions", "emissions"), "a prior")
        first, ahead = (self.prior(table, some(TABLE)) for table in (start, moves))
        if isinstance(emissions, MixtureEmissions):
            weights, parts = self.part(emitted, ("weights", "parts"), "a prior of mixtures")
            takes = EMISSIONS[emissions.parts.kind][1]
            found: Any = MixturePrior(self.prior(weights, some(TABLE)), self.prior(parts, some(takes)))
        else:
            found = self.prior(emitted, some(EMISSIONS[emissions.kind][1]))
        return checked(ChainPrior(first, ahead, found), n, emissions)

    def observed(self, entry: Any, emissions: Emissions) -> Any:
        """Statistics of the emissions."""
        if isinstance(emissions, MixtureEmissions):
            weights, parts = self.part(entry, ("weights", "parts"), "statistics of mixtures")
            counts = self.statistics(weights, Counts, [emissions.weights.shape])
            return Bundle(weights=counts, parts=self.observed(parts, emissions.parts))
        return self.statistics(entry, EMISSIONS[emissions.kind][2])


def some(names: tuple[str, ...]) -> dict[str, type]:
    """Priors of these names."""
    return {name: PRIORS[name] for name in names}
