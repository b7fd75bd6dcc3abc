"""Parameters of a network of states and numbers, from rows with or without missing values.

    E   P(states | row) and, in each configuration, mean m and covariance V of the unobserved numbers
    M   counts of every CPT, and moments of (x, y) for every numeric node:

        n_d = Σ w        x̄_d = Σ w z / n_d        S_d = Σ w (z − x̄_d)(z − x̄_d)ᵀ + Σ w V

with w = P(d | row) and z the row completed by m. The term Σ w V keeps the spread that replacing a missing number by its
mean loses. These statistics add: rows come, go and fade, and networks of one structure merge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import validation
from bayeslearn.distributions import Counts, Dirichlet, JointMoments, RegressionPrior, StatisticsBundle
from bayeslearn.distributions.categorical import shares
from bayeslearn.distributions.normal import positive
from bayeslearn.errors import EvidenceError, ImpossibleDataError, MismatchError
from bayeslearn.network.cpt import CPT
from bayeslearn.network.hybrid.nodes import LinearGaussianCPD
from bayeslearn.sources import as_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from bayeslearn.network.hybrid.inference import HybridInference
    from bayeslearn.network.hybrid.layout import Rows
    from bayeslearn.network.hybrid.network import HybridBayesianNetwork
    from bayeslearn.network.hybrid.plan import RowsPosterior
    from bayeslearn.tables import Source, Table

    Floats = NDArray[np.float64]

#: A variance below this share of that of the column is taken for none.
NO_SPREAD = 1e-9


### statistics


def expected_statistics(engine: HybridInference, table: Table) -> tuple[StatisticsBundle, float]:
    """What is expected of the rows of a table under the network of an engine, and their log-likelihood."""
    layout = engine.layout
    rows = layout.rows(table)
    weight = np.ones(len(rows)) if table.sample_weight is None else table.sample_weight
    counted = weight > 0
    if not counted.all():
        rows, weight = rows.take(counted), weight[counted]
    counts = [np.zeros(cpt.shape) for cpt in layout.cpts]
    moments = [node.distribution.zero((math.prod(node.rows),)) for node in layout.nodes]
    log_likelihood = float(weight @ layout.log_jacobian(rows))
    for some, found in engine.batches(rows):
        w = weight[some]
        if np.isneginf(found.log_p).any():
            at = int(np.argmax(np.isneginf(found.log_p)))
            raise impossible_row(engine, found.rows.take(slice(at, at + 1)), int(some[at]))
        log_likelihood += float(w @ found.log_p)
        for i, n in enumerate(counts):
            count(found, layout.scopes[i], w, n)
        for part in range(len(found.plan.parts)):
            for i, new in part_moments(found, part, w):
                moments[i] = moments[i] + new
    shaped = {
        node.name: JointMoments(m.n.reshape(node.rows), m.mean.reshape(*node.rows, -1),
                                m.scatter.reshape(*node.rows, *m.scatter.shape[-2:]))
        for node, m in zip(layout.nodes, moments, strict=True)
    }  # fmt: skip
    counted_cells = {cpt.name: Counts(n) for cpt, n in zip(layout.cpts, counts, strict=True)}
    both: dict[str, Any] = {node.name: (counted_cells | shaped)[node.name] for node in engine.network.cpts}
    return StatisticsBundle(both), log_likelihood


def impossible_row(engine: HybridInference, row: Rows, number: int) -> ImpossibleDataError:
    """The error for a row of density zero."""
    from bayeslearn.network.hybrid.rows import conflict_of  # noqa: PLC0415 - rows know learning's errors

    error = conflict_of(engine.network, row, number)
    return ImpossibleDataError(error.message, hint="start from parameters without zeros, or give a prior", row=number)


def count(found: RowsPosterior, scope: tuple[int, ...], w: Floats, n: Floats) -> None:
    """Add the expected counts of one CPT."""
    observed = found.plan.observed
    free = tuple(i for i in scope if not observed[i])
    p = found.states(free)
    order = [
        *(axis for axis, i in enumerate(scope) if observed[i]),
        *(axis for axis, i in enumerate(scope) if not observed[i]),
    ]
    view = n.transpose(order)
    index = tuple(found.rows.codes[:, i] for i in scope if observed[i])
    weighted = p * w.reshape(-1, *(1,) * len(free))
    if index:
        np.add.at(view, index, weighted)
    else:
        view += weighted.sum(axis=0)


def part_moments(found: RowsPosterior, part: int, w: Floats) -> Iterable[tuple[int, JointMoments]]:
    """The expected moments of the nodes of one component: one row for each configuration of a node's parents."""
    layout, conditional = found.plan.layout, found.plan.parts[part].conditional
    at, m = found.found[part]
    weights = (found.shares(part) * w[:, None]).reshape(-1)
    per_configuration = totals(at.reshape(-1), weights, math.prod(conditional.shape))
    place = {node: j for j, node in enumerate(conditional.hidden)}
    index = np.unravel_index(np.arange(len(per_configuration)), conditional.shape) if conditional.shape else ()
    parents = dict(zip(conditional.discrete, index, strict=True))
    for i in (*conditional.observed, *conditional.hidden):
        node, columns = layout.nodes[i], (*layout.inputs_of[i], i)
        row = (
            np.ravel_multi_index([parents[d] for d in layout.states_of[i]], node.rows)
            if node.rows
            else np.zeros(len(per_configuration), np.int64)
        )
        z = np.empty((*at.shape, len(columns)))
        for j, x in enumerate(columns):
            z[..., j] = m[:, :, place[x]] if x in place else found.rows.numbers[:, x][:, None]
        unobserved = [(j, place[x]) for j, x in enumerate(columns) if x in place]
        spread = np.zeros((len(per_configuration), len(columns), len(columns)))
        if unobserved:
            own, inner = [j for j, _ in unobserved], [k for _, k in unobserved]
            spread[np.ix_(range(len(spread)), own, own)] = conditional.covariance[:, inner][:, :, inner]
        cells = row[at.reshape(-1)]
        yield (
            i,
            moments_of(
                z.reshape(-1, len(columns)), weights, cells, math.prod(node.rows), per_configuration, row, spread
            ),
        )


def totals(cells: NDArray[np.int64], w: Floats, n: int) -> Floats:
    """The sum of the weights in each cell."""
    return np.bincount(cells, w, minlength=n).astype(np.float64)


def moments_of(
    z: Floats, w: Floats, cells: NDArray[np.int64], n_rows: int, shares: Floats, row: NDArray[np.int64], V: Floats
) -> JointMoments:
    """n, mean and scatter of weighted vectors in their rows, with the covariance V of each configuration added."""
    d = z.shape[1]
    n = totals(cells, w, n_rows)
    safe = np.where(n > 0, n, 1.0)
    mean = np.stack([np.bincount(cells, w * z[:, j], minlength=n_rows) for j in range(d)], axis=1) / safe[:, None]
    δ = z - mean[cells]
    scatter = np.zeros((n_rows, d, d))
    if n_rows == 1:
        scatter[0] = (δ * w[:, None]).T @ δ
    else:
        for a in range(d):
            for b in range(a + 1):
                scatter[:, a, b] = scatter[:, b, a] = np.bincount(cells, w * δ[:, a] * δ[:, b], minlength=n_rows)
    np.add.at(scatter, row, shares[:, None, None] * V)
    return JointMoments(n, np.where(n[:, None] > 0, mean, 0.0), np.where(n[:, None, None] > 0, scatter, 0.0))


### estimates


@dataclass(frozen=True)
class Parameters:
    """A network as EM sees it; its prior is a prior for every node by name."""

    network: HybridBayesianNetwork
    #: The variance of each numeric column, by which a node without spread is told.
    spreads: Mapping[str, float]

    def expected_statistics(self, batch: Table) -> tuple[StatisticsBundle, float]:
        """E step."""
        return expected_statistics(self.network.inference, batch)

    def estimate(self, prior: Mapping[str, Any], statistics: StatisticsBundle) -> Parameters:
        """M step."""
        return replace(self, network=estimated(self.network, prior, statistics, self.spreads))

    def log_prior(self, prior: Mapping[str, Any]) -> float:
        """The log density that EM adds to the likelihood, up to a constant."""
        return sum(node_log_prior(node, prior[node.name]) for node in self.network.cpts)


def estimated(
    network: HybridBayesianNetwork,
    priors: Mapping[str, Any],
    statistics: StatisticsBundle,
    spreads: Mapping[str, float],
) -> HybridBayesianNetwork:
    """The network with posterior means, each node with what it is based on."""
    nodes: list[Any] = []
    for node in network.cpts:
        new: Any = statistics[node.name]
        if isinstance(node, CPT):
            weight = new.n + priors[node.name].alpha
            p = shares(weight, node.probabilities)
            nodes.append(CPT(node.variable, node.parents, p, new, priors[node.name]))
        else:
            nodes.append(regressed(node, priors[node.name], new, spreads.get(node.name, 0.0)))
    return replace(network, cpts=tuple(nodes))


def regressed(node: Any, prior: RegressionPrior, statistics: JointMoments, spread: float) -> LinearGaussianCPD:
    """A numeric node given moments: (intercept, coefficients, variance) of every configuration."""
    k = len(node.numeric_parents)
    posterior = node.distribution.update(prior, statistics)
    if not (prior.kappa > 0).all():
        require_enough(node, statistics)
    try:
        found = posterior.mean()
    except EvidenceError as error:
        raise too_few(node, statistics, f"its numeric parents do not determine it ({error.message})") from None
    if (found.var <= NO_SPREAD * spread).any() and not (prior.kappa > 0).all():
        at = np.unravel_index(int(np.argmin(found.var)), node.rows) if node.rows else ()
        raise too_few(node, statistics, "has no spread left", at)
    var = np.maximum(found.var, 0.0)
    return LinearGaussianCPD(
        node.variable,
        node.parents,
        found.intercept,
        found.coef.reshape(*node.rows, k),
        var,
        node.scale,
        statistics,
        prior,
    )


def require_enough(node: Any, statistics: JointMoments) -> None:
    """Refuse a configuration with fewer rows than its regression needs."""
    least = len(node.numeric_parents) + 2
    thin = statistics.n < least * (1 - 1e-9)
    if thin.any():
        at = np.unravel_index(int(np.argmax(thin)), node.rows) if node.rows else ()
        n = float(statistics.n[at])
        raise too_few(node, statistics, f"is based on {n:.3g} rows, and {least} are needed", at)


def too_few(node: Any, _statistics: JointMoments, why: str, at: Any = ()) -> EvidenceError:
    """The error that names a node and a configuration of its parents."""
    given = ", ".join(f"{v.name}={v.states[int(i)]}" for v, i in zip(node.discrete_parents, at, strict=False))
    where = f" for {given}" if given else ""
    return EvidenceError(
        f"the numeric node {node.name!r}{where} {why}",
        hint="give a prior, such as prior='unit', or remove a parent",
        column=node.name,
    )


def node_log_prior(node: Any, prior: Any) -> float:
    """Σ α ln θ of a CPT; of a numeric node −(α − 1) ln v − (κ(l − a − bᵀc)² + S_yy − 2bᵀS_xy + bᵀS_xx b)/2v."""
    if isinstance(node, CPT):
        with np.errstate(divide="ignore"):
            logs = np.log(node.probabilities)
        return float(np.where(prior.alpha > 0, prior.alpha * logs, 0.0).sum())
    shaped = prior.of((*node.rows, len(node.numeric_parents)))
    v, b = positive(node.var), node.coef
    off = shaped.center[..., -1] - node.intercept - (shaped.center[..., :-1] * b).sum(axis=-1)
    S = shaped.scatter
    rest = (
        S[..., -1, -1]
        - 2 * (b * S[..., :-1, -1]).sum(axis=-1)
        + np.einsum("...i,...ij,...j->...", b, S[..., :-1, :-1], b)
    )
    return float((-(shaped.alpha - 1) * np.log(v) - (shaped.kappa * off**2 + rest) / (2 * v)).sum())


### evidence adds


def evidence_of(network: HybridBayesianNetwork) -> StatisticsBundle:
    """The statistics of all nodes, which must have been learned."""
    found: dict[str, Any] = {}
    for node in network.cpts:
        node.require_learned()
        found[node.name] = node.observed_counts if isinstance(node, CPT) else node.statistics
    return StatisticsBundle(found)


def evidence_like(other: Any, network: HybridBayesianNetwork) -> StatisticsBundle:
    """The statistics of another network of the same structure, states and scales."""
    same = set(other.variables) == set(network.variables) and all(
        [v.name for v in node.parents] == [v.name for v in other[node.name].parents]
        and type(node) is type(other[node.name])
        and getattr(node, "scale", None) == getattr(other[node.name], "scale", None)
        and (not isinstance(node, CPT) or node.variable.states == other[node.name].variable.states)
        for node in network.cpts
    )
    if not same:
        raise MismatchError(
            "the networks differ in structure, states or scales, so their evidence cannot be added",
            hint="fit both to one structure: fit_parameters(network, data)",
            differs="structure",
        )
    found = evidence_of(other)
    return StatisticsBundle({name: found[name] for name in network.variables})


def based_on(network: HybridBayesianNetwork, statistics: StatisticsBundle) -> HybridBayesianNetwork:
    """The network whose nodes are estimated from these statistics and their own priors."""
    priors = {
        node.name: (node.prior if node.prior is not None else Dirichlet(np.zeros(node.shape)))
        if isinstance(node, CPT)
        else (node.prior if node.prior is not None else RegressionPrior.none(len(node.numeric_parents)))
        for node in network.cpts
    }
    return estimated(network, priors, statistics, {})


def coded(
    network: HybridBayesianNetwork,
    data: Any,
    sample_weight: ArrayLike | str | None,
    hidden: tuple[str, ...],
    unknown: Any,
) -> Source:
    """The data under the schema of the network."""
    return as_source(
        data, schema=network.schema, sample_weight=sample_weight, handle_unknown=unknown,
        missing_columns="missing" if hidden else "error",
    )  # fmt: skip


def updated(
    network: HybridBayesianNetwork,
    data: Any,
    sample_weight: Any,
    forgetting_factor: float,
    hidden: tuple[str, ...],
    unknown: Any,
) -> HybridBayesianNetwork:
    """The network after more rows."""
    keep = validation.number("forgetting_factor", forgetting_factor, min_value=0, max_value=1)
    before = evidence_of(network)
    new = coded(network, data, sample_weight, hidden, unknown).fold(
        lambda t: expected_statistics(network.inference, t)[0]
    )
    return based_on(network, before * keep + new)


def removed(
    network: HybridBayesianNetwork, data: Any, sample_weight: Any, hidden: tuple[str, ...]
) -> HybridBayesianNetwork:
    """The network without some rows."""
    gone = coded(network, data, sample_weight, hidden, "error").fold(
        lambda t: expected_statistics(network.inference, t)[0]
    )
    return based_on(network, evidence_of(network) - gone)
