"""``bayeslearn structure-posterior``: posterior probabilities of arcs and graphs given complete rows."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import interrupt, output, progress, structure_options
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.structure_options import (  # noqa: TC001 - as above
    Bins,
    Forbidden,
    Leaves,
    MaxParents,
    MaxStates,
    Required,
    Roots,
    Tiers,
    Weights,
)

if TYPE_CHECKING:
    from bayeslearn.network import StructurePosterior


@reads()
def run(
    data: Annotated[
        Data,
        typer.Argument(help="CSV or Parquet files, or patterns, without missing values; `impute` fills them."),
    ],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="A .csv or .parquet file for the probability of every arc.")
    ] = None,
    criterion: Annotated[str, typer.Option(help="Score of structures: bdeu:N, bds:N, k2 or bic.")] = "bdeu:1",
    n_samples: Annotated[int, typer.Option(help="Variable orders that are sampled in each chain.")] = 500,
    n_chains: Annotated[int, typer.Option(help="Number of chains, whose results should agree.")] = 4,
    required: Required = None,
    forbidden: Forbidden = None,
    tiers: Tiers = None,
    roots: Roots = None,
    leaves: Leaves = None,
    max_parents: MaxParents = None,
    discretize: Annotated[str, typer.Option(help="Strategy for numeric columns: quantile or uniform.")] = "quantile",
    n_bins: Bins = None,
    max_states: MaxStates = 255,
    sample_weight: Weights = None,
    max_results: Annotated[int, typer.Option(help="Number of most probable graphs to list.")] = 5,
    time_limit: Annotated[float | None, typer.Option(help="Seconds after which sampling ends.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the chains.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Posterior probability of every arc and of the most probable graphs, by order MCMC or exactly.

    The number of parents of a variable is limited to 4 by default. Ctrl-C ends sampling with the orders so far.

    Example: bayeslearn structure-posterior patients.csv --n-samples 500 -o a.csv
    """
    from bayeslearn.network import sample_structure_posterior
    from bayeslearn.network.structure.scoring.criteria import StructureScore

    _check(to, max_results, seed)
    settings: dict[str, Any] = {
        "criterion": StructureScore.parse(criterion), "n_samples": n_samples, "n_chains": n_chains,
        "knowledge": structure_options.known(required, forbidden, tiers, roots, leaves, max_parents),
        "discretize": discretize, "n_bins": n_bins, "max_states": max_states, "time_limit": time_limit,
        "random_state": seed,
    }  # fmt: skip
    with data.opened(sample_weight=sample_weight, max_states=max_states) as given:
        waiting = progress.bar("sampling variable orders", passes=data.passes)
        with interrupt.once("the orders so far") as stop, waiting as tell:
            found = sample_structure_posterior(
                given.settled(), sample_weight=given.sample_weight, **settings,
                progress=progress.following(tell, stop),
            )  # fmt: skip
        if to is not None:
            _write(found, to)
        if as_json:
            output.show_json(found.to_dict() | {"graphs": found.graphs_to_dict(max_results)})
        else:
            sys.stdout.write(found.summary() + "\n")
            _show_graphs(found, max_results)


def _check(to: Path | None, max_results: int, seed: int) -> None:
    from bayeslearn import files, validation
    from bayeslearn.cli.table_writer import writer

    if to is not None:
        writer(to)
        files.destination(to)
    validation.integer("--max-results", max_results, min_value=0)
    validation.integer("--seed", seed, min_value=0)


def _write(found: StructurePosterior, to: Path) -> None:
    from bayeslearn.cli.table_writer import write_columns

    arcs = found.to_frame("pyarrow")
    write_columns(to, arcs)
    sys.stderr.write(f"wrote {to}: {len(arcs)} arcs\n")


def _show_graphs(found: StructurePosterior, max_results: int) -> None:
    from bayeslearn.reports import Grid, Report

    graphs = [(graph["probability"], graph["structure"]) for graph in found.graphs_to_dict(max_results)]
    if graphs:
        report = Report("", Grid(["Probability", "Structure"], graphs, "Most probable graphs", max_rows=len(graphs)))
        sys.stdout.write("\n" + report.text() + "\n")
