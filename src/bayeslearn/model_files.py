"""Models as files: JSON that keeps priors and statistics, so that learning goes on.

    {"format": what it is, "version": 1, ...}

Statistics and parameters are named lists of numbers, a prior is {"kind": ..., ...}. A name that ends in .gz is packed.
A file is written whole or not at all. Nothing in it is executed; every part is checked before it is used, and what is
unpacked is bounded.
"""

from __future__ import annotations

import gzip
import json
import zlib
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from bayeslearn import files
from bayeslearn.errors import BayeslearnError, FormatError, MissingFileError, ParameterError
from bayeslearn.families import Bundle, Dirichlet, DirichletRule, Gamma, NormalInverseGamma, NormalInverseWishart
from bayeslearn.families.bases import Base

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from bayeslearn.families.bases import Bases

    Kind = type | tuple[type, ...]

T = TypeVar("T")

VERSION = 1

#: Bytes of text that are read at most.
MOST_BYTES = 1 << 28

#: Priors by the names they have in files.
PRIORS: dict[str, type] = {
    "dirichlet": Dirichlet,
    "rule": DirichletRule,
    "normal-inverse-gamma": NormalInverseGamma,
    "normal-inverse-wishart": NormalInverseWishart,
    "gamma": Gamma,
}

#: Numbers of statistics that may be below zero.
SIGNED = {"mean", "scatter"}


### writing


def write(path: str | os.PathLike[str], label: str, parts: Mapping[str, Any]) -> None:
    """Write a model to a .json or .json.gz file, all or nothing."""
    document = {"format": label, "version": VERSION, **parts}
    content = json.dumps(document, ensure_ascii=True, allow_nan=False, indent=1).encode()
    files.write(path, gzip.compress(content, mtime=0) if packed(path) else content)


def packed(path: str | os.PathLike[str]) -> bool:
    """Whether a name stands for a packed file; names end in .json or .json.gz."""
    name = Path(path).name.lower()
    if not name.endswith((".json", ".json.gz")):
        raise ParameterError(
            f"cannot tell the format of {str(path)!r} by its name", hint="names end in .json, .json.gz"
        )
    return name.endswith(".gz")


def plain(value: Any) -> dict[str, Any]:
    """The arrays of statistics or parameters, by their names; what is not said is left out."""
    values = {field.name: getattr(value, field.name) for field in fields(value)}
    return {name: np.asarray(v).tolist() for name, v in values.items() if v is not None}


def plain_bases(bases: Bases) -> dict[str, Any]:
    """The bases of a model as an entry of a file; nothing where it has none."""
    found = [{"share": base.share, "statistics": plain_statistics(base.statistics)} for base in bases]
    return {"bases": found} if found else {}


def plain_statistics(value: Any) -> dict[str, Any]:
    """Statistics, or a bundle of them, as plain values."""
    if isinstance(value, Bundle):
        return {str(name): plain_statistics(part) for name, part in value.items()}
    return plain(value)


def plain_prior(prior: Any, kinds: Mapping[str, type] = PRIORS) -> dict[str, Any]:
    """The same for a prior, with its kind."""
    return {"kind": next(name for name, kind in kinds.items() if type(prior) is kind), **plain(prior)}


### reading


def read(path: str | os.PathLike[str], label: str, build: Callable[[Reader, dict[str, Any]], T]) -> T:
    """What `build` makes of the parts of a file, all but its label and version; whatever it refuses is named."""
    place = Path(path)
    if not place.is_file():
        raise MissingFileError(f"cannot read {str(place)!r}: there is no such file", path=place)
    reader = Reader(str(place), label)
    try:
        return build(reader, reader.document(place))
    except FormatError:
        raise
    except BayeslearnError as error:
        raise FormatError(f"{str(place)!r}: {error.message}", hint=error.hint, path=str(place)) from None


class Reader:
    """The parts of a document, each checked before it is used."""

    def __init__(self, path: str, label: str) -> None:
        self.path, self.label = path, label

    def wrong(self, message: str) -> NoReturn:
        """Raise the error that names the file."""
        raise FormatError(f"{self.path!r} holds no {self.label.removeprefix('bayeslearn ')}: {message}", path=self.path)

    def document(self, place: Path) -> dict[str, Any]:
        """The document of a file of this label."""
        document = self._loaded(place)
        if not isinstance(document, dict) or document.get("format") != self.label:
            self.wrong(f'expected {{"format": {self.label!r}, ...}}')
        if document.get("version") != VERSION:
            self.wrong(f"it has version {document.get('version')!r:.20}, and this program reads {VERSION}")
        return {key: value for key, value in document.items() if key not in {"format", "version"}}

    def _loaded(self, place: Path) -> Any:
        try:
            with gzip.open(place) if place.suffix.lower() == ".gz" else place.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                self.wrong(f"it holds more than {MOST_BYTES:,} bytes")
            return json.loads(content.decode(), parse_constant=self._constant)
        except (OSError, EOFError, zlib.error) as error:
            self.wrong(f"it cannot be read: {error}")
        except (ValueError, RecursionError) as error:
            if isinstance(error, FormatError):
                raise
            self.wrong(f"this is not JSON: {error}"[:200])

    def _constant(self, word: str) -> NoReturn:
        """NaN and Infinity are no JSON."""
        self.wrong(f"expected a number, found {word}")

    def entries(self, entry: Any, keys: Mapping[str, Kind], what: str) -> list[Any]:
        """The values of an object that has exactly these keys, each of its kind."""
        if not isinstance(entry, dict) or set(entry) != set(keys):
            self.wrong(f"expected {what} with {', '.join(keys)}, found {entry!r:.80}")
        for key, kind in keys.items():
            if not isinstance(entry[key], kind) or (isinstance(entry[key], bool) and kind is not bool):
                self.wrong(f"{key!r} of {what} is {entry[key]!r:.60}")
        return [entry[key] for key in keys]

    def numbers(self, value: Any, name: str) -> NDArray[np.float64]:
        """Nested lists of finite numbers."""
        try:
            array = np.array(value)
        except ValueError:
            self.wrong(f"{name!r} is not a table of numbers")
        if array.dtype.kind not in "iuf" or not np.isfinite(array).all():
            self.wrong(f"{name!r} holds {value!r:.60}, not finite numbers")
        return array.astype(np.float64)

    def statistics(self, entry: Any, kind: Callable[..., T], shapes: Sequence[tuple[int, ...]] | None = None) -> T:
        """Statistics, of these shapes where they are told; amounts are not negative."""
        names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
        values = self.entries(entry, dict.fromkeys(names, list), "statistics")
        arrays = [self.numbers(value, name) for value, name in zip(values, names, strict=True)]
        if shapes is not None and [a.shape for a in arrays] != list(shapes):
            self.wrong(f"expected statistics of shapes {list(shapes)}, found {[a.shape for a in arrays]}")
        if any((a < 0).any() for a, name in zip(arrays, names, strict=True) if name not in SIGNED):
            self.wrong("statistics hold an amount below zero")
        return kind(*arrays)

    def bases(self, document: dict[str, Any], like: Any) -> Bases:
        """The bases of a model, taken out of its document: statistics of the same kind and shapes as its own."""
        found = document.pop("bases", [])
        if not isinstance(found, list) or (found and like is None):
            self.wrong(f"its bases are {found!r:.60}")
        keys: dict[str, Kind] = {"share": (int, float), "statistics": dict}
        parts = [self.entries(entry, keys, "a base") for entry in found]
        if not all(0 < share < float("inf") for share, _ in parts):
            self.wrong("a base has a share that is not above 0")
        return tuple(Base(self.statistics_like(statistics, like), float(share)) for share, statistics in parts)

    def statistics_like(self, entry: Any, like: Any) -> Any:
        """Statistics, or a bundle of them, of the same kind and shapes as others."""
        if isinstance(like, Bundle):
            names = {str(name): part for name, part in like.items()}
            values = self.entries(entry, dict.fromkeys(names, dict), "statistics")
            return Bundle({n: self.statistics_like(v, p) for (n, p), v in zip(like.items(), values, strict=True)})
        names = {field.name: getattr(like, field.name) for field in fields(like)}
        values = self.entries(entry, dict.fromkeys(names, (list, int, float)), "statistics")
        arrays = [self.numbers(value, name) for value, name in zip(values, names, strict=True)]
        if [a.shape for a in arrays] != [a.shape for a in names.values()]:
            self.wrong("the statistics of a base have other shapes than those of the model")
        if any((a < 0).any() for a, name in zip(arrays, names, strict=True) if name not in SIGNED):
            self.wrong("statistics hold an amount below zero")
        return type(like)(*arrays)

    def prior(self, entry: Any, kinds: Mapping[str, type] = PRIORS, *, of: str = "this table") -> Any:
        """A prior of one of some kinds."""
        values = dict(entry) if isinstance(entry, dict) else {}
        kind = kinds.get(str(values.pop("kind", None)))
        names = [field.name for field in fields(kind)] if kind else []
        if kind is None or not set(values) <= set(names) or (kind is not DirichletRule and set(values) != set(names)):
            self.wrong(f"{entry!r:.80} is no prior of {of}")
        arrays = {name: self.numbers(value, name) for name, value in values.items()}
        return self._rule(entry, arrays) if kind is DirichletRule else kind(**arrays)

    def _rule(self, entry: Any, arrays: dict[str, NDArray[np.float64]]) -> DirichletRule:
        rates = [a for name, a in arrays.items() if name != "spread"]
        if len(rates) != 1 or rates[0].ndim or rates[0] < 0:
            self.wrong(f"{entry!r:.80} is no rule for a prior")
        rule: dict[str, Any] = {name: a if name == "spread" else float(a) for name, a in arrays.items()}
        return DirichletRule(**rule)
