"""Fit a Bayesian forest: grow trees on bootstrap samples, count all rows in their leaves, predict each row out of bag.

Rows in the sample of a tree determine its splits; the statistics of its leaves are those of all rows. A row that is not
in the sample of a tree is predicted by it without its own weight in the statistics, by subtraction: what a forest of
these trees fitted without the row would predict. These predictions determine the temperature, and are in `fit_info`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bayeslearn import kernels, significance, validation
from bayeslearn.distributions import Counts, Moments
from bayeslearn.errors import ParameterError
from bayeslearn.fit_info import FitInfo, with_fit_info
from bayeslearn.neighbors.inputs import labeled
from bayeslearn.progress import reports_progress, should_stop
from bayeslearn.sources import with_options
from bayeslearn.tables import DiscreteVariable
from bayeslearn.trees import predictive, reporting
from bayeslearn.trees.model import BayesianForestModel
from bayeslearn.trees.prunings import ClassLeaves, NumberLeaves, PruningPrior
from bayeslearn.trees.structure import MAX_CODES, Bins, grown, joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from bayeslearn.tables import Table
    from bayeslearn.tables.markers import Markers
    from bayeslearn.trees.structure import Trees

    Floats = NDArray[np.float64]


#: The share of the columns that are tried at each split of a forest of numbers.
SHARE = 0.7


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ForestFitInfo(FitInfo):
    """What a fit of a forest found out: predictions out of bag, and how good they are."""

    n_missing: int = 0
    #: Accuracy of classes, or R² of a number, of the predictions out of bag.
    out_of_bag_score: float | None = None
    #: The mean log loss of the predictions out of bag.
    out_of_bag_log_loss: float | None = None
    #: P(class) of each training row, from trees that did not see it; NaN where every tree did. None of numbers.
    out_of_bag_proba: Floats | None = None
    #: The mean of the target of each training row, from trees that did not see it. None of classes.
    out_of_bag_prediction: Floats | None = None
    _model: Any = None

    def to_dict(self) -> dict[str, Any]:
        """Return all that the fit found out as plain values, without the predictions out of bag."""
        found = super().to_dict()
        return {k: v for k, v in found.items() if k not in {"out_of_bag_proba", "out_of_bag_prediction", "history"}}

    def _title(self) -> str:
        return f"Bayesian forest for {self._model.target.name}"

    def _pairs(self) -> dict[str, Any]:
        return reporting.fit_pairs(self, self._model)

    def _blocks(self) -> tuple[Any, ...]:
        return (reporting.importance_grid(self._model),)


@reports_progress("Fitting a Bayesian forest")
def fit_forest(
    data: Any,
    target: Any,
    *,
    n_estimators: int = 100,
    max_features: float | Literal["auto", "sqrt", "all"] = "auto",
    max_depth: int | None = None,
    min_samples_leaf: float = 1,
    max_bins: int = MAX_CODES,
    split_probability: float = 0.5,
    equivalent_sample_size: float = 0.5,
    calibrate: bool = True,
    task: Literal["auto", "classification", "regression"] = "auto",
    sample_weight: Any = None,
    columns: Iterable[str] | None = None,
    unlabeled: Literal["warn", "error", "drop"] = "warn",
    random_state: Any = None,
    progress: Any = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> BayesianForestModel:
    """Fit a Bayesian forest: randomized trees whose predictions are averages over all prunings.

    Parameters
    ----------
    data
        Anything that :func:`~bayeslearn.as_table` takes.
    target
        The column to predict, or an array with a target for each row.
    n_estimators
        The number of trees.
    max_features
        Columns that are tried at each split: ``"sqrt"`` of their number, ``"all"``, a number, or a share below 1;
        ``"auto"`` is the square root for classes and 0.7 for numbers.
    max_depth
        The greatest depth of a tree; None for no limit.
    min_samples_leaf
        The least weight of the sampled rows in a leaf.
    max_bins
        The number of bins of a numeric column, at most 255.
    split_probability
        The prior probability that a node is split, in the average over prunings.
    equivalent_sample_size
        The weight of the parent's prediction as the prior of a node's.
    calibrate
        Whether probabilities are sharpened by one exponent, and intervals scaled by one factor, learned out of bag.
    task
        ``"classification"``, ``"regression"``, or ``"auto"``: whole numbers that repeat are classes.
    sample_weight
        The weight of each row, or the column that holds it.
    columns
        The columns that splits may use; by default all that can be used.
    unlabeled
        Rows without a target: ``"warn"`` drops them with a warning, ``"drop"`` silently, ``"error"`` refuses them.
    random_state
        Seed or generator of the samples; the trees are the same on any number of threads.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Returns
    -------
    BayesianForestModel
        With `fit_info`: predictions out of bag, their score, dropped columns.

    Raises
    ------
    MissingValuesError
        Rows have no target, with ``unlabeled="error"``.
    EmptyTableError
        No column is left besides the target.

    Examples
    --------
    >>> rows = {"hours": [1.0, 1.5, 2.0, 6.0, 7.0, 7.5] * 5, "wind": ["weak", None, "weak", "gale", "gale", "weak"] * 5,
    ...         "sail": ["no", "no", "no", "yes", "yes", "yes"] * 5}
    >>> model = fit_forest(rows, "sail", random_state=0)
    >>> model.predict({"hours": [1.2, 6.6], "wind": ["weak", "gale"]}).tolist()
    ['no', 'yes']
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    rows, variable, targets, dropped = labeled(
        data, target, task=task, columns=columns, sample_weight=sample_weight, unlabeled=unlabeled,
        max_states=MAX_CODES,
    )  # fmt: skip
    return fitted(
        rows, variable, targets, n_estimators=n_estimators, max_features=max_features, max_depth=max_depth,
        min_samples_leaf=min_samples_leaf, max_bins=max_bins, split_probability=split_probability,
        equivalent_sample_size=equivalent_sample_size, calibrate=calibrate, random_state=random_state,
        dropped=dropped, progress=progress,
    )  # fmt: skip


### settings


class Growth(NamedTuple):
    """How trees are grown."""

    max_features: int
    max_depth: int
    min_samples_leaf: float


def growth_of(max_features: Any, max_depth: Any, min_samples_leaf: Any, n_columns: int) -> Growth:
    """Checked settings of growth."""
    depth = (1 << 31) if max_depth is None else validation.integer("max_depth", max_depth, min_value=0)
    least = float(validation.number("min_samples_leaf", min_samples_leaf, min_value=0))
    if isinstance(max_features, str):
        word = validation.choice("max_features", max_features, ["auto", "sqrt", "all"])
        number = n_columns if word == "all" else round(n_columns**0.5)
    elif isinstance(max_features, float) and max_features < 1:
        number = round(validation.number("max_features", max_features, above=0) * n_columns)
    elif isinstance(max_features, float) and max_features == 1:
        number = n_columns
    else:
        number = validation.integer("max_features", max_features, min_value=1)
    return Growth(min(max(number, 1), n_columns), depth, least)


### one fit


class Rows(NamedTuple):
    """Training rows as trees are grown on them."""

    codes: NDArray[np.uint8]
    targets: NDArray[Any]
    weights: Floats
    #: The labels of classes, all 0 for numbers; and 1 for classes, the standardized target for numbers.
    labels: NDArray[np.int32]
    values: Floats
    n_classes: int
    center: float = 0.0
    scale: float = 1.0


class Grown(NamedTuple):
    """A tree, the statistics of its leaves, the rows that are not in its sample, and its predictions of these."""

    tree: Trees
    statistics: Any
    rows: NDArray[np.int64]
    found: Floats


def fitted(
    table: Table, target: Any, targets: NDArray[Any], *, n_estimators: Any = 100, max_features: Any = "auto",
    max_depth: Any = None, min_samples_leaf: Any = 1, max_bins: Any = MAX_CODES, split_probability: Any = 0.5,
    equivalent_sample_size: Any = 0.5, calibrate: bool = True, random_state: Any = None,
    dropped: Mapping[str, str] | None = None, progress: Any = None,
) -> BayesianForestModel:  # fmt: skip
    """The forest of checked rows."""
    began = time.perf_counter()
    n_trees = validation.integer("n_estimators", n_estimators, min_value=1)
    bins = validation.integer("max_bins", max_bins, min_value=2, max_value=MAX_CODES)
    if isinstance(max_features, str) and max_features.lower() == "auto":
        max_features = "sqrt" if isinstance(target, DiscreteVariable) else SHARE
    growth = growth_of(max_features, max_depth, min_samples_leaf, len(table.schema))
    prior = PruningPrior(split_probability, equivalent_sample_size)
    weighted = table.sample_weight
    if weighted is not None and not weighted.all():  # rows of weight 0 are as good as absent
        there = np.flatnonzero(weighted)
        table, targets = table.take(there), targets[there]
    cuts = Bins.fit(table, bins)
    rows = rows_of(table, target, targets, cuts)
    kernels.prepare("trees")
    seeds = validation.generator(random_state).integers(1, 2**31 - 1, size=n_trees)
    parts, sums = [], np.zeros((len(table), rows.n_classes or 3))
    times = np.zeros(len(table))
    step = 4 * kernels.thread_count()
    for a in range(0, n_trees, step):
        some = kernels.parallel(lambda seed: one_tree(cuts, rows, growth, prior, int(seed)), seeds[a : a + step])
        for part in some:
            sums[part.rows] += part.found
            times[part.rows] += 1
        parts += some
        if should_stop(progress, len(parts) / n_trees, f"{len(parts)} trees"):
            break
    out_of_bag = np.divide(sums, times[:, None], out=np.full(sums.shape, np.nan), where=times[:, None] > 0)
    trees = joined(cuts, [part.tree for part in parts])
    model = BayesianForestModel(
        trees, target, together([part.statistics for part in parts]), prior, 1.0, rows.center, rows.scale
    )
    return judged(model, rows, out_of_bag, calibrate=calibrate, info={
        "n_rows": len(table), "n_missing": sum(table.missing().values()), "dropped_columns": dict(dropped or {}),
        "began": began,
    })  # fmt: skip


def rows_of(table: Table, target: Any, targets: NDArray[Any], bins: Bins) -> Rows:
    """Training rows as trees are grown on them."""
    codes, n = bins.codes(table), len(table)
    w = np.ones(n) if table.sample_weight is None else np.array(table.sample_weight)
    if isinstance(target, DiscreteVariable):
        labels = targets.astype(np.int32)
        return Rows(codes, labels, w, labels, np.ones(n), len(target.states))
    y = targets.astype(np.float64)
    center = float(w @ y / w.sum())
    scale = float(np.sqrt(w @ (y - center) ** 2 / w.sum())) or 1.0
    return Rows(codes, y, w, np.zeros(n, np.int32), (y - center) / scale, 0, center, scale)


def one_tree(bins: Bins, rows: Rows, growth: Growth, prior: PruningPrior, seed: int) -> Grown:
    """Grow a tree on a bootstrap sample, count all rows in its leaves, and predict those that are not in the sample."""
    n, generator = len(rows.weights), np.random.default_rng(seed)
    drawn = np.bincount(generator.integers(n, size=n), minlength=n)
    tree = grown(
        bins, rows.codes, rows.labels, rows.values, drawn * rows.weights, max(rows.n_classes, 1), seed=seed,
        max_features=growth.max_features, max_depth=growth.max_depth, min_samples_leaf=growth.min_samples_leaf,
    )  # fmt: skip
    ends = tree.leaves(rows.codes)[0]
    numbers, n_leaves = tree.leaf_numbers[ends], len(tree.leaf_nodes)
    out: Any
    if rows.n_classes:
        statistics: Any = ClassLeaves.collect(numbers, rows.labels, rows.weights, n_leaves, rows.n_classes)
        out = ClassLeaves(tree, statistics, prior)
    else:
        statistics = NumberLeaves.collect(numbers, rows.targets, rows.weights, n_leaves)
        out = NumberLeaves(tree, statistics, prior, rows.center, rows.scale)
    left_out = np.flatnonzero(drawn == 0)
    return Grown(tree, statistics, left_out, out.without_each(left_out, ends, rows.targets, rows.weights))


def together(parts: list[Any]) -> Any:
    """The statistics of the leaves of all trees."""
    arrays = (np.concatenate(side) for side in zip(*(part.arrays() for part in parts), strict=True))
    return (Counts if isinstance(parts[0], Counts) else Moments)(*arrays)


def judged(
    model: BayesianForestModel, rows: Rows, found: Floats, *, calibrate: bool, info: dict[str, Any]
) -> BayesianForestModel:
    """The forest with the temperature and the scores of its predictions out of bag."""
    if not isinstance(calibrate, bool | np.bool_):
        raise ParameterError(f"`calibrate` must be True or False, got {calibrate!r:.60}")
    known = np.flatnonzero(~np.isnan(found[:, 0]))
    w, t = rows.weights[known], 1.0
    score = loss = None
    if rows.n_classes:
        p, truth = found[known], rows.labels[known]
        if calibrate and len(known):
            t = predictive.class_temperature(p, truth, w)
        proba = np.full(found.shape, np.nan)
        if len(known):
            proba[known] = p = predictive.tempered(p, t)
            loss = float(-w @ np.log(p[np.arange(len(p)), truth]) / w.sum())
            score = significance.score(p.argmax(axis=1), truth, w, classes=True)
        info |= {"out_of_bag_proba": proba}
    else:
        y = rows.values[known]
        if calibrate and len(known):
            t = predictive.number_temperature(found[known], y, w)
        if len(known):
            score = significance.score(found[known, 0], y, w, classes=False)
        info |= {"out_of_bag_prediction": found[:, 0] * model.scale + model.center}
    model = BayesianForestModel(model.trees, model.target, model.statistics, model.prior, t, model.center, model.scale)
    seconds = time.perf_counter() - info.pop("began")
    return with_fit_info(model, ForestFitInfo(
        **info, out_of_bag_score=score, out_of_bag_log_loss=loss, seconds=seconds, _model=model
    ))  # fmt: skip
