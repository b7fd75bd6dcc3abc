"""Compiled loops over arrays. The only place that imports numba, and only when a kernel is first asked for.

A kernel takes arrays and returns arrays; the caller validates and allocates. Each has a slow, obvious twin in
``tests/oracle``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayeslearn import lazy
from bayeslearn.kernels import python_fallback
from bayeslearn.kernels.threads import parallel, thread_count

if TYPE_CHECKING:
    from collections.abc import Callable

_HOMES = {
    "measure_rows": "neighbours_brute",
    "recode": "recoding",
    "scan_rows": "neighbours_brute",
    "shorten_rows": "neighbours_scores",
    "sift_rows": "neighbours_scores",
    "grow_tree": "neighbours_tree",
    "lay_leaves": "neighbours_tree",
    "place_queries": "neighbours_tree",
    "search_leaves": "neighbours_tree",
    "find_shattered": "shattering",
    "follow_counts": "majority",
    "weigh_advice": "majority",
    "most_patterns": "patterns",
    "forward": "chains",
    "backward": "chains",
    "lay_symbols": "chain_emissions",
    "lay_normals": "chain_emissions",
    "lay_logs": "chain_emissions",
    "lay_known": "chain_emissions",
    "take_symbols": "chain_emissions",
    "take_normals": "chain_emissions",
    "take_rows": "chain_emissions",
    "smooth_logs": "chain_logs",
    "best_paths": "chain_logs",
    "count_classes": "naive",
    "class_moments": "naive",
    "add_state_logs": "naive",
    "add_normal_logs": "naive",
    "count_pairs": "naive",
    "best_class": "naive",
    "see_values": "naive",
    "code_values": "naive",
    "average_parents": "naive",
    "SEGMENT": "documents",
    "add_labelled": "bags",
    "add_shared": "bags",
    "count_words": "documents",
    "score_documents": "bags",
    "hash_words": "words",
    "join_words": "words",
    "wider_table": "words",
    "count_orders": "order_chains",
    "read_order": "order_chains",
    "walk_orders": "order_chains",
    "best_sinks": "ordering",
    "climb_orders": "ordering",
    "choose": "ordering",
    "LANES": "lanes",
    "CELL_SLOTS": "cells",
    "MOST_CELLS": "cells",
    "all_gains": "changing",
    "best_change": "changing",
    "best_of_all": "changing",
    "best_plan": "planning",
    "complete_items": "expectation",
    "dependence": "testing",
    "expect_diagonal": "mixing",
    "expect_full": "mixing",
    "extend_columns": "extending",
    "extend_family": "extending",
    "extend_sets": "growing",
    "fit_local": "local_fits",
    "RIDGED": "local_fits",
    "OUT_OF_REACH": "local_fits",
    "fold_rows": "folding",
    "infer_items": "expectation",
    "neighbours": "folding",
    "number_cells": "cells",
    "most_probable": "choosing",
    "plan": "planning",
    "propagate": "propagation",
    "propagate_cases": "propagation",
    "propagate_lanes": "lanes",
    "histogram": "counting",
    "find_cells": "family_cells",
    "greedy_parents": "parents",
    "pack_rows": "packing",
    "pack_states": "packing",
    "count_cells": "family_cells",
    "intersections": "counting",
    "weighted_histogram": "counting",
    "WIDE": "sampling",
    "gibbs_sweeps": "sampling",
    "sample_rows": "sampling",
    "score_columns": "scoring",
    "score_pairs": "scoring",
    "tally": "sampling",
}

__all__ = [
    "CELL_SLOTS",
    "LANES",
    "MOST_CELLS",
    "OUT_OF_REACH",
    "RIDGED",
    "SEGMENT",
    "WIDE",
    "add_labelled",
    "add_normal_logs",
    "add_shared",
    "add_state_logs",
    "all_gains",
    "average_parents",
    "backward",
    "best_change",
    "best_class",
    "best_of_all",
    "best_paths",
    "best_plan",
    "best_sinks",
    "choose",
    "class_moments",
    "climb_orders",
    "code_values",
    "complete_items",
    "count_cells",
    "count_classes",
    "count_orders",
    "count_pairs",
    "count_words",
    "dependence",
    "expect_diagonal",
    "expect_full",
    "extend_columns",
    "extend_family",
    "extend_sets",
    "find_cells",
    "find_shattered",
    "fit_local",
    "fold_rows",
    "follow_counts",
    "forward",
    "gibbs_sweeps",
    "greedy_parents",
    "grow_tree",
    "hash_words",
    "histogram",
    "infer_items",
    "intersections",
    "join_words",
    "lay_known",
    "lay_leaves",
    "lay_logs",
    "lay_normals",
    "lay_symbols",
    "measure_rows",
    "most_patterns",
    "most_probable",
    "neighbours",
    "number_cells",
    "pack_rows",
    "pack_states",
    "parallel",
    "place_queries",
    "plan",
    "propagate",
    "propagate_cases",
    "propagate_lanes",
    "read_order",
    "recode",
    "sample_rows",
    "scan_rows",
    "score_columns",
    "score_documents",
    "score_pairs",
    "search_leaves",
    "see_values",
    "shorten_rows",
    "sift_rows",
    "smooth_logs",
    "soonest",
    "take_normals",
    "take_rows",
    "take_symbols",
    "tally",
    "thread_count",
    "walk_orders",
    "weigh_advice",
    "weighted_histogram",
    "wider_table",
]

_find = lazy.names_of(__name__, _HOMES)


def __getattr__(name: str) -> Any:
    found = _find(name)
    if hasattr(found, "overloads"):  # a kernel that somebody is about to call
        prepare_for(name)
    return found


def prepare_for(kernel: str) -> None:
    """Compile the group of a kernel where its code is not there: see :mod:`bayeslearn.kernels.precompile`."""
    from bayeslearn.kernels import precompile  # noqa: PLC0415 - loads the compiler

    precompile.prepare(precompile.GROUP_OF[kernel])


def home_of(kernel: str) -> str:
    """The module of a kernel."""
    return _HOMES[kernel]


def soonest(name: str) -> Callable[..., Any]:
    """A kernel by name for a small question: see :mod:`bayeslearn.kernels.python_fallback`."""
    return python_fallback.soonest(_HOMES[name], name)
