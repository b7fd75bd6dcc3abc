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

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln

from bayeslearn import validation
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

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
            raise ParameterError(f"the equivalent sample size of {text!r} is no number") from None

    def family(self, n: NDArray[np.float64], total: float) -> float:
        """The score of one family from N(parents, child)."""
        counts = n.reshape(-1, n.shape[-1], 1)
        return float(self.extended(counts, np.zeros(1, np.int64), total)[0])

    def extended(self, n: NDArray[np.float64], start: NDArray[np.int64], total: float) -> NDArray[np.float64]:
        """The score of the child with each candidate as one more parent, from counts as in `counts.Extended`."""
        if self.name in {"loglik", "aic", "bic"}:
            fit = _log_likelihood(n)
            free = n.shape[0] * (n.shape[1] - 1) * np.diff(np.append(start, n.shape[2]))
            price = {"loglik": 0.0, "aic": 1.0, "bic": 0.5 * np.log(max(total, 1.0))}[self.name]
            return np.add.reduceat(fit, start) - price * free
        return self._bayesian(n, start)

    def _bayesian(self, n: NDArray[np.float64], start: NDArray[np.int64]) -> NDArray[np.float64]:
        """Σ_j ln Γ(a_j)/Γ(a_j + N_j) + Σ_jk ln Γ(a_jk + N_jk)/Γ(a_jk), with a_jk the same for all cells."""
        rows, r, states = n.shape
        row = n.sum(axis=1)
        sizes = np.diff(np.append(start, states))
        if self.name == "k2":
            cell = np.ones(states)
        else:
            q = rows * sizes
            if self.name == "bds":
                q = np.maximum(np.add.reduceat((row > 0).sum(axis=0), start), 1)
            cell = np.repeat(self.cases / (q * r), sizes)
        terms = (gammaln(cell + n) - gammaln(cell)).sum(axis=(0, 1))
        per_row = gammaln(r * cell) - gammaln(r * cell + row)
        if self.name == "bds":
            per_row = np.where(row > 0, per_row, 0.0)
        return np.add.reduceat(terms + per_row.sum(axis=0), start)


def _log_likelihood(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ N ln N − Σ N_j ln N_j for each state of the candidates."""
    row = n.sum(axis=1)
    return _x_log_x(n).sum(axis=(0, 1)) - _x_log_x(row).sum(axis=0)


def _x_log_x(x: NDArray[np.float64]) -> NDArray[np.float64]:
    return x * np.log(np.maximum(x, 1e-300))
