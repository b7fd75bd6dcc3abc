"""What forests show: reports, importances, plain values, documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.distributions import Counts, Moments
from bayeslearn.model_values import ARRAY, NUMBER, plain_lineage, plain_statistics
from bayeslearn.reports import Grid, Pairs, Report
from bayeslearn.tables import DiscreteVariable, Schema
from bayeslearn.tables.frames import frame_of, kind_of
from bayeslearn.trees.prunings import PruningPrior
from bayeslearn.trees.structure import Bins, Trees

if TYPE_CHECKING:
    from bayeslearn.model_values import Reader
    from bayeslearn.tables.frames import Backend
    from bayeslearn.trees.fit import ForestFitInfo
    from bayeslearn.trees.model import BayesianForestModel


### importances


def importances(model: BayesianForestModel) -> dict[str, float]:
    """The share of each column in what all splits explain.

    A split explains ln P(node) − ln L(node), the evidence of the rows with all prunings below the node less that
    without a split, less what the splits below explain; splits that explain nothing count 0.
    """
    leaves, trees = model.leaves, model.trees
    gain = leaves.log_all - leaves.log_evidence
    splits = np.flatnonzero(trees.column >= 0)
    below = gain[trees.left[splits]] + gain[trees.left[splits] + 1]
    own = np.maximum(gain[splits] - below, 0.0)
    sums = np.bincount(trees.column[splits], own, len(trees.bins.schema))
    total = sums.sum()
    shares = sums / total if total > 0 else sums
    return dict(zip(model.feature_names, shares.tolist(), strict=True))


def n_splits(model: BayesianForestModel) -> list[int]:
    """The number of splits of each column."""
    column = model.trees.column
    return np.bincount(column[column >= 0], minlength=len(model.schema)).tolist()


def importance_grid(model: BayesianForestModel) -> Grid:
    """The columns, the most important first."""
    kinds = [kind_of(v) for v in model.schema]
    found = zip(model.feature_importances.items(), kinds, n_splits(model), strict=True)
    rows = [[name, kind, share, n] for (name, share), kind, n in found]
    return Grid(["Feature", "Kind", "Importance", "Splits"], sorted(rows, key=lambda row: -row[2]), "Features")


### reports


def settings(model: BayesianForestModel) -> dict[str, Any]:
    """The settings and the sizes of a forest by their names in reports."""
    what = "Temperature" if model.is_classifier else "Scale of intervals"
    return {
        "Rows": model.total_weight,
        "Trees": model.n_trees,
        "Leaves per tree": len(model.trees.leaf_nodes) / model.n_trees,
        "Split probability": model.prior.split_probability,
        "Equivalent sample size": model.prior.equivalent_sample_size,
        what: model.temperature,
    }


def model_report(model: BayesianForestModel) -> Report:
    """The settings of a forest, and its columns."""
    return Report(f"Bayesian forest for {model.target.name}", Pairs(settings(model)), importance_grid(model))


def fit_pairs(info: ForestFitInfo, model: BayesianForestModel) -> dict[str, Any]:
    """What a fit reports in one line each."""
    found = {"Features": len(model.feature_names), "Missing values": info.n_missing, **settings(model)}
    name = "Accuracy" if model.is_classifier else "R²"
    for label, value in ((name, info.out_of_bag_score), ("Log loss", info.out_of_bag_log_loss)):
        if value is not None:
            found[f"{label} (out of bag)"] = value
    return found


def plain_model(model: BayesianForestModel) -> dict[str, Any]:
    """Settings, sizes and importances as plain values."""
    return {
        "target": model.target.name,
        "task": "classification" if model.is_classifier else "regression",
        "classes": list(model.classes),
        "total_weight": model.total_weight,
        "n_trees": model.n_trees,
        "n_leaves": len(model.trees.leaf_nodes),
        "split_probability": model.prior.split_probability,
        "equivalent_sample_size": model.prior.equivalent_sample_size,
        "temperature": model.temperature,
        "feature_importances": model.feature_importances,
    }


def frame(model: BayesianForestModel, backend: Backend) -> Any:
    """A data frame with a row for each column."""
    found = model.feature_importances
    columns = {"feature": list(found), "importance": list(found.values()), "n_splits": n_splits(model)}
    return frame_of(columns, backend)


### documents


def to_document(model: BayesianForestModel) -> dict[str, Any]:
    """The model as plain values and arrays."""
    trees, bins = model.trees, model.trees.bins
    return {
        "target": model.target.to_dict(),  # type: ignore[attr-defined]
        "columns": [{"variable": v.to_dict(), "cuts": cut} for v, cut in zip(bins.schema, bins.cuts, strict=True)],  # type: ignore[attr-defined]
        "trees": {name: getattr(trees, name) for name in TREES},
        "statistics": plain_statistics(model.statistics),
        "split_probability": model.prior.split_probability,
        "equivalent_sample_size": model.prior.equivalent_sample_size,
        "temperature": model.temperature,
        "center": model.center,
        "scale": model.scale,
        **plain_lineage(model.lineage),
    }


#: The arrays of trees.
TREES = ("sizes", "column", "threshold", "missing_left", "masks")


def from_document(reader: Reader, document: dict[str, Any]) -> tuple[Any, ...]:
    """The fields of the model of a document, all of which is checked."""
    keys: dict[str, Any] = {
        "target": dict, "columns": [dict], "trees": dict, "statistics": dict, "split_probability": NUMBER,
        "equivalent_sample_size": NUMBER, "temperature": NUMBER, "center": NUMBER, "scale": NUMBER,
    }  # fmt: skip
    target, columns, entry, given, a, m, temperature, center, scale = reader.model(document, keys)
    entries = [reader.entries(column, {"variable": dict, "cuts": ARRAY}, "a column") for column in columns]
    schema = Schema(reader.variable(variable) for variable, _ in entries)
    bins = Bins(schema, tuple(reader.numbers(cut, "cuts") for _, cut in entries))
    trees = trees_of(reader, entry, bins)
    what, n = reader.variable(target), len(trees.leaf_nodes)
    classes = len(what.states) if isinstance(what, DiscreteVariable) else 0
    like: Any = Counts(np.zeros((n, classes))) if classes else Moments.zero((n,))
    statistics = reader.statistics(given, like)
    lineage = reader.lineage(document, like)
    prior = PruningPrior(float(a), float(m))
    return trees, what, statistics, prior, float(temperature), float(center), float(scale), lineage


def trees_of(reader: Reader, entry: dict[str, Any], bins: Bins) -> Trees:
    """The trees of an entry: whole numbers that form trees over the columns."""
    found = dict(zip(TREES, reader.entries(entry, dict.fromkeys(TREES, ARRAY), "trees"), strict=True))
    column = reader.array(found["column"], "column")
    if column.ndim != 1 or (column != np.round(column)).any() or (column < -1).any():
        reader.wrong("the columns of nodes are not whole numbers from -1 on")
    limits = {"sizes": 2**40, "threshold": 2**31 - 1, "missing_left": 1, "masks": 255}
    whole = {name: reader.whole_numbers(found[name], name) for name in limits}
    for name, most in limits.items():
        if whole[name].max(initial=0) > most:
            reader.wrong(f"{name!r} holds numbers above {most}")
    if column.max(initial=-1) >= len(bins.schema):
        reader.wrong("a node has a column that is not there")
    return Trees(
        bins, whole["sizes"], column.astype(np.int32), whole["threshold"].astype(np.int32),
        whole["missing_left"].astype(np.uint8), whole["masks"].astype(np.uint8),
    )  # fmt: skip
