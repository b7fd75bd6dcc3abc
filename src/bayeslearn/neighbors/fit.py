"""Fit nearest neighbors: examples are kept; their number and the weights of features are selected if asked for.

Leave-one-out predicts every example by the others, for all k at once. The k_max nearest of each example are found once,
and the sum over the first k of them is a prefix sum, so that each k costs one more addition, not one more search:

    S_k = S_{k−1} + c_k v_k [its target]

Weights of features lower the leave-one-out loss; features of weight 0 are removed:

    d² = Σ_a w_a δ_a²

One weight is changed at a time, to the value of a short list with the lowest loss, until no change improves. The loss
is the mean log loss of classes, or the mean squared error of numbers, at the best k; no change may add errors. Scales
and means of the distance are those of all examples.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import BayeslearnWarning, DataError, EmptyTableError, MissingValuesError
from bayeslearn.neighbors import voting
from bayeslearn.neighbors.distances import Distance, as_weights
from bayeslearn.neighbors.model import NeighborsModel
from bayeslearn.sources import with_options
from bayeslearn.sources.usability import dropping, named_columns, warn_dropped, without_identifiers
from bayeslearn.tables import DiscreteVariable, Table, as_table
from bayeslearn.tables.numeric_states import all_numbers, with_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    from collections.abc import Callable, Iterable

    from bayeslearn.tables.markers import Markers

### leave-one-out


#: The largest k that is tried, and how many numbers are held at a time.
MOST_K, ROOM = 50, 1 << 22


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Errors by k: the share of wrong classes, or the root of the mean squared error; and what each example got.

    `losses` are mean log losses of classes, or mean squared errors. `predicted` and `row_losses` (loss by example) are
    those of the best k: fewest errors, then the lowest loss, then the smallest.
    """

    k: tuple[int, ...]
    errors: Floats
    losses: Floats
    best: int
    predicted: NDArray[Any]
    row_losses: Floats

    @property
    def error(self) -> float:
        """The error of the best k."""
        return float(self.errors[self.k.index(self.best)])

    @property
    def loss(self) -> float:
        """The loss of the best k."""
        return float(self.losses[self.k.index(self.best)])

    def uncertain_rows(self, max_results: int = 5) -> list[int]:
        """The examples that their neighbors contradict most."""
        return np.argsort(-self.row_losses, kind="stable")[:max_results].tolist()


def leave_one_out(model: NeighborsModel, *, most: int | None = None, only: int | None = None) -> LeaveOneOut:
    """The errors of k = 1 … `most`, or of `only` one k.

    >>> from bayeslearn.neighbors import NeighborsModel
    >>> model = NeighborsModel.from_arrays({"x": [1.0, 1.1, 1.2, 5.0, 5.1, 5.2]}, list("aaabbb"))
    >>> found = leave_one_out(model)
    >>> found.best, found.error, found.errors.round(2).tolist()
    (2, 0.0, [0.0, 0.0, 0.0, 0.0, 1.0])
    """
    cases, n = model.cases, len(model.examples)
    left = int(min(cases.sum() - cases.max(), n - 1) if cases.min() < 1 else n - 1)
    if left < 1:
        raise EmptyTableError(f"there are only {n} examples: nobody is left to predict one of them")
    limit = MOST_K if most is None else validation.integer("most", most, min_value=1)
    ks = range(1, min(limit, left) + 1) if only is None else range(min(only, left), min(only, left) + 1)
    m = min(model.rows_for(ks[-1]), n - 1)
    width = model.target.size if isinstance(model.target, DiscreteVariable) else 2
    step = max(ROOM // ((m + 1) * (width + 2)), 1)
    parts = [_block(model, np.arange(a, min(a + step, n)), ks, m) for a in range(0, n, step)]
    wrong, losses, predicted = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    error, loss = (np.average(part, axis=1, weights=cases) for part in (wrong, losses))
    error = error if model.is_classifier else np.sqrt(error)
    at = min(range(len(ks)), key=lambda i: (round(float(error[i]), 12), loss[i], ks[i]))
    return LeaveOneOut(tuple(ks), error, loss, ks[at], predicted[at], losses[at])


def select_n_neighbors(model: NeighborsModel, *, most: int | None = None) -> tuple[NeighborsModel, LeaveOneOut]:
    """The model with the k of the least error when each example is left out, and how all k fared."""
    found = leave_one_out(model, most=most)
    return replace(model, k=found.best), found


def _block(model: NeighborsModel, rows: NDArray[np.int64], ks: range, m: int) -> tuple[Floats, Floats, NDArray[Any]]:
    """Mistakes, losses and predictions of some examples, a line for each k."""
    d, found = model.neighbors_of_examples(rows, m)
    c, v, said = model.cases[found], voting.nearness(d, model.weighting), model.said[found]
    upto = np.cumsum(c, axis=1)
    says = (
        said[:, :, None] == np.arange(model.target.size)
        if isinstance(model.target, DiscreteVariable)
        else said[:, :, None]
    )
    item = np.concatenate([(v * v)[:, :, None], v[:, :, None], v[:, :, None] * says], axis=2)
    prefix = np.concatenate([np.zeros_like(item[:, :1]), np.cumsum(c[:, :, None] * item, axis=1)], axis=1)
    judged = _classes if model.is_classifier else _numbers
    answers = []
    for k in ks:
        last = np.minimum((upto < k * (1 - 1e-12)).sum(axis=1), d.shape[1] - 1)[
            :, None, None
        ]  # the one that completes k
        whole = np.take_along_axis(prefix, last, axis=1)[:, 0]
        part = np.take_along_axis(c, last[:, 0], axis=1) - np.maximum(
            np.take_along_axis(upto, last[:, 0], axis=1) - k, 0
        )
        sums = whole + part * np.take_along_axis(item, last, axis=1)[:, 0]
        answers.append(judged(model, sums, said, model.said[rows]))
    wrong, losses, predicted = (np.array(part) for part in zip(*answers, strict=True))
    return wrong, losses, predicted


def _classes(model: NeighborsModel, sums: Floats, said: Any, truth: Any) -> tuple[Any, Floats, Any]:
    worth = voting.worth(sums[:, 1], sums[:, 0])
    α = model.prior_of().alpha + sums[:, 2:] * worth[:, None]
    predicted = voting.elected(α, said)
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = -np.log(α[np.arange(len(α)), truth] / α.sum(axis=1))
    return (predicted != truth).astype(float), losses, predicted


def _numbers(_: NeighborsModel, sums: Floats, __: Any, truth: Floats) -> tuple[Any, Floats, Any]:
    predicted = sums[:, 2] / sums[:, 1]
    square = (predicted - truth) ** 2
    return square, square, predicted


### weights of features


#: The weights that are tried, and those that only keep an attribute or remove it.
WEIGHTS, REMOVAL = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0), (0.0, 1.0)

#: By how much of itself the loss must fall for a change, and rounds at most.
LEAST_GAIN, MOST_ROUNDS = 0.005, 10

#: Examples that are left out one by one; of more, these evenly spaced ones decide.
MOST_ROWS = 3000


@dataclass(frozen=True, eq=False)
class FeatureWeights:
    """The model with its new weights, how it fared before and after, and the changes: (column, weight, loss)."""

    model: NeighborsModel
    before: LeaveOneOut
    after: LeaveOneOut
    steps: tuple[tuple[str, float, float], ...]

    @property
    def weights(self) -> dict[str, float]:
        """The weight of every attribute."""
        return self.model.distance.attribute_weights

    @property
    def removed(self) -> list[str]:
        """The attributes that can go."""
        return [name for name, w in self.weights.items() if w == 0]


def select_feature_weights(
    model: NeighborsModel,
    *,
    among: Iterable[float] = WEIGHTS,
    choose_k: bool = True,
    most: int | None = None,
    progress: Callable[[int, str, float], object] | None = None,
) -> FeatureWeights:
    """Weights of attributes by leave-one-out; ``among=REMOVAL`` only removes. k is chosen with them, if not told else.

    >>> from bayeslearn.neighbors import NeighborsModel
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=200), rng.normal(size=200)
    >>> found = select_feature_weights(NeighborsModel.from_arrays({"x": x, "noise": noise}, np.where(x > 0, "+", "-")))
    >>> found.removed, found.after.error < found.before.error
    (['noise'], True)
    """
    values = validation.not_negative("among", validation.float_array("among", [*among])).tolist()
    some = sampled(model)
    only = None if choose_k else model.k

    def judged(candidate: NeighborsModel) -> LeaveOneOut:
        return leave_one_out(candidate, most=most, only=only)

    now, best = some, judged(some)
    steps: list[tuple[str, float, float]] = []
    for number in range(MOST_ROUNDS):
        made = len(steps)
        for name in now.examples.schema.names:
            tried = [(w, each, judged(each)) for w, each in changed(now, name, values)]
            better = [(w, each, loo) for w, each, loo in tried if gains(loo, best)]
            if better:
                w, now, best = min(better, key=lambda found: found[2].loss)
                steps.append((name, w, best.loss))
            if progress is not None:
                progress(number, name, best.loss)
        if len(steps) == made:
            break
    chosen = model.weighted(now.distance.attribute_weights)
    before, after = judged(model), judged(chosen)
    return FeatureWeights(replace(chosen, k=after.best) if choose_k else chosen, before, after, tuple(steps))


def gains(new: LeaveOneOut, old: LeaveOneOut) -> bool:
    """Whether the loss falls by enough, and the error does not rise."""
    return new.loss < old.loss * (1 - LEAST_GAIN) and new.error <= old.error + 1e-12


def changed(model: NeighborsModel, name: str, values: list[float]) -> list[tuple[float, NeighborsModel]]:
    """The model with other weights of one attribute; the last one left cannot go."""
    told = model.distance.attribute_weights
    alone = sum(w > 0 for w in told.values()) == 1 and told[name] > 0
    return [(w, model.weighted({name: w})) for w in values if w != told[name] and not (w == 0 and alone)]


def sampled(model: NeighborsModel) -> NeighborsModel:
    """So many examples as can be left out one by one many times, with the distance of all."""
    n = len(model.examples)
    if n <= MOST_ROWS:
        return model
    rows = np.linspace(0, n - 1, MOST_ROWS).astype(np.int64)
    return replace(model, examples=model.examples.take(rows), said=model.said[rows])


### fit


#: What may be asked of attributes, besides weights that are told.
ATTRIBUTES = ("auto", "remove")


@dataclass(frozen=True, eq=False)
class NeighborsFitInfo:
    """A model, and how it was chosen: errors by k, and the search for weights, where they were asked for."""

    model: NeighborsModel
    left_out: LeaveOneOut | None = None
    attributes: FeatureWeights | None = None


def fit_neighbors(
    data: Any,
    target: str,
    *,
    k: int | Literal["auto", "all"] = "auto",
    weighting: Any = "uniform",
    metric: str = "scaled",
    attributes: Any = None,
    kind: Literal["auto", "classes", "numbers"] = "auto",
    prior: Any = 1.0,
    sample_weight: Any = None,
    columns: Iterable[str] | None = None,
    unlabeled: Literal["warn", "error", "drop"] = "warn",
    index: str = "auto",
    max_k: int = 50,
    max_states: int = 255,
    left_out: dict[str, str] | None = None,
    progress: Callable[[int, str, float], object] | None = None,
    na_values: Markers = (),
    keep_default_na: bool = True,
    drop_columns: Iterable[str] = (),
) -> NeighborsFitInfo:
    """Keep the rows of a table as examples of one of its columns.

    Parameters
    ----------
    data, target
        Anything that :func:`~bayeslearn.as_table` takes, and the column to predict.
    k
        How many neighbors are heard: a number, ``"auto"`` for the one with the least leave-one-out error up to `max_k`,
        or ``"all"`` (Shepard's method, with a weighting).
    weighting
        ``"uniform"``, ``"inverse_square"``, or a function of an array of distances.
    metric
        What numbers are divided by: ``"scaled"`` (standard deviation), ``"range"``, ``"euclidean"`` (nothing).
    attributes
        Weights by column, ``"auto"`` to find them, or ``"remove"`` to find attributes that can go.
    kind
        Whether the target is a class or a number; whole numbers that repeat themselves are classes if nothing is said.
    prior
        Cases that the prior is worth, or a prior of the family.
    unlabeled
        What to do with rows without a target: ``"warn"`` drops them with a warning, ``"drop"`` silently.
    left_out
        A dict that gets the columns that are dropped, and why: identifiers, free text and columns that cannot be used.
        Without it a warning names them. Columns that are named in `columns` are never dropped.
    na_values, keep_default_na, drop_columns
        As in :func:`~bayeslearn.as_table`.

    Examples
    --------
    >>> rows = {"hours": [1.0, 1.5, 2.0, 6.0, 7.0, 7.5], "wind": ["weak", None, "weak", "gale", "gale", "weak"],
    ...         "sail": ["no", "no", "no", "yes", "yes", "yes"]}
    >>> found = fit_neighbors(rows, "sail", k=3)
    >>> found.model.predict({"hours": [1.2, 6.6], "wind": ["weak", "storm"]}).tolist()
    ['no', 'yes']
    """
    data = with_options(data, na_values=na_values, keep_default_na=keep_default_na, drop_columns=drop_columns)
    validation.choice("kind", kind, ["auto", "classes", "numbers"])
    validation.choice("unlabeled", unlabeled, ["warn", "error", "drop"])
    left_out = dropping(data, left_out, columns)
    wanted = None if columns is None else [*columns, target]
    table = as_table(
        data, columns=wanted, discrete=[target] if kind == "classes" else (), sample_weight=sample_weight,
        max_states=max_states,
        numeric=[target] if kind == "numbers" else (), allow_constant=True, left_out=left_out,
    )  # fmt: skip
    if target in (left_out or ()):
        raise DataError(f"the target cannot be used: {left_out[target]}")  # type: ignore[index]
    table = without_identifiers(table, left_out, keep=[target, *named_columns(data)])
    warn_dropped(left_out)
    variable = table.schema[target]
    gone = table.codes_of(target) < 0 if isinstance(variable, DiscreteVariable) else np.isnan(table.values_of(target))
    if gone.any():
        if unlabeled == "error":
            raise MissingValuesError(
                f"{gone.sum()} rows have no {target!r}, row {validation.first_position(gone)} is the first",
                hint='leave them out: unlabeled="drop"',
            )
        if unlabeled == "warn":
            warnings.warn(f"{gone.sum()} rows without a {target!r} are dropped", BayeslearnWarning, stacklevel=2)
        table = table.take(np.flatnonzero(~gone))
    rows = table.drop([target])
    if not isinstance(data, Table):
        rows = with_numbers(rows, [v for v in rows.schema.discrete if all_numbers(v)])
    if not len(rows.schema):
        raise EmptyTableError(f"there is no column beside {target!r} to find neighbors by")
    said = (
        table.codes_of(target).astype(np.int64)
        if isinstance(variable, DiscreteVariable)
        else np.array(table.values_of(target))
    )
    return learned(
        rows, variable, said, k=k, metric=metric, attributes=attributes, max_k=max_k, progress=progress,
        weighting=weighting, prior=prior, index=index,
    )  # fmt: skip


def learned(
    rows: Table, target: Any, said: NDArray[Any], *, k: Any, metric: str, attributes: Any = None, max_k: int = 50,
    progress: Any = None, **how: Any,
) -> NeighborsFitInfo:  # fmt: skip
    """The model of checked examples."""
    if (
        rows.sample_weight is not None and not rows.sample_weight.all()
    ):  # rows that count for nothing are as good as absent
        seen = np.flatnonzero(rows.sample_weight)
        rows, said = rows.take(seen), said[seen]
    search = isinstance(attributes, str)
    if search:
        validation.choice("attributes", attributes, ATTRIBUTES)
    told = None if attributes is None or search else as_weights(attributes, rows.schema)
    number = None if isinstance(k, str) else k
    if number is None:
        validation.choice("k", k, ["auto", "all"])
    model = NeighborsModel(rows, target, said, Distance.learn(rows, metric, told), number, **how)
    by_loo = isinstance(k, str) and k == "auto"
    if search:
        among = WEIGHTS if attributes == "auto" else REMOVAL
        found = select_feature_weights(model, among=among, choose_k=by_loo, most=max_k, progress=progress)
        return NeighborsFitInfo(found.model, found.after, found)
    return NeighborsFitInfo(*select_n_neighbors(model, most=max_k)) if by_loo else NeighborsFitInfo(model)
