"""``bayeslearn update``: more cases for a learned network, or some of them taken back."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import output, progress
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.network_files import cases_behind, keep, load
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.tables import Source


@reads(unseen=True, adds=True)
def run(
    net: Annotated[str, typer.Argument(help="A learned network, as `bayeslearn fit` writes it.")],
    data: Annotated[
        Data, typer.Argument(help="CSV or Parquet files of cases, or patterns; ?, empty and NaN are missing.")
    ],
    *,
    to: Annotated[
        Path, typer.Option("-o", "--output", help="The model to write, also in place of the old one; .json keeps all.")
    ],
    fade: Annotated[float, typer.Option(help="What one case of before still counts for, from 0 to 1.")] = 1.0,
    sample_weight: Annotated[str | None, typer.Option(help="The column that says how often each row counts.")] = None,
    hidden: Annotated[list[str] | None, typer.Option(help="A variable that the file has no column for.")] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Take the cases back out, instead of adding them.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Add cases to a learned network, exactly as if they had been there from the start; or take them back.

    A row with missing cells adds what the present tables expect of it.

    Example: bayeslearn update model.json tuesday.csv --fade 0.9 -o model.json
    """
    from bayeslearn import files, validation
    from bayeslearn.network.formats.read_write import label_of
    from bayeslearn.network.parameters.incremental import coded, evidence_of

    if forget and fade != 1:
        raise ParameterError(
            "--fade cannot be used with --forget: what is taken back is taken back whole",
            hint="leave out one of the two",
        )
    validation.number("--fade", fade, min_value=0, max_value=1)
    label_of(to, None)
    files.destination(to)
    network = load(net)
    evidence_of(network)
    unseen = hidden or []
    with data.opened(sample_weight=sample_weight) as given, progress.bar("counting", passes=data.passes):
        cases = coded(network, given.settled(), given.sample_weight, unseen, "error" if forget else "add")
        after = (
            network.remove(cases, hidden=unseen)
            if forget
            else network.update(cases, forgetting_factor=fade, hidden=unseen)
        )
        answer: dict[str, float] = {"rows": cases.n_rows, "missing_cells": missing(cases, unseen)}
    keep(after, to)
    answer |= {"cases_before": cases_behind(network), "cases": cases_behind(after)}
    if as_json:
        output.show_json(answer)
        return
    pairs = [("rows", f"{answer['rows']:,} {'taken back' if forget else 'added'}")]
    pairs += [("missing cells", f"{answer['missing_cells']:,}")] if answer["missing_cells"] else []
    before, now = (output.amount(answer[key]) for key in ("cases_before", "cases"))
    output.show_pairs([*pairs, ("rests on", f"{now} cases, {before} before")])


def missing(cases: Source, hidden: list[str]) -> int:
    """How many cells are missing, those of hidden variables aside."""
    return sum(count for name, count in cases.missing().items() if name not in hidden)
