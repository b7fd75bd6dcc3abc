"""``bayeslearn structure-posterior``: how probable each arc and each graph is, given a file of complete cases."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import interrupt, output, progress, structure_options
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.network_fit_report import MOST_ARCS, counted, score_name, show_columns
from bayeslearn.cli.structure_options import Bins, Forbid, Leaves, MaxStates, Require, Roots, Tiers, Weights  # noqa: TC001

if TYPE_CHECKING:
    from bayeslearn.network import StructurePosterior
    from bayeslearn.network.structure.preprocessing import PreparedData
    from bayeslearn.network.structure.scoring.criteria import StructureScore

#: Arcs less probable than this are not shown; the file and `--json` have all.
LEAST = 0.05


@reads()
def run(
    data: Annotated[
        Data,
        typer.Argument(
            help="CSV or Parquet files of cases, or patterns, none of whose cells is missing; `impute` fills them."
        ),
    ],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="A .csv or .parquet file for the probability of every arc.")
    ] = None,
    score: Annotated[str, typer.Option(help="bdeu:CASES, bds:CASES, k2 or bic.")] = "bdeu:1",
    samples: Annotated[int, typer.Option(help="Orders of the variables that each chain looks at.")] = 500,
    chains: Annotated[int, typer.Option(help="Chains, which should agree.")] = 4,
    require: Require = None,
    forbid: Forbid = None,
    tiers: Tiers = None,
    roots: Roots = None,
    leaves: Leaves = None,
    max_parents: Annotated[
        int | None, typer.Option(help="The most parents that a variable may have; 4 when not said.")
    ] = None,
    discretize: Annotated[str, typer.Option(help="Strategy for numeric columns: quantile or uniform.")] = "quantile",
    bins: Bins = None,
    max_states: MaxStates = 255,
    sample_weight: Weights = None,
    top: Annotated[int, typer.Option(help="How many of the most probable graphs to show.")] = 5,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which no more families and orders are looked at.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Posterior probability of every arc and of the most probable graphs, by order MCMC or exactly.

    Ctrl-C ends with the orders that were looked at by then.

    Example: bayeslearn structure-posterior cases.csv --samples 2000 -o arcs.csv
    """
    from bayeslearn.network import sample_structure_posterior
    from bayeslearn.network.structure.scoring.criteria import StructureScore

    _check(to, top, seed)
    judged = StructureScore.of(score)
    with data.opened(sample_weight=sample_weight, max_states=max_states) as given:
        waiting = progress.bar("looking at orders", passes=data.passes)
        with interrupt.once("what was looked at so far") as stop, waiting as tell:
            found = sample_structure_posterior(
                given.settled(), score=judged, samples=samples, chains=chains,
                knowledge=structure_options.known(require, forbid, tiers, roots, leaves, max_parents),
                discretize=discretize, n_bins=bins, max_states=max_states, sample_weight=given.sample_weight,
                time_limit=time_limit,
                random_state=seed,
                progress=structure_options.telling(tell, stop, time_limit, steps=samples),
            )  # fmt: skip
        assert found.prepared is not None
        if to is not None:
            _write(found, to)
        (_show_json if as_json else _show)(found, found.prepared, judged, top)


def _check(to: Path | None, top: int, seed: int) -> None:
    from bayeslearn import files, validation
    from bayeslearn.cli.table_writer import writer

    if to is not None:
        writer(to)
        files.destination(to)
    validation.integer("--top", top, min_value=0)
    validation.integer("--seed", seed, min_value=0)


def _write(found: StructurePosterior, to: Path) -> None:
    import pyarrow as pa

    from bayeslearn.cli.table_writer import write_columns

    arcs = found.table()
    ends = [pa.array([arc[end] for arc in arcs], pa.string()) for end in (0, 1)]
    p = pa.array([arc[2] for arc in arcs], pa.float64())
    write_columns(to, pa.Table.from_arrays([*ends, p], names=["parent", "child", "probability"]))
    sys.stderr.write(f"wrote {to}: {len(arcs)} arcs\n")


### for people


def _show(found: StructurePosterior, prepared: PreparedData, score: StructureScore, top: int) -> None:
    chains, samples = found.log_scores.shape
    agree = "yes" if found.converged else "no"
    pairs = [
        ("rows", counted(prepared.table)),
        ("score", score_name(score)),
        ("orders", f"{chains} chains of {samples}"),
        ("agree", f"{agree}: R̂ {found.r_hat:.3f}, probabilities of arcs within {found.gap:.2f}"),
        ("graphs", f"{len(found.draws)} drawn"),
    ]
    if found.stopped:
        pairs.append(("ended", "early: what was not looked at by then does not count"))
    output.show_pairs(pairs)
    shown = [arc for arc in found.table() if arc[2] >= LEAST]
    if shown:
        output.gap()
        output.show_table(
            ["arc", "probability", "either way"],
            [[f"{c} → {x}", f"{p:.3f}", f"{found.edge(c, x):.3f}"] for c, x, p in shown[:MOST_ARCS]],
        )
        if len(shown) > MOST_ARCS:
            output.show_pairs([("…", f"and {len(shown) - MOST_ARCS} more above {LEAST}")])
    if top:
        output.gap()
        output.show_table(
            ["probability", "graph"], [[f"{draw.weight:.3f}", str(draw.dag)] for draw in found.draws[:top]]
        )
    show_columns(prepared, prepared.notes)


### for machines


def _show_json(found: StructurePosterior, prepared: PreparedData, score: StructureScore, top: int) -> None:
    chains, samples = found.log_scores.shape
    output.show_json(
        {
            "rows": prepared.table.n_rows,
            "weight": prepared.table.total_weight,
            "score": score_name(score),
            "chains": chains,
            "samples": samples,
            "r_hat": found.r_hat,
            "gap": found.gap,
            "agree": found.converged,
            "taken": found.taken,
            "arcs": [{"parent": c, "child": x, "probability": p} for c, x, p in found.table()],
            "drawn": len(found.draws),
            "graphs": [
                {"graph": str(draw.dag), "arcs": draw.dag.arcs, "probability": draw.weight}
                for draw in found.draws[:top]
            ],
            "cuts": prepared.cuts,
            "left_out": prepared.left_out,
            "notes": prepared.notes,
            "seconds": found.seconds,
            "stopped": found.stopped,
        }
    )
