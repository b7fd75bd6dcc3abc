"""Mixtures as files: JSON that keeps prior, statistics and parameters, so that learning goes on.

    {"format": "bayeslearn mixture", "version": 1, "equal": ..., "weights": [...],
     "shares": {"prior", "statistics"},
     "parts": [{"columns", "family", "covariance", "variance", "prior", "parameters", "statistics"}, ...]}

Arrays are nested lists, a row for each component. A name that ends in .gz is packed. Nothing in a file is executed;
every part is checked; what is unpacked is bounded.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bayeslearn import files
from bayeslearn.errors import BayeslearnError, FormatError, MissingFileError, ParameterError
from bayeslearn.families import (
    Bundle,
    Categorical,
    Counts,
    Dirichlet,
    Gamma,
    MultivariateNormal,
    MultivariateParameters,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    NormalParameters,
    Poisson,
)
from bayeslearn.mixture.model import SHARES, Mixture, MixturePrior
from bayeslearn.mixture.parts import Part
from bayeslearn.tables import Discrete
from bayeslearn.tables.variables import variable_from_dict

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

LABEL = "bayeslearn mixture"
VERSION = 1

#: Bytes of text that are read at most.
MOST_BYTES = 1 << 28

FAMILIES = {"categorical": Categorical, "poisson": Poisson, "normal": Normal, "gaussian": MultivariateNormal}

### writing


def write(model: Mixture, path: str | os.PathLike[str]) -> None:
    """Write a model to a .json or .json.gz file, all or nothing."""
    content = json.dumps(entry_of(model), allow_nan=False, indent=1).encode()
    files.write(path, gzip.compress(content, mtime=0) if packed(path) else content)


def packed(path: str | os.PathLike[str]) -> bool:
    """Whether a name stands for a packed file; names end in .json or .json.gz."""
    name = Path(path).name.lower()
    if not name.endswith((".json", ".json.gz")):
        raise ParameterError(
            f"cannot tell the format of {str(path)!r} by its name", hint="names end in .json, .json.gz"
        )
    return name.endswith(".gz")


def entry_of(model: Mixture) -> dict[str, Any]:
    """The model as plain values."""
    known = model.statistics
    return {
        "format": LABEL,
        "version": VERSION,
        "equal": model.equal,
        "weights": model.weights.tolist(),
        "shares": {"prior": named(model.prior.shares), "statistics": None if known is None else named(known[SHARES])},
        "parts": [
            {
                "columns": [column.to_dict() for column in part.columns],
                "family": next(name for name, kind in FAMILIES.items() if type(part.family) is kind),
                "covariance": part.family.covariance if part.joint else None,
                "variance": part.variance,
                "prior": named(prior),
                "parameters": [np.asarray(p).tolist() for p in (θ if isinstance(θ, tuple) else (θ,))],
                "statistics": None if known is None else named(known[part.name]),
            }
            for part, prior, θ in zip(model.parts, model.prior.parts, model.parameters, strict=True)
        ],
    }


def named(value: Any) -> dict[str, Any]:
    """The arrays of a prior or of statistics, by their names."""
    return {field.name: getattr(value, field.name).tolist() for field in fields(value)}


### reading


def read(path: str | os.PathLike[str]) -> Mixture:
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
        raise FormatError(f"{self.path!r} is no mixture: {message}", path=self.path)

    def loaded(self, place: Path) -> Any:
        """The document of the file."""
        try:
            with gzip.open(place) if place.suffix.lower() == ".gz" else place.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                self.wrong(f"it holds more than {MOST_BYTES:,} bytes")
            return json.loads(content.decode(), parse_constant=self.constant)
        except (OSError, EOFError, zlib.error) as error:
            self.wrong(f"it cannot be read: {error}")
        except (ValueError, RecursionError) as error:
            if isinstance(error, FormatError):
                raise
            self.wrong(f"this is not JSON: {error}"[:200])

    def constant(self, word: str) -> NoReturn:
        """NaN and Infinity are no JSON."""
        self.wrong(f"expected a number, found {word}")

    def entries(self, entry: Any, keys: dict[str, Any], what: str) -> list[Any]:
        """The values of an object that has exactly these keys, each of its kind."""
        if not isinstance(entry, dict) or set(entry) != set(keys):
            self.wrong(f"expected {what} with {', '.join(keys)}, found {entry!r:.80}")
        for key, kind in keys.items():
            if not isinstance(entry[key], kind) or (isinstance(entry[key], bool) and kind is not bool):
                self.wrong(f"{key!r} of {what} is {entry[key]!r:.60}")
        return [entry[key] for key in keys]

    def model(self, document: Any) -> Mixture:
        """The whole document."""
        if not isinstance(document, dict) or document.get("format") != LABEL:
            self.wrong(f'expected {{"format": {LABEL!r}, ...}}')
        if document.get("version") != VERSION:
            self.wrong(f"it has version {document.get('version')!r:.20}, and this program reads {VERSION}")
        keys = {"format": str, "version": int, "equal": bool, "weights": list, "shares": dict, "parts": list}
        _, _, equal, weights, shares, parts = self.entries(document, keys, "a model")
        w = self.numbers(weights, "weights")
        if w.ndim != 1 or not w.size or (w < 0).any() or abs(w.sum() - 1) > 1e-6:
            self.wrong("the weights do not sum to 1")
        if not parts:
            self.wrong("it has no parts")
        prior, statistics = self.entries(shares, {"prior": dict, "statistics": (dict, type(None))}, "the shares")
        whole = statistics is not None
        read = [self.part(entry, len(w), whole=whole) for entry in parts]
        known = {SHARES: self.arrays(Counts, statistics, [w.shape])} if whole else {}
        known |= {part.name: found for part, _, _, found in read}
        if whole and len(known) != len(read) + 1:
            self.wrong("two parts have the same columns")
        priors = MixturePrior(self.arrays(Dirichlet, prior, [w.shape]), tuple(p for _, p, _, _ in read))
        return Mixture(
            tuple(part for part, _, _, _ in read), w, tuple(θ for _, _, θ, _ in read), priors,
            Bundle(known) if whole else None, equal,
        )  # fmt: skip

    def part(self, entry: Any, k: int, *, whole: bool) -> tuple[Part, Any, Any, Any]:
        """One part, its prior, its parameters and its statistics."""
        keys = {
            "columns": list, "family": str, "covariance": (str, type(None)), "variance": (int, float, type(None)),
            "prior": dict, "parameters": list, "statistics": (dict, type(None)),
        }  # fmt: skip
        columns, family, covariance, variance, prior, parameters, statistics = self.entries(entry, keys, "a part")
        variables: Any = tuple(variable_from_dict(column) for column in columns)
        if family not in FAMILIES or not variables or (statistics is None) is whole:
            self.wrong(f"{entry!r:.80} is no part")
        if (family == "categorical") is not isinstance(variables[0], Discrete) or (
            len(variables) > 1 and family != "gaussian"
        ):
            self.wrong(f"the columns of a {family} part are {columns!r:.80}")
        part = Part(variables, self.family(family, variables, covariance), variance)
        kind = {"categorical": Dirichlet, "poisson": Gamma}.get(family, NormalInverseGamma)
        kind = NormalInverseWishart if covariance in {"full", "tied"} else kind
        names = [f.name for f in fields(kind)]
        values = self.entries(prior, dict.fromkeys(names, list), "a prior")
        read = kind(*(self.numbers(v, name) for v, name in zip(values, names, strict=True)))
        part.shaped(read, k)  # the prior fits
        found = None
        if whole:
            zero = part.family.zero((k,))
            found = self.arrays(type(zero), statistics, [a.shape for a in zero.arrays()])
        return part, read, self.parameters(part, parameters, k), found

    def family(self, name: str, variables: tuple[Any, ...], covariance: Any) -> Any:
        """The family of a part."""
        if name == "categorical":
            return Categorical(variables[0].size)
        return MultivariateNormal(len(variables), covariance) if name == "gaussian" else FAMILIES[name]()

    def parameters(self, part: Part, values: list[Any], k: int) -> Any:
        """Parameters of the right shape, under which a density can be computed."""
        arrays = [self.numbers(value, "parameters") for value in values]
        shapes = parameter_shapes(part, k)
        if [a.shape for a in arrays] != shapes:
            self.wrong(f"expected parameters of shapes {shapes}, found {[a.shape for a in arrays]}")
        found: Any = arrays[0]
        if len(arrays) == 2:
            found = (MultivariateParameters if part.joint else NormalParameters)(*arrays)
        part.log_prob(found, np.zeros((1, part.family.dim)) if part.joint else np.zeros(1, np.intp))
        return found

    def arrays(self, kind: type, entry: Any, shapes: list[tuple[int, ...]]) -> Any:
        """Statistics or a prior of these shapes; amounts are not negative."""
        names = [f.name for f in fields(kind)]
        values = self.entries(entry, dict.fromkeys(names, list), "statistics")
        arrays = [self.numbers(value, name) for value, name in zip(values, names, strict=True)]
        if [a.shape for a in arrays] != shapes:
            self.wrong(f"expected shapes {shapes}, found {[a.shape for a in arrays]}")
        if any((a < 0).any() for a, name in zip(arrays, names, strict=True) if name not in {"mean", "scatter"}):
            self.wrong("statistics hold an amount below zero")
        return kind(*arrays)

    def numbers(self, value: Any, name: str) -> NDArray[np.float64]:
        """Nested lists of finite numbers."""
        try:
            array = np.array(value)
        except ValueError:
            self.wrong(f"{name!r} is not a table of numbers")
        if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            self.wrong(f"{name!r} holds {value!r:.60}, not finite numbers")
        return array.astype(np.float64)


def parameter_shapes(part: Part, k: int) -> list[tuple[int, ...]]:
    """The shapes of the parameters of k components."""
    if isinstance(part.family, Categorical):
        return [(k, part.family.size)]
    if not part.joint:
        return [(k,)] if isinstance(part.family, Poisson) else [(k,), (k,)]
    d = part.family.dim
    spread = {"full": (k, d, d), "tied": (d, d), "diagonal": (k, d), "spherical": (k,)}[part.family.covariance]
    return [(k, d), spread]
