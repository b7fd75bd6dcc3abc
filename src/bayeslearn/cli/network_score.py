"""``bayeslearn score``: the log-likelihood of rows under a network."""

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
        Data, typer.Argument(help="CSV or Parquet files, or patterns; missing values are marginalized out.")
    ],
    *,
    to: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A .csv or .parquet file to write: the log-likelihood of each row."),
    ] = None,
    sample_weight: Annotated[str | None, typer.Option(help="Column with the weight of each row.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Log-likelihood of rows: in total, the mean, and in bits per row.

    Rows that are impossible under the network are named on stderr if all rows are in memory.

    Example: bayeslearn score model.json new-patients.csv -o likelihoods.csv
    """
    from bayeslearn.sources import as_source

    if to is not None:
        table_writer.writer(to)
    network = load(model_file)
    with data.opened(sample_weight=sample_weight) as given, progress.bar("scoring", passes=data.passes):
        given.refuse("--output", to, "writes a line for every row")
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
    if to is not None:
        _write(to, score)
    answer = {
        "n_rows": rows,
        "total_weight": score.weight,
        "n_missing": missing,
        "impossible_rows": None if given.folded else score.impossible.tolist(),
        "log_likelihood": score.log_likelihood,
        "mean_log_likelihood": score.mean,
        "bits_per_row": score.bits,
    }
    if as_json:
        output.show_json(answer)
        return
    pairs = [("rows", str(rows)), *([("weight", output.amount(score.weight))] if sample_weight else [])]
    pairs += [("missing values", str(missing)), ("log-likelihood", output.precise(score.log_likelihood))]
    pairs += [("mean", output.number(score.mean)), ("bits per row", output.number(score.bits))]
    output.show_pairs(pairs)


def _write(to: Path, score: LogLikelihood) -> None:
    import pyarrow as pa

    table_writer.write_columns(to, pa.table({"log_likelihood": score.per_row}))
    sys.stderr.write(f"wrote {to}: {len(score.per_row)} rows, 1 column\n")


def _warn_of_some(score: TotalLogLikelihood) -> None:
    """Warn of rows of probability zero."""
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
