"""``bayeslearn score``: how probable the cases of a file are under a network."""

from __future__ import annotations

import math
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import envelope, output, progress, table_writer
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.network_files import MODEL, load

if TYPE_CHECKING:
    from bayeslearn.network import BayesianNetwork, LogLikelihood
    from bayeslearn.network.parameters.em_steps import TotalLogLikelihood


@reads(unseen=True)
def run(
    model_file: Annotated[str, typer.Argument(metavar="MODEL", help=MODEL)],
    data: Annotated[
        Data, typer.Argument(help="CSV or Parquet files, or patterns; what is missing in them is summed over.")
    ],
    *,
    per_case: Annotated[
        Path | None, typer.Option(help="A file to write, .csv or .parquet: ln P of each row, in its order.")
    ] = None,
    sample_weight: Annotated[str | None, typer.Option(help="The column that says how often each row counts.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Log likelihood of cases: in all, per case, and in bits per case.

    Rows that the network holds impossible are named on stderr, where all rows are in memory.

    Example: bayeslearn score model.json new-cases.csv --per-case likelihoods.csv
    """
    from bayeslearn.sources import as_source

    if per_case is not None:
        table_writer.writer(per_case)
    network = load(model_file)
    with data.opened(sample_weight=sample_weight) as given, progress.bar("scoring", passes=data.passes):
        given.refuse("--per-case", per_case, "writes a line for every row")
        cases: Any = as_source(
            given.settled(),
            schema=network.schema,
            missing_columns="missing",
            handle_unknown="missing",
            sample_weight=given.sample_weight,
        )
        envelope.current().source = cases
        score: Any = network.score(cases)
        rows, missing = cases.n_rows, sum(cases.missing().values())
    if given.folded:
        _warn_of_some(score)
    else:
        _warn(network, cases, score)
    if per_case is not None:
        _write(per_case, score)
    answer = {
        "rows": rows,
        "weight": score.weight,
        "missing_cells": missing,
        "impossible_rows": None if given.folded else score.impossible.tolist(),
        "log_likelihood": score.log_likelihood,
        "log_likelihood_per_case": score.mean,
        "bits_per_case": score.bits,
    }
    if as_json:
        output.show_json(answer)
        return
    pairs = [("rows", str(rows)), *([("weight", output.amount(score.weight))] if sample_weight else [])]
    pairs += [("missing cells", str(answer["missing_cells"])), ("log likelihood", output.precise(score.log_likelihood))]
    pairs += [("per case", output.number(score.mean)), ("bits per case", output.number(score.bits))]
    output.show_pairs(pairs)


def _write(to: Path, score: LogLikelihood) -> None:
    import pyarrow as pa

    table_writer.write_columns(to, pa.table({"log_likelihood": score.cases}))
    sys.stderr.write(f"wrote {to}: {len(score.cases)} rows, 1 column\n")


def _warn_of_some(score: TotalLogLikelihood) -> None:
    """That there are rows of probability zero."""
    if score.log_likelihood == -math.inf:
        envelope.warn("some rows have probability zero; with --engine memory they are named")


def _warn(network: BayesianNetwork, cases: Any, score: LogLikelihood) -> None:
    """Name the rows of probability zero, and why the first of them is."""
    from bayeslearn.errors import listed
    from bayeslearn.network.inference.results import impossible_row

    if len(score.impossible):
        why = impossible_row(network, cases, int(score.impossible[0])).message
        count = f"{len(score.impossible)} rows have" if len(score.impossible) > 1 else "a row has"
        envelope.warn(f"{count} probability zero, {listed(score.impossible.tolist())}: {why}")
