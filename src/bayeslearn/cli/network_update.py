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
    forgetting_factor: Annotated[float, typer.Option(help="Weight of the rows of before, from 0 to 1.")] = 1.0,
    sample_weight: Annotated[str | None, typer.Option(help="The column that says how often each row counts.")] = None,
    hidden: Annotated[list[str] | None, typer.Option(help="A variable that the file has no column for.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove these rows instead of adding them.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Add rows to a fitted network, as if they had been there from the start; or remove them.

    A row with missing cells adds what the present tables expect of it.

    Example: bayeslearn update model.json tuesday.csv -o model.json
    """
    from bayeslearn import files, validation
    from bayeslearn.network.formats.read_write import label_of
    from bayeslearn.network.parameters.incremental import coded, evidence_of

    if remove and forgetting_factor != 1:
        raise ParameterError("--forgetting-factor cannot be used with --remove", hint="leave out one of the two")
    validation.number("--forgetting-factor", forgetting_factor, min_value=0, max_value=1)
    label_of(to, None)
    files.destination(to)
    network = load(net)
    evidence_of(network)
    unseen = hidden or []
    with data.opened(sample_weight=sample_weight) as given, progress.bar("counting", passes=data.passes):
        cases = coded(network, given.settled(), given.sample_weight, unseen, "error" if remove else "add")
        after = (
            network.remove(cases, hidden=unseen)
            if remove
            else network.update(cases, forgetting_factor=forgetting_factor, hidden=unseen)
        )
        answer: dict[str, float] = {"rows": cases.n_rows, "missing_cells": missing(cases, unseen)}
    keep(after, to)
    answer |= {"cases_before": cases_behind(network), "cases": cases_behind(after)}
    if as_json:
        output.show_json(answer)
        return
    pairs = [("rows", f"{answer['rows']:,} {'removed' if remove else 'added'}")]
    pairs += [("missing cells", f"{answer['missing_cells']:,}")] if answer["missing_cells"] else []
    before, now = (output.amount(answer[key]) for key in ("cases_before", "cases"))
    output.show_pairs([*pairs, ("rests on", f"{now} cases, {before} before")])


def missing(cases: Source, hidden: list[str]) -> int:
    """How many cells are missing, those of hidden variables aside."""
    return sum(count for name, count in cases.missing().items() if name not in hidden)
