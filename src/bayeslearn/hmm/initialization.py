"""Where EM starts: emissions of the kind that the data ask for, and chains that stay a while.

How the parameters of emissions begin is in :meth:`.Emissions.begin`.
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

#: The chance to stay in a state, when nothing else is known.
STAY = 0.7


### the kind of emissions


def frame(cells: Any, kind: Any, size: int, mixture: int, names: tuple[str, ...] | None, symbols: Any) -> Emissions:
    """Emissions of a kind, or of a kind for each column, with parameters that mean nothing yet."""
    if not isinstance(kind, Mapping):
        kind = guessed(cells) if kind == "auto" else validation.choice("emissions", kind, ["auto", *kinds()])
    validation.integer("mixture", mixture, min_value=1)
    rows = size * mixture
    wide = len(names or ()) or 1
    capacity.require_numbers(f"{mixture:,} parts in each of {size:,} states", (rows, wide * (1 + wide)), copies=6)
    parts = class_of(kind).blank(kind, cells, rows, names, symbols)
    return parts if mixture == 1 else class_of("mixture")(np.full((size, mixture), 1 / mixture), parts)


def kinds() -> list[str]:
    """The kinds of emissions: normals by their covariance, all distributions of one column, and products of columns."""
    others = (name for name in column_names() if name not in CLASSES)
    return ["categorical", "gaussian", "full", "poisson", *others, "product"]


def guessed(cells: Any) -> str:
    """Words, truth values and few whole numbers are symbols, other numbers are normal."""
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


def chain(n: int, structure: Any, data: Sequences, random_state: np.random.Generator) -> tuple[Floats, Floats]:
    """A start and transitions to begin with; zeros of the structure are zeros."""
    allowed = allowed_moves(n, structure)
    start = np.zeros(n) + ([1.0] + [0.0] * (n - 1) if isinstance(structure, str) and structure == "left-right" else 1)
    moves = allowed * (np.eye(n) * (STAY * n) + (1 - STAY) * random_state.uniform(0.5, 1.5, (n, n)))
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
        structure = validation.choice("structure", structure, ["any", "left-right"])
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
        n = validation.integer("states", int(states), min_value=1)
        capacity.require_numbers(
            f"{n:,} states and the moves between them", (n, n), hint="ask for fewer states", copies=8
        )
        return tuple(range(n))
    if isinstance(states, str | bool) or not hasattr(states, "__iter__"):
        raise ParameterError(f"`states` must be a number or names, got {states!r}")
    return tuple(states)
