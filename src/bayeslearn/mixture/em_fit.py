"""EM of a mixture with a given number of components, and the number of components that the data support.

A fit has initial values, priors, and the best of several starts. The number has the best criterion:

    marginal_likelihood   the bound of :func:`.updates.bound`; needs a proper prior, as the weak one is
    bic, aic              −½ BIC and −½ AIC: ln P(D|θ) less a penalty for every parameter

Higher is better. Numbers are tried upwards, until `patience` numbers in a row are no better than the best.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import capacity, em, validation
from bayeslearn.distributions import Dirichlet
from bayeslearn.distributions.categorical import DirichletRule
from bayeslearn.errors import BayeslearnWarning, DataError, EvidenceError, ParameterError, listed
from bayeslearn.mixture.comparison import bound
from bayeslearn.mixture.initialization import start, weak_prior
from bayeslearn.mixture.inputs import first_look
from bayeslearn.mixture.model import MixtureModel, MixturePrior, priors_of
from bayeslearn.progress import part as share_of

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from bayeslearn.components import Component
    from bayeslearn.components.rows import Rows
    from bayeslearn.em import EMResult
    from bayeslearn.mixture.inputs import FoldedRows
    from bayeslearn.progress import Reporter


#: A component with fewer rows is empty.
HALF_A_CASE = 0.5


@dataclass(frozen=True, kw_only=True)
class EMOptions:
    """How EM runs; the parameters of :func:`~bayeslearn.mixture.fit_mixture` of the same names."""

    prior: Any = "weak"
    equal_weights: bool = False
    init: Any = "k-means++"
    n_init: int = 4
    tol: float = 1e-3
    max_iter: int = 1000
    random_state: Any = 0
    checkpoint: str | os.PathLike[str] | None = None
    checkpoint_every: int = 5

    def __post_init__(self) -> None:
        validation.integer("n_init", self.n_init, min_value=1)
        if not isinstance(self.init, MixtureModel):
            object.__setattr__(self, "init", validation.choice("init", self.init, ["k-means++", "random"]))


def fit_components(
    source: Rows | FoldedRows,
    parts: tuple[Component, ...],
    n_components: int,
    options: EMOptions,
    progress: Reporter | None = None,
) -> em.EMResult[MixtureModel]:
    """Fit a mixture of so many components to rows, or to a source that folds."""
    k = validation.integer("n_components", n_components, min_value=1)
    rng = validation.generator(options.random_state)
    prior, equal = prior_of(options.prior, parts, source, k), options.equal_weights
    if isinstance(options.init, MixtureModel):
        begun = [continued(options.init, parts, prior, k, equal=equal)]
    else:
        sample = first_look(source, parts).sample
        begun = [
            start(parts, sample, k, prior, how=options.init, equal=equal, random_state=rng)
            for _ in range(options.n_init)
        ]
    path = options.checkpoint
    write: Any = None if path is None else em.CheckpointEvery(options.checkpoint_every, lambda model: model.save(path))
    return best_of(
        begun, source, prior, tol=options.tol, max_iter=options.max_iter, progress=progress, checkpoint=write
    )


def best_of(begun: Sequence[MixtureModel], source: Any, prior: MixturePrior, **how: Any) -> em.EMResult[MixtureModel]:
    """Return the best result; a start that ends in a component without spread is skipped, unless all do."""
    trouble: list[EvidenceError] = []

    def steady(model: MixtureModel, source: Any, **how: Any) -> em.EMResult[MixtureModel]:
        try:
            return em.run(model, source, **how)
        except EvidenceError as error:
            trouble.append(error)
            return em.EMResult(model, None, (em.EMStep(0, -math.inf, 0.0, math.inf),), converged=False)

    found = em.run_best_of(begun, source, n_init=len(begun), prior=prior, climb=steady, **how)
    if found.statistics is None:
        raise trouble[0]
    return replace(found, model=replace(found.model, statistics=found.statistics))


def warn_of_empty(model: MixtureModel) -> None:
    """Warn of components that have almost no rows."""
    empty = np.flatnonzero(model.component_sizes < HALF_A_CASE).tolist()
    if empty:
        warnings.warn(
            f"{len(empty)} of {model.n_components} components have less than half a row: {listed(empty)}\n\n"
            "hint: use fewer components",
            BayeslearnWarning,
            stacklevel=5,
        )


### options


def prior_of(prior: Any, parts: tuple[Component, ...], rows: Rows | FoldedRows, k: int) -> MixturePrior:
    """Return the prior with a row for every component."""
    if isinstance(prior, MixturePrior):
        return priors_of(parts, prior.parts, prior.shares, k)
    if prior is None:
        return priors_of(parts, tuple(part.distribution.none() for part in parts), DirichletRule(per_state=0.0), k)
    whole = first_look(rows, parts).whole
    weak = [weak_prior(part, whole[part.name]) for part in parts]
    numbers = sum(part.distribution.n_parameters(k) + k for part in parts)
    capacity.require_numbers(f"{k:,} components", (numbers,), hint="use fewer components", copies=4)
    shares: Any = Dirichlet(np.ones(k))
    if isinstance(prior, str):
        prior = validation.choice("prior", prior, ["weak"])
    elif isinstance(prior, Mapping):
        weak = [prior.get(part.name, w) for part, w in zip(parts, weak, strict=True)]
    else:
        weak = list(prior) if isinstance(prior, list | tuple) else [prior]
        if len(weak) != len(parts):
            raise ParameterError(f"expected {len(parts)} priors, one for each part, got {len(weak)}")
    return priors_of(parts, tuple(weak), shares, k)


def continued(
    model: MixtureModel, parts: tuple[Component, ...], prior: MixturePrior, k: int, *, equal: bool
) -> MixtureModel:
    """Return a model as initial values, with another prior."""
    if model.parts != parts or model.n_components != k:
        raise ParameterError(f"`init` has other parts or another number of components: {model!r}, not {k} components")
    return replace(model, prior=prior, equal_weights=equal, statistics=None, lineage=None)


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
        inner = share_of(progress, (k - min_components) / n, (k - min_components + 1) / n, f"{k} components")
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
        return bound(model, found.expected, found.log_likelihood)
    cost = 2.0 if criterion == "aic" else float(np.log(model.total_weight))
    return found.log_likelihood - model.n_parameters * cost / 2
