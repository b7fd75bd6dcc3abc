"""``bayeslearn bound mistakes``: how often an online learner is wrong at most."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import Annotated

import typer

from bayeslearn.cli import bound_samples, output
from bayeslearn.errors import ParameterError


def run(
    *,
    space: bound_samples.Space = None,
    data: bound_samples.Data = None,
    target: bound_samples.Target = None,
    find_s: Annotated[
        int | None, typer.Option(help="N: Find-S on conjunctions of N attributes, instead of the majority vote.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(help="A CSV of 0 and 1, a row for each hypothesis: the exact numbers, and a worst sequence."),
    ] = None,
    as_json: bound_samples.AsJson = False,
) -> None:
    """Mistakes before a concept is learned: of the majority vote (Halving), of Find-S, or exactly for a small class.

    Example: bayeslearn bound mistakes --space conjunctions:10
    """
    from bayeslearn import learning_theory

    if sum(given is not None for given in (space, data, find_s, table)) != 1:
        raise ParameterError("give one of --space, --data, --find-s and --table")
    if table is not None:
        _exact(table, as_json=as_json)
    elif find_s is not None:
        bound_samples.tell([learning_theory.find_s_mistake_bound(find_s)], as_json=as_json)
    else:
        size = bound_samples.size_of(space, data, target)
        bound_samples.tell([learning_theory.halving_mistake_bound(size)], as_json=as_json)


def _exact(table: Path, *, as_json: bool) -> None:
    from bayeslearn.learning_theory import MistakeBounds, MistakeGame, read_class

    concepts = read_class(table)
    game = MistakeGame(concepts)
    found = MistakeBounds(concepts.vc_dimension, game.optimal, game.halving, concepts.size.log2)
    trial = game.worst_case()
    if as_json:
        rounds = [{"point": r.point, "guess": r.guess, "label": r.label} for r in trial.rounds]
        numbers = {"vc": found.vc, "optimal": found.optimal, "halving": found.halving, "log2_size": found.log2}
        output.show_json({"hypotheses": len(concepts), "points": len(concepts.points), **numbers, "worst_case": rounds})
        return
    sys.stdout.write(f"{found}\n")
    if trial.rounds:
        output.gap()
        rows = [
            [str(r.point), f"{r.guess:d}", f"{r.label:d}", "" if r.guess == r.label else "wrong"] for r in trial.rounds
        ]
        output.show_table(["point", "majority says", "it is", ""], rows)
