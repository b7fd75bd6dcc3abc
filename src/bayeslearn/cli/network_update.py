"""``bayeslearn update``: add rows to a fitted network, or remove some."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import output, progress
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.network_files import keep, load, weight_of
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.tables import Source


@reads(unseen=True, adds=True)
def run(
    net: Annotated[str, typer.Argument(help="A fitted network, as `bayeslearn fit` writes it.")],
    data: Annotated[
        Data, typer.Argument(help="CSV or Parquet files, or patterns; ?, empty and NaN are missing values.")
    ],
    *,
    to: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The model to write, also in place of the old one; .json and .model keep all."
        ),
    ],
    forgetting_factor: Annotated[float, typer.Option(help="Weight of each earlier row, from 0 to 1.")] = 1.0,
    sample_weight: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    hidden: Annotated[list[str] | None, typer.Option(help="A variable without a column in the file.")] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the rows instead of adding them.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Update a fitted network with rows, exactly as if it had been fitted to all of them; or remove rows.

    A row with missing values adds its expected counts under the network.

    Example: bayeslearn update model.json tuesday.csv -o model.json
    """
    from bayeslearn import files, validation
    from bayeslearn.network.formats.read_write import label_of
    from bayeslearn.network.parameters.incremental import coded, evidence_of

    if remove and forgetting_factor != 1:
        raise ParameterError("--forgetting-factor cannot be used with --remove", hint="omit one of the two")
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
        answer: dict[str, float] = {"n_rows": cases.n_rows, "n_missing": missing(cases, unseen)}
    keep(after, to)
    answer |= {"weight_before": weight_of(network), "total_weight": weight_of(after)}
    if as_json:
        output.show_json(answer)
        return
    pairs = [("rows", f"{answer['n_rows']:,} {'removed' if remove else 'added'}")]
    pairs += [("missing values", f"{answer['n_missing']:,}")] if answer["n_missing"] else []
    before, now = (output.amount(answer[key]) for key in ("weight_before", "total_weight"))
    output.show_pairs([*pairs, ("total rows", f"{now} after, {before} before")])


def missing(cases: Source, hidden: list[str]) -> int:
    """The number of missing values, without those of hidden variables."""
    return sum(count for name, count in cases.missing().items() if name not in hidden)
