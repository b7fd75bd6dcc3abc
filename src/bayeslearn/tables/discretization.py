"""Cut points of numeric columns; and back: states that are numbers, read as the numbers they are.

quantile   bins of about equal weight; ties reduce their number, no bin is empty; a heavy value is a separate bin
uniform    bins of equal width between the smallest and the largest value
mdl        cut points that separate the states of a target, by minimum description length:

    split S into S₁, S₂ where the remaining entropy, (n₁/n) H(S₁) + (n₂/n) H(S₂), is smallest, and repeat in both, while
    gain > ( log₂(n − 1) + log₂(3ᵏ − 2) − [k H(S) − k₁ H(S₁) − k₂ H(S₂)] ) / n

where k, k₁, k₂ count the states of the target that occur in S, S₁, S₂, and n is the weight of S
(at least 2, for the first term). A numeric target is discretized at quantiles first. A heavy value has more than half
of the weight, such as 0 for rain.
References: U. Fayyad, K. Irani, Multi-interval discretization of continuous-valued attributes, IJCAI 1993.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from bayeslearn import validation
from bayeslearn.errors import BayeslearnWarning, ConstantColumnError, ParameterError, listed, outside
from bayeslearn.tables.intervals import WHOLE, between, separators, summarized, weighted_values
from bayeslearn.tables.intervals import below as just_below
from bayeslearn.tables.schema import Schema, name_list
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sized

    from numpy.typing import NDArray

    from bayeslearn.tables.table import Table

    Floats = NDArray[np.float64]

#: The strategies.
STRATEGIES = ["quantile", "uniform", "mdl"]

#: The default number of bins of `quantile` and `uniform`.
BINS = 5

#: The maximum number of bins of a column.
MAX_BINS = 1 << 20

#: `quantile` makes a value with more than this share of the weight a bin of its own.
HEAVY = 0.5

#: The minimum share of the weight on one side of a heavy value that is a bin of its own, unless it is the larger side.
LEAST_SIDE = 0.01

#: Entropies closer than this are equal; the lowest cut point is chosen.
TIE = 1e-12


def find_intervals(
    table: Table, columns: Iterable[str] | None, *, strategy: str, n_bins: int | None, target: str | None
) -> dict[str, DiscreteVariable]:
    """Return the bins of each column; a column without a cut point is an error, or a warning with `mdl`."""
    strategy = validation.choice("strategy", strategy, STRATEGIES)
    names = [v.name for v in table.schema.numeric] if columns is None else name_list("columns", columns)
    if strategy == "mdl":
        if n_bins is not None:
            raise ParameterError(
                f"`n_bins` has no effect with strategy='mdl', which finds the number of bins, got {n_bins}",
                hint="omit `n_bins`",
            )
        w = np.ones(table.n_rows) if table.sample_weight is None else np.asarray(table.sample_weight)
        return intervals_between(table, supervised(table, names, w, target))
    if target is not None:
        raise ParameterError(
            f"`target` requires strategy='mdl', got target={target!r} with strategy={strategy!r}",
            hint="omit `target`, or use strategy='mdl'",
        )
    find = quantile_cuts if strategy == "quantile" else width_cuts
    n = validation.integer("n_bins", BINS if n_bins is None else n_bins, min_value=2, max_value=MAX_BINS)
    found = {name: intervals(table, name, lambda values, weight: find(values, weight, n)) for name in names}
    require_cuts({name: variable.cuts or () for name, variable in found.items()})
    return found


def intervals_between(table: Table, cuts: Mapping[str, Iterable[float]]) -> dict[str, DiscreteVariable]:
    """Return the bins of columns with given cut points."""
    return {name: intervals(table, name, cuts=points) for name, points in cuts.items()}


def intervals(
    table: Table, name: str, find: Callable[[Floats, Floats], Floats] | None = None, cuts: Iterable[float] = ()
) -> DiscreteVariable:
    """Return the bins of one column: at given cut points, or at those that `find` returns for values and weights."""
    weights = None if table.sample_weight is None else np.asarray(table.sample_weight)
    values, weight = weighted_values(table.values_of(name), weights)
    points = tuple(cuts) if find is None else tuple(find(values, weight))
    kept = summarized(values, weight, points, weighted=weights is not None)
    return DiscreteVariable.from_cuts(name, points, kept=kept, like=table.schema[name])


def require_cuts(cuts: Mapping[str, Sized]) -> None:
    """Raise an error if a column has no cut point."""
    uncut = [name for name, points in cuts.items() if not len(points)]
    if uncut:
        raise ConstantColumnError(
            f"cannot discretize columns with fewer than two different values: {listed(uncut, 99)}",
            hint="omit them from `columns`, or drop them from the table",
            columns=uncut,
        )


### from the values


def quantile_cuts(values: Floats, weight: Floats, n_bins: int) -> Floats:
    """Return cut points between neighboring values, at the cumulative weights nearest to k/n_bins of the total."""
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
    """Return cut points around the heavy value, and those at other quantiles that leave enough weight next to it."""
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
    """Return equidistant cut points, each at the roundest number within a twentieth of the bin width."""
    if len(values) < 2:
        return np.empty(0)
    share, near = np.arange(1, n_bins) / n_bins, 1 / (20 * n_bins)
    low, high = (values[0] * (1 - s) + values[-1] * s for s in (share - near, share + near))
    cuts = np.unique([between(float(a), float(b)) for a, b in zip(low, high, strict=True)])
    return cuts[(cuts >= values[0]) & (cuts < values[-1])]


### from a target


def supervised(table: Table, names: Iterable[str], w: Floats, target: str | None) -> dict[str, Floats]:
    """Return the MDL cut points of each column; a column without any becomes one state, with a warning."""
    if target is None:
        raise ParameterError(
            "strategy='mdl' requires a `target`: the column whose states the cut points separate",
            hint="name the column with `target`",
        )
    label, own = table.schema[target], {}
    if not isinstance(label, DiscreteVariable):  # its own bins first
        own = {target: quantile_cuts(*weighted_values(table.values_of(target), w), BINS)}
        require_cuts(own)
        label = DiscreteVariable.from_cuts(target, own[target])
    y = label.cut(table.values_of(target)) if own else table.codes_of(target)
    cuts = {name: own[name] if name in own else mdl_cuts(table.values_of(name), y, w, label.n_states) for name in names}
    whole = [name for name, points in cuts.items() if not len(points)]
    if whole:
        message = f"no cut point separates the states of {target!r}: {listed(whole, 99)} became one state, {WHOLE!r}"
        warnings.warn(message, BayeslearnWarning, stacklevel=outside())
    return cuts


def mdl_cuts(x: Floats, y: NDArray[np.signedinteger], w: Floats, n_states: int) -> Floats:
    """Return the cut points of `x` whose gain of information on `y` exceeds their description length."""
    there = ~np.isnan(x) & (y >= 0) & (w > 0)
    values, inverse = np.unique(x[there], return_inverse=True)
    if len(values) < 2:
        return np.empty(0)
    cell = inverse * n_states + y[there]
    counts = np.bincount(cell, w[there], minlength=len(values) * n_states).reshape(-1, n_states).astype(float)
    return separators(values, mdl_places(counts))


def mdl_places(counts: Floats) -> NDArray[np.intp]:
    """Return the positions after which to split counts (values, states) of increasing values, in increasing order."""
    places = boundaries(counts)
    below = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)[[*places, len(counts) - 1]]])
    kept, open_parts = [], [(0, len(places) + 1)]
    while open_parts:
        low, high = open_parts.pop()
        at = best_split(below[low : high + 1])
        if at is not None:
            kept.append(places[low + at - 1])
            open_parts += [(low, low + at), (low + at, high)]
    return np.sort(np.array(kept, dtype=np.intp))


def boundaries(counts: Floats) -> NDArray[np.intp]:
    """Return the positions between neighboring values that do not share a single state: best cut points lie there."""
    pure = (counts > 0).sum(axis=1) == 1
    state = counts.argmax(axis=1)
    inside = pure[:-1] & pure[1:] & (state[:-1] == state[1:])
    return np.flatnonzero(~inside)


def best_split(below: Floats) -> int | None:
    """Return the split with the least remaining entropy, or None; `below` holds the counts up to each boundary."""
    if len(below) < 3:
        return None
    left, right = below[1:-1] - below[0], below[-1] - below[1:-1]
    whole = (below[-1] - below[0])[None]
    n = float(whole.sum())
    if n <= 0:
        return None
    share = left.sum(axis=1) / n
    remaining = share * entropy(left) + (1 - share) * entropy(right)
    at = int(np.flatnonzero(remaining <= remaining.min() + TIE)[0])
    gain = float(entropy(whole)[0] - remaining[at])
    return at + 1 if n * gain > price(n, whole, left[[at]], right[[at]]) else None


def price(n: float, whole: Floats, left: Floats, right: Floats) -> float:
    """Return the cost of a cut point in bits: n times the right-hand side of the criterion above."""
    k, k1, k2 = (float((part > 0).sum()) for part in (whole, left, right))
    spread = k * entropy(whole) - k1 * entropy(left) - k2 * entropy(right)
    subsets = k * np.log2(3) + np.log1p(-2 * 3.0**-k) / np.log(2)  # log₂(3ᵏ − 2)
    return float(np.log2(max(n - 1, 1)) + subsets - float(spread[0]))


def entropy(counts: Floats) -> Floats:
    """Return H = −Σ p log₂ p of each row of counts."""
    p = counts / np.maximum(counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return -(p * np.log2(p, out=np.zeros_like(p), where=p > 0)).sum(axis=1)


### states that are numbers


def all_numbers(variable: DiscreteVariable) -> bool:
    """Whether all states read as numbers, and none as a truth value or an interval."""
    if variable.cuts is not None or any(isinstance(state, bool) for state in variable.states):
        return False
    try:
        return bool(np.isfinite([float(state) for state in variable.states]).all())
    except (TypeError, ValueError):
        return False


def with_numbers(table: Table, variables: Iterable[DiscreteVariable]) -> Table:
    """The table with the states of these columns read as the numbers they are."""
    found = {v.name: np.array([*map(float, v.states), np.nan])[table.codes_of(v.name)] for v in variables}
    if not found:
        return table
    schema = Schema(
        NumericVariable(v.name, read_as=v.read_as, origin=v.origin) if v.name in found else v for v in table.schema
    )
    codes = [table.codes_of(v.name) for v in schema.discrete]
    values = [found[v.name] if v.name in found else table.values_of(v.name) for v in schema.numeric]
    block = np.array(codes) if codes else np.empty((0, table.n_rows), np.int8)
    return type(table)(schema, block, np.array(values), table.sample_weight)
