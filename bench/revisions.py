"""Measure two source trees of bayeslearn in alternating processes: what a change costs, without the peers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[1]
#: Processes for each tree, one after the other: before, after, after, before, ...
ROUNDS = 4


def compare(subject: str, before: Path, options: list[str], show: Callable[[dict[str, Any]], None]) -> None:
    """Show the best seconds of each work in the tree `before` and in this one, and their ratio."""
    trees = {"before": before.resolve(), "after": ROOT}
    best: dict[str, dict[str, float]] = {}
    for turn in range(ROUNDS):
        for side in sorted(trees, reverse=turn % 2 == 0):
            for work, seconds in measure(subject, trees[side], options).items():
                known = best.setdefault(work, {})
                known[side] = min(seconds, known.get(side, seconds))
    for work, seconds in best.items():
        if len(seconds) == len(trees):
            show({"work": work, **seconds, "ratio": round(seconds["after"] / seconds["before"], 3)})


def measure(subject: str, tree: Path, options: list[str]) -> dict[str, float]:
    """Seconds of every work: with the package and the works of a tree, or the works of this one if it has none."""
    works = tree if (tree / "bench" / "revisions.py").exists() else ROOT
    command = [sys.executable, "-m", "bench", subject, "--ours", "--json", *options]
    environment = {**os.environ, "PYTHONPATH": f"{tree / 'src'}{os.pathsep}{works}"}
    run = subprocess.run(  # noqa: S603 - our own command
        command, capture_output=True, text=True, env=environment, cwd=works, check=False
    )
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    if run.returncode:
        sys.stderr.write(
            f"{subject} in {tree} ended after {len(lines)} works: {run.stderr.strip().splitlines()[-1:]}\n"
        )
    return {line["work"]: line["seconds"] for line in lines}
