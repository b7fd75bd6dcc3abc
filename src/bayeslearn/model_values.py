"""Values that models share, as plain values and back: statistics, priors, parameters, variables, lineages.

Statistics, priors and parameters are dataclasses or named tuples of arrays, and become objects with an entry for each
field; a prior has its kind too. So a new distribution needs nothing here: its statistics are read in the shapes of its
own zero, and its prior by the name that :func:`~bayeslearn.distributions.distribution.register` gave it. Every value is
checked by a :class:`Reader` before an array is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from bayeslearn import distributions, validation
from bayeslearn.capacity import require_numbers
from bayeslearn.distributions import DirichletRule, FinitePrior, StatisticsBundle
from bayeslearn.distributions.distribution import PRIOR_CLASSES
from bayeslearn.distributions.lineage import Lineage, Part, of_snapshots
from bayeslearn.distributions.row_lineage import RowLineage
from bayeslearn.errors import FormatError
from bayeslearn.tables.variables import DiscreteVariable, variable_from_dict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.source_text import Source

    #: What a value may be: a type, one of several, or a list of such.
    Kind = type | tuple[type, ...] | list[Any]

T = TypeVar("T")

#: Kinds of values are a number, a name of a state, and what may be left open.
NUMBER, NAME, MAYBE = (int, float), (str, int, float, bool), type(None)


class Priors(Mapping[str, type]):
    """Classes of priors by the names they have in files; those of the package are loaded when they are asked for."""

    def __init__(self, known: dict[str, str | type]) -> None:
        self.known = known

    def __getitem__(self, name: str) -> type:
        found = self.known[name]
        return getattr(distributions, found) if isinstance(found, str) else found

    def __iter__(self) -> Iterator[str]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)


#: The priors of all distributions that are registered.
PRIORS = Priors(PRIOR_CLASSES)

#: The largest number: beyond, squares and their sums leave the range of floats.
MAX_NUMBER = 1e140

#: How far matrices may be from what they should be, relative to their largest entry.
ROUNDING = 1e-8

#: Axes that an array has at most.
MAX_AXES = 32

#: Numbers of statistics that may be below zero.
SIGNED = {"mean", "scatter", "finite", "logs", "cosines", "sines", "location"}


class RawArray:
    """An array that stands behind the document of a file: nothing but :meth:`Reader.array` looks into it."""

    __slots__ = ("array",)

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array

    def __repr__(self) -> str:
        return f"array of shape {self.array.shape}"


#: What an array may be in a document: nested lists, or one that stands behind it.
ARRAY = (list, RawArray)


### to plain values


def field_names(kind: Any) -> tuple[str, ...]:
    """The fields of a dataclass or a named tuple."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else kind._fields


def plain(value: Any) -> dict[str, Any]:
    """The arrays of statistics, parameters or a prior, by their names; what is None is left out."""
    values = {name: getattr(value, name) for name in field_names(type(value))}
    return {name: np.asarray(v) for name, v in values.items() if v is not None}


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
    if isinstance(value, StatisticsBundle):
        return {str(name): plain_statistics(part) for name, part in value.items()}
    return plain(value)


def plain_prior(prior: Any, kinds: Mapping[str, type] = PRIORS) -> dict[str, Any]:
    """The same for a prior, with its kind."""
    for name, kind in kinds.items():
        if type(prior) is kind:
            return {"kind": name, **plain(prior)}
    raise FormatError(
        f"files know no prior {type(prior).__name__}", hint="priors of registered distributions are known"
    )


### checks


def is_of(value: Any, kind: Kind) -> bool:
    """Whether a value is of a kind: a type, one of several, or a list of such; numbers are up to MAX_NUMBER.

    >>> is_of([1, 2.5], [NUMBER]), is_of([1, None], [NUMBER]), is_of(True, int), is_of(float("inf"), float)
    (True, False, False, False)
    """
    if isinstance(kind, list):
        return isinstance(value, list) and all(is_of(item, kind[0]) for item in value)
    if isinstance(value, bool):
        return bool in (kind if isinstance(kind, tuple) else (kind,))
    return isinstance(value, kind) and not (isinstance(value, float) and not abs(value) <= MAX_NUMBER)


def is_scatter(array: NDArray[np.float64]) -> bool:
    """Whether matrices (..., d, d) are symmetric and nowhere below zero, up to rounding."""
    if array.ndim < 2 or array.shape[-1] != array.shape[-2]:
        return False
    turned = np.swapaxes(array, -1, -2)
    scale = np.abs(array).max(initial=0.0, axis=(-2, -1), keepdims=True)
    if not (np.abs(array - turned) <= ROUNDING * scale).all():
        return False
    unit = np.where(scale > 0, array / np.where(scale > 0, scale, 1.0), 0.0)
    return bool((np.linalg.eigvalsh((unit + np.swapaxes(unit, -1, -2)) / 2) >= -ROUNDING * array.shape[-1]).all())


def is_within_range(array: NDArray[Any], *, missing: bool) -> bool:
    """Whether numbers are finite and not beyond MAX_NUMBER; NaN may stand for a missing one."""
    if array.dtype.kind != "f":
        return True
    within = np.abs(array) <= MAX_NUMBER
    return bool((within | np.isnan(array) if missing else within).all())


def nested_numbers(value: Any, *, missing: bool = False) -> NDArray[np.float64] | None:
    """The array of nested lists of numbers; None for anything else. Null may stand for a missing number.

    >>> nested_numbers([[1, 2.5], [4, 5]]).tolist(), nested_numbers([[1], [2, 3]]), nested_numbers(["a"])
    ([[1.0, 2.5], [4.0, 5.0]], None, None)
    """
    shape: tuple[int, ...] = ()
    level = [value]
    while level and type(level[0]) is list:
        n = len(level[0])
        if len(shape) == MAX_AXES or any(type(part) is not list or len(part) != n for part in level):
            return None
        shape, level = (*shape, n), list(chain.from_iterable(level))
    allowed = {int, float, type(None)} if missing else {int, float}
    return np.array(level, np.float64).reshape(shape) if allowed.issuperset(map(type, level)) else None


class Reader:
    """The values of a document, each checked before it is used."""

    def __init__(self, path: str, kind: str, source: Source, document: dict[str, Any]) -> None:
        self.path, self.kind = path, kind
        #: The text of the document, and the document with its format and version.
        self.source, self.document = source, document

    def wrong(self, message: str, *, hint: str | None = None) -> NoReturn:
        """Raise the error that names the file."""
        raise FormatError(f"{self.path!r} holds no {self.kind}: {message}", hint=hint, path=self.path)

    def entries(self, entry: Any, keys: Mapping[str, Kind], what: str) -> list[Any]:
        """The values of an object that has exactly these keys, each of its kind."""
        if not isinstance(entry, dict) or set(entry) != set(keys):
            self.wrong(f"expected {what} with {', '.join(keys)}, found {entry!r:.80}")
        for key, kind in keys.items():
            if not is_of(entry[key], kind):
                self.wrong(f"{key!r} of {what} is {entry[key]!r:.60}")
        return [entry[key] for key in keys]

    def model(self, document: dict[str, Any], keys: Mapping[str, Kind]) -> list[Any]:
        """The values of a model that has exactly these keys, and its lineage."""
        own = {key: value for key, value in document.items() if key not in {"lineage", "bases"}}
        return self.entries(own, keys, "a model")

    def array(
        self, value: Any, name: str, shape: tuple[int, ...] | None = None, *, missing: bool = False
    ) -> NDArray[Any]:
        """Finite numbers, of this shape if one is given; NaN where one is null and may be missing.

        Numbers of the document are floats, those behind it have the type that they were written with.
        """
        array = value.array if isinstance(value, RawArray) else nested_numbers(value, missing=missing)
        if array is None or not is_within_range(array, missing=missing):
            self.wrong(f"{name!r} holds {value!r:.60}, not finite numbers up to {MAX_NUMBER:g}")
        if shape is not None and array.shape != shape:
            self.wrong(f"expected {name!r} of shape {shape}, found {array.shape}")
        if missing and array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.nan, array)  # a signaling NaN warns wherever it is used
        return array

    def numbers(self, value: Any, name: str, shape: tuple[int, ...] | None = None) -> NDArray[np.float64]:
        """The same as floats."""
        array = self.array(value, name, shape)
        if array.dtype != np.float64:
            require_numbers(f"{self.path!r}: {name!r}", array.shape)
        return array.astype(np.float64, copy=False)

    def amounts(self, value: Any, name: str, shape: tuple[int, ...] | None = None) -> NDArray[Any]:
        """The same, none of them negative, of the type that they have."""
        array = self.array(value, name, shape)
        if array.min(initial=0) < 0:
            self.wrong(f"{name!r} holds numbers below zero")
        return array

    def whole_numbers(self, value: Any, name: str, shape: tuple[int, ...] | None = None) -> NDArray[np.int64]:
        """Whole numbers from 0 on."""
        array = self.amounts(value, name, shape)
        if array.dtype.kind == "f" and (array.max(initial=0) > 2**53 or (array != np.floor(array)).any()):
            self.wrong(f"{name!r} holds numbers that are not whole, or beyond 2⁵³")
        require_numbers(f"{self.path!r}: {name!r}", array.shape)
        return array.astype(np.int64)

    def require_units(self, name: str, array: NDArray[np.float64]) -> None:
        """Numbers that others are divided by: 0, or neither too large nor too small for that."""
        size = np.abs(array)
        if not ((size == 0) | ((size >= 1 / MAX_NUMBER) & (size <= MAX_NUMBER))).all():
            self.wrong(f"{name!r} holds numbers beyond {MAX_NUMBER:g} or below {1 / MAX_NUMBER:g}")

    def variable(self, entry: Any) -> Any:
        """A variable, whose states are words and finite numbers."""
        variable = variable_from_dict(entry)
        if not all(is_of(state, NAME) for state in getattr(variable, "states", ())):
            self.wrong(f"a state of {variable.name!r} is neither a word nor a finite number nor a truth value")
        return variable

    def discrete(self, entry: Any, what: str) -> DiscreteVariable:
        """A variable with states."""
        variable = self.variable(entry)
        if not isinstance(variable, DiscreteVariable):
            self.wrong(f"{what} {variable.name!r} is not discrete")
        return variable

    def require_amounts(self, arrays: Mapping[str, NDArray[np.float64]]) -> None:
        """Amounts that are not negative, and scatters that some rows may have."""
        if any((array < 0).any() for name, array in arrays.items() if name not in SIGNED):
            self.wrong("statistics hold an amount below zero")
        if "scatter" in arrays and not is_scatter(arrays["scatter"]):
            self.wrong("the scatter of the statistics is not symmetric, or below zero in some direction")

    def lineage(self, document: dict[str, Any], like: Any) -> Lineage | None:
        """The lineage of a model: statistics of the same kind and shapes as its own."""
        if "lineage" in document:
            if like is None:
                self.wrong("it has a lineage and no statistics")
            try:
                return lineage_of(document["lineage"], lambda entry: self.statistics(entry, like))
            except ValueError as error:
                self.wrong(f"its lineage cannot be read: {error}")
        return self.snapshots(document.get("bases", []), like)

    def row_lineage(self, document: dict[str, Any], n: int) -> RowLineage | None:
        """The lineage of a model that keeps n rows, if it was updated."""
        if "lineage" not in document:
            return None
        keys: dict[str, Any] = {"names": [str], "bases": [str], "rows": ARRAY}
        names, bases, rows = self.entries(document["lineage"], keys, "a lineage")
        updates = self.whole_numbers(rows, "rows", (n,))
        if not set(bases) <= set(names) or len(set(names)) < len(names) or updates.max(initial=0) >= len(names):
            self.wrong("its lineage does not fit its rows")
        return RowLineage(tuple(names), frozenset(bases), updates)

    def snapshots(self, found: Any, like: Any) -> Lineage | None:
        """What files had before there were lineages: the statistics of models that this one was updated from."""
        if not isinstance(found, list) or (found and like is None):
            self.wrong(f"its bases are {found!r:.60}")
        keys: dict[str, Kind] = {"share": NUMBER, "statistics": dict}
        parts = [self.entries(entry, keys, "a base") for entry in found]
        if not all(is_amount(share) for share, _ in parts):
            self.wrong("a base has a share that is not above 0")
        return of_snapshots([(float(s), self.statistics(statistics, like)) for s, statistics in parts], like)

    def statistics(self, entry: Any, like: T) -> T:
        """Statistics, or a bundle of them, of the same class and shapes as others; amounts are not negative."""
        if isinstance(like, StatisticsBundle):
            parts = self.entries(entry, {str(name): dict for name in like}, "statistics")
            found = {n: self.statistics(v, p) for (n, p), v in zip(like.items(), parts, strict=True)}
            return StatisticsBundle(found)  # type: ignore[return-value]
        names = field_names(type(like))
        values = self.entries(entry, dict.fromkeys(names, (*ARRAY, *NUMBER)), "statistics")
        arrays = {name: self.numbers(value, name) for name, value in zip(names, values, strict=True)}
        shapes = [np.shape(getattr(like, name)) for name in names]
        if [array.shape for array in arrays.values()] != shapes:
            self.wrong(f"expected statistics of shapes {shapes}, found {[a.shape for a in arrays.values()]}")
        self.require_amounts(arrays)
        return type(like)(*arrays.values())

    def parameters(self, values: list[Any], distribution: Any, columns: Sequence[Any], k: int) -> Any:
        """Parameters of the class and the shapes that a distribution makes, under which a density can be computed."""
        n = 2 * distribution.n_columns + 4
        numbers = np.random.default_rng(0).integers(1, 9, (n, distribution.n_columns)).astype(float)
        one_column = np.zeros(n, np.intp) if isinstance(columns[0], DiscreteVariable) else numbers[:, 0]
        cells = distribution.cells(numbers if distribution.points_of_columns else one_column)
        everything = distribution.collect(cells, sample_weight=np.ones((n, k)))
        like = distribution.estimate(distribution.update(distribution.none(), everything))
        arrays = [self.numbers(value, "parameters") for value in values]
        shapes = [np.shape(p) for p in (like if isinstance(like, tuple) else (like,))]
        if [a.shape for a in arrays] != shapes:
            self.wrong(f"expected parameters of shapes {shapes}, found {[a.shape for a in arrays]}")
        found = type(like)(*arrays) if isinstance(like, tuple) else arrays[0]
        if len(arrays) > 1:
            matrices = getattr(distribution, "covariance", None) in {"full", "tied"}
            self.require_units("parameters", np.diagonal(arrays[1], axis1=-2, axis2=-1) if matrices else arrays[1])
        with np.errstate(all="ignore"):
            density = distribution.log_prob(found, cells[:1])
        if np.isnan(density).any():
            self.wrong(f"there is no {distribution.name} distribution with the parameters {values!r:.60}")
        return found

    def prior(self, entry: Any, kinds: Mapping[str, type] = PRIORS, *, of: str = "this table") -> Any:
        """A prior of one of some kinds."""
        values = dict(entry) if isinstance(entry, dict) else {}
        kind = kinds.get(str(values.pop("kind", None)))
        names = field_names(kind) if kind else ()
        if kind is None or not set(values) <= set(names) or (kind is not DirichletRule and set(values) != set(names)):
            self.wrong(f"{entry!r:.80} is no prior of {of}")
        arrays = {name: self.numbers(value, name) for name, value in values.items()}
        return self._rule(entry, arrays) if kind is DirichletRule else kind(**arrays)

    def finite_prior(self, value: Any, name: str, n: int) -> FinitePrior:
        """Log probabilities of n hypotheses, null where one is impossible; they stay as they are but for rounding."""
        log_p = self.array(value, name, (n,), missing=True).astype(np.float64)
        log_p[np.isnan(log_p)] = -np.inf
        prior = FinitePrior(log_p)
        if np.allclose(prior.log_p, log_p, rtol=1e-13, atol=1e-13):
            object.__setattr__(prior, "log_p", validation.lock(log_p))
        return prior

    def _rule(self, entry: Any, arrays: dict[str, NDArray[np.float64]]) -> DirichletRule:
        rates = [a for name, a in arrays.items() if name != "spread"]
        if len(rates) != 1 or rates[0].ndim or rates[0] < 0:
            self.wrong(f"{entry!r:.80} is no rule for a prior")
        rule: dict[str, Any] = {name: a if name == "spread" else float(a) for name, a in arrays.items()}
        return DirichletRule(**rule)
