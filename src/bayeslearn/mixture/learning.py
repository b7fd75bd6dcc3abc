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

from bayeslearn import em, validation
from bayeslearn.errors import BayeslearnWarning, EvidenceError, ParameterError, listed
from bayeslearn.families import Dirichlet, Family, MultivariateNormal
from bayeslearn.families.categorical import DirichletRule
from bayeslearn.mixture.model import Mixture, MixturePrior, priors_of
from bayeslearn.mixture.parts import Part
from bayeslearn.mixture.rows import Batches, Rows, read
from bayeslearn.mixture.scoring import HALF_A_CASE
from bayeslearn.mixture.starts import start as begin

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from bayeslearn.families.multivariate import Covariance


def fit_mixture(
    data: Any,
    k: int,
    *,
    family: Family[Any, Any] | Sequence[Family[Any, Any]] | Sequence[Part] | None = None,
    covariance: Covariance = "full",
    variance: float | None = None,
    equal: bool = False,
    prior: Any = "weak",
    weights: Any = None,
    start: Literal["k-means++", "random"] | Mixture = "k-means++",
    restarts: int = 3,
    tol: float = 1e-4,
    max_iter: int = 1000,
    rng: np.random.Generator | int | None = 0,
    progress: Callable[[em.Step], object] | None = None,
) -> em.Result[Mixture]:
    """Learn k components.

    Parameters
    ----------
    data
        Rows of numbers (n, d), NaN where missing; or a column of numbers, counts or codes; or :class:`Batches`.
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
    validation.integer("k", k, least=1)
    validation.integer("restarts", restarts, least=0)
    parts = parts_of(data, family, covariance, variance)
    rng = validation.generator(rng)
    source: Any
    if isinstance(data, Batches):
        source = data.of(parts)
        sample = next(data.each(parts), None)
        if sample is None:
            raise ParameterError("there are no batches to learn from")
    else:
        source = sample = read(parts, data, weights)
    known = prior_of(prior, parts, sample, k)
    if isinstance(start, Mixture):
        begun = [started(start, parts, known, k, equal=equal)]
    else:
        validation.choice("start", start, ["k-means++", "random"])
        begun = [begin(parts, sample, k, known, how=start, equal=equal, rng=rng) for _ in range(restarts + 1)]
    return climb(begun, source, known, tol=tol, max_iter=max_iter, progress=progress)


def climb(begun: Sequence[Mixture], source: Any, prior: MixturePrior, **how: Any) -> em.Result[Mixture]:
    """The best climb; one that ends in a component without spread is left, unless all do."""
    trouble: list[EvidenceError] = []

    def steady(model: Mixture, source: Any, **how: Any) -> em.Result[Mixture]:
        try:
            return em.fit(model, source, **how)
        except EvidenceError as error:
            trouble.append(error)
            return em.Result(model, None, (em.Step(0, -math.inf, 0.0, math.inf),), converged=False)

    found = em.best_of(begun, source, prior=prior, climb=steady, **how)
    if found.statistics is None:
        raise trouble[0]
    model = replace(found.model, statistics=found.statistics)
    report_empty(model)
    return replace(found, model=model)


def report_empty(model: Mixture) -> None:
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


def parts_of(data: Any, family: Any, covariance: Any = "full", variance: float | None = None) -> tuple[Part, ...]:
    """The parts of a component, from what was told and from the shape of the data."""
    if isinstance(family, Family):
        return (Part.of(family, variance=variance),)
    if family is not None:
        given = list(family)
        if all(isinstance(part, Part) for part in given):
            return tuple(given)
        return tuple(Part.of(f, *columns) for f, columns in zip(given, column_names(given), strict=True))
    shape = np.shape(first_batch(data))
    if len(shape) not in {1, 2}:
        raise ParameterError(f"expected rows of numbers, got an array of shape {shape}")
    dim = 1 if len(shape) == 1 else shape[1]
    if variance is not None:
        covariance = "spherical"
    return (Part.of(MultivariateNormal(dim, covariance), variance=variance),)


def column_names(families: Sequence[Any]) -> Iterator[list[str]]:
    """x0, x1, … for as many columns as each family takes."""
    at = 0
    for family in families:
        wide = getattr(family, "dim", 1)
        yield [f"x{i}" for i in range(at, at + wide)]
        at += wide


def first_batch(data: Any) -> Any:
    """The first of the batches, or the data themselves."""
    if not isinstance(data, Batches):
        return data
    first = next(iter(data.source() if callable(data.source) else data.source), None)
    if first is None:
        raise ParameterError("there are no batches to learn from")
    return first[0] if isinstance(first, tuple) else first


def prior_of(prior: Any, parts: tuple[Part, ...], rows: Rows, k: int) -> MixturePrior:
    """The prior with a row for every component."""
    if isinstance(prior, MixturePrior):
        return priors_of(parts, prior.parts, prior.shares, k)
    if prior is None:
        return priors_of(parts, tuple(part.none() for part in parts), DirichletRule(per_state=0.0), k)
    weak = [part.weak(part.whole(c, rows.weights)) for part, c in zip(parts, rows.cells, strict=True)]
    shares: Any = Dirichlet(np.ones(k))
    if isinstance(prior, str):
        validation.choice("prior", prior, ["weak"])
    elif isinstance(prior, Mapping):
        weak = [prior.get(part.name, w) for part, w in zip(parts, weak, strict=True)]
    else:
        weak = list(prior) if isinstance(prior, list | tuple) else [prior]
        if len(weak) != len(parts):
            raise ParameterError(f"expected {len(parts)} priors, one for each part, got {len(weak)}")
    return priors_of(parts, tuple(weak), shares, k)


def started(model: Mixture, parts: tuple[Part, ...], prior: MixturePrior, k: int, *, equal: bool) -> Mixture:
    """A mixture to start from, with the prior that was asked for."""
    if model.parts != parts or model.k != k:
        raise ParameterError(f"the start has other parts or components than were asked for: {model!r}, k = {k}")
    return replace(model, prior=prior, equal=equal, statistics=None)
