"""Where EM starts: states that share out the rows, by clusters or at random, and chains that stay a while."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import capacity, validation
from bayeslearn.distributions.distribution import by_name, column_names
from bayeslearn.errors import DataError, ParameterError, ProbabilityError
from bayeslearn.sequence.cells import as_objects, is_missing, number_rows, one_column, plain
from bayeslearn.sequence.counts import PoissonEmissions
from bayeslearn.sequence.covariances import FullNormalEmissions
from bayeslearn.sequence.emissions import ColumnEmissions
from bayeslearn.sequence.mixed import MixtureEmissions
from bayeslearn.sequence.normals import NormalEmissions, spread_of
from bayeslearn.sequence.symbols import CategoricalEmissions
from bayeslearn.tables import Discrete, Numeric

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.sequence.data import Sequences
    from bayeslearn.sequence.emissions import Emissions

    Floats = NDArray[np.float64]

KINDS = ("categorical", "gaussian", "full", "poisson")

#: Rows that are clustered at most.
SAMPLE = 20_000
#: The chance to stay in a state, when nothing else is known.
STAY = 0.7


### the kind of emissions


def frame(cells: Any, kind: str, size: int, mixture: int, names: tuple[str, ...] | None, symbols: Any) -> Emissions:
    """Emissions of a kind for these data, with parameters that mean nothing yet."""
    kind = guessed(cells) if kind == "auto" else validation.choice("emissions", kind, ["auto", *kinds()])
    validation.integer("mixture", mixture, least=1)
    rows = size * mixture
    wide = len(names or ()) or 1
    capacity.require_numbers(f"{mixture:,} parts in each of {size:,} states", (rows, wide * (1 + wide)), copies=6)
    parts: Emissions
    if kind == "categorical":
        variable = Discrete((names or ("symbol",))[0], tuple(symbols) if symbols is not None else seen_symbols(cells))
        parts = CategoricalEmissions(variable, np.full((rows, variable.size), 1 / variable.size))
    elif kind == "poisson":
        parts = PoissonEmissions((names or ("count",))[0], np.ones(rows))
    elif kind not in {"gaussian", "full"}:
        parts = of_column(by_name(kind)(), (names or ("x0",))[0], rows)
    else:
        d = number_rows(cells).shape[1]
        columns = names or tuple(f"x{j}" for j in range(d))
        mean, one = np.zeros((rows, d)), np.ones((rows, d))
        parts = NormalEmissions(columns, mean, one) if kind == "gaussian" else FullNormalEmissions(
            columns, mean, np.repeat(np.eye(d)[None], rows, axis=0)
        )  # fmt: skip
    return parts if mixture == 1 else MixtureEmissions(np.full((size, mixture), 1 / mixture), parts)


def kinds() -> list[str]:
    """The kinds of emissions: normals by their covariance, and all distributions of one column of numbers."""
    others = (name for name in column_names() if name not in {"normal", *KINDS})
    return [*KINDS, *(name for name in others if by_name(name).accepts([Numeric("x")]))]


def of_column(distribution: Any, name: str, rows: int) -> ColumnEmissions:
    """Emissions as if 1 and 2 were seen: parameters that mean nothing yet."""
    whole = distribution.collect(np.array([1.0, 2.0]), weights=np.ones((2, 1)))
    prior = distribution.shaped(distribution.pooled(whole), rows)
    return ColumnEmissions(name, distribution, distribution.estimate(prior))


def guessed(cells: Any) -> str:
    """Words, truth values and few whole numbers are symbols, other numbers are normal."""
    array = cells if isinstance(cells, np.ndarray) else as_objects(cells)
    if array.ndim == 2 and array.shape[1] > 1:
        return "gaussian"
    column = one_column(array)
    if column.dtype.kind == "f":
        return "gaussian"
    if column.dtype == object:
        values = [c for c in column if not is_missing(plain(c))]
        return "gaussian" if values and all(isinstance(plain(v), float) for v in values) else "categorical"
    return "categorical"


def seen_symbols(cells: Any) -> tuple[Any, ...]:
    """The different symbols of the data, sorted where they can be."""
    column = one_column(cells if isinstance(cells, np.ndarray) else as_objects(cells))
    found = {plain(c) for c in column.tolist() if not is_missing(plain(c))}
    if not found:
        raise DataError("every symbol is missing: there is nothing to learn from")
    if all(isinstance(s, float) and s.is_integer() for s in found):  # whole numbers with holes are read as floats
        found = {int(s) for s in found}
    try:
        return tuple(sorted(found))
    except TypeError:
        return tuple(sorted(found, key=str))


### parameters


def started(emissions: Emissions, data: Sequences, rng: np.random.Generator) -> Emissions:
    """Emissions that begin near the data: what is known of states first, then clusters."""
    if isinstance(emissions, MixtureEmissions):
        k = emissions.weights.shape[1]
        known = None if data.known is None else np.where(data.known >= 0, data.known * k, -1)
        parts = begin(emissions.parts, data.cells, known, k, rng)
        return MixtureEmissions(emissions.weights, parts)
    return begin(emissions, data.cells, data.known, 1, rng)


def begin(emissions: Any, cells: NDArray[Any], known: NDArray[Any] | None, k: int, rng: np.random.Generator) -> Any:
    """Estimates from rows shared out among the states, with one case of all rows behind each."""
    emissions = emissions.floored(cells)
    pick = rng.permutation(len(cells))[:SAMPLE]
    if known is not None:
        pick = np.union1d(pick, np.flatnonzero(known >= 0))
    shares = clusters(emissions, cells[pick], rng)
    if known is not None:
        told = known[pick]
        rows = np.flatnonzero(told >= 0)
        own = told[rows, None] + np.arange(k)  # the parts of the state
        shares *= 0.01
        block = np.zeros((len(rows), emissions.size))
        np.put_along_axis(block, own, rng.dirichlet(np.ones(k), len(rows)), axis=1)
        shares[rows] = block
    return emissions.estimate(emissions.default_prior(cells, 1.0), gathered(emissions, cells[pick], shares))


def gathered(emissions: Any, cells: NDArray[Any], shares: Floats) -> Any:
    """Statistics of rows; those of full covariances start from the variances of all data."""
    if isinstance(emissions, FullNormalEmissions):
        mean, var = spread_of(cells)
        start = FullNormalEmissions(
            emissions.columns, np.tile(mean, (emissions.size, 1)), np.tile(np.diag(var), (emissions.size, 1, 1))
        )
        return start.gather(cells, shares)
    return emissions.gather(cells, shares)


def clusters(emissions: Any, cells: NDArray[Any], rng: np.random.Generator) -> Floats:
    """A share of each row for each state: clusters of numbers, chance for symbols."""
    n = emissions.size
    if isinstance(emissions, CategoricalEmissions):
        lean = rng.dirichlet(np.full(n, 0.5), emissions.variable.size + 1)  # each symbol leans towards some states
        return lean[cells] * rng.uniform(0.5, 1.5, (len(cells), n))
    return np.eye(n)[nearest(emissions.distribution.points(cells), n, rng)]


def nearest(x: Floats, k: int, rng: np.random.Generator, rounds: int = 10) -> NDArray[np.intp]:
    """The cluster of each row: centres far from each other (k-means++), then a few rounds of k-means."""
    centres = x[[rng.integers(len(x))]]
    for _ in range(k - 1):
        away = ((x[:, None, :] - centres) ** 2).sum(axis=-1).min(axis=1)
        p = away / away.sum() if away.sum() > 0 else np.full(len(x), 1 / len(x))
        centres = np.concatenate([centres, x[[rng.choice(len(x), p=p)]]])
    for _ in range(rounds):
        which = (((x[:, None, :] - centres) ** 2).sum(axis=-1)).argmin(axis=1)
        for j in range(k):
            if (which == j).any():
                centres[j] = x[which == j].mean(axis=0)
    return which


### the chain


def chain(n: int, structure: Any, data: Sequences, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """A start and transitions to begin with; zeros of the structure are zeros."""
    allowed = allowed_moves(n, structure)
    start = np.zeros(n) + ([1.0] + [0.0] * (n - 1) if isinstance(structure, str) and structure == "left-right" else 1)
    moves = allowed * (np.eye(n) * (STAY * n) + (1 - STAY) * rng.uniform(0.5, 1.5, (n, n)))
    if data.known is not None:
        a, b = data.known[:-1], data.known[1:]
        inside = np.ones(len(a), np.bool_)
        inside[data.starts[1:] - 1] = False
        both = inside & (a >= 0) & (b >= 0)
        np.add.at(moves, (a[both], b[both]), allowed[a[both], b[both]])
    return start / start.sum(), moves / moves.sum(axis=1, keepdims=True)


def allowed_moves(n: int, structure: Any) -> Floats:
    """1 where a move may be: everywhere, only ahead by at most one, or where a matrix says so."""
    if isinstance(structure, str):
        validation.choice("structure", structure, ["any", "left-right"])
        return np.ones((n, n)) if structure == "any" else np.triu(np.ones((n, n))) * (1 - np.triu(np.ones((n, n)), 2))
    allowed = (validation.float_array("structure", structure) > 0).astype(float)
    if allowed.shape != (n, n):
        raise ParameterError(f"a structure of {n} states is a matrix ({n}, {n}), got {allowed.shape}")
    if not allowed.any(axis=1).all():
        raise ProbabilityError("every state needs a move that it may make, if only to itself")
    return allowed


def state_names(states: int | Iterable[Any] | None, known: Any) -> tuple[Any, ...]:
    """Names of the states: told, or 0, 1, …, or those that are known."""
    if states is None:
        if known is None:
            raise ParameterError("how many states?", hint="give a number or their names")
        return seen_symbols([c for c in as_objects(known) if plain(c) != -1])
    if isinstance(states, int | np.integer) and not isinstance(states, bool):
        n = validation.integer("states", int(states), least=1)
        capacity.require_numbers(
            f"{n:,} states and the moves between them", (n, n), hint="ask for fewer states", copies=8
        )
        return tuple(range(n))
    if isinstance(states, str | bool) or not hasattr(states, "__iter__"):
        raise ParameterError(f"`states` must be a number or names, got {states!r}")
    return tuple(states)
