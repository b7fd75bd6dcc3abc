"""Likelihood weighting and rejection sampling: rows in ancestral order, and what each of them weighs.

rejection   drawn like any other row                  w = 1 if it agrees with e, else 0
weighting   observed variables stand as observed      w = Π_{v in e} P(e_v | parents) · Π_{v drawn} P / Q of its state

P(x = k | e) ≈ Σ w·[x = k] / Σ w        P(e) ≈ Σ w / n        effective size = (Σ w)² / Σ w²

Rows are drawn from a proposal Q that knows of the evidence, see :mod:`.proposal`, where a row weighs at most b. A row
that was not drawn yet moves a belief by b / (Σ w + 2 b) at most, and the error holds as much; but where the bound is
far above all that was seen, MORE times the heaviest row stand for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels
from bayeslearn.families.statistics import Statistics
from bayeslearn.network.inference.forward import BLOCK, Flat, Question, keys, no_weight
from bayeslearn.network.inference.proposal import Proposal
from bayeslearn.tables.table import code_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.network import BayesianNetwork


#: How many times the heaviest row stand for one not seen yet, where the bound says nothing.
MORE = 10

#: Where all weights come to fewer rows of the most weight than this, so many times as many: a part of the cases may
#: have no rows at all.
VAGUE, FAR_MORE = 1e-3, 10


@dataclass(frozen=True, eq=False)
class WeightedCounts(Statistics):
    """What a batch of weighted rows says: n, Σ w, Σ w², and both for each state; weights are in units of exp(log_unit).

    >>> a = WeightedCounts.of([0.0, 0.0, -np.inf], [[0, 1, 1]], starts=[0, 2])
    >>> (a + a).counts, float((a + a).n)
    (array([2., 2.]), 6.0)
    """

    n: NDArray[np.float64]
    weight: NDArray[np.float64]
    square: NDArray[np.float64]
    counts: NDArray[np.float64]
    squares: NDArray[np.float64]
    log_unit: NDArray[np.float64]

    @classmethod
    def of(
        cls, log_weight: ArrayLike, codes: ArrayLike, *, starts: ArrayLike, asked: ArrayLike | None = None
    ) -> WeightedCounts:
        """Count rows `codes` (variables, rows) of these log weights."""
        log_weight, codes, starts = np.asarray(log_weight), np.asarray(codes), np.asarray(starts)
        unit = float(log_weight.max(initial=-np.inf))
        w = np.exp(log_weight - unit) if unit > -np.inf else np.zeros(len(log_weight))
        counts, squares = np.zeros(int(starts[-1])), np.zeros(int(starts[-1]))
        of = np.arange(len(codes)) if asked is None else np.asarray(asked)
        kernels.tally(codes, w, of, starts, counts, squares)
        return cls(len(w), w.sum(), (w * w).sum(), counts, squares, unit)  # type: ignore[arg-type]

    def combined(self, other: WeightedCounts, operation: Callable[..., Any]) -> WeightedCounts:
        """Entry by entry, in the larger of the two units."""
        unit = np.maximum(self.log_unit, other.log_unit)
        pairs = zip(self.in_units(unit), other.in_units(unit), strict=True)
        return WeightedCounts(*[operation(a, b) for a, b in pairs] + [unit])

    def __mul__(self, factor: float) -> WeightedCounts:
        return replace(super().__mul__(factor), log_unit=self.log_unit)

    def in_units(self, unit: Any) -> list[NDArray[np.float64]]:
        """The amounts in another unit."""
        c = math.exp(self.log_unit - unit) if self.log_unit > -np.inf else 0.0
        return [self.n, c * self.weight, c * c * self.square, c * self.counts, c * c * self.squares]

    @property
    def p(self) -> NDArray[np.float64]:
        """Σ w·[x = k] / Σ w."""
        return self.counts / self.weight

    @property
    def effective_size(self) -> float:
        """(Σ w)² / Σ w², which is n when all weights are equal."""
        return float(self.weight**2 / self.square)

    @property
    def errors(self) -> NDArray[np.float64]:
        """√Σ w²([x = k] − p)² / Σ w, and at least that of a state not seen yet, 1 / (Σ w + 2).

        The unit of the weights is that of the heaviest row: a row not seen yet may weigh as much.
        """
        return np.maximum(self.spread, 1 / (self.weight + 2))

    @property
    def spread(self) -> NDArray[np.float64]:
        """√Σ w²([x = k] − p)² / Σ w."""
        p = self.p
        variance = (self.squares * (1 - 2 * p) + p * p * self.square) / self.weight**2
        return np.sqrt(np.maximum(variance, 0))

    def errors_within(self, log_bound: float) -> NDArray[np.float64]:
        """The spread, and with it what a row not seen yet may change."""
        return np.hypot(self.spread, self.unseen(log_bound))

    def unseen(self, log_bound: float) -> float:
        """What a row not seen yet may change when no row weighs more than the bound: b / (Σ w + 2 b)."""
        rows = self.rows_of_most_weight(log_bound)
        more = MORE * FAR_MORE if rows < VAGUE else MORE
        return min(1 / (rows + 2), more / (float(self.weight) + 2 * more) if np.isfinite(more) else 0.5)

    def rows_of_most_weight(self, log_bound: float) -> float:
        """Σ w / b: the rows that all weights come to, were each as heavy as a row can be."""
        return float(self.weight * np.exp(min(float(self.log_unit) - log_bound, 0.0)))

    @property
    def largest_share(self) -> float:
        """The share of the heaviest row in all weights, whose unit it is: 1 / Σ w."""
        return float(1 / self.weight)

    @property
    def log_evidence(self) -> float:
        """ln(Σ w / n)."""
        return float(self.log_unit + np.log(self.weight / self.n))

    @property
    def log_evidence_error(self) -> float:
        """The standard error of Σ w / n, relative to it: √((n Σ w² / (Σ w)² − 1) / n)."""
        return float(np.sqrt(max(float(self.n) / self.effective_size - 1, 0) / self.n))


@dataclass
class WeightedRun:
    """Rows in ancestral order, weighted by the evidence or rejected by it."""

    network: BayesianNetwork
    flat: Flat
    question: Question
    rng: np.random.Generator
    evidence: dict[str, Any]
    draws: int = 0
    total: WeightedCounts | int = 0
    stream: NDArray[np.uint64] = field(init=False)

    def __post_init__(self) -> None:
        self.stream = keys(self.rng, len(self.network))
        self.proposal = Proposal.of(self.network, self.flat, self.question)

    def more(self, n: int) -> None:
        """Blocks on threads, added in their order."""
        starts = [(lo, min(BLOCK, self.draws + n - lo)) for lo in range(self.draws, self.draws + n, BLOCK)]
        for part in kernels.parallel(self._block, starts, worth=n > BLOCK):
            self.total = self.total + part
        self.draws += n

    def _block(self, rows: tuple[int, int]) -> WeightedCounts:
        first, n = rows
        codes = np.empty((len(self.network), n), code_type(self.network.schema))
        log_weight = self.flat.sample(self.question, self.stream, first, 0, n, codes, self.proposal)
        starts = self.flat.compiled.belief_start
        return WeightedCounts.of(log_weight, codes, starts=starts, asked=np.unique(self.question.asked))

    def errors(self) -> NDArray[np.float64]:
        """The standard error of each state, with what may be unseen yet."""
        total = self.total
        if isinstance(total, int) or total.weight == 0:
            return np.full(int(self.flat.compiled.belief_start[-1]), np.inf)
        return total.errors_within(self.proposal.log_bound)

    def p(self) -> NDArray[np.float64]:
        """Ratios of the weighted counts."""
        return self._weighed().p

    def facts(self) -> dict[str, Any]:
        """The effective size, and ln P(e) with its error."""
        total = self._weighed()
        return {
            "effective_size": total.effective_size,
            "log_evidence": total.log_evidence,
            "log_evidence_error": float(np.hypot(total.log_evidence_error, total.unseen(self.proposal.log_bound))),
            "largest_share": total.largest_share,
        }

    def _weighed(self) -> WeightedCounts:
        if isinstance(self.total, int) or self.total.weight == 0:
            raise no_weight(self.evidence, self.draws)
        return self.total
