"""The marginal likelihood of a mixture: the probability of the data with all parameters integrated out.

The exact integral is out of reach, for every row may belong to every component. Cheeseman and Stutz (1996, AutoClass)
take it for data that are completed by what is expected, and correct for the completion at the estimate θ:

    ln P(D) ≥ ln P(D*) − ln P(D*|θ) + ln P(D|θ)

ln P(D*) is the marginal likelihood of the distributions in closed form, from the expected statistics D*. The ln k! that
all orders of the components would add is omitted: where components overlap, the orders are not different explanations,
and the bound stays a bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import xlogy

from bayeslearn.distributions import Categorical

if TYPE_CHECKING:
    from bayeslearn.components.rows import Rows
    from bayeslearn.mixture.model import MixtureModel

#: A component with fewer rows is empty.
HALF_A_CASE = 0.5


def log_marginal_likelihood(model: MixtureModel, data: Rows) -> float:
    """The bound for a mixture with a proper prior, at its parameters."""
    return bound(model, *model.expected_statistics(data))


def bound(model: MixtureModel, statistics: Any, log_likelihood: float) -> float:
    """The same from what one E step has found."""
    shares = statistics[next(iter(statistics))]
    value = log_likelihood
    if not model.equal_weights:
        completed = Categorical(model.n_components).log_evidence(model.prior.shares, shares)
        value += float(completed - xlogy(shares.n, model.weights).sum())
    for part, prior, θ in zip(model.parts, model.prior.parts, model.parameters, strict=True):
        known = statistics[part.name]
        completed = np.sum(part.distribution.log_evidence(prior, known))
        value += float(completed - part.distribution.log_likelihood(known, θ).sum())
    return value
