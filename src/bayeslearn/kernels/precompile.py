"""Kernels compiled before they are called: a group of them at once, on every core, with a progress bar.

A kernel whose code is in no folder of :mod:`bayeslearn.kernels.code_cache` is compiled together with the others of its
group, by other processes that write portable code into the user's folder; this process then reads it. A file marks a
group as compiled, under a name that depends on its sources, so a changed kernel is compiled again. An installed package
brings its files along, and nothing is compiled.
"""

from __future__ import annotations

import base64
import contextlib
import os
import pickle
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba

from bayeslearn.kernels import code_cache, thread_count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


@dataclass(frozen=True)
class Group:
    """Kernels that are used together."""

    title: str
    #: Their names.
    kernels: tuple[str, ...]
    #: Functions of :mod:`bayeslearn.kernels.warm_up` that compile them, and about how many seconds each takes.
    units: dict[str, float]
    #: Groups whose code these kernels contain.
    after: tuple[str, ...] = ()


GROUPS = {
    "tables": Group(
        "tables",
        ("histogram", "weighted_histogram", "intersections", "recode", "number_cells"),
        {"cell_numbers": 1.5, "counts": 1.0},
    ),
    "inference": Group(
        "exact inference",
        ("plan", "best_plan", "propagate"),
        {"one_case": 12.5, "plans": 9.5},
    ),
    "rows": Group(
        "exact inference row by row",
        ("propagate_cases", "propagate_lanes"),
        {"cases_side_by_side": 8.5, "cases_one_by_one": 4.0},
        after=("inference",),
    ),
    "explanation": Group(
        "most probable explanations",
        ("most_probable",),
        {"explanations": 4.0},
        after=("inference",),
    ),
    "em": Group(
        "learning from missing values",
        ("neighbors", "fold_rows", "infer_items"),
        {"patterns": 14.0, "expectations": 5.0},
        after=("inference",),
    ),
    "completion": Group(
        "completing missing values",
        ("complete_items",),
        {"completions": 9.5},
        after=("em",),
    ),
    "structure": Group(
        "structure search",
        (
            "find_cells",
            "count_cells",
            "extend_family",
            "extend_columns",
            "score_columns",
            "score_pairs",
            "all_gains",
            "best_of_all",
            "best_change",
            "pack_states",
            "pack_rows",
        ),
        {"counted_rows": 15.5, "weighted_rows": 10.0, "gains": 3.5},
    ),
    "parents": Group(
        "K2",
        ("greedy_parents",),
        {"parents_of_counted_rows": 4.0, "parents_of_weighted_rows": 3.0},
        after=("structure",),
    ),
    "independence": Group("independence tests", ("dependence",), {"independence": 4.0}),
    "orders": Group(
        "order search",
        ("extend_sets", "choose", "climb_orders", "best_sinks", "walk_orders", "read_order", "count_orders"),
        {"orders": 2.7, "order_sampling": 1.0},
    ),
    "sampling": Group(
        "sampling", ("sample_rows", "tally", "gibbs_sweeps"), {"gibbs_samples": 1.5, "forward_samples": 1.0}
    ),
    "naive_bayes": Group(
        "naive Bayes",
        (
            "count_classes",
            "class_moments",
            "add_state_logs",
            "add_normal_logs",
            "count_pairs",
            "best_class",
            "see_values",
            "code_values",
            "average_parents",
        ),
        {"class_counts": 2.5, "averaged_dependence": 0.7},
    ),
    "text": Group(
        "texts",
        (
            "hash_words",
            "join_words",
            "wider_table",
            "count_words",
            "add_labeled",
            "add_shared",
            "score_documents",
        ),
        {"word_counts": 4.5, "vocabularies": 1.5},
    ),
    "mixture": Group("mixtures", ("expect_diagonal", "expect_full"), {"diagonal_mixtures": 4.7, "full_mixtures": 3.0}),
    "hmm": Group(
        "hidden Markov models",
        (
            "forward",
            "backward",
            "lay_symbols",
            "lay_normals",
            "lay_logs",
            "lay_known",
            "take_symbols",
            "take_normals",
            "take_rows",
            "smooth_logs",
            "best_paths",
        ),
        {"forward_backward": 2.5, "emissions": 2.0, "log_space": 1.5},
    ),
    "neighbors": Group(
        "nearest neighbors",
        (
            "scan_rows",
            "measure_rows",
            "shorten_rows",
            "sift_rows",
            "grow_tree",
            "lay_leaves",
            "place_queries",
            "search_leaves",
        ),
        {"brute_force": 2.0, "kd_tree": 2.0},
    ),
    "local": Group("local regression", ("fit_local",), {"local_fits": 3.0}),
    "trees": Group(
        "trees",
        (
            "grow_forest_tree",
            "find_leaves",
            "add_leaves",
            "add_steps",
            "sum_children",
            "merge_children",
            "weigh_prunings",
            "shrink_counts",
            "shrink_moments",
            "average_prunings",
            "leave_out_counts",
            "leave_out_moments",
        ),
        {"forest_growth": 4.0, "forest_prunings": 4.0},
    ),
    "theory": Group(
        "learning theory",
        ("find_shattered", "most_patterns"),
        {"shattered_sets": 3.0, "growth_functions": 1.0},
    ),
    "online": Group("online learning", ("weigh_advice", "follow_counts"), {"experts": 1.0, "mistake_counts": 1.0}),
}

#: The group of each kernel.
GROUP_OF = {kernel: name for name, group in GROUPS.items() for kernel in group.kernels}

#: The environment variable of a process that compiles for another one.
WORKER = "BAYESLEARN_COMPILING"

_prepared: set[str] = set()
_one_thread = threading.Lock()


### what is there


def is_prepared(group: str) -> bool:
    """Whether the code of a group is in a folder."""
    return group in _prepared or is_marked(group)


def is_marked(group: str) -> bool:
    """Whether a folder holds the mark of a group."""
    return code_cache.find(mark(group)) is not None


@cache
def mark(group: str) -> str:
    """Return the name of the file that marks a group as compiled."""
    from bayeslearn.kernels import home_of  # noqa: PLC0415 - the package imports this module

    folder = Path(__file__).parent
    homes = sorted({home_of(kernel) for kernel in GROUPS[group].kernels})
    digests = [code_cache.sources(str(folder / f"{home}.py")) for home in (*homes, "warm_up", "warm_up_learners")]
    return f"{group}-{code_cache.digest_of(*code_cache.target(), *digests)}.done"


def in_order(groups: Iterable[str]) -> list[str]:
    """Return groups and those whose code they contain, these first."""
    found: dict[str, None] = {}
    for group in groups:
        found |= dict.fromkeys([*in_order(GROUPS[group].after), group])
    return list(found)


### compiling


def prepare(*groups: str) -> None:
    """Compile groups of kernels on every core, unless their code is there."""
    if numba.config.DISABLE_JIT or os.environ.get(WORKER) or _prepared.issuperset(groups):
        return
    with _one_thread:
        if any(not is_prepared(group) for group in groups) and code_cache.writable_folder() is not None:
            with _one_process():
                compile_groups([group for group in in_order(groups) if not is_prepared(group)])
        _prepared.update(groups)


def compile_groups(groups: list[str]) -> None:
    """Compile groups of kernels in other processes and mark those that are done.

    A kernel that a process fails to compile is left to the process that calls it.
    """
    group_of = {unit: group for group in groups for unit in GROUPS[group].units}
    if not group_of:
        return
    code_cache.remove_unused()
    left = {group: len(GROUPS[group].units) for group in groups}
    bar = _Bar(groups)
    waiting = iter(group_of)  # one step of it is one instruction: no two threads get the same unit

    def finish(unit: str) -> None:
        group = group_of[unit]
        left[group] -= 1
        if not left[group]:
            code_cache.write(mark(group), b"")
        bar.advance(GROUPS[group].units[unit])

    n = min(thread_count(), len(group_of))
    threads = [threading.Thread(target=_compile_elsewhere, args=(waiting, finish), daemon=True) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    bar.close()


def compile_signature(function: Callable[..., Any], signature: Any) -> None:
    """Compile a kernel for types that no unit has, in another process that writes the file."""
    if os.environ.get(WORKER) or code_cache.writable_folder() is None:
        return
    if not os.environ.get("BAYESLEARN_QUIET"):
        name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        sys.stderr.write(f"bayeslearn: compiling {name} for other types, {code_cache.where_kept()}\n")
    asked = pickle.dumps((function.__module__, function.__name__, signature))
    _compile_elsewhere([base64.b64encode(asked).decode()], lambda _: None)


def _compile_elsewhere(lines: Iterable[str], finish: Callable[[str], None]) -> None:
    """Let another process compile what lines ask for, one after the other; `finish` is called after each."""
    folder = str(code_cache.writable_folder())
    environment = {**os.environ, "BAYESLEARN_CACHE_DIR": folder, **code_cache.compiler_environment(), WORKER: "1"}
    with (
        contextlib.suppress(OSError),  # the process cannot be started, or has ended
        subprocess.Popen(  # noqa: S603 - our own program
            command("--work"), env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as worker,
    ):  # fmt: skip
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            for line in lines:
                worker.stdin.write(f"{line}\n")
                worker.stdin.flush()
                if worker.stdout.readline().strip() != line:
                    return
                finish(line)
        finally:
            worker.kill()


def command(*arguments: str) -> list[str]:
    """Return the command ``python -m bayeslearn.kernels`` for a process that finds modules where this one does."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from bayeslearn.kernels.__main__ import main; main()"
    return [sys.executable, "-c", code, *arguments]


@contextlib.contextmanager
def _one_process() -> Iterator[None]:
    """Let one process of the user compile at a time; others wait and find the files."""
    folder = code_cache.writable_folder()
    try:
        import fcntl  # noqa: PLC0415 - not on Windows, where processes compile side by side
    except ImportError:
        folder = None
    if folder is None:
        yield
        return
    with (folder / "lock").open("w") as file:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


### progress


class _Bar:
    """A line on stderr with what is compiled and how long it takes; a bar where stderr is a terminal."""

    WIDTH = 24

    def __init__(self, groups: list[str]) -> None:
        self.total = sum(sum(GROUPS[group].units.values()) for group in groups)
        self.done = 0.0
        self.started = time.monotonic()
        n = sum(len(GROUPS[group].kernels) for group in groups)
        titles = [GROUPS[group].title for group in groups]
        more = f" and {len(titles) - 3} more groups" if len(titles) > 3 else ""
        what = f"bayeslearn: compiling {n} kernel{'s' * (n > 1)} ({', '.join(titles[:3])}{more})"
        shown = not os.environ.get("BAYESLEARN_QUIET")
        self.moving = shown and sys.stderr.isatty()
        self._lock = threading.Lock()
        if shown:
            about = self.total / min(thread_count(), sum(len(GROUPS[group].units) for group in groups))
            sys.stderr.write(f"{what}, about {about:.0f} s, {code_cache.where_kept()}\n")
        self._draw()

    def advance(self, seconds: float) -> None:
        """Count a unit as done."""
        with self._lock:
            self.done += seconds
            self._draw()

    def close(self) -> None:
        """Remove the bar."""
        if self.moving:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _draw(self) -> None:
        if not self.moving:
            return
        share = self.done / self.total
        full = round(self.WIDTH * share)
        passed = time.monotonic() - self.started
        left = f", about {passed / share - passed:.0f} s left" if share else ""
        sys.stderr.write(f"\r[{'#' * full}{'.' * (self.WIDTH - full)}] {share:4.0%}{left}\x1b[K")
        sys.stderr.flush()
