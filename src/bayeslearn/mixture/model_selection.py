"""The number of components that the data support: the one with the best criterion.

    marginal_likelihood   the bound of :mod:`.marginal_likelihood`; needs a proper prior, as the weak one is
    bic, aic              −½ BIC and −½ AIC: ln P(D|θ) less a penalty for every parameter

Higher is better. Numbers are tried upwards, until `patience` numbers in a row are no better than the best.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import DataError, EvidenceError
from bayeslearn.mixture import marginal_likelihood
from bayeslearn.mixture.em_fit import EMOptions, fit_components
from bayeslearn.progress import part

if TYPE_CHECKING:
    from bayeslearn.em import EMResult
    from bayeslearn.mixture.model import MixtureModel
    from bayeslearn.progress import Reporter

CRITERIA = ("marginal_likelihood", "bic", "aic")


def default_criterion(criterion: str | None, prior: Any) -> str:
    """Return the criterion: by default the marginal likelihood, and BIC without a prior."""
    if criterion is None:
        return "bic" if prior is None else "marginal_likelihood"
    return validation.choice("criterion", criterion, list(CRITERIA))


def select_components(
    source: Any,
    parts: Any,
    options: EMOptions,
    *,
    criterion: str,
    min_components: int = 1,
    max_components: int = 20,
    patience: int = 3,
    progress: Reporter | None = None,
) -> tuple[EMResult[MixtureModel], dict[int, float]]:
    """Return the best result, and the criterion of every number of components that was tried."""
    validation.integer("min_components", min_components, min_value=1)
    validation.integer("max_components", max_components, min_value=min_components)
    best: EMResult[MixtureModel] | None = None
    scores: dict[int, float] = {}
    n = max_components - min_components + 1
    for k in range(min_components, max_components + 1):
        inner = part(progress, (k - min_components) / n, (k - min_components + 1) / n, f"{k} components")
        try:
            found = fit_components(source, parts, k, options, inner)
        except DataError as error:
            apart = isinstance(error, EvidenceError) or "rows" in error.details
            if best is None or not apart:
                raise
            break  # there are no more distinct rows
        scores[k] = value_of(found, criterion)
        if best is None or scores[k] > max(v for j, v in scores.items() if j != k):
            best = found
        elif k - max(scores, key=lambda j: scores[j]) >= patience:
            break
    assert best is not None
    return best, scores


def value_of(found: EMResult[MixtureModel], criterion: str) -> float:
    """Return the criterion of a mixture that was just fitted; higher is better."""
    model = found.model
    if criterion == "marginal_likelihood":
        return marginal_likelihood.bound(model, found.expected, found.log_likelihood)
    cost = 2.0 if criterion == "aic" else float(np.log(model.total_weight))
    return found.log_likelihood - model.n_parameters * cost / 2
