"""``bayeslearn bound error-interval``: intervals of the true error."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeslearn.cli import output
from bayeslearn.cli.bound_samples import AsJson  # noqa: TC001 - typer reads it


def run(
    wrong: Annotated[int, typer.Argument(help="Number of errors.")],
    n: Annotated[int, typer.Argument(help="Number of test examples, which were not used for training.")],
    *,
    level: Annotated[float, typer.Option(help="Confidence or credible level.")] = 0.95,
    prior: Annotated[str, typer.Option(help="Prior of the Bayesian interval: uniform or jeffreys.")] = "uniform",
    as_json: AsJson = False,
) -> None:
    """Intervals of the true error of a hypothesis from its test errors: Hoeffding, exact, and Bayesian.

    Example: bayeslearn bound error-interval 12 40
    """
    from bayeslearn.learning_theory import error_intervals

    found = error_intervals(wrong, n, level=level, prior=prior)
    if as_json:
        output.show_json(found.to_dict())
        return
    output.show_pairs([("measured error", output.number(found.error)), ("level", output.number(level))])
    output.gap()
    formulas = found.formulas
    rows = [[name, f"{low:.4f}", f"{high:.4f}", formulas[name]] for name, (low, high) in found.by_name()]
    output.show_table(["interval", "low", "high", "formula"], rows)
