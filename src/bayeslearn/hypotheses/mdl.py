"""Minimum description length: the hypothesis that, with the data told by its help, takes the fewest bits.

    h_MDL = argmin L(h) + L(D|h)          with the optimal codes L = −log2 P it is the MAP hypothesis

>>> from bayeslearn.hypotheses import FiniteSpace
>>> space = FiniteSpace.labelling({"always": lambda x: True, "table": {0: True, 1: True, 2: False}.get})
>>> cases = [(0, True), (1, True), (2, False)]
>>> lengths = description_lengths(space, cases, hypothesis_bits={"always": 1, "table": 9}, data_bits=exceptions)
>>> print(lengths)
hypothesis   L(h)  L(D|h)   total
always       1.00    3.58    4.58  *
table        9.00    2.00   11.00
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import gammaln

from bayeslearn import validation
from bayeslearn.errors import ParameterError
from bayeslearn.families.finite import TIE
from bayeslearn.families.statistics import frozen

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

    from bayeslearn.hypotheses.posterior import Posterior
    from bayeslearn.hypotheses.priors import Names
    from bayeslearn.hypotheses.space import FiniteSpace


@dataclass(frozen=True, eq=False)
class DescriptionLengths:
    """Bits for each hypothesis, and for the data once it is known."""

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
        """The hypotheses of the shortest description, all that tie."""
        total = self.total
        if np.isinf(total).all():
            raise ParameterError("no hypothesis can describe the data in finitely many bits")
        return [self.names[i] for i in np.flatnonzero(total <= total.min() + TIE / np.log(2))]

    def table(self) -> list[tuple[Hashable, float, float, float]]:
        """(name, L(h), L(D|h), total), shortest first."""
        rows = zip(self.names, self.hypothesis.tolist(), self.data.tolist(), self.total.tolist(), strict=True)
        return sorted(rows, key=lambda row: row[3])

    def __str__(self) -> str:
        width = max(len("hypothesis"), *(len(str(name)) for name in self.names))
        best = set(self.best)
        lines = [f"{'hypothesis':<{width}} {'L(h)':>6} {'L(D|h)':>7} {'total':>7}"]
        lines += [
            f"{name!s:<{width}} {h:6.2f} {d:7.2f} {t:7.2f}{'  *' if name in best else ''}"
            for name, h, d, t in self.table()
        ]
        return "\n".join(lines)


def description_lengths(
    space: FiniteSpace, cases: Sequence[Any], *, hypothesis_bits: Any, data_bits: Any = None
) -> DescriptionLengths:
    """The two parts of the description of `cases` under each hypothesis.

    Parameters
    ----------
    hypothesis_bits
        L(h): a mapping by name, a function of the hypothesis, or numbers in order.
    data_bits
        L(D|h): a mapping by name, a function of the hypothesis and the cases, or numbers in order. When not given, the
        optimal code −log2 P(D|h).
    """
    if data_bits is None:
        data = _bits(space.collect(cases).total)
    elif callable(data_bits):
        data = space.numbers("data_bits", lambda h: data_bits(h, cases))
    else:
        data = space.numbers("data_bits", data_bits)
    return DescriptionLengths(space.names, space.numbers("hypothesis_bits", hypothesis_bits), data)


def optimal_lengths(posterior: Posterior) -> DescriptionLengths:
    """Description lengths with the optimal codes, −log2 P(h) and −log2 P(D|h): the best are the MAP hypotheses."""
    return DescriptionLengths(posterior.space.names, _bits(posterior.prior.log_p), _bits(posterior.statistics.total))


def exceptions(hypothesis: Any, cases: Sequence[tuple[Any, Any]], *, classes: int = 2) -> float:
    """Bits to send the labels to someone who holds `hypothesis` (x → label) and the instances: its mistakes only."""
    return exception_bits(sum(hypothesis(x) != label for x, label in cases), len(cases), classes=classes)


def exception_bits(errors: int, cases: int, *, classes: int = 2) -> float:
    """How many mistakes there are, which cases they are, and the right label of each.

        log2(n + 1) + log2 C(n, e) + e log2(k − 1)

    >>> round(exception_bits(0, 15), 6), round(exception_bits(1, 15), 2)
    (4.0, 7.91)
    """
    n = validation.integer("cases", cases, least=0)
    e = validation.integer("errors", errors, least=0, most=n)
    k = validation.integer("classes", classes, least=2)
    which = (gammaln(n + 1) - gammaln(e + 1) - gammaln(n - e + 1)) / np.log(2)
    return float(np.log2(n + 1) + which + e * np.log2(k - 1))


def _bits(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Nats of probability to bits of code; rounding may not leave a length below zero."""
    return np.maximum(-logs / np.log(2), 0.0)
