"""Scores of structures: sums over families, each read off the counts of one family.

    N_jk   cases with the parents in state j and the child in state k        N_j = Σ_k N_jk
    q, r   states of the parents together, and of the child                  N   all cases

    loglik   Σ_jk N_jk ln N_jk / N_j
    aic      loglik − q (r − 1)
    bic      loglik − ½ ln N · q (r − 1)                       (−1/ln 2 of it is the description length in bits)
    k2       Σ_j ln (r−1)!/(N_j + r−1)! + Σ_jk ln N_jk!        (Cooper and Herskovits: α = 1)
    bdeu     Σ_j ln Γ(α/q)/Γ(α/q + N_j) + Σ_jk ln Γ(α/qr + N_jk)/Γ(α/qr)
    bds      bdeu with q the number of parent states that occur

A score takes counts of many candidates at once: the last axis runs over the states of all candidate parents, and terms
are summed within each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln, xlogy

from bayeslearn import kernels, validation
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.kernels.family_cells import Counts

#: No terms at all.
UNKNOWN = np.empty(0)

NAMES = ("loglik", "aic", "bic", "k2", "bdeu", "bds")


@dataclass(frozen=True)
class Score:
    """A decomposable score, by name.

    >>> Score.of("bdeu:10")
    Score('bdeu', cases=10.0)
    """

    name: str
    #: The equivalent sample size of bdeu and bds.
    cases: float = 1.0

    def __post_init__(self) -> None:
        validation.choice("score", self.name, NAMES)
        validation.number("cases", self.cases, above=0)

    def __repr__(self) -> str:
        return f"Score({self.name!r}, cases={self.cases})" if self.name in {"bdeu", "bds"} else f"Score({self.name!r})"

    @classmethod
    def of(cls, text: str | Score) -> Score:
        """By its name; bdeu and bds with their equivalent sample size, as in ``bdeu:10``."""
        if isinstance(text, Score):
            return text
        name, colon, cases = text.partition(":")
        try:
            return cls(name, float(cases)) if colon else cls("bic" if name == "mdl" else name)
        except ValueError as error:
            if isinstance(error, ParameterError):
                raise
            raise ParameterError(
                f"the equivalent sample size of {text!r} is no number", hint="write it like bdeu:1 or bds:0.5"
            ) from None

    def family(self, n: NDArray[np.float64], total: float) -> float:
        """The score of one family from N(parents, child)."""
        counts = np.array(n, np.float64).reshape(-1, n.shape[-1], 1)  # writable, as the kernel was compiled for
        return float(self.extended(counts, np.zeros(1, np.int64), total)[0][0])

    def extended(
        self,
        n: Counts,
        start: NDArray[np.int64],
        total: float,
        known: NDArray[np.float64] = UNKNOWN,
        wanted: NDArray[np.bool_] | None = None,
    ) -> tuple[NDArray[np.float64], float]:
        """The score of the child with each column as one more parent, and without; from counts as `counts.Extended`.

        `known` are the :meth:`terms` of whole numbers, where counts are whole. Columns not `wanted` score −∞.
        """
        scores = np.empty(len(start))
        wanted = np.ones(len(start), np.bool_) if wanted is None else wanted
        return scores, kernels.score_columns(n, start, self.kind, self.price(total), known, wanted, scores)

    def pairs(
        self, n: Counts, start: NDArray[np.int64], total: float, known: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same for every column with no other parent, from N(state, state) of all columns against all others."""
        scores, alone = np.empty((len(start), len(start))), np.empty(len(start))
        kernels.score_pairs(n, start, self.kind, self.price(total), known, scores, alone)
        return scores, alone

    @property
    def kind(self) -> int:
        """How the kernel knows it."""
        return {"k2": 1, "bdeu": 2, "bds": 3}.get(self.name, 0)

    def price(self, total: float) -> float:
        """Of a free number; for bdeu and bds the cases that the prior counts for."""
        if self.name == "bic":
            return 0.5 * math.log(max(total, 1.0))
        return {"aic": 1.0, "bdeu": self.cases, "bds": self.cases}.get(self.name, 0.0)

    def terms(self, most: int) -> NDArray[np.float64]:
        """N ln N, or for k2 ln N!, of whole numbers up to the most; nothing for the others."""
        n = np.arange(most + 1, dtype=float)
        return gammaln(n + 1) if self.name == "k2" else UNKNOWN if self.kind > 1 else xlogy(n, n)
