"""Mixtures on matplotlib axes: rows with an ellipse for each component, and responsibilities.

The ellipse of a component is {x : (x − μ)ᵀ Σ⁻¹ (x − μ) = 4}, two standard deviations, over the two columns shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import ParameterError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from bayeslearn.mixture.hierarchy import ClusterHierarchy
    from bayeslearn.mixture.model import MixtureModel

    Floats = NDArray[np.float64]

#: Points on an ellipse.
POINTS = 100


def numeric_columns(model: MixtureModel) -> dict[str, tuple[int, int]]:
    """Columns with Gaussian components, by name: their part, and their place in it."""
    return {
        column.name: (i, c)
        for i, part in enumerate(model.parts)
        if part.distribution.reach(model.parameters[i]) is not None
        for c, column in enumerate(part.columns)
    }


def pick(model: MixtureModel, columns: Sequence[str] | None) -> list[str]:
    """The columns to show: two that are given, or the two whose means differ most relative to their spread."""
    known = numeric_columns(model)
    if columns is not None:
        unknown = [name for name in columns if name not in known]
        if unknown or len(columns) != 2:
            raise ParameterError(
                f"a picture shows two columns of numbers, got {listed(columns)}", hint=f"they are {listed(known)}"
            )
        return list(columns)

    def apart(name: str) -> float:
        mean, var = marginal(model, name)
        center = model.weights @ mean
        return float(model.weights @ (mean - center) ** 2 / (model.weights @ var))

    return sorted(known, key=apart, reverse=True)[:2]


def marginal(model: MixtureModel, name: str) -> tuple[Floats, Floats]:
    """The mean and the variance of a column in each component."""
    i, c = numeric_columns(model)[name]
    mean, var = model.parts[i].distribution.marginals(model.parameters[i])[c][1]
    return mean, var


def covariance(model: MixtureModel, names: list[str]) -> Floats:
    """The covariance of two columns in each component, (k, 2, 2)."""
    found = np.zeros((model.n_components, 2, 2))
    for side, name in enumerate(names):
        found[:, side, side] = marginal(model, name)[1]
    (i, a), (j, b) = (numeric_columns(model)[name] for name in names)
    if i == j:
        found[:, 0, 1] = found[:, 1, 0] = model.parts[i].distribution.covariances(model.parameters[i])[:, a, b]
    return found


def outlines(model: MixtureModel, names: list[str]) -> Iterator[Floats]:
    """The ellipse of each component, (2, points)."""
    angle = np.linspace(0, 2 * np.pi, POINTS)
    circle = 2 * np.stack([np.cos(angle), np.sin(angle)])
    mean = np.stack([marginal(model, name)[0] for name in names], axis=1)
    for center, L in zip(mean, np.linalg.cholesky(covariance(model, names)), strict=True):
        yield center[:, None] + L @ circle


def paint(axes: Any, model: MixtureModel, data: Any, color: Callable[[int], Any], columns: Any = None) -> None:
    """Rows by their component, and the components: ellipses over two columns, densities over one."""
    rows, names = model.rows(data), pick(model, columns)
    labels = model.predict(rows)
    values = [column(model, rows, name) for name in names]
    if not names:
        shares(axes, model.predict_proba(rows), color)
        return
    if len(names) == 1:
        x, (mean, var) = values[0][~np.isnan(values[0])], marginal(model, names[0])
        axes.hist(x, bins=40, density=True, color="lightgray")
        grid = np.linspace(x.min(), x.max(), 400)
        for j in range(model.n_components):
            density = np.exp(-((grid - mean[j]) ** 2) / var[j] / 2) / np.sqrt(2 * np.pi * var[j])
            axes.plot(grid, model.weights[j] * density, color=color(j), label=str(j))
        axes.set(xlabel=names[0], ylabel="density")
    else:
        for j, line in enumerate(outlines(model, names)):
            axes.scatter(*(v[labels == j] for v in values), s=8, color=color(j), alpha=0.6, label=str(j))
            axes.plot(*line, color=color(j))
        axes.set(xlabel=names[0], ylabel=names[1])
    axes.legend(title="component", frameon=False)


def column(model: MixtureModel, rows: Any, name: str) -> Floats:
    """The cells of a column."""
    i, c = numeric_columns(model)[name]
    return rows.cells[i][:, c] if model.parts[i].is_joint else rows.cells[i]


def shares(axes: Any, responsibilities: Floats, color: Callable[[int], Any]) -> None:
    """How much of each row belongs to each component, sorted by the largest share."""
    best = responsibilities.argmax(axis=1)
    order = np.lexsort((-responsibilities.max(axis=1), best))
    height = responsibilities[order]
    places, k = np.arange(len(height)), height.shape[1]
    colors = [color(j) for j in range(k)]
    axes.stackplot(places, height.T, colors=colors, labels=[str(j) for j in range(k)], step="mid")
    axes.set(xlabel="rows, by component", ylabel="P(component | row)", ylim=(0, 1), xlim=(0, max(len(height) - 1, 1)))
    axes.legend(title="component", frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))


def tree(axes: Any, found: ClusterHierarchy, color: Callable[[int], Any]) -> None:
    """The mergers of components: the later, the higher; clusters that are separate have a color."""
    order = [j for components in found.clusters(1) for j in leaves(found, components)]
    place: dict[tuple[int, ...], tuple[float, int]] = {(j,): (float(x), 0) for x, j in enumerate(order)}
    number = found.labels()
    separate = found.n_components - found.n_clusters
    for step, merge in enumerate(found.merges, 1):
        (a, low), (b, high) = place[merge.first], place[merge.second]
        shade = color(int(number[merge.first[0]])) if step <= separate else "gray"
        axes.plot([a, a, b, b], [low, step, step, high], color=shade)
        place[tuple(sorted(merge.first + merge.second))] = (a + b) / 2, step
    axes.set_xticks(range(len(order)), [str(j) for j in order])
    steps = range(found.n_components)
    axes.set_yticks(steps, [str(found.n_components - step) for step in steps])
    axes.set(xlabel="component", ylabel="clusters")


def leaves(found: ClusterHierarchy, components: tuple[int, ...]) -> list[int]:
    """The components of a cluster in an order in which mergers do not cross."""
    for merge in found.merges:
        if tuple(sorted(merge.first + merge.second)) == components:
            return [*leaves(found, merge.first), *leaves(found, merge.second)]
    return list(components)
