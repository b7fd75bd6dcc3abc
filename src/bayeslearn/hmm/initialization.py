"""Initial values of EM: emissions that fit the columns, and transition probabilities that favor the present state.

The initial parameters of emissions are those of :meth:`.Emissions.initialize`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn import capacity, validation
from bayeslearn.distributions.distribution import column_names
from bayeslearn.errors import ParameterError, ProbabilityError
from bayeslearn.hmm.emissions import CLASSES, class_of
from bayeslearn.hmm.observations import as_objects, has_words, is_missing, one_column, plain, seen_symbols

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from bayeslearn.hmm.emissions import Emissions
    from bayeslearn.hmm.sequences import Sequences

    Floats = NDArray[np.float64]

#: The initial probability to stay in a state.
STAY = 0.7


### the kind of emissions


def frame(
    cells: Any,
    kind: Any,
    covariance_type: str,
    n_states: int,
    n_mixtures: int,
    names: tuple[str, ...] | None,
    symbols: Any,
) -> Emissions:
    """Emissions of a kind, or of a kind for each column, with placeholders for parameters."""
    covariance = validation.choice("covariance_type", covariance_type, ["diag", "full"])
    if not isinstance(kind, Mapping):
        kind = guessed(cells) if kind == "auto" else kind
        kind = "full" if kind == "gaussian" and covariance == "full" else kind
    validation.integer("n_mixtures", n_mixtures, min_value=1)
    rows = n_states * n_mixtures
    wide = len(names or ()) or 1
    capacity.require_numbers(
        f"{n_mixtures:,} parts in each of {n_states:,} states", (rows, wide * (1 + wide)), copies=6
    )
    parts = class_of(kind).blank(kind, cells, rows, names, symbols)
    if n_mixtures == 1:
        return parts
    return class_of("mixture")(np.full((n_states, n_mixtures), 1 / n_mixtures), parts)


def checked_kind(emissions: Any) -> Any:
    """The kind of emissions, or the kinds of columns, which must be known."""
    if isinstance(emissions, Mapping):
        return emissions
    others = (name for name in column_names() if name not in CLASSES)
    kinds = ["auto", "categorical", "words", "gaussian", "poisson", *others, "product"]
    return validation.choice("emissions", emissions, kinds)


def guessed(cells: Any) -> str:
    """The kind of emissions by the cells: Gaussian for numbers with a fraction, else categorical."""
    array = cells if isinstance(cells, np.ndarray) else as_objects(cells)
    if array.ndim == 2 and array.shape[1] > 1:
        return "product" if any(has_words(column) for column in array.T) else "gaussian"
    column = one_column(array)
    if column.dtype.kind == "f":
        return "gaussian"
    if column.dtype == object:
        values = [c for c in column if not is_missing(plain(c))]
        return "gaussian" if values and all(isinstance(plain(v), float) for v in values) else "categorical"
    return "categorical"


### the chain


def chain(n: int, topology: Any, data: Sequences, random_state: np.random.Generator) -> tuple[Floats, Floats]:
    """Initial start and transition probabilities; zeros of the topology are zeros."""
    allowed = allowed_moves(n, topology)
    start = np.ones(n)
    if isinstance(topology, str) and topology == "left_right":
        start[1:] = 0.0
    moves = allowed * (np.eye(n) * (STAY * n) + (1 - STAY) * random_state.uniform(0.5, 1.5, (n, n)))
    if data.known_states is not None:
        a, b = data.known_states[:-1], data.known_states[1:]
        inside = np.ones(len(a), np.bool_)
        inside[data.starts[1:] - 1] = False
        both = inside & (a >= 0) & (b >= 0)
        np.add.at(moves, (a[both], b[both]), allowed[a[both], b[both]])
    return start / start.sum(), moves / moves.sum(axis=1, keepdims=True)


def allowed_moves(n: int, topology: Any) -> Floats:
    """1 for every transition that is allowed: all, those to the same or the next state, or those of a matrix."""
    if isinstance(topology, str):
        return np.ones((n, n)) if topology == "ergodic" else np.eye(n) + np.eye(n, k=1)
    allowed = (validation.float_array("topology", topology) > 0).astype(float)
    if allowed.shape != (n, n):
        raise ParameterError(f"a topology of {n} states is a matrix ({n}, {n}), got {allowed.shape}")
    if not allowed.any(axis=1).all():
        raise ProbabilityError("every state needs an allowed transition, at least to itself")
    return allowed


def state_names(n_states: int | Iterable[Any] | None, known_states: Any) -> tuple[Any, ...]:
    """The names of the states: given ones, 0, 1, …, or those of `known_states`."""
    if n_states is None:
        if known_states is None:
            raise ParameterError("the number of states is missing", hint="n_states=2, or the names of the states")
        return seen_symbols([c for c in as_objects(known_states) if plain(c) != -1])
    if isinstance(n_states, int | np.integer) and not isinstance(n_states, bool):
        n = validation.integer("n_states", int(n_states), min_value=1)
        capacity.require_numbers(
            f"{n:,} states and the transitions between them", (n, n), hint="use fewer states", copies=8
        )
        return tuple(range(n))
    if isinstance(n_states, str | bool) or not hasattr(n_states, "__iter__"):
        raise ParameterError(f"`n_states` must be a number or names, got {n_states!r}")
    return tuple(n_states)
