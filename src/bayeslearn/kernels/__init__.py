"""Compiled loops over arrays. The only place that imports numba, and only when a kernel is first asked for.

A kernel takes arrays and returns arrays; the caller validates and allocates. Each has a slow, obvious twin in
``tests/oracle``.
"""

from __future__ import annotations

from bayeslearn import lazy
from bayeslearn.kernels.plain import soonest
from bayeslearn.kernels.threads import parallel, thread_count

_HOMES = {
    "weigh_order": "order_chains",
    "count_orders": "order_chains",
    "read_order": "order_chains",
    "walk_orders": "order_chains",
    "best_sinks": "ordering",
    "climb_orders": "ordering",
    "choose": "ordering",
    "LANES": "lanes",
    "CELL_SLOTS": "cells",
    "MOST_CELLS": "cells",
    "best_plan": "planning",
    "complete_items": "expectation",
    "dependence": "testing",
    "extend_family": "extending",
    "extend_sets": "growing",
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
    "find_cells": "extending",
    "greedy_parents": "parents",
    "pack_states": "extending",
    "count_cells": "extending",
    "intersections": "counting",
    "weighted_histogram": "counting",
    "gibbs_sweeps": "sampling",
    "sample_rows": "sampling",
    "score_columns": "scoring",
    "tally": "sampling",
    "uniform": "sampling",
}

__all__ = [
    "CELL_SLOTS",
    "LANES",
    "MOST_CELLS",
    "best_plan",
    "best_sinks",
    "choose",
    "climb_orders",
    "complete_items",
    "count_cells",
    "count_orders",
    "dependence",
    "extend_family",
    "extend_sets",
    "find_cells",
    "fold_rows",
    "gibbs_sweeps",
    "greedy_parents",
    "histogram",
    "infer_items",
    "intersections",
    "most_probable",
    "neighbours",
    "number_cells",
    "pack_states",
    "parallel",
    "plan",
    "propagate",
    "propagate_cases",
    "propagate_lanes",
    "read_order",
    "sample_rows",
    "score_columns",
    "soonest",
    "tally",
    "thread_count",
    "uniform",
    "walk_orders",
    "weigh_order",
    "weighted_histogram",
]

__getattr__ = lazy.names_of(__name__, _HOMES)
