"""``bayeslearn bound error-interval``: what a measured error says of the true one."""

from __future__ import annotations

from typing import Annotated

import typer

from bayeslearn.cli import output
from bayeslearn.cli.bound_samples import AsJson  # noqa: TC001 - typer reads it


def run(
    wrong: Annotated[int, typer.Argument(help="How many examples were predicted wrongly.")],
    n: Annotated[int, typer.Argument(help="How many examples were predicted; none of them was learned from.")],
    *,
    level: Annotated[float, typer.Option(help="How sure the intervals are to be.")] = 0.95,
    prior: Annotated[
        str, typer.Option(help="Of the true error, for the Bayesian one: uniform or jeffreys.")
    ] = "uniform",
    as_json: AsJson = False,
) -> None:
    """The true error of a hypothesis from its errors on fresh examples: by Hoeffding, exactly, and as a belief.

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
    output.show_table(["interval", "from", "to", "how"], rows)
