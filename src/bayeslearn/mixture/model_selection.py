"""How many components the data ask for: the number with the best score.

    evidence    the bound of :mod:`.scoring`, the higher the better; needs a proper prior, as the weak one is
    bic, aic    penalized likelihood, the lower the better (told as −½ of it, so that the higher is better here too)

Numbers are tried upwards, until so many in a row have not been better than the best.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import BayeslearnWarning, DataError, EvidenceError
from bayeslearn.mixture import marginal_likelihood
from bayeslearn.mixture.fit import fit_mixture, report_empty
from bayeslearn.mixture.inputs import Batches, opened
from bayeslearn.sources.scanning import is_source, with_options

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from bayeslearn.components import Component
    from bayeslearn.distributions import Family
    from bayeslearn.distributions.multivariate_normal import Covariance
    from bayeslearn.em import EMResult
    from bayeslearn.mixture.model import MixtureModel
    from bayeslearn.tables.markers import Markers

Score = Literal["evidence", "bic", "aic"]


@dataclass(frozen=True)
class ComponentSelection:
    """The best mixture, how it was learned, and the score of every number that was tried; the higher the better."""

    result: EMResult[MixtureModel]
    scores: dict[int, float]
    by: str

    @property
    def model(self) -> MixtureModel:
        """The mixture that was chosen."""
        return self.result.model


def choose_mixture(
    data: Any,
    *,
    by: Score = "evidence",
    least: int = 1,
    most: int = 20,
    patience: int = 3,
    progress: Callable[[int, Any], object] | None = None,
    family: Family[Any, Any] | Sequence[Family[Any, Any]] | Sequence[Component] | None = None,
    covariance: Covariance = "full",
    variance: float | None = None,
    equal: bool = False,
    prior: Any = "weak",
    sample_weight: Any = None,
    start: Literal["k-means++", "random"] | MixtureModel = "k-means++",
    restarts: int = 3,
    tol: float = 1e-4,
    max_iter: int = 1000,
    random_state: np.random.Generator | int | None = 0,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 5,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> ComponentSelection:
    """Learn mixtures of `least` … `most` components and keep the one with the best score.

    A source is examined once, and then read once per iteration.

    Parameters
    ----------
    data
        As in :func:`fit_mixture`.
    by
        The score: ``"evidence"`` (the default, which needs a prior), ``"bic"`` or ``"aic"``.
    least, most
        The smallest and the largest number of components.
    patience
        Numbers in a row that may be no better than the best before the search ends.
    progress
        Called with the number of components and the :class:`~bayeslearn.em.EMStep` of every iteration.
    family, covariance, variance, equal, prior, weights, start, restarts, tol, max_iter, random_state, checkpoint, \
every, na_values, keep_default_na, drop_columns
        As in :func:`fit_mixture`; the checkpoint holds the best mixture at the end.

    Examples
    --------
    >>> x = [1.0, 1.1, 1.2, 0.9, 0.8, 1.05, 5.0, 5.1, 4.9, 5.2, 4.8, 5.05]
    >>> choose_mixture(x, most=4).model.k
    2
    """
    by = validation.choice("by", by, ["evidence", "bic", "aic"])
    validation.integer("least", least, min_value=1)
    validation.integer("most", most, min_value=least)
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    if isinstance(data, Batches) or is_source(data):
        data = opened(data, family, covariance, variance, sample_weight)[0]  # so that it is examined once
    best: EMResult[MixtureModel] | None = None
    scores: dict[int, float] = {}
    for k in range(least, most + 1):
        tell = None if progress is None else (lambda step, k=k: progress(k, step))
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ components", BayeslearnWarning)
                found = fit_mixture(
                    data, k, family=family, covariance=covariance, variance=variance, equal=equal, prior=prior,
                    sample_weight=sample_weight, start=start, restarts=restarts, tol=tol, max_iter=max_iter,
                    random_state=random_state, progress=tell,
                    checkpoint=checkpoint, every=every,
                )  # fmt: skip
        except DataError as error:
            apart = isinstance(error, EvidenceError) or "rows" in error.details
            if best is None or not apart:
                raise
            break  # no more different rows
        scores[k] = score(found, by)
        if best is None or scores[k] > max(v for j, v in scores.items() if j != k):
            best = found
        elif k - max(scores, key=lambda j: scores[j]) >= patience:
            break
    assert best is not None
    report_empty(best.model)
    if checkpoint is not None:  # it holds the last that was tried
        best.model.save(checkpoint)
    return ComponentSelection(best, scores, by)


def score(found: EMResult[MixtureModel], by: str) -> float:
    """The score of a mixture that was just learned."""
    model = found.model
    if by == "evidence":
        return marginal_likelihood.bound(model, found.expected, found.log_likelihood)
    cost = 2.0 if by == "aic" else float(np.log(model.cases))
    return found.log_likelihood - model.free_parameters * cost / 2
