"""``bayeslearn fit mixture``: the groups that the rows of a table fall into."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import checkpoint_options, interrupt, output, progress
from bayeslearn.cli.checkpoint_options import Checkpoint, Every, Resume  # noqa: TC001 - typer reads the annotations
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.input_data import MEMORY, Given
from bayeslearn.cli.naive_bayes_fit import pairs
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.mixture import ComponentSelection

#: Columns that are told of each class, and doubtful rows that are shown.
MOST_TELLS, MOST_DOUBTS = 3, 5


@reads()
def run(
    data: Annotated[Data, typer.Argument(help="CSV or Parquet files, or patterns; ?, empty and NaN are missing.")],
    *,
    to: Annotated[Path, typer.Option("-o", "--output", help="The model to write, .json or .json.gz.")],
    k: Annotated[str, typer.Option("-k", help="How many groups, or auto: as many as the evidence asks for.")] = "auto",
    covariance: Annotated[
        str | None,
        typer.Option(help="Of numbers: full, tied, diagonal, spherical; full if all columns are, else diagonal."),
    ] = None,
    family: Annotated[list[str] | None, typer.Option(help="COL=categorical, gaussian or poisson.")] = None,
    prior: Annotated[
        str, typer.Option(help="weak keeps variances regular; none is maximum likelihood, scored by BIC.")
    ] = "weak",
    sample_weight: Annotated[str | None, typer.Option(help="The column that says how often each row counts.")] = None,
    most: Annotated[int, typer.Option(help="The most groups that auto tries.")] = 20,
    restarts: Annotated[int, typer.Option(help="How many more starts to climb from.")] = 3,
    tol: Annotated[float, typer.Option(help="Nats that an iteration must gain.")] = 1e-3,
    max_iter: Annotated[int, typer.Option(help="Iterations at most.")] = 1000,
    max_states: Annotated[int, typer.Option(help="Columns of words with more states are left out.")] = 255,
    checkpoint: Checkpoint = None,
    every: Every = 5,
    resume: Resume = False,
    seed: Annotated[int, typer.Option(help="Of the starts.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the groups into this file, .png, .svg or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Find groups of similar rows, by EM: of numbers, words and counts, with missing values.

    Tables of numbers become a mixture of Gaussians; others get classes, each a product of families over the columns.

    Example: bayeslearn fit mixture zoo.csv --drop-columns name -o zoo.json
    """
    from bayeslearn import files, validation
    from bayeslearn.codec import require_model_name

    require_model_name(to)
    files.destination(to)
    prior = validation.choice("--prior", prior, ["weak", "none"])
    number: Any = "auto" if k == "auto" else whole("-k", k)
    left_out = data.dropped(sample_weight)
    how = {
        "prior": None if prior == "none" else "weak", "most": most, "restarts": restarts, "tol": tol,
        "max_iter": max_iter, "random_state": validation.integer("--seed", seed, min_value=0),
        **on_the_way(checkpoint, every, number, resume=resume),
    }  # fmt: skip
    with data.opened(sample_weight=sample_weight, max_states=max_states) as given:
        given.refuse("--plot", plot, "draws the rows")
        table = given.settled(read(given, pairs("--family", family), left_out, sample_weight, max_states))
        kind = covariance or ("full" if not table.schema.discrete and not family else "diagonal")
        kind = validation.choice("--covariance", kind, ["full", "tied", "diagonal", "spherical"])
        found = learned(table, number, pairs("--family", family), kind, how, data.passes)
        found.model.save(to)
        (show_json if as_json else show)(found, table, left_out, folded=given.folded)
        if plot is not None:
            from bayeslearn import plots

            plots.save(plots.plot_mixture(found.model, table), plot)
    sys.stderr.write(f"wrote {to}: {found.model.k} groups, {len(table.schema)} columns\n")


def whole(option: str, text: str) -> int:
    """A whole number, or auto."""
    from bayeslearn import validation

    return validation.positive_count(option, text, ("auto",))


def on_the_way(checkpoint: Path | None, every: int, k: Any, *, resume: bool) -> dict[str, Any]:
    """What is to be written on the way, and what was."""
    from bayeslearn.mixture import MixtureModel

    checkpoint_options.check(checkpoint, every, resume=resume)
    if checkpoint is None:
        return {}
    if k == "auto":
        raise ParameterError("--checkpoint is of one climb: say how many groups", hint="-k 3")
    begun = {"start": MixtureModel.load(checkpoint)} if resume and checkpoint.exists() else {}
    return {"checkpoint": checkpoint, "every": every, **begun}


def read(
    given: Given, families: dict[str, str], left_out: dict[str, str], sample_weight: str | None, max_states: int
) -> Any:
    """The table or the source, without the columns that are not wanted or cannot be used."""
    from bayeslearn.mixture.mixed_table import read_table
    from bayeslearn.tables.schema import require_known

    known = given.names
    require_known([*families, *([sample_weight] if sample_weight else [])], known)
    columns = [name for name in known if name not in left_out and name != sample_weight]
    return read_table(given.data, families, columns, given.sample_weight, max_states, left_out)


def learned(
    table: Any, k: Any, families: dict[str, str], covariance: str, how: dict[str, Any], passes: progress.Passes
) -> ComponentSelection:
    """The groups, the largest first, with the log likelihood of every iteration told."""
    from bayeslearn.mixture.mixed_table import by_size, find_classes

    together = None if covariance == "diagonal" and table.schema.discrete else covariance
    with interrupt.once("the best groups so far") as stop, progress.bar("clustering", passes=passes) as tell:

        def step(groups: int, now: Any) -> None:
            stop.heed()
            words = f"{groups} groups, {now.message}"
            tell(groups / how["most"] if k == "auto" else now.fraction, words)

        if how["prior"] is None and k == "auto":
            how = {**how, "by": "bic"}
        return by_size(find_classes(table, k, families=families, covariance=together, progress=step, **how))


### reporting


def show(found: ComponentSelection, table: Any, left_out: dict[str, str], *, folded: bool) -> None:
    """The report for people."""
    from bayeslearn.mixture import describe_clusters, uncertain_rows

    model, result = found.model, found.result
    missing = sum(table.missing().values())
    tried = ", ".join(f"{k}: {value:.6g}" for k, value in found.scores.items())
    name = {"evidence": "log evidence", "bic": "−BIC/2"}.get(found.by, found.by)
    output.show_pairs([
        ("rows", str(table.n_rows)),
        ("columns", str(len(table.schema))),
        ("missing cells", str(missing)),
        *((f"left out: {column}", why) for column, why in left_out.items()),
        ("groups", str(model.k)),
        ("log likelihood", f"{output.precise(result.log_likelihood)}, {result.n_iter} iterations"),
        (name, tried),
    ])  # fmt: skip
    output.gap()
    rows = [
        [
            str(report.number),
            f"{report.size:.1f}",
            output.number(report.share),
            "; ".join(map(str, report.differences[:MOST_TELLS])),
        ]
        for report in describe_clusters(model)
    ]
    output.show_table(["group", "cases", "share", "what distinguishes it"], rows)
    doubts = [] if folded else uncertain_rows(model, table)
    if folded:
        output.gap()
        sys.stdout.write(f"doubtful rows are not looked for, {MEMORY}\n")
    if doubts:
        output.gap()
        sys.stdout.write(f"{len(doubts)} of {table.n_rows} rows are doubtful (below 0.9), these most:\n")
        for doubt in doubts[:MOST_DOUBTS]:
            sys.stdout.write(
                f"  row {doubt.row}: group {doubt.best} {doubt.probability:.3f}, "
                f"{doubt.second} {doubt.second_probability:.3f}\n"
            )


def show_json(found: ComponentSelection, table: Any, left_out: dict[str, str], *, folded: bool) -> None:
    """The same for a machine."""
    from dataclasses import asdict

    from bayeslearn.mixture import describe_clusters, uncertain_rows

    output.show_json({
        "rows": table.n_rows,
        "groups": found.model.k,
        "log_likelihood": found.result.log_likelihood,
        "converged": found.result.converged,
        "history": [step.log_likelihood for step in found.result.history],
        "score": found.by,
        "scores": found.scores,
        "left_out": left_out,
        "classes": [asdict(report) for report in describe_clusters(found.model)],
        "doubtful": None if folded else [asdict(doubt) for doubt in uncertain_rows(found.model, table)],
    })  # fmt: skip
