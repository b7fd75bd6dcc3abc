"""Names and priors of a finite set of hypotheses, and description lengths.

"uniform"            equal probabilities              {"cancer": 0.008, ...}        a probability for each name
[0.4, 0.3, 0.3]      in the order of the hypotheses   FinitePrior.code_lengths(L)   P(h) ∝ 2^−L(h)
lambda h: 0.5**len   relative weight of a hypothesis: divided by the sum

The hypothesis of minimum description length needs the fewest bits for itself and for the data given it:

    h_MDL = argmin L(h) + L(D|h)          with the optimal codes L = −log2 P it is the MAP hypothesis

>>> from bayeslearn.hypotheses import FiniteSpace
>>> space = FiniteSpace.from_labelers({"always": lambda x: True, "table": {0: True, 1: True, 2: False}.get})
>>> data = [(0, True), (1, True), (2, False)]
>>> lengths = description_lengths(space, data, hypothesis_bits={"always": 1, "table": 9}, data_bits=mistake_bits)
>>> print(lengths)
Minimum description length: always
<BLANKLINE>
Hypothesis  L(h)  L(D|h)  Total
-------------------------------
always         1   3.585  4.585
table          9       2     11
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from scipy.special import gammaln

from bayeslearn import lazy_imports, validation
from bayeslearn.distributions import FinitePrior
from bayeslearn.distributions.finite_hypotheses import TIE
from bayeslearn.distributions.priors import uniform_prior
from bayeslearn.distributions.sufficient_statistics import frozen
from bayeslearn.errors import ParameterError, ProbabilityError, ShapeError, listed
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.hypotheses.finite_space import FiniteSpace, HypothesisPosterior
    from bayeslearn.tables.frames import Backend

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

Names: TypeAlias = tuple[Hashable, ...]
PriorLike: TypeAlias = FinitePrior | Mapping[Any, float] | Sequence[float] | Callable[[Any], float] | Literal["uniform"]


def named(hypotheses: Any) -> tuple[Names, tuple[Any, ...]]:
    """Names and hypotheses from a mapping, a list of (name, hypothesis) pairs, or a list of hypotheses.

    >>> named([max, min, ("third", len)])[0]
    ('max', 'min', 'third')
    """
    try:
        given = list(hypotheses.items() if isinstance(hypotheses, Mapping) else hypotheses)
    except TypeError:
        raise ParameterError(f"expected a list of hypotheses, got {hypotheses!r:.80}") from None
    if not given:
        raise ParameterError("expected at least one hypothesis, got none")
    pairs = [item if isinstance(hypotheses, Mapping) or _is_pair(item) else (None, item) for item in given]
    names = _unique([_own_name(h) if name is None else name for name, h in pairs], [name is None for name, _ in pairs])
    return names, tuple(h for _, h in pairs)


def as_prior(prior: PriorLike, names: Names, hypotheses: Sequence[Any]) -> FinitePrior:
    """The prior over `names` as a distribution."""
    if prior is None or isinstance(prior, str):
        return uniform_prior(prior, len(names))
    if isinstance(prior, FinitePrior):
        return _fitting(prior, len(names))
    if isinstance(prior, Mapping):
        return FinitePrior.given(by_name("prior", prior, names))
    if callable(prior):
        return _relative([prior(h) for h in hypotheses], names)
    return _fitting(FinitePrior.given(prior), len(names))


def by_name(what: str, values: Mapping[Any, float], names: Names) -> list[float]:
    """Numbers given per name, in the order of the hypotheses; every name once, no other."""
    odd = [name for name in values if name not in names]
    left = [name for name in names if name not in values]
    if odd or left:
        problem = f"names {odd[0]!r}, which is no hypothesis" if odd else f"has no entry for {left[0]!r}"
        raise ParameterError(f"`{what}` {problem}", hint=f"the hypotheses are {listed(names)}")
    return [values[name] for name in names]


### inside


def _is_pair(item: Any) -> bool:
    """A name with its hypothesis: the name is text, or what follows it can label or be called."""
    if not isinstance(item, tuple) or len(item) != 2:
        return False
    return isinstance(item[0], str) or (not callable(item[0]) and (callable(item[1]) or hasattr(item[1], "predict")))


def _own_name(hypothesis: Any) -> str:
    return str(getattr(hypothesis, "__name__", type(hypothesis).__name__))


def _unique(names: list[Any], automatic: list[bool]) -> Names:
    """Automatic names that repeat are numbered; given ones must differ."""
    doubled = {name for name in names if names.count(name) > 1}
    counts: dict[Any, int] = {}
    final = []
    for name, by_us in zip(names, automatic, strict=True):
        counts[name] = counts.get(name, 0) + 1
        final.append(f"{name}-{counts[name]}" if by_us and name in doubled else name)
    if len(set(final)) < len(final):
        twice = next(name for name in final if final.count(name) > 1)
        raise ParameterError(f"two hypotheses share the name {twice!r}", hint="give each hypothesis its own name")
    return tuple(final)


def _fitting(prior: FinitePrior, size: int) -> FinitePrior:
    if prior.log_p.shape != (size,):
        raise ShapeError(f"expected a prior over {size} hypotheses, got one of shape {prior.log_p.shape}")
    return prior


def _relative(weights: list[float], names: Names) -> FinitePrior:
    w = validation.float_array("prior", weights)
    bad = ~(np.isfinite(w) & (w >= 0))
    if bad.any():
        where = validation.first_position(bad)
        raise ProbabilityError(f"the prior weight of {names[where]!r} must be finite and not negative, got {w[where]}")
    if not w.any():
        raise ProbabilityError("the prior gives weight zero to every hypothesis")
    with np.errstate(divide="ignore"):
        return FinitePrior(np.log(w))


### description lengths


@dataclass(frozen=True, eq=False, repr=False)
class DescriptionLengths(Reported):
    """The bits of each hypothesis, and of the data given the hypothesis."""

    names: Names
    hypothesis: NDArray[np.float64]
    data: NDArray[np.float64]

    def __post_init__(self) -> None:
        for field in ("hypothesis", "data"):
            bits = frozen(getattr(self, field))
            if np.isnan(bits).any() or (bits < 0).any():
                where = validation.first_position(np.isnan(bits) | (bits < 0))
                raise ParameterError(
                    f"a code length must not be negative, got {bits[where]} for {self.names[where]!r}",
                    hint="a code length in bits is −log2 of a probability",
                )
            object.__setattr__(self, field, bits)

    @property
    def total(self) -> NDArray[np.float64]:
        """L(h) + L(D|h)."""
        return self.hypothesis + self.data

    @property
    def best(self) -> list[Hashable]:
        """The hypotheses with the shortest description, all that tie."""
        total = self.total
        if np.isinf(total).all():
            raise ParameterError("no hypothesis can describe the data in finitely many bits")
        return [self.names[i] for i in np.flatnonzero(total <= total.min() + TIE / np.log(2))]

    def to_rows(self) -> list[tuple[Hashable, float, float, float]]:
        """(name, L(h), L(D|h), total), shortest first."""
        rows = zip(self.names, self.hypothesis.tolist(), self.data.tolist(), self.total.tolist(), strict=True)
        return sorted(rows, key=lambda row: row[3])

    def report(self) -> Report:
        """Return the lengths of each hypothesis, shortest first."""
        rows = [(str(name), *(round(bits, 3) for bits in lengths)) for name, *lengths in self.to_rows()]
        title = f"Minimum description length: {', '.join(map(str, self.best))}"
        return Report(title, Grid(["Hypothesis", "L(h)", "L(D|h)", "Total"], rows))

    def to_dict(self) -> dict[str, Any]:
        """Return the best hypotheses and all lengths in bits as plain values."""
        lengths = [{"name": n, "hypothesis": h, "data": d, "total": t} for n, h, d, t in self.to_rows()]
        return {"best": self.best, "lengths": lengths}

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a frame with a row for each hypothesis: bits of the hypothesis, of the data, and their sum."""
        return frame_of_rows(["name", "hypothesis", "data", "total"], self.to_rows(), backend)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw both parts of each length (:func:`bayeslearn.plots.plot_description_lengths`)."""
        return plots.plot_description_lengths(self, ax=ax)


def description_lengths(
    space: FiniteSpace, data: Sequence[Any], *, hypothesis_bits: Any, data_bits: Any = None
) -> DescriptionLengths:
    """The two parts of the description of `data` under each hypothesis.

    Parameters
    ----------
    hypothesis_bits
        L(h): a mapping by name, a function of the hypothesis, or numbers in order.
    data_bits
        L(D|h): a mapping by name, a function of the hypothesis and the data, or numbers in order. When not given, the
        optimal code −log2 P(D|h).
    """
    if data_bits is None:
        bits = _bits(space.collect(data).total)
    elif callable(data_bits):
        bits = space.numbers("data_bits", lambda h: data_bits(h, data))
    else:
        bits = space.numbers("data_bits", data_bits)
    return DescriptionLengths(space.names, space.numbers("hypothesis_bits", hypothesis_bits), bits)


def optimal_lengths(posterior: HypothesisPosterior) -> DescriptionLengths:
    """Description lengths with the optimal codes, −log2 P(h) and −log2 P(D|h): the best are the MAP hypotheses."""
    return DescriptionLengths(posterior.space.names, _bits(posterior.prior.log_p), _bits(posterior.statistics.total))


def mistake_bits(hypothesis: Any, data: Sequence[tuple[Any, Any]], *, n_classes: int = 2) -> float:
    """Bits of the labels given `hypothesis` (x → label) and the instances: the code of its mistakes."""
    return exception_bits(sum(hypothesis(x) != label for x, label in data), len(data), n_classes=n_classes)


def exception_bits(n_errors: int, n_rows: int, *, n_classes: int = 2) -> float:
    """Bits of a code of the mistakes: their number, their rows, and the true label of each.

        log2(n + 1) + log2 C(n, e) + e log2(k − 1)

    >>> round(exception_bits(0, 15), 6), round(exception_bits(1, 15), 2)
    (4.0, 7.91)
    """
    n = validation.integer("n_rows", n_rows, min_value=0)
    e = validation.integer("n_errors", n_errors, min_value=0, max_value=n)
    k = validation.integer("n_classes", n_classes, min_value=2)
    which = (gammaln(n + 1) - gammaln(e + 1) - gammaln(n - e + 1)) / np.log(2)
    return float(np.log2(n + 1) + which + e * np.log2(k - 1))


def _bits(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Nats of probability to bits of code; rounding may not leave a length below zero."""
    return np.maximum(-logs / np.log(2), 0.0)
