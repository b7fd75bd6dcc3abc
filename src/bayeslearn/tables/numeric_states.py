"""States that are numbers, read as the numbers they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayeslearn.tables.schema import Schema
from bayeslearn.tables.table import Table
from bayeslearn.tables.variables import DiscreteVariable, NumericVariable

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    return Table(schema, block, np.array(values), table.sample_weight)
