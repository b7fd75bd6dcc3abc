"""Prior and logarithms of the parameters of text models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import kernels, validation
from bayeslearn.distributions import Dirichlet, DirichletRule
from bayeslearn.errors import EvidenceError, ImpossibleDataError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Words whose logarithms are taken together.
MANY = 1 << 14


def alphas(prior: Any, size: int, name: str) -> NDArray[np.float64]:
    """α: one number, or one for each of `size` entries."""
    if isinstance(prior, DirichletRule):
        return np.asarray(prior.per_state) if prior.per_state is not None else prior.of((size,)).alpha
    if isinstance(prior, Dirichlet):
        if prior.alpha.shape != (size,):
            raise ShapeError(
                f"`{name}` has α of shape {prior.alpha.shape}, expected ({size},)", hint="a number fits any size"
            )
        return prior.alpha
    return np.asarray(validation.number(name, prior, min_value=0))


def log(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln x, −∞ for 0."""
    with np.errstate(divide="ignore"):
        return np.log(x)


def log_shares(documents: NDArray[np.float64], class_prior: Any) -> NDArray[np.float64]:
    """ln P(k), shape (K,), of documents of each class and α of the classes, or of fixed probabilities."""
    if isinstance(class_prior, tuple):
        return log(validation.probabilities(class_prior, name="class_prior"))
    seen = documents + alphas(class_prior, len(documents), "class_prior")
    if not seen.sum() > 0:
        raise EvidenceError(
            "there is no document that determines how probable the classes are", hint="give a `class_prior` above 0"
        )
    return log(seen / seen.sum())


def take_logs(p: NDArray[np.float64], total: NDArray[np.float64]) -> None:
    """p = ln p − total where it stands, on every core."""

    def work(begin: int) -> None:
        block = p[begin : begin + MANY]
        with np.errstate(divide="ignore"):
            np.log(block, out=block)
        block -= total

    kernels.parallel(work, range(0, len(p), MANY))


def possible(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log probabilities of which each document has one that is not zero."""
    best = logs.max(axis=1, initial=-np.inf)
    impossible = ~np.isfinite(best)
    if impossible.any():
        row = int(validation.first_position(impossible))
        raise ImpossibleDataError(
            f"document {row} has words that no class can have together", hint="use a `prior` above 0", row=row
        )
    return logs
