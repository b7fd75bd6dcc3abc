"""Models as files: JSON that keeps parameters, priors and statistics, so that learning goes on.

    {"format": "bayeslearn hidden Markov model", "version": 1, "states", "start", "transitions", "frozen",
     "emissions": {"kind": ..., parameters}, "prior": null or {...}, "statistics": null or {...}}

Nothing in a file is executed; every part is checked; what is unpacked is bounded.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bayeslearn import files
from bayeslearn.errors import BayeslearnError, FormatError, MissingFileError, ParameterError
from bayeslearn.families import (
    Bundle,
    Counts,
    Dirichlet,
    DirichletRule,
    Gamma,
    JointMoments,
    Moments,
    NormalInverseGamma,
    NormalInverseWishart,
    Totals,
)
from bayeslearn.sequence.mixed import MixtureEmissions, MixturePrior
from bayeslearn.sequence.model import HiddenMarkovModel
from bayeslearn.sequence.normals import FullNormalEmissions, NormalEmissions
from bayeslearn.sequence.priors import ChainPrior, checked
from bayeslearn.sequence.symbols import CategoricalEmissions, PoissonEmissions
from bayeslearn.tables import Discrete
from bayeslearn.tables.variables import variable_from_dict

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from bayeslearn.sequence.emissions import Emissions

LABEL = "bayeslearn hidden Markov model"
VERSION = 1

#: Bytes of text that are read at most.
MOST_BYTES = 1 << 28

PRIORS: dict[str, type] = {
    "dirichlet": Dirichlet,
    "rule": DirichletRule,
    "normal-inverse-gamma": NormalInverseGamma,
    "normal-inverse-wishart": NormalInverseWishart,
    "gamma": Gamma,
}
#: Emissions by name, with the priors they take and their statistics.
EMISSIONS: dict[str, tuple[type, tuple[str, ...], type]] = {
    "categorical": (CategoricalEmissions, ("dirichlet", "rule"), Counts),
    "poisson": (PoissonEmissions, ("gamma",), Totals),
    "gaussian": (NormalEmissions, ("normal-inverse-gamma",), Moments),
    "full": (FullNormalEmissions, ("normal-inverse-wishart",), JointMoments),
}

### writing


def write(model: HiddenMarkovModel, path: str | os.PathLike[str]) -> None:
    """Write a model to a .json or .json.gz file, all or nothing."""
    content = json.dumps(entry_of(model), ensure_ascii=True, allow_nan=False, indent=1).encode()
    files.write(path, gzip.compress(content, mtime=0) if packed(path) else content)


def packed(path: str | os.PathLike[str]) -> bool:
    """Whether a name stands for a packed file; names end in .json or .json.gz."""
    name = Path(path).name.lower()
    if not name.endswith((".json", ".json.gz")):
        raise ParameterError(
            f"cannot tell the format of {str(path)!r} by its name", hint="names end in .json, .json.gz"
        )
    return name.endswith(".gz")


def entry_of(model: HiddenMarkovModel) -> dict[str, Any]:
    """The model as plain values."""
    prior, statistics = model.prior, model.statistics
    return {
        "format": LABEL,
        "version": VERSION,
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
    place = Path(path)
    if not place.is_file():
        raise MissingFileError(f"cannot read {str(place)!r}: there is no such file", path=place)
    reader = Reader(str(place))
    try:
        return reader.model(reader.loaded(place))
    except FormatError:
        raise
    except BayeslearnError as error:
        raise FormatError(f"{str(place)!r}: {error.message}", hint=error.hint, path=str(place)) from None


class Reader:
    """The parts of a document, each checked before it is used."""

    def __init__(self, path: str) -> None:
        self.path = path

    def wrong(self, message: str) -> NoReturn:
        """Raise the error that names the file."""
        raise FormatError(f"{self.path!r} is no hidden Markov model: {message}", path=self.path)

    def loaded(self, place: Path) -> Any:
        """The document of the file."""
        try:
            with gzip.open(place) if place.suffix.lower() == ".gz" else place.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                self.wrong(f"it holds more than {MOST_BYTES:,} bytes")
            return json.loads(content.decode(), parse_constant=lambda word: self.wrong(f"found {word}"))
        except (OSError, EOFError, zlib.error) as error:
            self.wrong(f"it cannot be read: {error}")
        except (ValueError, RecursionError) as error:
            if isinstance(error, FormatError):
                raise
            self.wrong(f"this is not JSON: {error}"[:200])

    def part(self, entry: Any, keys: tuple[str, ...], what: str) -> list[Any]:
        """The values of an object that has exactly these keys."""
        if not isinstance(entry, dict) or set(entry) != set(keys):
            self.wrong(f"expected {what} with {', '.join(keys)}, found {entry!r:.80}")
        return [entry[key] for key in keys]

    def model(self, document: Any) -> HiddenMarkovModel:
        """The whole document."""
        if not isinstance(document, dict) or document.get("format") != LABEL:
            self.wrong(f'expected {{"format": {LABEL!r}, ...}}')
        if document.get("version") != VERSION:
            self.wrong(f"it has version {document.get('version')!r:.20}, and this program reads {VERSION}")
        keys = ("states", "start", "transitions", "frozen", "emissions", "prior", "statistics")
        found = {key: value for key, value in document.items() if key not in {"format", "version"}}
        states, start, moves, frozen, emissions, prior, statistics = self.part(found, keys, "a model")
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
            start=self.statistics(first, Counts, (n,)),
            transitions=self.statistics(moved, Counts, (n, n)),
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
        first, ahead = (self.prior(table, ("dirichlet", "rule")) for table in (start, moves))
        if isinstance(emissions, MixtureEmissions):
            weights, parts = self.part(emitted, ("weights", "parts"), "a prior of mixtures")
            takes = EMISSIONS[emissions.parts.kind][1]
            found: Any = MixturePrior(self.prior(weights, ("dirichlet", "rule")), self.prior(parts, takes))
        else:
            found = self.prior(emitted, EMISSIONS[emissions.kind][1])
        return checked(ChainPrior(first, ahead, found), n, emissions)

    def prior(self, entry: Any, kinds: tuple[str, ...]) -> Any:
        """One prior of a kind that fits."""
        values = dict(entry) if isinstance(entry, dict) else {}
        kind = values.pop("kind", None)
        names = {f.name for f in fields(PRIORS[kind])} if kind in kinds else set()
        if kind not in kinds or not set(values) <= names or (kind != "rule" and set(values) != names):
            self.wrong(f"{entry!r:.80} is no prior of this table")
        arrays = {name: self.numbers(value, name) for name, value in values.items()}
        if kind != "rule":
            return PRIORS[kind](**arrays)
        rates = [a for name, a in arrays.items() if name != "spread"]
        if len(rates) != 1 or rates[0].ndim or rates[0] < 0:
            self.wrong(f"{entry!r:.80} is no rule for a prior")
        return DirichletRule(**{n: a if n == "spread" else float(a) for n, a in arrays.items()})  # type: ignore[arg-type]

    def observed(self, entry: Any, emissions: Emissions) -> Any:
        """Statistics of the emissions."""
        if isinstance(emissions, MixtureEmissions):
            weights, parts = self.part(entry, ("weights", "parts"), "statistics of mixtures")
            counts = self.statistics(weights, Counts, emissions.weights.shape)
            return Bundle(weights=counts, parts=self.observed(parts, emissions.parts))
        return self.statistics(entry, EMISSIONS[emissions.kind][2], None)

    def statistics(self, entry: Any, kind: type, shape: tuple[int, ...] | None) -> Any:
        """Statistics, of this shape where it is told; amounts are not negative."""
        names = tuple(f.name for f in fields(kind))
        values = self.part(entry, names, "statistics")
        arrays = dict(zip(names, (self.numbers(v, name) for v, name in zip(values, names, strict=True)), strict=True))
        if shape is not None and any(a.shape != shape for a in arrays.values()):
            self.wrong(f"expected statistics of shape {shape}")
        if any((a < 0).any() for name, a in arrays.items() if name not in {"mean", "scatter"}):
            self.wrong("statistics hold an amount below zero")
        return kind(*arrays.values())

    def numbers(self, value: Any, name: str) -> NDArray[np.float64]:
        """Nested lists of finite numbers."""
        try:
            array = np.array(value)
        except ValueError:
            self.wrong(f"{name!r} is not a table of numbers")
        if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            self.wrong(f"{name!r} holds {value!r:.60}, not finite numbers")
        return array.astype(np.float64)
