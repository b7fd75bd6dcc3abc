"""Learning a mixture by EM: starts, restarts, priors; and how many components the data ask for.

parts, prior → starts → em.best_of → model that keeps prior and statistics
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import capacity, em, validation
from bayeslearn.distributions import Dirichlet
from bayeslearn.distributions.categorical import DirichletRule
from bayeslearn.errors import BayeslearnWarning, EvidenceError, ParameterError, listed
from bayeslearn.mixture.initialization import start as begin
from bayeslearn.mixture.initialization import weak_prior
from bayeslearn.mixture.inputs import first_look, opened
from bayeslearn.mixture.marginal_likelihood import HALF_A_CASE
from bayeslearn.mixture.model import MixtureModel, MixturePrior, priors_of
from bayeslearn.sources import with_options

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Sequence

    from bayeslearn.components import Component
    from bayeslearn.components.rows import Rows
    from bayeslearn.distributions import Family
    from bayeslearn.distributions.multivariate_normal import Covariance
    from bayeslearn.mixture.inputs import FoldedRows
    from bayeslearn.progress import ProgressCallback
    from bayeslearn.tables.markers import Markers


def fit_mixture(
    data: Any,
    k: int,
    *,
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
    progress: ProgressCallback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    every: int = 5,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> em.EMResult[MixtureModel]:
    """Learn k components.

    Parameters
    ----------
    data
        Rows of numbers (n, d), NaN where missing; or a column of numbers, counts or codes; or a table, or a source
        (:func:`~bayeslearn.scan`, or the pattern of files) of which all columns are taken; or :class:`Batches`. Sources
        and batches are read anew for every iteration. Starts come from a sample of 20,000 rows; of fewer rows they are
        the same as in memory.
    k
        How many components.
    family
        What a component is: Gaussian over all columns when not told; ``Poisson()``, ``Categorical(4)``, a list with a
        family for every column, or a list of parts.
    covariance
        Of Gaussians: full, tied, diagonal or spherical.
    variance
        Known, and the same for all columns and components: then only means move.
    equal
        The components have equal shares.
    prior
        ``"weak"``: one case in every component, a third as wide as the data, which keeps covariances regular;
        ``None``: maximum likelihood; or a prior of the family, a list of them, a :class:`MixturePrior`.
    start
        How seeds are found, or a mixture to start from.
    restarts
        How many more starts to climb from; the best is kept.
    checkpoint, every
        A file to which the best mixture so far is written, every so many iterations and at the end;
        ``start=Mixture.load(file)`` goes on from there.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    em.Result
        ``model``, ``history``, ``converged``, ``log_likelihood``.

    Examples
    --------
    >>> found = fit_mixture([1.0, 1.2, 0.8, 5.0, 5.1, 4.9], 2)
    >>> [round(float(m), 1) for m in sorted(found.model["x0"].mean[:, 0])]
    [1.0, 5.0]
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    validation.integer("k", k, min_value=1)
    validation.integer("restarts", restarts, min_value=0)
    random_state = validation.generator(random_state)
    source, parts = opened(data, family, covariance, variance, sample_weight)
    known = prior_of(prior, parts, source, k)
    if isinstance(start, MixtureModel):
        begun = [started(start, parts, known, k, equal=equal)]
    else:
        how = validation.choice("start", start, ["k-means++", "random"])
        sample = first_look(source, parts).sample
        begun = [
            begin(parts, sample, k, known, how=how, equal=equal, random_state=random_state) for _ in range(restarts + 1)
        ]
    write: Any = None if checkpoint is None else em.CheckpointEvery(every, lambda model: model.save(checkpoint))
    found = climb(begun, source, known, tol=tol, max_iter=max_iter, progress=progress, checkpoint=write)
    if checkpoint is not None:
        found.model.save(checkpoint)
    return found


def climb(begun: Sequence[MixtureModel], source: Any, prior: MixturePrior, **how: Any) -> em.EMResult[MixtureModel]:
    """The best climb; one that ends in a component without spread is left, unless all do."""
    trouble: list[EvidenceError] = []

    def steady(model: MixtureModel, source: Any, **how: Any) -> em.EMResult[MixtureModel]:
        try:
            return em.run(model, source, **how)
        except EvidenceError as error:
            trouble.append(error)
            return em.EMResult(model, None, (em.EMStep(0, -math.inf, 0.0, math.inf),), converged=False)

    found = em.run_best_of(begun, source, prior=prior, climb=steady, **how)
    if found.statistics is None:
        raise trouble[0]
    model = replace(found.model, statistics=found.statistics)
    report_empty(model)
    return replace(found, model=model)


def report_empty(model: MixtureModel) -> None:
    """Warn of components that have no cases to speak of."""
    empty = np.flatnonzero(model.sizes < HALF_A_CASE).tolist()
    if empty:
        warnings.warn(
            f"{len(empty)} of {model.k} components have less than half a case: {listed(empty)}\n\n"
            "hint: ask for fewer components",
            BayeslearnWarning,
            stacklevel=4,
        )


### what was asked for


def prior_of(prior: Any, parts: tuple[Component, ...], rows: Rows | FoldedRows, k: int) -> MixturePrior:
    """The prior with a row for every component."""
    if isinstance(prior, MixturePrior):
        return priors_of(parts, prior.parts, prior.shares, k)
    if prior is None:
        return priors_of(parts, tuple(part.distribution.none() for part in parts), DirichletRule(per_state=0.0), k)
    whole = first_look(rows, parts).whole
    weak = [weak_prior(part, whole[part.name]) for part in parts]
    numbers = sum(part.distribution.n_parameters(k) + k for part in parts)
    capacity.require_numbers(f"{k:,} components", (numbers,), hint="ask for fewer components", copies=4)
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


def started(
    model: MixtureModel, parts: tuple[Component, ...], prior: MixturePrior, k: int, *, equal: bool
) -> MixtureModel:
    """A mixture to start from, with the prior that was asked for."""
    if model.parts != parts or model.k != k:
        raise ParameterError(f"the start has other parts or components than were asked for: {model!r}, k = {k}")
    return replace(model, prior=prior, equal=equal, statistics=None)
