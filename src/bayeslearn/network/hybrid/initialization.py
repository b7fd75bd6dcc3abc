"""Where EM starts: each node at the rows that have all of its family, hidden variables at clusters of the numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import Counts, JointMoments, RegressionPrior, StatisticsBundle
from bayeslearn.errors import EvidenceError
from bayeslearn.network.cpt import CPT
from bayeslearn.network.hybrid.layout import Layout, Rows
from bayeslearn.network.hybrid.nodes import LinearGaussianCPD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bayeslearn.network.hybrid.network import HybridBayesianNetwork
    from bayeslearn.tables import Source, Table

    Floats = NDArray[np.float64]

#: Rows from which the centers of hidden variables are taken.
SAMPLE = 20_000

#: What a cell that no complete row shows counts at the start, so that EM does not begin with a zero.
UNSEEN = 0.5


def started(frame: HybridBayesianNetwork, shown: StatisticsBundle, priors: Mapping[str, Any]) -> HybridBayesianNetwork:
    """Parameters from the statistics of the rows that are complete for each family."""
    nodes: list[Any] = []
    for node in frame.cpts:
        found: Any = shown[node.name]
        if isinstance(node, CPT):
            weight = found.n + priors[node.name].alpha
            weight = np.where(weight > 0, weight, UNSEEN)
            nodes.append(CPT(node.variable, node.parents, weight / weight.sum(axis=-1, keepdims=True)))
        else:
            nodes.append(start_node(node, found, priors[node.name]))
    return replace(frame, cpts=tuple(nodes))


def relabeled(
    frame: HybridBayesianNetwork, layout: Layout, source: Source, hidden: tuple[str, ...], random: np.random.Generator
) -> StatisticsBundle:
    """The statistics with hidden variables by the nearest of some rows at random."""
    label = labels_of(layout, source, hidden, random, spread=True)
    return source.fold(lambda table: available(frame, layout, labeled(layout, table, label)))


@dataclass(frozen=True)
class Labeled:
    """Rows with their weights."""

    rows: Rows
    weight: Floats


def labeled(layout: Layout, table: Table, label: Any) -> Labeled:
    """The rows of a table with states for the hidden variables."""
    rows = layout.rows(table)
    weight = np.ones(len(rows)) if table.sample_weight is None else table.sample_weight
    return Labeled(label(rows), weight)


def available(frame: HybridBayesianNetwork, layout: Layout, found: Labeled) -> StatisticsBundle:
    """Counts and moments of the rows that have all values of a family."""
    rows, weight = found.rows, found.weight
    statistics: dict[str, Any] = {}
    for cpt, scope in zip(layout.cpts, layout.scopes, strict=True):
        codes = rows.codes[:, list(scope)]
        whole = (codes >= 0).all(axis=1)
        cells = np.ravel_multi_index(tuple(codes[whole].T), cpt.shape)
        counts = np.bincount(cells, weight[whole], minlength=math.prod(cpt.shape))
        statistics[cpt.name] = Counts(counts.reshape(cpt.shape).astype(float))
    for i, node in enumerate(layout.nodes):
        codes = rows.codes[:, list(layout.states_of[i])]
        z = rows.numbers[:, [*layout.inputs_of[i], i]]
        whole = (codes >= 0).all(axis=1) & ~np.isnan(z).any(axis=1)
        groups = (
            np.ravel_multi_index(tuple(codes[whole].T), node.rows) if node.rows else np.zeros(whole.sum(), np.int64)
        )
        flat = node.distribution.collect(
            z[whole], sample_weight=weight[whole], groups=groups, n_groups=math.prod(node.rows)
        )
        d = z.shape[1]
        statistics[node.name] = JointMoments(
            flat.n.reshape(node.rows), flat.mean.reshape(*node.rows, d), flat.scatter.reshape(*node.rows, d, d)
        )
    return StatisticsBundle({name: statistics[name] for name in frame.variables})


def start_node(node: LinearGaussianCPD, shown: JointMoments, prior: RegressionPrior) -> LinearGaussianCPD:
    """The regression of each configuration; of all together where one has too few rows."""
    k = len(node.numeric_parents)
    d = k + 1
    flat = JointMoments(shown.n.reshape(-1), shown.mean.reshape(-1, d), shown.scatter.reshape(-1, d, d))
    pooled = JointMoments.zero((d,))
    for row in range(len(flat.n)):
        pooled = pooled + JointMoments(flat.n[row], flat.mean[row], flat.scatter[row])
    before = RegressionPrior(
        *(np.broadcast_to(a, (*node.rows, *e)).reshape(-1, *e)
          for a, e in ((prior.kappa, ()), (prior.center, (d,)), (prior.scatter, (d, d)), (prior.alpha, ())))
    )  # fmt: skip
    rows = [
        start_row(node, JointMoments(flat.n[r], flat.mean[r], flat.scatter[r]), pooled,
                  RegressionPrior(before.kappa[r], before.center[r], before.scatter[r], before.alpha[r]))
        for r in range(len(flat.n))
    ]  # fmt: skip
    a, b, v = (np.stack([np.asarray(row[j]) for row in rows]) for j in range(3))
    return LinearGaussianCPD(
        node.variable, node.parents, a.reshape(node.rows), b.reshape(*node.rows, k), v.reshape(node.rows), node.scale
    )


def start_row(node: LinearGaussianCPD, own: JointMoments, pooled: JointMoments, prior: RegressionPrior) -> Any:
    """The numbers of one configuration: by its rows, by all rows, or by the mean and variance of all rows."""
    k = len(node.numeric_parents)
    none = RegressionPrior.none(k)
    for moments, before in ((own, prior), (pooled, none)):
        if moments.n < k + 2 and not (before.kappa > 0).all():
            continue
        try:
            found = node.distribution.update(before, moments).mean()
        except EvidenceError:
            continue
        if found.var > 0:
            return found
    spread = float(pooled.scatter[-1, -1] / pooled.n) if pooled.n > 0 else 1.0
    return np.asarray(pooled.mean[-1]), np.zeros(k), np.asarray(spread if spread > 0 else 1.0)


def labels_of(
    layout: Layout, source: Source, hidden: tuple[str, ...], random: np.random.Generator, *, spread: bool
) -> Any:
    """A function that gives rows states for the hidden variables: the nearest of some centers of the numbers."""
    chosen = [(layout.discrete[name], layout.sizes[layout.discrete[name]]) for name in hidden]
    if not chosen:
        return lambda rows: rows
    sample = layout.rows(next(iter(source.batches(SAMPLE))))
    place, scale = np.nanmean(sample.numbers, axis=0), np.nanstd(sample.numbers, axis=0)
    scale = np.where(scale > 0, scale, 1.0)

    def standardized(rows: Rows) -> Floats:
        return np.nan_to_num((rows.numbers - place) / scale)

    centers = [centers_of(standardized(sample), k, random, spread=spread or j > 0) for j, (_, k) in enumerate(chosen)]

    def label(rows: Rows) -> Rows:
        codes, x = rows.codes.copy(), standardized(rows)
        for (i, _), at in zip(chosen, centers, strict=True):
            nearest = ((x[:, None, :] - at[None]) ** 2).sum(axis=2).argmin(axis=1)
            codes[:, i] = np.where(codes[:, i] < 0, nearest, codes[:, i])
        return Rows(codes, rows.numbers)

    return label


def centers_of(x: Floats, k: int, random: np.random.Generator, *, spread: bool) -> Floats:
    """k centers of rows: by k-means, or where several starts are tried rows at random."""
    if spread or len(x) <= k:
        return x[random.choice(len(x), k, replace=len(x) < k)]
    from sklearn.cluster import KMeans  # noqa: PLC0415 - loads when a variable is hidden

    seed = int(random.integers(1 << 31))
    return np.asarray(KMeans(k, n_init=4, random_state=seed).fit(x).cluster_centers_, dtype=np.float64)
