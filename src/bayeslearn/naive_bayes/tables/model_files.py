"""Models as files: JSON that keeps the priors and the statistics, so that learning goes on.

    {"format": "bayeslearn naive Bayes", "version": 1, "estimate": ..., "sharpness": ...,
     "target": {"variable", "prior", "statistics"},
     "columns": [{"variable", "family", "prior", "statistics"}, ...]}

Statistics are named lists, a row for each class. A prior is {"kind": ..., ...}. A name that ends in .gz is packed.
Nothing in a file is executed; every part is checked; what is unpacked is bounded.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from bayeslearn import files
from bayeslearn.errors import BayeslearnError, FormatError, MissingFileError, ParameterError
from bayeslearn.families import Bundle, Counts, Dirichlet, Gamma, Moments, NormalInverseGamma, Totals
from bayeslearn.families.categorical import DirichletRule
from bayeslearn.naive_bayes.tables.columns import FAMILIES, Column
from bayeslearn.naive_bayes.tables.model import NaiveBayes
from bayeslearn.naive_bayes.tables.priors import KINDS, Pooled
from bayeslearn.tables import Discrete
from bayeslearn.tables.variables import variable_from_dict

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

LABEL = "bayeslearn naive Bayes"
VERSION = 1

#: Bytes of text that are read at most.
MOST_BYTES = 1 << 28

PRIORS: dict[str, type] = {
    "dirichlet": Dirichlet,
    "rule": DirichletRule,
    "normal-inverse-gamma": NormalInverseGamma,
    "gamma": Gamma,
    "pooled": Pooled,
}
STATISTICS: dict[str, type] = {"categorical": Counts, "normal": Moments, "poisson": Totals}

### writing


def write(model: NaiveBayes, path: str | os.PathLike[str]) -> None:
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


def entry_of(model: NaiveBayes) -> dict[str, Any]:
    """The model as plain values."""
    target, counts = model.target, model.statistics[model.target.name]
    return {
        "format": LABEL,
        "version": VERSION,
        "estimate": model.estimate,
        "sharpness": model.sharpness,
        "target": {
            "variable": target.to_dict(),
            "prior": prior_entry(model.prior),
            "statistics": statistics_entry(counts),
        },
        "columns": [
            {
                "variable": c.variable.to_dict(),
                "family": c.family,
                "prior": prior_entry(c.prior),
                "statistics": statistics_entry(model.statistics[c.name]),
            }
            for c in model.columns
        ],
    }


def prior_entry(prior: Any) -> dict[str, Any]:
    """A prior as plain values; what is not said is left out."""
    kind = next(name for name, cls in PRIORS.items() if type(prior) is cls)
    values = {f.name: getattr(prior, f.name) for f in fields(prior)}
    return {"kind": kind, **{k: np.asarray(v).tolist() for k, v in values.items() if v is not None}}


def statistics_entry(statistics: Any) -> dict[str, Any]:
    """Statistics as named lists."""
    return {f.name: getattr(statistics, f.name).tolist() for f in fields(statistics)}


### reading


def read(path: str | os.PathLike[str]) -> NaiveBayes:
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
        raise FormatError(f"{self.path!r} is no naive Bayes model: {message}", path=self.path)

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

    def part(self, entry: Any, keys: dict[str, Any], what: str) -> list[Any]:
        """The values of an object that has exactly these keys, each of its kind."""
        if not isinstance(entry, dict) or set(entry) != set(keys):
            self.wrong(f"expected {what} with {', '.join(keys)}, found {entry!r:.80}")
        for key, kind in keys.items():
            if not isinstance(entry[key], kind) or isinstance(entry[key], bool):
                self.wrong(f"{key!r} of {what} is {entry[key]!r:.60}")
        return [entry[key] for key in keys]

    def model(self, document: Any) -> NaiveBayes:
        """The whole document."""
        if not isinstance(document, dict) or document.get("format") != LABEL:
            self.wrong(f'expected {{"format": {LABEL!r}, ...}}')
        if document.get("version") != VERSION:
            self.wrong(f"it has version {document.get('version')!r:.20}, and this program reads {VERSION}")
        keys = {"format": str, "version": int, "estimate": str, "sharpness": (int, float), "target": dict}
        _, _, estimate, sharpness, top, columns = self.part(document, {**keys, "columns": list}, "a model")
        variable, prior, counts = self.part(top, dict.fromkeys(("variable", "prior", "statistics"), dict), "the target")
        target = self.variable(variable)
        if not isinstance(target, Discrete):
            self.wrong("the target is not discrete")
        statistics = {target.name: self.statistics(counts, Counts, (target.size,))}
        found = []
        for entry in columns:
            column, part = self.column(entry, target.size)
            found.append(column)
            statistics[column.name] = part
        return NaiveBayes(
            target, tuple(found), self.prior(prior, "categorical"), Bundle(statistics), estimate, float(sharpness)
        )

    def column(self, entry: Any, n_classes: int) -> tuple[Column, Any]:
        """One column and its statistics."""
        keys = {"variable": dict, "family": str, "prior": dict, "statistics": dict}
        variable, family, prior, statistics = self.part(entry, keys, "a column")
        if family not in FAMILIES:
            self.wrong(f"there is no family {family!r:.40}")
        column = Column(self.variable(variable), family, self.prior(prior, family))
        size = (column.variable.size,) if isinstance(column.variable, Discrete) else ()
        part = self.statistics(statistics, STATISTICS[family], (n_classes, *size))
        column.prior_given(part)  # the prior fits
        return column, part

    def variable(self, entry: Any) -> Any:
        """A variable of finite states."""
        if any(isinstance(s, float) and not math.isfinite(s) for s in entry.get("states") or []):
            self.wrong("a state that is a number must be finite")
        return variable_from_dict(entry)

    def prior(self, entry: dict[str, Any], family: str) -> Any:
        """A prior that its family takes."""
        values = dict(entry)
        kind = PRIORS.get(str(values.pop("kind", None)))
        if kind is None or kind not in KINDS[family]:
            self.wrong(f"{entry!r:.80} is no prior of a {family} column")
        names = [f.name for f in fields(kind)]
        if not set(values) <= set(names) or (kind is not DirichletRule and set(values) != set(names)):
            self.wrong(f"{entry!r:.80} is no prior")
        arrays = {name: self.numbers(value, name) for name, value in values.items()}
        if kind is DirichletRule:
            rates = [a for name, a in arrays.items() if name != "spread"]
            if len(rates) != 1 or rates[0].ndim or rates[0] < 0:
                self.wrong(f"{entry!r:.80} is no rule for a prior")
            rule: dict[str, Any] = {n: a if n == "spread" else float(a) for n, a in arrays.items()}
            return DirichletRule(**rule)
        if kind is Pooled and arrays["cases"].ndim:
            self.wrong(f"{entry!r:.80} is no prior")
        return kind(**arrays)

    def statistics(self, entry: dict[str, Any], kind: type, shape: tuple[int, ...]) -> Any:
        """Statistics of this shape; amounts are not negative."""
        names = [f.name for f in fields(kind)]
        values = self.part(entry, dict.fromkeys(names, list), "statistics")
        arrays = [self.numbers(value, name) for value, name in zip(values, names, strict=True)]
        if any(a.shape != shape for a in arrays):
            self.wrong(f"expected statistics of shape {shape}, found {[a.shape for a in arrays]}")
        if any((a < 0).any() for a, name in zip(arrays, names, strict=True) if name != "mean"):
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
