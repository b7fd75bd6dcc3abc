"""How many components the data ask for: the number with the best score.

    evidence    the bound of :mod:`.scoring`, the higher the better; needs a proper prior, as the weak one is
    bic, aic    penalised likelihood, the lower the better (told as −½ of it, so that the higher is better here too)

Numbers are tried upwards, until so many in a row have not been better than the best.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import BayeslearnWarning, DataError, EvidenceError
from bayeslearn.mixture import scoring
from bayeslearn.mixture.learning import fit_mixture, report_empty
from bayeslearn.mixture.opening import opened
from bayeslearn.mixture.rows import Batches
from bayeslearn.sources.scanning import is_source

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.em import Result, Step
    from bayeslearn.mixture.model import Mixture

Score = Literal["evidence", "bic", "aic"]


@dataclass(frozen=True)
class Choice:
    """The best mixture, how it was learned, and the score of every number that was tried; the higher the better."""

    result: Result[Mixture]
    scores: dict[int, float]
    by: str

    @property
    def model(self) -> Mixture:
        """The mixture that was chosen."""
        return self.result.model


def choose_mixture(
    data: Any,
    *,
    by: Score = "evidence",
    least: int = 1,
    most: int = 20,
    patience: int = 3,
    progress: Callable[[int, Step], object] | None = None,
    **how: Any,
) -> Choice:
    """Learn mixtures of `least` … `most` components and keep the one with the best score.

    Further arguments are those of :func:`fit_mixture`; `progress` is told the number of components too. A source is
    looked at once, and then read as often as all climbs together ask.

    >>> x = [1.0, 1.1, 1.2, 0.9, 0.8, 1.05, 5.0, 5.1, 4.9, 5.2, 4.8, 5.05]
    >>> choose_mixture(x, most=4).model.k
    2
    """
    validation.choice("by", by, ["evidence", "bic", "aic"])
    validation.integer("least", least, least=1)
    validation.integer("most", most, least=least)
    if isinstance(data, Batches) or is_source(data):
        told = {name: how.pop(name) for name in ("family", "covariance", "variance", "weights") if name in how}
        data = opened(data, **told)[0]  # so that it is looked at once
    best: Result[Mixture] | None = None
    scores: dict[int, float] = {}
    for k in range(least, most + 1):
        tell = None if progress is None else (lambda step, k=k: progress(k, step))
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "[0-9]+ of [0-9]+ components", BayeslearnWarning)
                found = fit_mixture(data, k, progress=tell, **how)
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
    if how.get("checkpoint") is not None:  # it holds the last that was tried
        best.model.save(how["checkpoint"])
    return Choice(best, scores, by)


def score(found: Result[Mixture], by: str) -> float:
    """The score of a mixture that was just learned."""
    model = found.model
    if by == "evidence":
        return scoring.bound(model, found.expected, found.log_likelihood)
    cost = 2.0 if by == "aic" else float(np.log(model.cases))
    return found.log_likelihood - model.free_parameters * cost / 2
