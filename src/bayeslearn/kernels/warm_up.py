"""Every kernel called once on the smallest input, so that it is compiled for the usual types.

A unit calls kernels that share inner functions; :mod:`bayeslearn.kernels.precompile` lists the units of each group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeslearn.kernels import (
    arc_changes,
    batched_propagation,
    code_translation,
    column_packing,
    contingency,
    csv_cells,
    extended_counts,
    family_cells,
    family_scores,
    greedy_parent_sets,
    independence_tests,
    joint_completion,
    junction_tree,
    missing_patterns,
    network_e_step,
    order_mcmc,
    order_search,
    parent_set_counts,
    propagation,
    python_fallback,
    sampling,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

#: The units by name.
UNITS: dict[str, Callable[[], None]] = {}


def unit(function: Callable[[], None]) -> Callable[[], None]:
    """Register a unit under the name of its function."""
    UNITS[function.__name__] = function
    return function


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array as a table holds it: numba compiles for read-only arrays apart."""
    array.flags.writeable = False
    return array


### tables


@unit
def counts() -> None:
    """One row of one column in codes."""
    codes = read_only(np.zeros((1, 1), np.int8))
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
    contingency.histogram(codes, zero, one, zero, 0, 1, np.zeros(1, np.int64))
    contingency.weighted_histogram(codes, zero, one, zero, read_only(np.ones(1)), 0, 1, np.zeros(1))
    contingency.intersections(np.zeros((1, 1), np.uint64), zero, one, np.zeros(2, np.int64))


@unit
def cell_numbers() -> None:
    """One row of one column in letters, and recoded."""
    text, room = np.frombuffer(b"a\n", np.uint8), np.empty((1, csv_cells.MOST_CELLS), np.int64)
    slots, keys = np.full((1, csv_cells.CELL_SLOTS), -1, np.int64), np.empty((1, csv_cells.CELL_SLOTS), np.uint64)
    index, table = np.zeros(1, np.int32), np.zeros(1, np.int16)
    for out in (np.empty(1, np.int8), np.empty(1, np.int16)):
        code_translation.recode(index, np.ones(1, np.uint8), 0, table, out)
    into = np.empty((1, 1), np.int16)
    csv_cells.number_cells(text, 0, 2, 44, into, 0, room, room.copy(), np.zeros(1, np.int64), slots, keys)


### inference


def one_variable() -> tuple[Any, ...]:
    """A network of one variable with two states."""
    table, spans = np.array([0.5, 0.5]), np.array([0, 2])
    return np.array([0, 1]), np.array([0]), np.array([1]), spans, table, spans, np.array([True]), table[:1]


def plan_of_one() -> tuple[Any, ...]:
    """Arguments of a plan for one variable."""
    two, yes = np.array([2]), np.array([True])
    return *one_variable()[:3], two, np.log(two), yes, yes


def steps_of_one() -> Any:
    """A plan for one variable, found without compiled code."""
    return python_fallback.twin(junction_tree.__name__).plan(*plan_of_one(), np.zeros(1), 1.0, 1e9)[1]


@unit
def plans() -> None:
    """A plan for one variable, and the best of several."""
    junction_tree.plan(*plan_of_one(), np.zeros(1), 1.0, 1e9)
    junction_tree.best_plan(*plan_of_one(), 1e9)


@unit
def one_case() -> None:
    """The posterior of one variable."""
    two, no, table = np.array([2]), np.array([False]), np.array([0.5, 0.5])
    room = (np.empty(2), np.empty(1))
    propagation.propagate(
        one_variable(), steps_of_one(), two, -np.ones(1, np.int64), table, no, *room, np.empty(2), np.zeros(2), 1.0
    )


@unit
def cases_one_by_one() -> None:
    """The posterior of one variable in each row."""
    two, codes = np.array([2]), np.full((1, 1), -1)
    propagation.propagate_cases(one_variable(), two, np.log(two), codes, 1e9, np.empty((1, 2)), np.zeros(1))


@unit
def cases_side_by_side() -> None:
    """The posterior of one variable in rows of one pattern."""
    size = batched_propagation.LANES
    codes, beliefs = np.full((size, 1), -1), np.empty((size, 2))
    batched_propagation.propagate_lanes(one_variable(), steps_of_one(), np.array([2]), codes, beliefs, np.zeros(size))


@unit
def explanations() -> None:
    """The most probable state of one variable."""
    two, no, table = np.array([2]), np.array([False]), np.array([0.5, 0.5])
    room = (np.empty(2), np.empty(1))
    joint_completion.most_probable(
        one_variable(), steps_of_one(), two, -np.ones(1, np.int64), table, no, ~no, *room, np.zeros(1, np.int64)
    )


### learning with missing values


@unit
def patterns() -> None:
    """One row of one missing variable, folded."""
    network = one_variable()
    near = missing_patterns.neighbors(*network[:2], 1)
    for kind in (np.int8, np.int32):
        missing_patterns.fold_rows(np.full((1, 1), -1, kind), read_only(np.ones(1)), np.array([False]), near)


def one_item() -> tuple[Any, ...]:
    """One row of one missing variable as an item of the E step."""
    two, groups = np.array([2]), np.ones((1, 1), np.uint64)
    return one_variable(), two, np.log(two), groups, np.array([0, 1]), 0, 1, np.full((1, 1), -1)


@unit
def expectations() -> None:
    """Expected counts of one missing variable."""
    soft = (np.array([-1]), np.ones((0, 2)), np.zeros((0, 1), np.bool_))
    network_e_step.infer_items(*one_item(), np.ones(1), *soft, 1e9, np.zeros(2), np.zeros(1))


@unit
def completions() -> None:
    """One missing variable, filled by its most probable state and by a draw."""
    row = np.zeros(1, np.int64)
    for uniform in (np.empty((0, 1)), np.ones((1, 1))):
        network_e_step.complete_items(*one_item(), row, uniform, 1e9, np.zeros((1, 1), np.int32), np.zeros(1))


### structure search


def one_column(weights: NDArray[np.float64]) -> tuple[Any, ...]:
    """One row of one column as structure search counts it, and its table: whole numbers where rows have no weights."""
    codes, bits = read_only(np.zeros((1, 1), np.int8)), np.zeros((1, 1), np.uint64)
    table = np.zeros((1, 1)) if len(weights) else np.zeros((1, 1), np.int32)
    return (codes, weights, np.ones(1, np.int64), np.arange(2), bits, table[0], bits, 0.0), table


def count_and_score(weights: NDArray[np.float64]) -> None:
    """Count a family with one more column, and score it."""
    zero, yes = np.zeros(1, np.int64), np.ones(1, np.bool_)
    data, table = one_column(weights)
    family_cells.count_cells(np.zeros(1, np.int32), weights, np.zeros((2, 1)))
    extended_counts.extend_family(data, zero, yes, table, 0, table)
    extended_counts.extend_columns(data, zero, table)
    family_scores.score_columns(table.reshape(1, 1, 1), zero, 0, 0.0, np.empty(0), yes, np.empty(1))
    family_scores.score_pairs(table, zero, 0, 0.0, np.empty(0), np.empty((1, 1)), np.empty(1))


@unit
def counted_rows() -> None:
    """Families of rows that count once."""
    count_and_score(np.empty(0))


@unit
def weighted_rows() -> None:
    """Families of rows with weights."""
    count_and_score(read_only(np.ones(1)))


@unit
def gains() -> None:
    """One column with itself: packed and changed."""
    codes, zero = read_only(np.zeros((1, 1), np.int8)), np.zeros(1, np.int64)
    bits, no, gain = np.zeros((1, 1), np.uint64), np.zeros((1, 1), np.bool_), np.full((3, 1, 1), -np.inf)
    graph = ((gain[0], gain[0]), (no, no), (no, no))
    family_cells.find_cells(codes, zero, np.ones(1, np.int64), np.zeros(1, np.int32))
    arc_changes.all_gains(*graph, gain)
    arc_changes.best_of_all(*graph, 0.0, zero)
    arc_changes.best_change(gain, gain[0], 0.0, zero)
    column_packing.pack_states(codes, np.arange(2), bits, np.zeros(1, np.int32))
    column_packing.pack_rows(codes, np.arange(2), 0, 1, bits.view(np.uint8))


def choose_parents(weights: NDArray[np.float64]) -> None:
    """Choose parents for one column, which has no candidates."""
    zero, no = np.zeros(1, np.int64), np.zeros((1, 1), np.bool_)
    greedy_parent_sets.greedy_parents(one_column(weights)[0], zero, no, zero, (1, 1.0, 0.0), (0, 0.0), np.empty(0), no)


@unit
def parents_of_counted_rows() -> None:
    """K2 on rows that count once."""
    choose_parents(np.empty(0))


@unit
def parents_of_weighted_rows() -> None:
    """K2 on rows with weights."""
    choose_parents(read_only(np.ones(1)))


@unit
def independence() -> None:
    """One column tested against itself."""
    codes, weights = read_only(np.zeros((1, 1), np.int8)), read_only(np.ones(1))
    independence_tests.dependence(
        codes, weights, np.ones(1, np.int64), np.zeros((1, 2), np.int64), False, *np.zeros((3, 1))
    )


def one_set() -> tuple[Any, ...]:
    """One variable with the one set of parents that it can have."""
    return np.array([0, 1]), np.zeros(2, np.int64), np.empty(0, np.int64), np.ones(1)


@unit
def orders() -> None:
    """An order of one variable."""
    zero, one, table = np.zeros(1, np.int64), np.ones(1), np.empty((1, 1))
    codes, none = np.zeros((2, 1), np.int32), np.empty((1, 0), np.int64)
    parent_set_counts.extend_sets(codes, one, np.ones(2, np.int64), none, zero, zero + 1, zero, 1, table)
    order_search.choose(one_set(), zero, zero.copy())
    order_search.climb_orders(one_set(), zero.copy(), zero, zero.copy(), 0.0)
    order_search.best_sinks(np.array([0, 1]), zero, one, 1, 2, 0.0, np.zeros(2), np.zeros(2, np.int8))


@unit
def order_sampling() -> None:
    """A chain over orders of one variable."""
    zero = np.zeros(1, np.int64)
    order_mcmc.walk_orders(one_set(), zero.copy(), np.zeros((1, 2), np.int64), np.zeros(1), 1.0)
    order_mcmc.read_order(one_set(), zero, 1.0, np.zeros(1), np.zeros((1, 1)), zero.copy())
    order_mcmc.count_orders(zero, np.empty(2))


### sampling


@unit
def forward_samples() -> None:
    """Rows of one variable, and their tally."""
    zero, table, no = np.array([0]), np.array([0.5, 0.5]), np.array([False])
    keys, codes = np.zeros(1, np.uint64), np.zeros((1, 1), np.int8)
    sampling.sample_rows(
        one_variable()[:7], zero, table[None], table, -np.ones(1, np.int64), table, no, False, no, table[None], keys,
        0, 0, 1, codes, np.zeros(1),
    )  # fmt: skip
    sampling.tally(codes, np.ones(1), zero, np.array([0, 2]), np.zeros(2), np.zeros(2))


@unit
def gibbs_samples() -> None:
    """One Gibbs sweep over one variable."""
    zero, one, table = np.array([0]), np.array([1]), np.array([0.5, 0.5])
    touched = (np.array([0, 1]), zero, one)
    logs, sums = (np.log(table), np.log(table), np.array([False])), np.zeros((2, 1, 2))
    sampling.gibbs_sweeps(
        one_variable()[:7], touched, zero, table, logs, np.zeros(1, np.uint64)[0], 0, 1, zero.copy(), sums[0], sums[1]
    )
