"""What nearest neighbors show: reports of models and fits, plain values, documents and plots.

A document has the settings, and columns with their cells. The plots are Voronoi cells of the training rows, and the
error by number of neighbors. A cell holds the points that are nearer to its row than to any other. Cells are computed
among scaled and weighted points, where the distance is Euclidean, and drawn in the units of the columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.codec import upgrade
from bayeslearn.errors import ParameterError
from bayeslearn.model_values import ARRAY, NUMBER, plain_prior
from bayeslearn.neighbors.distances import Distance
from bayeslearn.printable import plot_label as label
from bayeslearn.reports import Grid, Pairs, Report
from bayeslearn.tables import DiscreteVariable, Schema, Table
from bayeslearn.tables.frames import frame_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bayeslearn.model_values import Reader
    from bayeslearn.neighbors.fit import NeighborsFitInfo
    from bayeslearn.neighbors.model import NeighborsModel
    from bayeslearn.neighbors.model_selection import FeatureWeights, LeaveOneOut
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]


#: Numbers of neighbors whose errors are shown.
SHOWN = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)


### models


def model_report(model: NeighborsModel) -> Report:
    """The settings of a model, and its columns."""
    missing = model.examples.missing()
    rows = [[v.name, kind_of(v), model.feature_weights[v.name], missing[v.name]] for v in model.examples.schema]
    return Report(
        f"k-nearest neighbors for {model.target.name}",
        Pairs(settings(model)),
        Grid(["Feature", "Kind", "Weight", "Missing values"], rows, "Features"),
    )


def settings(model: NeighborsModel) -> dict[str, Any]:
    """The settings of a model by their names in reports."""
    return {
        "Training rows": len(model),
        "Neighbors": "all" if model.n_neighbors is None else model.n_neighbors,
        "Weights": weights_name(model),
        "Metric": model.distance.metric,
    }


def weights_name(model: NeighborsModel) -> str:
    """The name of the weights of neighbors."""
    return getattr(model.weights, "__name__", "function") if callable(model.weights) else str(model.weights)


def plain_model(model: NeighborsModel) -> dict[str, Any]:
    """The settings of a model as plain values."""
    return {
        "target": model.target.name,
        "task": "classification" if model.is_classifier else "regression",
        "classes": list(model.classes),
        "n_rows": len(model),
        "n_neighbors": model.n_neighbors,
        "weights": weights_name(model),
        "metric": model.distance.metric,
        "feature_weights": model.feature_weights,
    }


def frame(model: NeighborsModel, backend: Backend) -> Any:
    """The training rows as a data frame, with their targets and weights."""
    table = model.examples
    columns: dict[str, Any] = {
        v.name: table.column(v.name) if isinstance(v, DiscreteVariable) else table.values_of(v.name)
        for v in table.schema
    }
    columns[model.target.name] = [model.classes[code] for code in model.targets] if model.classes else model.targets
    if table.sample_weight is not None and "sample_weight" not in columns:
        columns["sample_weight"] = table.sample_weight
    return frame_of(columns, backend)


### fits


def error_name(model: NeighborsModel) -> str:
    """What the error of a model is."""
    return "Error rate" if model.is_classifier else "Root mean squared error"


def loss_name(model: NeighborsModel) -> str:
    """What the loss of a model is."""
    return "Log loss" if model.is_classifier else "Mean squared error"


def error_grid(found: LeaveOneOut | None, model: NeighborsModel) -> Grid | None:
    """The errors by the number of neighbors; nothing if only one number was tried."""
    if found is None or len(found.n_neighbors) < 2:
        return None
    at = [i for i, k in enumerate(found.n_neighbors) if k in SHOWN or k == found.best]
    rows = [[found.n_neighbors[i], float(found.errors[i]), float(found.losses[i])] for i in at]
    return Grid(["Neighbors", error_name(model), loss_name(model)], rows, "Leave-one-out error")


def weights_grid(found: FeatureWeights | None) -> Grid | None:
    """The selected weights of features, the largest first."""
    if found is None:
        return None
    rows = sorted(found.weights.items(), key=lambda pair: -pair[1])
    return Grid(["Feature", "Weight"], rows, "Selected feature weights")


def uncertain_grid(rows: list[dict[str, Any]]) -> Grid | None:
    """The training rows that their neighbors contradict most."""
    if not rows:
        return None
    cells = [[row["row"], row["target"], row["predicted"], row["loss"]] for row in rows]
    return Grid(["Row", "Target", "Predicted", "Loss"], cells, "Rows that their neighbors predict worst")


def fit_pairs(info: NeighborsFitInfo, model: NeighborsModel) -> dict[str, Any]:
    """What a fit reports in one line each."""
    found = info.leave_one_out
    selection = info.feature_selection
    before = {} if selection is None else {f"{error_name(model)} before selection": selection.before.error}
    return {
        "Features": len(model.feature_names),
        "Missing values": info.n_missing,
        **settings(model),
        **({} if found is None else {f"{error_name(model)} (leave-one-out)": found.error}),
        **before,
    }


def to_document(model: NeighborsModel) -> dict[str, Any]:
    """The model as plain values and arrays.

    {"metric", "n_neighbors", "weights", "prior", "algorithm", "target": {"variable", "cells"},
     "columns": [{"variable", "weight", "cells"}, ...], "sample_weight": weights of the rows, or null,
     "lineage"?: {"names", "bases", "rows"}, "exponent"?: of the probabilities of classes}

    Cells are codes of states or numbers, null where they are missing.
    """
    if callable(model.weights):
        raise ParameterError("a function cannot be written to a file", hint="use weights that have a name")
    feature_weights, table = model.distance.feature_weights, model.examples
    number = isinstance(model.prior, int | float)
    document = {
        "metric": model.distance.metric,
        "n_neighbors": model.n_neighbors,
        "weights": model.weights,
        "prior": float(model.prior) if number else plain_prior(model.prior),
        "algorithm": model.algorithm,
        "target": {"variable": model.target.to_dict(), "cells": model.targets},  # type: ignore[attr-defined]
        "columns": [
            {"variable": v.to_dict(), "weight": feature_weights[v.name], "cells": plain_cells(table, v)}  # type: ignore[attr-defined]
            for v in table.schema
        ],
        "sample_weight": table.sample_weight,
    }
    if model.exponent != 1:
        document["exponent"] = model.exponent
    return document if model.lineage is None else document | {"lineage": model.lineage.to_dict()}


def from_document(reader: Reader, document: dict[str, Any]) -> tuple[Any, ...]:
    """The fields of the model of a document, all of which is checked."""
    keys: dict[str, Any] = {
        "metric": str, "n_neighbors": (int, type(None)), "weights": str, "prior": (*NUMBER, dict), "algorithm": str,
        "target": dict, "columns": [dict], "sample_weight": (*ARRAY, type(None)),
    }  # fmt: skip
    metric, n_neighbors, weights, prior, algorithm, target, columns, sample_weight = reader.model(
        {key: value for key, value in document.items() if key != "exponent"}, keys
    )
    variable, given = reader.entries(target, {"variable": dict, "cells": ARRAY}, "the target")
    cells: dict[str, Any] = {"variable": dict, "weight": NUMBER, "cells": ARRAY}
    entries = [reader.entries(column, cells, "a column") for column in columns]
    what: Any = reader.variable(variable)
    targets = read_cells(reader, what, given, None)
    n = len(targets)
    schema = Schema(reader.variable(entry) for entry, _, _ in entries)
    found = {v.name: read_cells(reader, v, entry[2], n) for v, entry in zip(schema, entries, strict=True)}
    codes = np.array([found[v.name] for v in schema.discrete], np.int64).reshape(len(schema.discrete), n)
    values = np.array([found[v.name] for v in schema.numeric]).reshape(len(schema.numeric), n)
    w = None if sample_weight is None else reader.numbers(sample_weight, "sample_weight")
    table = Table(schema, codes, values, w)
    distance = Distance.fit(table, metric, {v.name: e[1] for v, e in zip(schema, entries, strict=True)})
    read_prior = reader.prior(prior, of="a target") if isinstance(prior, dict) else prior
    lineage = reader.row_lineage(document, n)
    exponent = document.get("exponent", 1.0)
    if isinstance(exponent, bool) or not isinstance(exponent, int | float) or not 0 < exponent < 1e6:
        reader.wrong(f"the exponent of the probabilities must be a number above 0, got {exponent!r:.60}")
    return table, what, targets, distance, n_neighbors, weights, read_prior, algorithm, lineage, float(exponent)


def plain_cells(table: Table, variable: Any) -> NDArray[Any]:
    """A column, masked where it is missing."""
    if isinstance(variable, DiscreteVariable):
        return np.ma.masked_less(table.codes_of(variable.name), 0)
    return np.ma.masked_invalid(table.values_of(variable.name))


def read_cells(reader: Reader, variable: Any, entry: Any, n: int | None) -> NDArray[Any]:
    """Codes or numbers of one column, as many as there are rows."""
    x = reader.array(entry, variable.name, missing=True)
    if x.ndim != 1:
        reader.wrong(f"the cells of column {variable.name!r} are not numbers")
    if n is not None and len(x) != n:
        reader.wrong(f"column {variable.name!r} has {len(x)} cells, and there are {n} rows")
    if not isinstance(variable, DiscreteVariable):
        return x.astype(np.float64)
    codes = np.where(np.isnan(x), -1, x)
    if (codes != np.round(codes)).any() or (codes < -1).any() or (codes >= variable.n_states).any():
        reader.wrong(f"the codes of column {variable.name!r} must be whole numbers below {variable.n_states}")
    return codes.astype(np.int64)


### files of earlier versions


@upgrade("neighbors", 1)
def with_underscore(_reader: Reader, parts: dict[str, Any]) -> dict[str, Any]:
    """Name the weights as version 2 does."""
    return parts | {"weighting": "inverse_square"} if parts.get("weighting") == "inverse-square" else parts


#: Keys as versions 1 and 2 named them.
RENAMED = {"k": "n_neighbors", "weighting": "weights", "index": "algorithm", "cases": "sample_weight"}


@upgrade("neighbors", 2)
def with_full_names(_reader: Reader, parts: dict[str, Any]) -> dict[str, Any]:
    """Name settings as parameters are named, and the index by its algorithm."""
    named = {RENAMED.get(key, key): value for key, value in parts.items()}
    if named.get("algorithm") == "tree":
        named["algorithm"] = "kd_tree"
    target = named.get("target")
    if isinstance(target, dict):
        named["target"] = {"cells" if key == "said" else key: value for key, value in target.items()}
    return named


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
        columns = -(-model.target.n_states // MAX_ENTRIES)
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
        shades = np.array([colors(code)[:3] for code in range(model.target.n_states)])
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
