"""Compiled loops over arrays. The only place that imports numba, and only when a kernel is first asked for.

A kernel takes arrays and returns arrays; the caller validates and allocates. Each has a slow, obvious twin in
``tests/oracle``.
"""

from __future__ import annotations

import _thread  # threading.Thread.start waits until the thread runs, longer than many a kernel takes
import os
from typing import TYPE_CHECKING, Any, TypeVar

from bayeslearn import lazy_imports, validation
from bayeslearn.kernels import python_fallback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bayeslearn.kernels.arc_changes import all_gains as all_gains
    from bayeslearn.kernels.arc_changes import best_change as best_change
    from bayeslearn.kernels.arc_changes import best_of_all as best_of_all
    from bayeslearn.kernels.batched_propagation import LANES as LANES
    from bayeslearn.kernels.batched_propagation import propagate_lanes as propagate_lanes
    from bayeslearn.kernels.code_translation import recode as recode
    from bayeslearn.kernels.column_packing import pack_rows as pack_rows
    from bayeslearn.kernels.column_packing import pack_states as pack_states
    from bayeslearn.kernels.contingency import histogram as histogram
    from bayeslearn.kernels.contingency import intersections as intersections
    from bayeslearn.kernels.contingency import weighted_histogram as weighted_histogram
    from bayeslearn.kernels.csv_cells import CELL_SLOTS as CELL_SLOTS
    from bayeslearn.kernels.csv_cells import MOST_CELLS as MOST_CELLS
    from bayeslearn.kernels.csv_cells import number_cells as number_cells
    from bayeslearn.kernels.document_counts import SEGMENT as SEGMENT
    from bayeslearn.kernels.document_counts import count_words as count_words
    from bayeslearn.kernels.document_scores import add_labeled as add_labeled
    from bayeslearn.kernels.document_scores import add_shared as add_shared
    from bayeslearn.kernels.document_scores import score_documents as score_documents
    from bayeslearn.kernels.extended_counts import extend_columns as extend_columns
    from bayeslearn.kernels.extended_counts import extend_family as extend_family
    from bayeslearn.kernels.family_cells import count_cells as count_cells
    from bayeslearn.kernels.family_cells import find_cells as find_cells
    from bayeslearn.kernels.family_scores import score_columns as score_columns
    from bayeslearn.kernels.family_scores import score_pairs as score_pairs
    from bayeslearn.kernels.gaussian_mixture_em import expect_diagonal as expect_diagonal
    from bayeslearn.kernels.gaussian_mixture_em import expect_full as expect_full
    from bayeslearn.kernels.greedy_parent_sets import greedy_parents as greedy_parents
    from bayeslearn.kernels.growth_function import most_patterns as most_patterns
    from bayeslearn.kernels.hmm_emissions import lay_known as lay_known
    from bayeslearn.kernels.hmm_emissions import lay_logs as lay_logs
    from bayeslearn.kernels.hmm_emissions import lay_normals as lay_normals
    from bayeslearn.kernels.hmm_emissions import lay_symbols as lay_symbols
    from bayeslearn.kernels.hmm_emissions import take_normals as take_normals
    from bayeslearn.kernels.hmm_emissions import take_rows as take_rows
    from bayeslearn.kernels.hmm_emissions import take_symbols as take_symbols
    from bayeslearn.kernels.hmm_forward_backward import backward as backward
    from bayeslearn.kernels.hmm_forward_backward import forward as forward
    from bayeslearn.kernels.hmm_log_space import best_paths as best_paths
    from bayeslearn.kernels.hmm_log_space import smooth_logs as smooth_logs
    from bayeslearn.kernels.independence_tests import dependence as dependence
    from bayeslearn.kernels.joint_completion import most_probable as most_probable
    from bayeslearn.kernels.junction_tree import best_plan as best_plan
    from bayeslearn.kernels.junction_tree import plan as plan
    from bayeslearn.kernels.local_regression import OUT_OF_REACH as OUT_OF_REACH
    from bayeslearn.kernels.local_regression import RIDGED as RIDGED
    from bayeslearn.kernels.local_regression import fit_local as fit_local
    from bayeslearn.kernels.missing_patterns import fold_rows as fold_rows
    from bayeslearn.kernels.missing_patterns import neighbors as neighbors
    from bayeslearn.kernels.naive_bayes import add_normal_logs as add_normal_logs
    from bayeslearn.kernels.naive_bayes import add_state_logs as add_state_logs
    from bayeslearn.kernels.naive_bayes import average_parents as average_parents
    from bayeslearn.kernels.naive_bayes import best_class as best_class
    from bayeslearn.kernels.naive_bayes import class_moments as class_moments
    from bayeslearn.kernels.naive_bayes import code_values as code_values
    from bayeslearn.kernels.naive_bayes import count_classes as count_classes
    from bayeslearn.kernels.naive_bayes import count_pairs as count_pairs
    from bayeslearn.kernels.naive_bayes import see_values as see_values
    from bayeslearn.kernels.neighbors_brute_force import measure_rows as measure_rows
    from bayeslearn.kernels.neighbors_brute_force import scan_rows as scan_rows
    from bayeslearn.kernels.neighbors_kd_tree import grow_tree as grow_tree
    from bayeslearn.kernels.neighbors_kd_tree import lay_leaves as lay_leaves
    from bayeslearn.kernels.neighbors_kd_tree import place_queries as place_queries
    from bayeslearn.kernels.neighbors_kd_tree import search_leaves as search_leaves
    from bayeslearn.kernels.neighbors_lower_bounds import shorten_rows as shorten_rows
    from bayeslearn.kernels.neighbors_lower_bounds import sift_rows as sift_rows
    from bayeslearn.kernels.network_e_step import complete_items as complete_items
    from bayeslearn.kernels.network_e_step import infer_items as infer_items
    from bayeslearn.kernels.order_mcmc import count_orders as count_orders
    from bayeslearn.kernels.order_mcmc import read_order as read_order
    from bayeslearn.kernels.order_mcmc import walk_orders as walk_orders
    from bayeslearn.kernels.order_search import best_sinks as best_sinks
    from bayeslearn.kernels.order_search import choose as choose
    from bayeslearn.kernels.order_search import climb_orders as climb_orders
    from bayeslearn.kernels.parent_set_counts import extend_sets as extend_sets
    from bayeslearn.kernels.propagation import propagate as propagate
    from bayeslearn.kernels.propagation import propagate_cases as propagate_cases
    from bayeslearn.kernels.sampling import WIDE as WIDE
    from bayeslearn.kernels.sampling import gibbs_sweeps as gibbs_sweeps
    from bayeslearn.kernels.sampling import sample_rows as sample_rows
    from bayeslearn.kernels.sampling import tally as tally
    from bayeslearn.kernels.shattering import find_shattered as find_shattered
    from bayeslearn.kernels.tree_growth import grow_forest_tree as grow_forest_tree
    from bayeslearn.kernels.tree_prunings import average_prunings as average_prunings
    from bayeslearn.kernels.tree_prunings import leave_out_counts as leave_out_counts
    from bayeslearn.kernels.tree_prunings import leave_out_moments as leave_out_moments
    from bayeslearn.kernels.tree_prunings import merge_children as merge_children
    from bayeslearn.kernels.tree_prunings import shrink_counts as shrink_counts
    from bayeslearn.kernels.tree_prunings import shrink_moments as shrink_moments
    from bayeslearn.kernels.tree_prunings import sum_children as sum_children
    from bayeslearn.kernels.tree_prunings import weigh_prunings as weigh_prunings
    from bayeslearn.kernels.tree_routing import add_leaves as add_leaves
    from bayeslearn.kernels.tree_routing import add_steps as add_steps
    from bayeslearn.kernels.tree_routing import find_leaves as find_leaves
    from bayeslearn.kernels.weighted_majority import follow_counts as follow_counts
    from bayeslearn.kernels.weighted_majority import weigh_advice as weigh_advice
    from bayeslearn.kernels.word_hash_table import hash_words as hash_words
    from bayeslearn.kernels.word_hash_table import join_words as join_words
    from bayeslearn.kernels.word_hash_table import wider_table as wider_table
else:
    _load, __dir__, __all__ = lazy_imports.attach(
        __name__, "is_sooner", "parallel", "prepare", "soonest", "thread_count"
    )

    def __getattr__(name: str) -> Any:
        """Import a kernel when it is first looked up, and compile its group where the code is not there."""
        if name in lazy_imports.exports(__name__):
            from bayeslearn.kernels import precompile  # noqa: PLC0415 - loads the compiler

            if name in precompile.GROUP_OF:  # before other threads find the name
                precompile.prepare(precompile.GROUP_OF[name])
        return _load(name)


def prepare(*groups: str) -> None:
    """Compile the groups that a job uses at once, where their code is not there; see :data:`.precompile.GROUPS`."""
    from bayeslearn.kernels import precompile  # noqa: PLC0415 - loads the compiler

    precompile.prepare(*groups)


def home_of(kernel: str) -> str:
    """The module of a kernel."""
    return lazy_imports.exports(__name__)[kernel].rpartition(".")[2]


def soonest(name: str) -> Callable[..., Any]:
    """A kernel by name for a small question: see :mod:`bayeslearn.kernels.python_fallback`."""
    return python_fallback.soonest(home_of(name), name)


def is_sooner(name: str) -> bool:
    """Whether a small question is answered sooner without the compiled kernel of this name."""
    return python_fallback.is_sooner(home_of(name), name)


### both cores: independent tasks on threads, for kernels release the interpreter lock

T = TypeVar("T")
R = TypeVar("R")


def thread_count() -> int:
    """How many threads to use: ``BAYESLEARN_THREADS``, else the cores this process may run on."""
    asked = os.environ.get("BAYESLEARN_THREADS", "")
    return validation.whole_number(asked) or available_cores()


def available_cores() -> int:
    """The cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def parallel(function: Callable[[T], R], tasks: Iterable[T], *, worth: bool = True) -> list[R]:
    """``[function(t) for t in tasks]`` on threads, in order; plainly one after the other when it is not `worth` it.

    Every thread, this one among them, takes the next task when it is done with one. The first error ends all.
    """
    tasks = list(tasks)
    n = min(thread_count(), len(tasks))
    if n < 2 or not worth:
        return [function(task) for task in tasks]
    results: list[R | None] = [None] * len(tasks)
    errors: list[BaseException] = []
    left = iter(range(len(tasks)))  # one step of it is one instruction: no two threads get the same number

    def work() -> None:
        try:
            for i in left:
                if errors:
                    return
                results[i] = function(tasks[i])
        except BaseException as error:  # noqa: BLE001 - raised again below, in the thread that asked
            errors.append(error)

    def help_out(at_work: _thread.LockType) -> None:
        try:
            work()
        finally:
            at_work.release()

    helpers = [_thread.allocate_lock() for _ in range(n - 1)]
    for at_work in helpers:
        at_work.acquire()
        _thread.start_new_thread(help_out, (at_work,))
    work()
    for at_work in helpers:
        at_work.acquire()
    if errors:
        raise errors[0]
    return results  # type: ignore[return-value]
