"""Priors of networks of states and numbers: those of CPTs as in discrete networks, and those of numeric nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import RegressionPrior
from bayeslearn.errors import ParameterError, listed
from bayeslearn.network.cpt import CPT
from bayeslearn.network.parameters.priors import prior_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.distributions import JointMoments, StatisticsBundle
    from bayeslearn.network.hybrid.network import HybridBayesianNetwork

#: What the prior "auto" counts for, in rows: its variance, and its level and coefficients.
VARIANCE_ROWS, COEFFICIENT_ROWS = 1.0, 0.001


def priors_of(
    prior: Any,
    network: HybridBayesianNetwork,
    moments: Mapping[str, tuple[float, float]],
    shown: Callable[[], StatisticsBundle],
) -> dict[str, Any]:
    """A prior for every node: those of CPTs as in discrete networks, those of numeric nodes by :func:`numeric_prior`.

    `moments` are mean and variance of the numeric columns, `shown` the statistics of the rows that are complete for a
    family.
    """
    if isinstance(prior, Mapping):
        odd = [name for name in prior if name not in network]
        if odd:
            raise ParameterError(
                f"a prior is given for {listed(odd)}, not in the network",
                hint=f"variables are {listed(network.variables)}",
            )
    each = {node.name: prior.get(node.name) if isinstance(prior, Mapping) else prior for node in network.cpts}
    is_unit = {name: isinstance(one, str) and one.partition(":")[0].strip() == "unit" for name, one in each.items()}
    return {
        node.name: prior_of("bdeu:1" if is_unit[node.name] else each[node.name], node)
        if isinstance(node, CPT)
        else numeric_prior(each[node.name], node, moments, shown)
        for node in network.cpts
    }


def numeric_prior(
    prior: Any, node: Any, moments: Mapping[str, tuple[float, float]], shown: Callable[[], StatisticsBundle]
) -> RegressionPrior:
    """The prior of a numeric node.

    None           maximum likelihood
    "unit:m"       m rows with the mean and variance of the column, in which the node does not depend on its parents
    "auto"         the prior it was learned with, or :func:`pooled_prior`; so is the name of a prior of CPTs
    """
    shape = (*node.rows, len(node.numeric_parents))
    name, _, rows = prior.partition(":") if isinstance(prior, str) else ("", "", "")
    name = name.strip().lower()
    if isinstance(prior, RegressionPrior):
        return prior.of(shape)
    if prior is None or name == "none":
        return RegressionPrior.none(shape[-1]).of(shape)
    if name == "auto" and node.prior is not None:
        return node.prior
    if name != "unit":
        return pooled_prior(node, cast("JointMoments", shown()[node.name]), moments[node.name][1])
    try:
        m = float(rows or 1)
    except ValueError:
        raise ParameterError(f"not a prior: {prior!r}", hint="'unit:1' is one row of unit information") from None
    columns = [moments[v.name] for v in node.numeric_parents]
    mean, var = moments[node.name]
    return RegressionPrior.unit_information(
        shape[-1], mean=mean, var=var, x_mean=[c[0] for c in columns], x_var=[c[1] for c in columns],
        equivalent_sample_size=validation.number("prior", m, above=0),
    ).of(shape)  # fmt: skip


def pooled_prior(node: Any, shown: JointMoments, var: float) -> RegressionPrior:
    """A row of the residual variance of all configurations, and a thousandth of one for level and coefficients.

        b₀ = S_xx⁻¹ S_xy of the scatter within configurations        v₀ = Σ_d RSS_d / Σ_d (n_d − k − 1)

    So a configuration with few rows has the slopes and the spread of the others, and one with many keeps its own.
    """
    k, ε, m = len(node.numeric_parents), COEFFICIENT_ROWS, VARIANCE_ROWS
    n, mean = shown.n.reshape(-1), shown.mean.reshape(-1, k + 1)
    scatter = shown.scatter.reshape(-1, k + 1, k + 1)
    total = n.sum()
    if total == 0:
        return RegressionPrior.unit_information(k, var=var, equivalent_sample_size=m).of((*node.rows, k))
    S = scatter.sum(axis=0)
    ridge = np.diag(np.maximum(1e-9 * np.diagonal(S)[:k], np.finfo(float).tiny))
    b = np.linalg.solve(S[:k, :k] + ridge, S[:k, k])
    enough = n > k + 1
    own = np.linalg.solve(scatter[enough][:, :k, :k] + ridge, scatter[enough][:, :k, k:])[..., 0]
    rss = scatter[enough][:, k, k] - (own * scatter[enough][:, :k, k]).sum(axis=1)
    freedom = (n[enough] - k - 1).sum()
    v = max(float(rss.sum() / freedom) if freedom > 0 else var, 1e-9 * var)
    center = n @ mean / total
    Σ = S[:k, :k] / total + np.diag(np.where(np.diagonal(S)[:k] > 0, 0.0, 1.0))
    prior = np.empty((k + 1, k + 1))
    prior[:k, :k] = ε * Σ
    prior[:k, k] = prior[k, :k] = ε * Σ @ b
    prior[k, k] = ε * b @ Σ @ b + m * v
    return RegressionPrior(np.asarray(ε), center, prior, np.asarray(1 + m / 2)).of((*node.rows, k))
