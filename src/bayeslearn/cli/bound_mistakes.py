"""``bayeslearn bound mistakes``: upper bounds on the mistakes of online learners."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import Annotated

import typer

from bayeslearn.cli import bound_samples, output
from bayeslearn.errors import ParameterError


def run(
    *,
    n_hypotheses: bound_samples.Hypotheses = None,
    data: bound_samples.Data = None,
    target: bound_samples.Target = None,
    find_s: Annotated[
        int | None, typer.Option(help="N: Find-S on conjunctions of N attributes, instead of Halving.")
    ] = None,
    concepts: Annotated[
        Path | None,
        typer.Option(
            help="A CSV of 0 and 1, a row for each hypothesis: exact mistake bounds and a worst-case sequence."
        ),
    ] = None,
    as_json: bound_samples.AsJson = False,
) -> None:
    """Mistake bounds: of Halving (the majority vote), of Find-S, or exact for a small class.

    Example: bayeslearn bound mistakes --n-hypotheses conjunctions:10
    """
    from bayeslearn import learning_theory

    if sum(given is not None for given in (n_hypotheses, data or None, find_s, concepts)) != 1:
        raise ParameterError("give one of --n-hypotheses, --data, --find-s and --concepts")
    if concepts is not None:
        _exact(concepts, as_json=as_json)
    elif find_s is not None:
        bound_samples.finish([learning_theory.find_s_mistake_bound(find_s)], None, as_json=as_json)
    else:
        size = bound_samples.size_of(n_hypotheses, data, target)
        bound_samples.finish([learning_theory.halving_mistake_bound(size)], None, as_json=as_json)


def _exact(file: Path, *, as_json: bool) -> None:
    from bayeslearn.learning_theory import MistakeBounds, MistakeGame, read_class

    concepts = read_class(file)
    game = MistakeGame(concepts)
    found = MistakeBounds(concepts.vc_dimension, game.optimal, game.halving, concepts.size.log2)
    trial = game.worst_case()
    if as_json:
        sizes = {"n_hypotheses": len(concepts), "n_points": len(concepts.points)}
        output.show_json({**sizes, **found.to_dict(), "worst_case": trial.to_dict()["rounds"]})
        return
    sys.stdout.write(f"{found}\n")
    if trial.rounds:
        output.gap()
        rows = [
            [str(r.point), f"{r.guess:d}", f"{r.label:d}", "" if r.guess == r.label else "wrong"] for r in trial.rounds
        ]
        output.show_table(["point", "prediction", "label", ""], rows)
