"""Plots of nearest neighbors: Voronoi cells of the training rows, and the error by number of neighbors.

A cell holds the points that are nearer to its row than to any other. Cells are computed among scaled and weighted
points, where the distance is Euclidean, and drawn in the units of the columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.errors import ParameterError
from bayeslearn.printable import plot_label as label
from bayeslearn.tables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.neighbors.model import NeighborsModel
    from bayeslearn.neighbors.model_selection import LeaveOneOut

    Floats = NDArray[np.float64]

#: Entries of a legend in one column.
MAX_ENTRIES = 25

#: Points along each side of the plot that are predicted, and rows whose cells are outlined.
GRID, MAX_CELLS = 250, 500


def plane(model: NeighborsModel) -> tuple[str, str] | None:
    """The two numeric columns that the distance depends on, if it depends on no others."""
    names = [v.name for v in model.examples.schema if model.distance.feature_weights[v.name] > 0]
    numbers = {v.name for v in model.examples.schema.numeric}
    return (names[0], names[1]) if len(names) == 2 and set(names) <= numbers else None


def paint_cells(axes: Any, model: NeighborsModel, colors: Callable[[int], Any]) -> None:
    """The prediction everywhere, the cell of each training row, and the rows."""
    names = plane(model)
    if names is None:
        raise ParameterError(
            "Voronoi cells need a model of two numeric columns",
            hint="plot_error_by_n_neighbors draws the error by number of neighbors",
        )
    x = np.column_stack([model.examples.values_of(name) for name in names])
    shown = x[~np.isnan(x).any(axis=1)]
    low, high = shown.min(axis=0), shown.max(axis=0)
    margin = np.where(high > low, high - low, 1.0) * 0.08
    low, high = low - margin, high + margin
    sides = [np.linspace(a, b, GRID) for a, b in zip(low, high, strict=True)]
    _background(axes, model, names, sides, colors)
    if len(shown) <= MAX_CELLS:
        for line in borders(model, names, shown):
            axes.plot(*line.T, color="black", linewidth=0.4, alpha=0.6)
    known = ~np.isnan(x).any(axis=1)
    if isinstance(model.target, DiscreteVariable):
        for code, state in enumerate(model.target.states):
            mine = known & (model.targets == code)
            axes.scatter(*x[mine].T, s=14, color=colors(code), edgecolor="black", linewidth=0.4, label=label(state))
        columns = -(-model.target.size // MAX_ENTRIES)
        axes.legend(
            loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, title=label(model.target.name), ncols=columns
        )
    else:
        axes.scatter(*x[known].T, s=14, c=model.targets[known], edgecolor="black", linewidth=0.4)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=label(names[0]), ylabel=label(names[1]))


def _background(axes: Any, model: NeighborsModel, names: tuple[str, str], sides: Any, colors: Any) -> None:
    """The prediction at every point of a grid."""
    places = dict(zip(names, (side.ravel() for side in np.meshgrid(*sides)), strict=True))
    nothing = np.full(GRID * GRID, np.nan)
    rows = np.column_stack([places.get(v.name, nothing) for v in model.examples.schema])
    if model.examples.schema.discrete:
        columns = {v.name: rows[:, j] for j, v in enumerate(model.examples.schema)}
        gone = np.full(len(rows), None, dtype=object)
        asked: Any = columns | {v.name: gone for v in model.examples.schema.discrete}
    else:
        asked = rows
    extent = (sides[0][0], sides[0][-1], sides[1][0], sides[1][-1])
    how: dict[str, Any] = {"extent": extent, "origin": "lower", "aspect": "auto", "alpha": 0.4}
    if isinstance(model.target, DiscreteVariable):
        shades = np.array([colors(code)[:3] for code in range(model.target.size)])
        axes.imshow(shades[model.predict_codes(asked)].reshape(GRID, GRID, 3), interpolation="nearest", **how)
    else:
        image = axes.imshow(model.predict(asked).reshape(GRID, GRID), **how)
        axes.figure.colorbar(image, label=label(model.target.name))


def borders(model: NeighborsModel, names: tuple[str, str], shown: Floats) -> list[Floats]:
    """The sides of the Voronoi cells, each as two points."""
    from scipy.spatial import QhullError, Voronoi  # noqa: PLC0415 - loaded when a picture is wanted

    at = [model.examples.schema.names.index(name) for name in names]
    scale = model.distance.scale[at] * np.sqrt(model.distance.weights[at])
    scale = np.where(scale > 0, scale, 1.0)
    points = np.unique(shown, axis=0) * scale
    center, reach = points.mean(axis=0), 10 * (np.ptp(points, axis=0).max() or 1.0)
    far = center + reach * np.array([[-1, -1], [-1, 1], [1, -1], [1, 1]])  # these close the outer cells
    try:
        cells = Voronoi(np.vstack([points, far]))
    except QhullError:
        return []
    return [cells.vertices[ridge] / scale for ridge in cells.ridge_vertices if min(ridge) >= 0]


def paint_errors(axes: Any, found: LeaveOneOut) -> None:
    """The leave-one-out error by number of neighbors, and the best number."""
    axes.plot(found.n_neighbors, found.errors, marker=".")
    axes.plot([found.best], [found.error], marker="o", color="black", linestyle="none")
    axes.set(xlabel="Number of neighbors", ylabel="Leave-one-out error", ylim=(0, None))
    axes.set_title(f"Lowest error {found.error:.4g} with {found.best} neighbors")
    axes.grid(alpha=0.3)
