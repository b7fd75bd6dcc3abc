"""Components merged into clusters: a cluster that is no Gaussian, or whose columns depend, takes several components.

Two components that overlap are one cluster more likely than two. With the shares rᵢⱼ of the components in the rows, the
pair is merged whose merger lowers the entropy most (Baudry et al. 2010):

    H = −Σᵢ Σⱼ rᵢⱼ ln rᵢⱼ        gain(j, k) = −Σᵢ rᵢⱼ ln rᵢⱼ − Σᵢ rᵢₖ ln rᵢₖ + Σᵢ (rᵢⱼ + rᵢₖ) ln (rᵢⱼ + rᵢₖ)

and so on to a single cluster. The density of the mixture does not change. Rows may be given; otherwise they are drawn
from the mixture, so that a model has one hierarchy, wherever it comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import xlogy

from bayeslearn import lazy_imports, validation
from bayeslearn.reports import Grid, Report, Reported
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bayeslearn.components.rows import Rows
    from bayeslearn.mixture.model import MixtureModel

    Floats = NDArray[np.float64]
    Components = tuple[int, ...]

plots: Any = lazy_imports.Deferred("bayeslearn.plots")

#: Rows that are drawn where none are given, and their seed.
N_SAMPLES, SEED = 10_000, 0

#: The mean probability of the cluster of a row from which on clusters are separate.
SEPARATE = 0.95

#: An entropy that is rounding.
ROUNDING = 1e-14


@dataclass(frozen=True)
class ClusterMerge:
    """Two clusters that become one.

    Attributes
    ----------
    n_clusters
        The number of clusters after the merger.
    first, second
        The components of both.
    entropy
        The entropy of the clusters of a row, in nats, after the merger.
    certainty
        The mean probability of the most probable cluster of a row, after the merger.
    """

    n_clusters: int
    first: tuple[int, ...]
    second: tuple[int, ...]
    entropy: float
    certainty: float


@dataclass(frozen=True, repr=False)
class ClusterHierarchy(Reported):
    """The components of a mixture, merged step by step into clusters."""

    component_weights: tuple[float, ...]
    entropy: float
    certainty: float
    merges: tuple[ClusterMerge, ...]

    @property
    def n_components(self) -> int:
        """The number of components."""
        return len(self.component_weights)

    @property
    def n_clusters(self) -> int:
        """The largest number of clusters to which rows belong with a mean probability of 0.95 or more."""
        found = {self.n_components: self.certainty} | {merge.n_clusters: merge.certainty for merge in self.merges}
        return max(n for n, certainty in found.items() if certainty >= SEPARATE or n == 1)

    def clusters(self, n_clusters: int | None = None) -> tuple[tuple[int, ...], ...]:
        """Return the components of each of some clusters, the largest cluster first; default: :attr:`n_clusters`."""
        n = self.n_clusters if n_clusters is None else validation.integer("n_clusters", n_clusters, min_value=1)
        validation.integer("n_clusters", n, max_value=self.n_components)
        found: set[Components] = {(j,) for j in range(self.n_components)}
        for merge in self.merges[: self.n_components - n]:
            found = (found - {merge.first, merge.second}) | {tuple(sorted(merge.first + merge.second))}
        return tuple(sorted(found, key=lambda c: (-sum(self.component_weights[j] for j in c), c)))

    def labels(self, n_clusters: int | None = None) -> NDArray[np.intp]:
        """Return the cluster of each component, 0 for the largest; default: :attr:`n_clusters`."""
        found = np.zeros(self.n_components, np.intp)
        for number, components in enumerate(self.clusters(n_clusters)):
            found[list(components)] = number
        return found

    def plot(self, *, ax: Any = None) -> Any:
        """Plot the mergers as a tree; see :func:`bayeslearn.plots.plot_hierarchy`."""
        return plots.plot_hierarchy(self, ax=ax)

    def report(self) -> Report:
        """Return the mergers."""
        return Report(f"{self.n_components} components in {self.n_clusters} clusters", self.grid())

    def grid(self) -> Grid:
        """The mergers, as a block."""
        rows: list[tuple[Any, ...]] = [(self.n_components, "", self.entropy, self.certainty)]
        rows += [
            (m.n_clusters, f"{numbers(m.first)} with {numbers(m.second)}", m.entropy, m.certainty) for m in self.merges
        ]
        title = f"Components merged into clusters; {self.n_clusters} are separate"
        return Grid(["Clusters", "Merged components", "Entropy", "Certainty"], rows, title)

    def to_dict(self) -> dict[str, Any]:
        """Return the mergers as plain values."""
        return {
            "n_components": self.n_components, "n_clusters": self.n_clusters,
            "component_weights": list(self.component_weights), "entropy": self.entropy, "certainty": self.certainty,
            "clusters": [list(components) for components in self.clusters()],
            "merges": [
                {"n_clusters": m.n_clusters, "first": list(m.first), "second": list(m.second), "entropy": m.entropy,
                 "certainty": m.certainty}
                for m in self.merges
            ],
        }  # fmt: skip

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return a frame with a row for each merger."""
        columns = {
            "n_clusters": [m.n_clusters for m in self.merges],
            "first": [numbers(m.first) for m in self.merges],
            "second": [numbers(m.second) for m in self.merges],
            "entropy": [m.entropy for m in self.merges],
            "certainty": [m.certainty for m in self.merges],
        }
        return frame_of(columns, backend)


def numbers(components: tuple[int, ...]) -> str:
    """Components by their numbers."""
    return ", ".join(map(str, components))


def hierarchy_of(model: MixtureModel, data: Any = None) -> ClusterHierarchy:
    """The hierarchy of the components of a mixture over rows, drawn ones by default."""
    rows = model.rows(model.sample(N_SAMPLES, random_state=SEED) if data is None else data)
    blocks = rows.blocks(model.weighted.block)
    shares = np.concatenate([model.weighted.shares(block)[0] for block in blocks], axis=1)
    w = np.ones(len(rows)) if rows.sample_weight is None else rows.sample_weight
    return merged(shares, w, tuple(model.weights.tolist()))


def predicted(model: MixtureModel, blocks: list[Rows], n_clusters: int) -> NDArray[np.intp]:
    """The most probable cluster of each row, the first of equal ones."""
    labels = model.hierarchy().labels(n_clusters)
    of = np.arange(labels.max() + 1)[:, None] == labels
    return np.concatenate([(of @ model.weighted.shares(block)[0]).argmax(axis=0) for block in blocks])


def merged(shares: Floats, sample_weight: Floats, weights: tuple[float, ...]) -> ClusterHierarchy:
    """The hierarchy from the shares of the components in rows, (k, rows)."""
    w = sample_weight / sample_weight.sum()
    shown: dict[Components, Floats] = {(j,): row for j, row in enumerate(shares)}
    own = {c: entropy(row, w) for c, row in shown.items()}
    both = {(a, b): entropy(shown[a] + shown[b], w) for a, b in combinations(shown, 2)}
    first = float(sum(own.values())), certainty(shown, w)
    merges = []
    while len(shown) > 1:
        a, b = max(both, key=lambda pair: own[pair[0]] + own[pair[1]] - both[pair])
        one = tuple(sorted(a + b))
        row = shown.pop(a) + shown.pop(b)
        own = {c: own[c] for c in shown} | {one: both[a, b]}
        both = {pair: h for pair, h in both.items() if not {a, b} & set(pair)}
        both |= {(c, one): entropy(shown[c] + row, w) for c in shown}
        shown[one] = row
        merges.append(ClusterMerge(len(shown), a, b, float(sum(own.values())), certainty(shown, w)))
    return ClusterHierarchy(weights, *first, tuple(merges))


def entropy(share: Floats, w: Floats) -> float:
    """−Σ w r ln r; shares that are 1 up to rounding have none."""
    found = -float(w @ xlogy(share, share))
    return found if found > ROUNDING else 0.0


def certainty(shown: dict[tuple[int, ...], Floats], w: Floats) -> float:
    """The mean of the largest share."""
    return min(float(w @ np.max(list(shown.values()), axis=0)), 1.0)
