"""Cut points for numeric columns.

quantile   about equal weight in every interval; ties make fewer, never empty ones; a heavy value is a state of its own
width      intervals of equal width between the smallest and the largest value
mdl        the cuts that tell the states of a target apart, as many as pay for their own description:

    cut S into S₁, S₂ where the entropy left, (n₁/n) H(S₁) + (n₂/n) H(S₂), is least, and go on in both halves, while
    gain > ( log₂(n − 1) + log₂(3ᵏ − 2) − [k H(S) − k₁ H(S₁) − k₂ H(S₂)] ) / n

where k, k₁, k₂ count the states of the target that occur in S, S₁, S₂, and n is the weight of S
(at least 2, for the first term). A numeric target is itself cut at quantiles first. A heavy value has more than half
of the weight, such as 0 for rain.
References: U. Fayyad, K. Irani, Multi-interval discretization of continuous-valued attributes, IJCAI 1993.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import BayeslearnWarning, ConstantColumnError, ParameterError, listed
from bayeslearn.tables.interval_values import summarized, weighted_values
from bayeslearn.tables.intervals import WHOLE, between, separators
from bayeslearn.tables.intervals import below as just_below
from bayeslearn.tables.schema import name_list
from bayeslearn.tables.variables import DiscreteVariable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sized

    from numpy.typing import NDArray

    from bayeslearn.tables.table import Table

    Floats = NDArray[np.float64]

#: Intervals for `quantile` and `width` when their number is not given.
BINS = 5

#: The most intervals of a column.
MAX_BINS = 1 << 20

#: A value of more than this share of the weight is a state of its own under `quantile`.
HEAVY = 0.5

#: The least share of the weight on one side of a heavy value that is separated from it, unless it is the larger side.
LEAST_SIDE = 0.01

#: Entropies closer than this are equal, and the lowest cut is taken.
TIE = 1e-12


def find_intervals(
    table: Table, columns: Iterable[str] | None, *, how: str, n_bins: int | None, target: str | None
) -> dict[str, DiscreteVariable]:
    """The intervals of each column; a column without a cut is an error, or with `mdl` a warning."""
    validation.choice("how", how, ["quantile", "width", "mdl"])
    names = [v.name for v in table.schema.numeric] if columns is None else name_list("columns", columns)
    if how == "mdl":
        if n_bins is not None:
            raise ParameterError(
                f"`n_bins` must not be given with how='mdl', which finds their number, got {n_bins}",
                hint="leave `n_bins` out",
            )
        w = np.ones(table.n_rows) if table.sample_weight is None else np.asarray(table.sample_weight)
        return intervals_between(table, supervised(table, names, w, target))
    if target is not None:
        raise ParameterError(
            f"`target` is used by how='mdl' only, got target={target!r} with how={how!r}",
            hint="leave `target` out, or take how='mdl'",
        )
    find = quantile_cuts if how == "quantile" else width_cuts
    n = validation.integer("n_bins", BINS if n_bins is None else n_bins, min_value=2, max_value=MAX_BINS)
    found = {name: intervals(table, name, lambda values, weight: find(values, weight, n)) for name in names}
    require_cuts({name: variable.cuts or () for name, variable in found.items()})
    return found


def intervals_between(table: Table, cuts: Mapping[str, Iterable[float]]) -> dict[str, DiscreteVariable]:
    """The intervals of columns whose cuts are known."""
    return {name: intervals(table, name, cuts=points) for name, points in cuts.items()}


def intervals(
    table: Table, name: str, find: Callable[[Floats, Floats], Floats] | None = None, cuts: Iterable[float] = ()
) -> DiscreteVariable:
    """The intervals of one column, cut as is found by its values and their weights, which are sorted once."""
    weights = None if table.sample_weight is None else np.asarray(table.sample_weight)
    values, weight = weighted_values(table.values_of(name), weights)
    points = tuple(cuts) if find is None else tuple(find(values, weight))
    kept = summarized(values, weight, points, weighted=weights is not None)
    return DiscreteVariable.from_cuts(name, points, kept=kept, like=table.schema[name])


def require_cuts(cuts: Mapping[str, Sized]) -> None:
    """Every column was cut."""
    uncut = [name for name, points in cuts.items() if not len(points)]
    if uncut:
        raise ConstantColumnError(
            f"there is nothing to cut in columns with fewer than two different values: {listed(uncut, 99)}",
            hint="leave them out of `columns`, or drop them from the table",
            columns=uncut,
        )


### by the values alone


def quantile_cuts(values: Floats, weight: Floats, n_bins: int) -> Floats:
    """Between neighbors, where the cumulated weight comes nearest to each k/bins of the total; a heavy value apart."""
    if len(values) < 2:
        return np.empty(0)
    below = np.cumsum(weight)[:-1] / weight.sum()
    wanted = np.arange(1, n_bins) / n_bins
    right = np.searchsorted(below, wanted - TIE).clip(max=len(below) - 1)
    left = (right - 1).clip(min=0)
    nearer = np.abs(below[left] - wanted) <= np.abs(below[right] - wanted) + TIE
    places = np.unique(np.where(nearer, left, right))
    heavy = int(weight.argmax())
    if n_bins > 2 and weight[heavy] > HEAVY * weight.sum():
        return cuts_around(values, below, places, heavy, n_bins)
    return separators(values, places)


def cuts_around(values: Floats, below: Floats, places: NDArray[np.intp], heavy: int, n_bins: int) -> Floats:
    """A state for the heavy value alone, and the cuts at other quantiles that leave enough weight next to it."""
    before = float(below[heavy - 1]) if heavy else 0.0
    after = 1 - float(below[heavy]) if heavy < len(below) else 0.0
    least = min(LEAST_SIDE, max(before, after))
    edges = []
    if heavy and before >= least:
        edges.append(just_below(float(values[heavy])))
    if heavy < len(below) and after >= least:
        edges.append(float(values[heavy]))
    room = 1 / (2 * n_bins) - TIE
    kept = places[(below[places] <= before - room) | (below[places] >= 1 - after + room)]
    return np.sort(np.append(separators(values, kept), edges))


def width_cuts(values: Floats, _weight: Floats, n_bins: int) -> Floats:
    """Evenly from the smallest to the largest value, each at the roundest number within a twentieth of the width."""
    if len(values) < 2:
        return np.empty(0)
    share, near = np.arange(1, n_bins) / n_bins, 1 / (20 * n_bins)
    low, high = (values[0] * (1 - s) + values[-1] * s for s in (share - near, share + near))
    cuts = np.unique([between(float(a), float(b)) for a, b in zip(low, high, strict=True)])
    return cuts[(cuts >= values[0]) & (cuts < values[-1])]


### by a target


def supervised(table: Table, names: Iterable[str], w: Floats, target: str | None) -> dict[str, Floats]:
    """The cuts by description length of each column; a column without any stays whole, with a warning."""
    if target is None:
        raise ParameterError(
            "how='mdl' needs a `target`: the column whose states the cuts should tell apart",
            hint="name the column with `target`",
        )
    label, own = table.schema[target], {}
    if not isinstance(label, DiscreteVariable):  # its own intervals first
        own = {target: quantile_cuts(*weighted_values(table.values_of(target), w), BINS)}
        require_cuts(own)
        label = DiscreteVariable.from_cuts(target, own[target])
    y = label.cut(table.values_of(target)) if own else table.codes_of(target)
    cuts = {name: own[name] if name in own else mdl_cuts(table.values_of(name), y, w, label.size) for name in names}
    whole = [name for name, points in cuts.items() if not len(points)]
    if whole:
        message = f"no cut tells the states of {target!r} apart, so {listed(whole, 99)} became one state, {WHOLE!r}"
        warnings.warn(message, BayeslearnWarning, stacklevel=4)
    return cuts


def mdl_cuts(x: Floats, y: NDArray[np.signedinteger], w: Floats, n_states: int) -> Floats:
    """The cuts of `x` that pay for themselves in telling `y` apart."""
    there = ~np.isnan(x) & (y >= 0) & (w > 0)
    values, inverse = np.unique(x[there], return_inverse=True)
    if len(values) < 2:
        return np.empty(0)
    cell = inverse * n_states + y[there]
    counts = np.bincount(cell, w[there], minlength=len(values) * n_states).reshape(-1, n_states).astype(float)
    places = boundaries(counts)
    below = np.vstack([np.zeros(n_states), np.cumsum(counts, axis=0)[[*places, len(values) - 1]]])
    kept, open_parts = [], [(0, len(places) + 1)]
    while open_parts:
        low, high = open_parts.pop()
        at = best_split(below[low : high + 1])
        if at is not None:
            kept.append(places[low + at - 1])
            open_parts += [(low, low + at), (low + at, high)]
    return separators(values, np.sort(np.array(kept, dtype=np.intp)))


def boundaries(counts: Floats) -> NDArray[np.intp]:
    """Places between neighboring values that do not both show one and the same state: only there can a best cut be."""
    pure = (counts > 0).sum(axis=1) == 1
    state = counts.argmax(axis=1)
    inside = pure[:-1] & pure[1:] & (state[:-1] == state[1:])
    return np.flatnonzero(~inside)


def best_split(below: Floats) -> int | None:
    """The split of a part that leaves least entropy, if it pays; `below` holds the counts up to each boundary."""
    if len(below) < 3:
        return None
    left, right = below[1:-1] - below[0], below[-1] - below[1:-1]
    whole = (below[-1] - below[0])[None]
    n = float(whole.sum())
    share = left.sum(axis=1) / n
    remaining = share * entropy(left) + (1 - share) * entropy(right)
    at = int(np.flatnonzero(remaining <= remaining.min() + TIE)[0])
    gain = float(entropy(whole)[0] - remaining[at])
    return at + 1 if gain > price(n, whole, left[[at]], right[[at]]) else None


def price(n: float, whole: Floats, left: Floats, right: Floats) -> float:
    """The bits that a cut costs, per case: the right-hand side of the criterion above."""
    k, k1, k2 = (float((part > 0).sum()) for part in (whole, left, right))
    spread = k * entropy(whole) - k1 * entropy(left) - k2 * entropy(right)
    subsets = k * np.log2(3) + np.log1p(-2 * 3.0**-k) / np.log(2)  # log₂(3ᵏ − 2)
    return (np.log2(max(n - 1, 1)) + subsets - float(spread[0])) / n


def entropy(counts: Floats) -> Floats:
    """H = −Σ p log₂ p of each row of counts."""
    p = counts / np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return -(p * np.log2(p, out=np.zeros_like(p), where=p > 0)).sum(axis=1)
