"""What nearest neighbors show: models, fits, and plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn.reports import Grid, Pairs, Report
from bayeslearn.tables import DiscreteVariable
from bayeslearn.tables.frames import frame_of, kind_of

if TYPE_CHECKING:
    from bayeslearn.neighbors.fit import NeighborsFitInfo
    from bayeslearn.neighbors.model import NeighborsModel
    from bayeslearn.neighbors.model_selection import FeatureWeights, LeaveOneOut
    from bayeslearn.tables.frames import Backend

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
