"""Targets: what every example says, the code of a class or a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.neighbours.reading import widened
from bayeslearn.tables import Discrete, Schema, Table, Variable, as_table
from bayeslearn.tables.numbers import all_numbers, with_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: More classes than this are taken for a mistake.
MOST_CLASSES = 1 << 16


def targets(
    y: Any, name: str, *, like: Variable | None = None, discrete: bool = False
) -> tuple[Variable, NDArray[Any]]:
    """A target and what each row says of it: text and truth values are classes, numbers are numbers if not told.

    Where one is known already, more rows are read as it was, and may show new classes.
    """
    if isinstance(like, Discrete) or discrete:
        column = as_table({name: y}, discrete=[name], allow_constant=True, max_states=MOST_CLASSES)
        variable: Any = widened(like, column.schema[name]) if like is not None else column.schema[name]
        if variable == like:
            variable = like
        return variable, coded(as_table(column, schema=Schema([variable])))
    column = as_table({name: y}, allow_constant=True, max_states=MOST_CLASSES, numeric=() if like is None else [name])
    found = column.schema[name]
    if isinstance(found, Discrete) and not any(isinstance(s, str) for s in found.states) and all_numbers(found):
        column = with_numbers(column, [found])
    return column.schema[name], coded(column)


def coded(column: Table) -> NDArray[Any]:
    """The only column of a table, as codes or numbers."""
    return column.codes[0].astype(np.int64) if column.schema.discrete else np.array(column.values[0])


def names_of(variable: Discrete) -> NDArray[Any]:
    """The states in an array, as they are."""
    states = variable.states
    same = len({type(state) for state in states}) == 1 and type(states[0]) in {str, int, float, bool}
    found = np.empty(len(states), dtype=object)
    found[:] = states
    return np.array(states) if same else found
