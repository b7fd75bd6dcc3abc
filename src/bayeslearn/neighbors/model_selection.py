"""Select the number of neighbors and the weights of features by leave-one-out.

Leave-one-out predicts every row from the others, for all k at once. The k_max nearest of each row are found once, and
the sum over the first k of them is a prefix sum, so that each k costs one more addition, not one more search:

    S_k = S_{k−1} + c_k v_k [target of the k-th]

Weights of features lower the leave-one-out loss; features of weight 0 are removed:

    d² = Σ_a w_a δ_a²

One weight is changed at a time, to the value of a short list with the lowest loss, until no change improves. The loss
is the mean log loss of classes, or the mean squared error of numbers, at the best k; no change may add errors. Scales
and means of the distance are those of all examples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize_scalar

from bayeslearn import lazy_imports, validation
from bayeslearn.errors import EmptyTableError
from bayeslearn.evaluation import log_losses
from bayeslearn.fit_info import plain
from bayeslearn.neighbors import voting
from bayeslearn.progress import reports_progress
from bayeslearn.reports import Grid, Pairs, Report, Reported
from bayeslearn.tables import DiscreteVariable
from bayeslearn.tables.frames import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.neighbors.model import NeighborsModel
    from bayeslearn.tables.frames import Backend

    Floats = NDArray[np.float64]

#: It loads when something is drawn.
plots: Any = lazy_imports.Deferred("bayeslearn.plots")

### leave-one-out


#: The largest number of neighbors that is tried, and how many numbers are held at a time.
MAX_NEIGHBORS, ROOM = 50, 1 << 22

#: Rows that are left out one by one, evenly spaced among more.
MAX_JUDGED = 20_000


@dataclass(frozen=True, eq=False, repr=False)
class LeaveOneOut(Reported):
    """Every row predicted from the others, by the number of neighbors.

    `errors` are error rates of classes, or root mean squared errors; `losses` mean log losses, or mean squared errors.
    `predicted` and `row_losses` are those of the best number: fewest errors, then the lowest loss, then the smallest.
    """

    n_neighbors: tuple[int, ...]
    errors: Floats
    losses: Floats
    best: int
    predicted: NDArray[Any]
    row_losses: Floats

    @property
    def error(self) -> float:
        """The error of the best number of neighbors."""
        return float(self.errors[self.n_neighbors.index(self.best)])

    @property
    def loss(self) -> float:
        """The loss of the best number of neighbors."""
        return float(self.losses[self.n_neighbors.index(self.best)])

    def uncertain_rows(self, max_results: int = 5) -> list[int]:
        """Return the positions of the rows that their neighbors contradict most."""
        return np.argsort(-self.row_losses, kind="stable")[:max_results].tolist()

    def to_dict(self) -> dict[str, Any]:
        """Return the errors and losses by number of neighbors as plain values."""
        errors, losses = (dict(zip(self.n_neighbors, e.tolist(), strict=True)) for e in (self.errors, self.losses))
        return plain({"best": self.best, "error": self.error, "loss": self.loss, "errors": errors, "losses": losses})

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each number of neighbors: n_neighbors, error, loss."""
        return frame_of({"n_neighbors": self.n_neighbors, "error": self.errors, "loss": self.losses}, backend)

    def report(self) -> Report:
        """Return the errors by number of neighbors."""
        rows = list(zip(self.n_neighbors, self.errors.tolist(), self.losses.tolist(), strict=True))
        return Report(
            f"Leave-one-out: {self.best} neighbors, error {self.error:.4g}", Grid(["Neighbors", "Error", "Loss"], rows)
        )

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the error by number of neighbors."""
        return plots.plot_error_by_n_neighbors(self, ax=ax)


def leave_one_out(
    model: NeighborsModel, *, max_neighbors: int = MAX_NEIGHBORS, n_neighbors: int | None = None
) -> LeaveOneOut:
    """Predict every row from the others with 1 … `max_neighbors` neighbors, or with `n_neighbors` only.

    >>> from bayeslearn.neighbors import NeighborsModel
    >>> model = NeighborsModel.from_arrays({"x": [1.0, 1.1, 1.2, 5.0, 5.1, 5.2]}, list("aaabbb"))
    >>> found = leave_one_out(model)
    >>> found.best, found.error, found.errors.round(2).tolist()
    (2, 0.0, [0.0, 0.0, 0.0, 0.0, 1.0])
    """
    weights, n = model.sample_weight, len(model)
    left = int(min(weights.sum() - weights.max(), n - 1) if weights.min() < 1 else n - 1)
    if left < 1:
        raise EmptyTableError(
            f"leave-one-out needs 2 rows, got {n}", hint="add rows, or choose the number of neighbors: n_neighbors=1"
        )
    limit = validation.integer("max_neighbors", max_neighbors, min_value=1)
    only = n_neighbors
    ks = range(1, min(limit, left) + 1) if only is None else range(min(only, left), min(only, left) + 1)
    m = min(model.rows_for(ks[-1]), n - 1)
    width = model.target.n_states if isinstance(model.target, DiscreteVariable) else 2
    step = max(ROOM // ((m + 1) * (width + 2)), 1)
    rows = np.arange(n) if n <= MAX_JUDGED else np.linspace(0, n - 1, MAX_JUDGED).astype(np.int64)
    parts = [_block(model, rows[a : a + step], ks, m) for a in range(0, len(rows), step)]
    wrong, losses, predicted = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    error, loss = (np.average(part, axis=1, weights=weights[rows]) for part in (wrong, losses))
    error = error if model.is_classifier else np.sqrt(error)
    at = min(range(len(ks)), key=lambda i: (round(float(error[i]), 12), loss[i], ks[i]))
    every, each = np.array(model.targets), np.zeros(n)  # rows that were not left out are as good as predicted right
    every[rows], each[rows] = predicted[at], losses[at]
    return LeaveOneOut(tuple(ks), error, loss, ks[at], every, each)


def select_n_neighbors(
    model: NeighborsModel, *, max_neighbors: int = MAX_NEIGHBORS
) -> tuple[NeighborsModel, LeaveOneOut]:
    """Return the model with the number of neighbors of the lowest leave-one-out error, and all errors."""
    found = leave_one_out(model, max_neighbors=max_neighbors)
    return replace(model, n_neighbors=found.best), found


def _block(model: NeighborsModel, rows: NDArray[np.int64], ks: range, m: int) -> tuple[Floats, Floats, NDArray[Any]]:
    """Errors, losses and predictions of some rows, a line for each k."""
    d, found = model.neighbors_of_rows(rows, m)
    c, v, targets = model.sample_weight[found], voting.nearness(d, model.weights), model.targets[found]
    upto = np.cumsum(c, axis=1)
    votes = (
        targets[:, :, None] == np.arange(model.target.n_states)
        if isinstance(model.target, DiscreteVariable)
        else targets[:, :, None]
    )
    item = np.concatenate([(v * v)[:, :, None], v[:, :, None], v[:, :, None] * votes], axis=2)
    prefix = np.concatenate([np.zeros_like(item[:, :1]), np.cumsum(c[:, :, None] * item, axis=1)], axis=1)
    judged = _classes if model.is_classifier else _numbers
    answers = []
    for k in ks:
        completing = np.minimum((upto < k * (1 - 1e-12)).sum(axis=1), d.shape[1] - 1)
        last = completing[:, None, None]
        whole = np.take_along_axis(prefix, last, axis=1)[:, 0]
        part = np.take_along_axis(c, last[:, 0], axis=1) - np.maximum(
            np.take_along_axis(upto, last[:, 0], axis=1) - k, 0
        )
        sums = whole + part * np.take_along_axis(item, last, axis=1)[:, 0]
        answers.append(judged(model, sums, targets, model.targets[rows]))
    wrong, losses, predicted = (np.array(part) for part in zip(*answers, strict=True))
    return wrong, losses, predicted


def _classes(model: NeighborsModel, sums: Floats, targets: Any, truth: Any) -> tuple[Any, Floats, Any]:
    worth = voting.worth(sums[:, 1], sums[:, 0])
    α = model.prior_of().alpha + sums[:, 2:] * worth[:, None]
    predicted = voting.elected(α, targets)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = -np.log(α[np.arange(len(α)), truth] / α.sum(axis=1))
    return (predicted != truth).astype(float), losses, predicted


def _numbers(_: NeighborsModel, sums: Floats, __: Any, truth: Floats) -> tuple[Any, Floats, Any]:
    predicted = sums[:, 2] / sums[:, 1]
    square = (predicted - truth) ** 2
    return square, square, predicted


def calibrated(model: NeighborsModel) -> NeighborsModel:
    """Return the model whose probabilities of classes are raised to the power of the lowest leave-one-out log loss.

    P(c | row) ∝ p_c^t        ln t ~ N(0, 1) a priori
    """
    n = len(model)
    if n < 3 or not isinstance(model.target, DiscreteVariable):
        return model
    rows = np.linspace(0, n - 1, min(n, MAX_ROWS)).astype(np.int64)
    m = min(model.rows_for(model.n_neighbors), n - 1)
    d, found = model.neighbors_of_rows(rows, m)
    k = None if model.n_neighbors is None else min(model.n_neighbors, m)
    w = voting.weights(d, model.sample_weight[found], k, model.weights)
    votes = np.stack([np.where(model.targets[found] == c, w, 0.0).sum(axis=1) for c in range(model.target.n_states)], 1)
    α = np.asarray(model.prior_of().alpha + votes)
    known = α.sum(axis=1) > 0
    p, truth, c = α[known] / α[known].sum(axis=1, keepdims=True), model.targets[rows][known], model.sample_weight[rows]

    def loss(log_t: float) -> float:
        return float(c[known] @ log_losses(voting.tempered(p, float(np.exp(log_t))), truth)) + log_t**2 / 2

    best = minimize_scalar(loss, bounds=(-3.0, 3.0), method="bounded").x
    return replace(model, exponent=float(np.exp(best)))


### weights of features


#: The weights that are tried, and those that only keep or remove a feature.
WEIGHTS, REMOVAL = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0), (0.0, 1.0)

#: By how much of itself the loss must fall for a change, and rounds at most.
MIN_GAIN, MAX_ROUNDS = 0.005, 10

#: Rows that are left out one by one; of more, these evenly spaced ones decide.
MAX_ROWS = 3000


@dataclass(frozen=True, eq=False, repr=False)
class FeatureWeights(Reported):
    """The model with selected weights, its errors before and after, and the changes: (feature, weight, loss)."""

    model: NeighborsModel
    before: LeaveOneOut
    after: LeaveOneOut
    steps: tuple[tuple[str, float, float], ...]

    @property
    def weights(self) -> dict[str, float]:
        """The weight of every feature."""
        return self.model.feature_weights

    @property
    def removed(self) -> list[str]:
        """The features of weight 0."""
        return [name for name, w in self.weights.items() if w == 0]

    def to_dict(self) -> dict[str, Any]:
        """Return the weights and the errors as plain values."""
        steps = [{"feature": name, "weight": w, "loss": loss} for name, w, loss in self.steps]
        return plain({"weights": self.weights, "removed": self.removed, "steps": steps}) | {
            "error_before": self.before.error, "error_after": self.after.error,
        }  # fmt: skip

    def to_frame(self, backend: Backend = "pandas") -> Any:
        """Return a data frame with a row for each feature: feature, weight."""
        return frame_of({"feature": list(self.weights), "weight": list(self.weights.values())}, backend)

    def report(self) -> Report:
        """Return the weights and the errors."""
        rows = sorted(self.weights.items(), key=lambda pair: -pair[1])
        errors = {"Error before": self.before.error, "Error after": self.after.error}
        return Report("Feature weights by leave-one-out", Pairs(errors), Grid(["Feature", "Weight"], rows))


@reports_progress("Selecting feature weights")
def select_feature_weights(
    model: NeighborsModel,
    *,
    among: Iterable[float] = WEIGHTS,
    select_neighbors: bool = True,
    max_neighbors: int = MAX_NEIGHBORS,
    progress: Any = None,
) -> FeatureWeights:
    """Select weights of features by leave-one-out.

    Parameters
    ----------
    model
        The model whose weights are selected.
    among
        The weights that are tried; ``among=(0, 1)`` only removes features.
    select_neighbors, max_neighbors
        Whether the number of neighbors is selected with them, and the largest that is tried.
    progress
        True for a bar, or a function that is called with a :class:`~bayeslearn.progress.Progress`.

    Examples
    --------
    >>> from bayeslearn.neighbors import NeighborsModel
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=200), rng.normal(size=200)
    >>> found = select_feature_weights(NeighborsModel.from_arrays({"x": x, "noise": noise}, np.where(x > 0, "+", "-")))
    >>> found.removed, found.after.error < found.before.error
    (['noise'], True)
    """
    values = validation.not_negative("among", validation.float_array("among", [*among])).tolist()
    some = sampled(model)
    only = None if select_neighbors else model.n_neighbors

    def judged(candidate: NeighborsModel) -> LeaveOneOut:
        return leave_one_out(candidate, max_neighbors=max_neighbors, n_neighbors=only)

    now, best = some, judged(some)
    steps: list[tuple[str, float, float]] = []
    names = model.feature_names
    for number in range(MAX_ROUNDS):
        made = len(steps)
        for i, name in enumerate(names):
            tried = [(w, each, judged(each)) for w, each in changed(now, name, values)]
            better = [(w, each, loo) for w, each, loo in tried if gains(loo, best)]
            if better:
                w, now, best = min(better, key=lambda found: found[2].loss)
                steps.append((name, w, best.loss))
            if progress is not None:
                done = (number + (i + 1) / len(names)) / MAX_ROUNDS
                progress(done, f"round {number + 1}, {name}, loss {best.loss:.5g}")
        if len(steps) == made:
            break
    chosen = model.weighted(now.feature_weights)
    before, after = judged(model), judged(chosen)
    selected = replace(chosen, n_neighbors=after.best) if select_neighbors else chosen
    return FeatureWeights(selected, before, after, tuple(steps))


def gains(new: LeaveOneOut, old: LeaveOneOut) -> bool:
    """Whether the loss falls by enough, and the error does not rise."""
    return new.loss < old.loss * (1 - MIN_GAIN) and new.error <= old.error + 1e-12


def changed(model: NeighborsModel, name: str, values: list[float]) -> list[tuple[float, NeighborsModel]]:
    """The model with other weights of one feature; the last one left stays."""
    weights = model.feature_weights
    alone = sum(w > 0 for w in weights.values()) == 1 and weights[name] > 0
    return [(w, model.weighted({name: w})) for w in values if w != weights[name] and not (w == 0 and alone)]


def sampled(model: NeighborsModel) -> NeighborsModel:
    """As many rows as can be left out one by one many times, with the distance of all."""
    n = len(model)
    if n <= MAX_ROWS:
        return model
    rows = np.linspace(0, n - 1, MAX_ROWS).astype(np.int64)
    return replace(model, examples=model.examples.take(rows), targets=model.targets[rows], lineage=None)
