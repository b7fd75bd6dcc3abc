"""Compiled loops over arrays. The only place that imports numba, and only when a kernel is first asked for.

A kernel takes arrays and returns arrays; the caller validates and allocates. Each has a slow, obvious twin in
``tests/oracle``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn import lazy_imports
from bayeslearn.kernels import python_fallback

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.kernels.bags import add_labelled as add_labelled
    from bayeslearn.kernels.bags import add_shared as add_shared
    from bayeslearn.kernels.bags import score_documents as score_documents
    from bayeslearn.kernels.cells import CELL_SLOTS as CELL_SLOTS
    from bayeslearn.kernels.cells import MOST_CELLS as MOST_CELLS
    from bayeslearn.kernels.cells import number_cells as number_cells
    from bayeslearn.kernels.chain_emissions import lay_known as lay_known
    from bayeslearn.kernels.chain_emissions import lay_logs as lay_logs
    from bayeslearn.kernels.chain_emissions import lay_normals as lay_normals
    from bayeslearn.kernels.chain_emissions import lay_symbols as lay_symbols
    from bayeslearn.kernels.chain_emissions import take_normals as take_normals
    from bayeslearn.kernels.chain_emissions import take_rows as take_rows
    from bayeslearn.kernels.chain_emissions import take_symbols as take_symbols
    from bayeslearn.kernels.chain_logs import best_paths as best_paths
    from bayeslearn.kernels.chain_logs import smooth_logs as smooth_logs
    from bayeslearn.kernels.chains import backward as backward
    from bayeslearn.kernels.chains import forward as forward
    from bayeslearn.kernels.changing import all_gains as all_gains
    from bayeslearn.kernels.changing import best_change as best_change
    from bayeslearn.kernels.changing import best_of_all as best_of_all
    from bayeslearn.kernels.choosing import most_probable as most_probable
    from bayeslearn.kernels.counting import histogram as histogram
    from bayeslearn.kernels.counting import intersections as intersections
    from bayeslearn.kernels.counting import weighted_histogram as weighted_histogram
    from bayeslearn.kernels.documents import SEGMENT as SEGMENT
    from bayeslearn.kernels.documents import count_words as count_words
    from bayeslearn.kernels.expectation import complete_items as complete_items
    from bayeslearn.kernels.expectation import infer_items as infer_items
    from bayeslearn.kernels.extending import extend_columns as extend_columns
    from bayeslearn.kernels.extending import extend_family as extend_family
    from bayeslearn.kernels.family_cells import count_cells as count_cells
    from bayeslearn.kernels.family_cells import find_cells as find_cells
    from bayeslearn.kernels.folding import fold_rows as fold_rows
    from bayeslearn.kernels.folding import neighbours as neighbours
    from bayeslearn.kernels.growing import extend_sets as extend_sets
    from bayeslearn.kernels.lanes import LANES as LANES
    from bayeslearn.kernels.lanes import propagate_lanes as propagate_lanes
    from bayeslearn.kernels.local_fits import OUT_OF_REACH as OUT_OF_REACH
    from bayeslearn.kernels.local_fits import RIDGED as RIDGED
    from bayeslearn.kernels.local_fits import fit_local as fit_local
    from bayeslearn.kernels.majority import follow_counts as follow_counts
    from bayeslearn.kernels.majority import weigh_advice as weigh_advice
    from bayeslearn.kernels.mixing import expect_diagonal as expect_diagonal
    from bayeslearn.kernels.mixing import expect_full as expect_full
    from bayeslearn.kernels.naive import add_normal_logs as add_normal_logs
    from bayeslearn.kernels.naive import add_state_logs as add_state_logs
    from bayeslearn.kernels.naive import average_parents as average_parents
    from bayeslearn.kernels.naive import best_class as best_class
    from bayeslearn.kernels.naive import class_moments as class_moments
    from bayeslearn.kernels.naive import code_values as code_values
    from bayeslearn.kernels.naive import count_classes as count_classes
    from bayeslearn.kernels.naive import count_pairs as count_pairs
    from bayeslearn.kernels.naive import see_values as see_values
    from bayeslearn.kernels.neighbours_brute import measure_rows as measure_rows
    from bayeslearn.kernels.neighbours_brute import scan_rows as scan_rows
    from bayeslearn.kernels.neighbours_scores import shorten_rows as shorten_rows
    from bayeslearn.kernels.neighbours_scores import sift_rows as sift_rows
    from bayeslearn.kernels.neighbours_tree import grow_tree as grow_tree
    from bayeslearn.kernels.neighbours_tree import lay_leaves as lay_leaves
    from bayeslearn.kernels.neighbours_tree import place_queries as place_queries
    from bayeslearn.kernels.neighbours_tree import search_leaves as search_leaves
    from bayeslearn.kernels.order_chains import count_orders as count_orders
    from bayeslearn.kernels.order_chains import read_order as read_order
    from bayeslearn.kernels.order_chains import walk_orders as walk_orders
    from bayeslearn.kernels.ordering import best_sinks as best_sinks
    from bayeslearn.kernels.ordering import choose as choose
    from bayeslearn.kernels.ordering import climb_orders as climb_orders
    from bayeslearn.kernels.packing import pack_rows as pack_rows
    from bayeslearn.kernels.packing import pack_states as pack_states
    from bayeslearn.kernels.parents import greedy_parents as greedy_parents
    from bayeslearn.kernels.patterns import most_patterns as most_patterns
    from bayeslearn.kernels.planning import best_plan as best_plan
    from bayeslearn.kernels.planning import plan as plan
    from bayeslearn.kernels.propagation import propagate as propagate
    from bayeslearn.kernels.propagation import propagate_cases as propagate_cases
    from bayeslearn.kernels.recoding import recode as recode
    from bayeslearn.kernels.sampling import WIDE as WIDE
    from bayeslearn.kernels.sampling import gibbs_sweeps as gibbs_sweeps
    from bayeslearn.kernels.sampling import sample_rows as sample_rows
    from bayeslearn.kernels.sampling import tally as tally
    from bayeslearn.kernels.scoring import score_columns as score_columns
    from bayeslearn.kernels.scoring import score_pairs as score_pairs
    from bayeslearn.kernels.shattering import find_shattered as find_shattered
    from bayeslearn.kernels.testing import dependence as dependence
    from bayeslearn.kernels.threads import parallel as parallel
    from bayeslearn.kernels.threads import thread_count as thread_count
    from bayeslearn.kernels.words import hash_words as hash_words
    from bayeslearn.kernels.words import join_words as join_words
    from bayeslearn.kernels.words import wider_table as wider_table
else:
    _load, __dir__, __all__ = lazy_imports.attach(__name__, "is_sooner", "prepare", "soonest")

    def __getattr__(name: str) -> Any:
        """Import a kernel when it is first looked up, and compile its group where the code is not there."""
        if name in lazy_imports.exports(__name__) and home_of(name) != "threads":
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
