"""The tests that run a second time with interpreted kernels.

Compiled code checks neither indexes nor overflow, interpreted code does: each kernel runs in both ways. Code that is no
kernel is the same in both, so that one file for each topic is enough. Tests marked ``compiled`` take too long here.

    python -m tests.interpreted -n auto             run what is listed below; a kernel that no test calls is an error
    python -m tests.interpreted tests/mixture       run these
"""

from __future__ import annotations

import functools
import importlib
import os
import pkgutil
import sys
from pathlib import Path

import pytest

#: The tests of each kernel module, as files and folders in tests/.
KERNELS: dict[str, tuple[str, ...]] = {
    "document_scores": ("naive_bayes/text/test_semisupervised.py",),
    "bitmaps": ("network/structure/test_scoring.py",),
    "csv_cells": ("tables/test_fast_csv.py",),
    "hmm_emissions": ("hmm/test_model.py",),
    "hmm_log_space": ("hmm/test_model.py",),
    "hmm_forward_backward": ("hmm/test_model.py", "book/test_sequence.py"),
    "arc_changes": ("network/structure/test_hill_climbing.py",),
    "joint_completion": ("network/inference/test_junction_tree.py", "network/parameters/test_imputation.py"),
    "contingency": ("oracle/test_counting.py",),
    "document_counts": ("naive_bayes/text/test_counts.py",),
    "network_e_step": ("network/parameters/test_fit.py",),
    "extended_counts": ("network/structure/test_scoring.py",),
    "family_cells": ("network/structure/test_scoring.py",),
    "missing_patterns": ("network/parameters/test_fit.py",),
    "parent_set_counts": ("network/structure/test_parent_sets.py",),
    "batched_propagation": ("network/inference/test_junction_tree.py",),
    "local_regression": ("regression/test_local.py",),
    "log_propagation": ("network/inference/test_range.py",),
    "weighted_majority": ("online/test_majority.py", "online/test_halving.py", "online/test_tables.py"),
    "gaussian_mixture_em": ("mixture/test_mixture.py",),
    "gaussian_mixture_moments": ("mixture/test_mixture.py",),
    "gaussian_mixture_tiles": ("mixture/test_mixture.py",),
    "naive_bayes": ("naive_bayes/tabular/test_kernels.py", "naive_bayes/tabular/test_estimators.py"),
    "neighbors_brute_force": ("neighbors/test_indexes.py",),
    "neighbors_lower_bounds": ("neighbors/test_indexes.py",),
    "neighbors_kd_tree": ("neighbors/test_indexes.py",),
    "order_mcmc": ("network/structure/test_order_mcmc.py",),
    "order_search": ("network/structure/test_order_search.py", "network/structure/test_exact_search.py"),
    "column_packing": ("network/structure/test_scoring.py",),
    "greedy_parent_sets": ("network/structure/test_parent_sets.py",),
    "growth_function": ("learning_theory/test_dimension.py",),
    "junction_tree": ("network/inference/test_junction_tree.py", "network/inference/test_large_networks.py"),
    "tree_growth": ("trees/test_kernels.py",),
    "tree_prunings": ("trees/test_kernels.py",),
    "tree_routing": ("trees/test_kernels.py",),
    "triangulation": ("network/inference/test_junction_tree.py",),
    "propagation": ("network/inference/test_junction_tree.py",),
    "code_translation": ("sources/test_encoding.py",),
    "sampling": ("network/inference/test_approximate.py",),
    "family_scores": ("network/structure/test_scoring.py",),
    "label_counts": ("learning_theory/test_dimension.py",),
    "shattering": ("learning_theory/test_dimension.py",),
    "text_splitting": ("naive_bayes/text/test_counts.py",),
    "table_strides": ("network/inference/test_range.py",),
    "independence_tests": ("network/structure/test_independence_tests.py",),
    "simd_vectors": ("hmm/test_reading.py",),
    "word_hash_table": ("naive_bayes/text/test_counts.py",),
}

#: The modules beside them: what there is to compile, how, on how many threads, and what runs uncompiled.
COMPILING: dict[str, tuple[str, ...]] = {
    "__main__": ("kernels",),
    "_jit": ("kernels", "oracle/test_python_fallback.py"),
    "code_cache": ("kernels",),
    "precompile": ("kernels",),
    "python_fallback": ("oracle/test_python_fallback.py",),
    "uncompiled_junction_tree": ("oracle/test_uncompiled.py",),
    "uncompiled_propagation": ("oracle/test_uncompiled.py",),
    "warm_up": ("kernels",),
    "warm_up_learners": ("kernels",),
}

#: One file of each topic, and what topics stand on.
TOPICS: dict[str, tuple[str, ...]] = {
    "case_based": ("case_based/test_designing.py",),
    "cli": ("cli/test_query.py",),
    "components": ("mixture/test_classes.py",),
    "incremental": ("mixture/test_verbs.py",),
    "model_evaluation": ("test_evaluation.py",),
    "model_comparison": ("model_comparison/test_compare.py",),
    "em": ("test_em.py",),
    "ensemble": ("ensemble/test_pooling.py",),
    "fit_info": ("test_reports.py",),
    "progress": ("test_progress.py",),
    "reports": ("test_reports.py",),
    "estimators": ("test_contract.py",),
    "evaluation": ("test_evaluation.py",),
    "distributions": ("oracle/test_families.py", "distributions/test_statistics.py"),
    "regression": ("regression/test_local.py",),
    "hypotheses": ("oracle/test_concept_learning.py",),
    "mixture": ("mixture/test_mixture.py",),
    "naive_bayes": ("naive_bayes/tabular/test_estimators.py",),
    "neighbors": ("neighbors/test_indexes.py",),
    "network": ("oracle/test_graph.py", "book/test_networks.py"),
    "online": ("online/test_majority.py",),
    "softmax": ("test_softmax.py",),
    "trees": ("trees/test_kernels.py",),
    "hmm": ("book/test_sequence.py",),
    "sources": ("sources/test_contingency.py",),
    "tables": ("tables/test_counting.py",),
    "learning_theory": ("learning_theory/test_dimension.py",),
}

#: What only compiled code calls; interpreted code has the same for Python's own integers, which do not overflow.
COMPILED_ONLY = {"_jit._lowest_bits", "missing_patterns._mixed", "sampling._uniform"}

ROOT = Path(__file__).parent

#: Every kernel that was made, and those that were called, as "module.name".
made: set[str] = set()
called: set[str] = set()


def listed() -> list[str]:
    """Return every path once."""
    groups = [*KERNELS.values(), *COMPILING.values(), *TOPICS.values()]
    return sorted({str(ROOT / path) for group in groups for path in group})


### a plugin of pytest, loaded by each worker


def pytest_configure() -> None:
    """Have numba, which leaves functions as they are, note those that it was given and those that are called."""
    import numba

    assert numba.config.DISABLE_JIT, "run `python -m tests.interpreted`"
    numba.njit = noted


def noted(function=None, **_options):
    """Take the place of ``numba.njit``."""
    if function is None:
        return noted
    name = f"{Path(function.__code__.co_filename).stem}.{function.__name__}"
    made.add(name)

    @functools.wraps(function)
    def run(*args):
        called.add(name)
        return function(*args)

    return run


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what a worker saw on to the process that started it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["called"] = sorted(called)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node) -> None:
    called.update(getattr(node, "workeroutput", {}).get("called", ()))


### the run


def never_called() -> list[str]:
    """Return the kernels that no test called; all of them are made by importing their modules."""
    import bayeslearn.kernels

    for module in pkgutil.iter_modules(bayeslearn.kernels.__path__, "bayeslearn.kernels."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert made, "kernels are not made by numba.njit any more"
    return sorted(made - called - COMPILED_ONLY)


def main(arguments: list[str]) -> int:
    os.environ["NUMBA_DISABLE_JIT"] = "1"
    chosen = any(Path(word.split("::")[0]).exists() for word in arguments)
    paths = [] if chosen else listed()
    code = pytest.main(["-p", "tests.interpreted", "-m", "not slow and not compiled", *arguments, *paths])
    from tests import interpreted  # the plugin, not this script

    if not code and not chosen and (missing := interpreted.never_called()):
        sys.stderr.write(f"error: no interpreted test calls {', '.join(missing)}\nhint: list one in {__file__}\n")
        return 1
    return int(code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
