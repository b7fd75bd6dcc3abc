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
from bayeslearn.families.lineage import Lineage, Part, of_snapshots

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

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


def plain_lineage(
    lineage: Lineage | None, statistics: Callable[[Any], Any] | None = None, key: str = "statistics"
) -> dict[str, Any]:
    """The lineage of a model as an entry of a file; nothing where it was never updated.

    {"shares": {name: share, ...}, "bases": [name, ...], "parts": [{"names", "share", "n_updates", "statistics"}, ...]}
    """
    if lineage is None:
        return {}
    plainly = statistics or plain_statistics
    parts = [
        {"names": list(p.names), "share": p.share, "n_updates": p.n_updates, key: plainly(p.statistics)}
        for p in lineage.parts
    ]
    bases = [name for name in lineage.shares if name in lineage.bases]
    return {"lineage": {"shares": dict(lineage.shares), "bases": bases, "parts": parts}}


def lineage_of(entry: Any, statistics: Callable[[Any], Any], key: str = "statistics") -> Lineage:
    """The lineage of an entry of a file; whatever does not fit is a ValueError that names it."""
    keys = {"shares": dict, "bases": list, "parts": list}
    if not isinstance(entry, dict) or {name: type(value) for name, value in entry.items()} != keys:
        raise ValueError("expected shares, bases and parts")
    shares, bases = entry["shares"], entry["bases"]
    if not all(is_amount(share) for share in shares.values()):
        raise ValueError("a share is not above 0")
    parts = [part_of(part, statistics, key) for part in entry["parts"]]
    named = [name for part in parts for name in part.names]
    if not all(isinstance(name, str) and name in shares for name in (*named, *bases)) or len(set(named)) < len(named):
        raise ValueError("its parts and bases do not name its updates")
    return Lineage({name: float(share) for name, share in shares.items()}, frozenset(bases), tuple(parts))


def part_of(entry: Any, statistics: Callable[[Any], Any], key: str) -> Part:
    """A part of a lineage."""
    if not isinstance(entry, dict) or set(entry) != {"names", "share", "n_updates", key}:
        raise ValueError(f"expected a part with its names, share, n_updates and {key}")
    names, share, n_updates = entry["names"], entry["share"], entry["n_updates"]
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        raise ValueError("a part has no names")
    if not is_amount(share) or type(n_updates) is not int or n_updates < len(names):
        raise ValueError("a part has a share that is not above 0, or fewer updates than names")
    return Part(tuple(names), statistics(entry[key]), float(share), n_updates)


def is_amount(value: Any) -> bool:
    """Whether this is a finite number above 0."""
    return type(value) in {int, float} and 0 < value < float("inf")


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

    def lineage(self, document: dict[str, Any], like: Any) -> Lineage | None:
        """The lineage of a model: statistics of the same kind and shapes as its own."""
        if "lineage" in document:
            if like is None:
                self.wrong("it has a lineage and no statistics")
            try:
                return lineage_of(document["lineage"], lambda entry: self.statistics_like(entry, like))
            except ValueError as error:
                self.wrong(f"its lineage cannot be read: {error}")
        return self.snapshots(document.get("bases", []), like)

    def snapshots(self, found: Any, like: Any) -> Lineage | None:
        """What files had before there were lineages: the statistics of models that this one was updated from."""
        if not isinstance(found, list) or (found and like is None):
            self.wrong(f"its bases are {found!r:.60}")
        keys: dict[str, Kind] = {"share": (int, float), "statistics": dict}
        parts = [self.entries(entry, keys, "a base") for entry in found]
        if not all(is_amount(share) for share, _ in parts):
            self.wrong("a base has a share that is not above 0")
        return of_snapshots([(float(s), self.statistics_like(statistics, like)) for s, statistics in parts], like)

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
            self.wrong("statistics of its lineage have other shapes than those of the model")
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
