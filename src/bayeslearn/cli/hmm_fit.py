"""``bayeslearn fit hmm``: from sequences in a file to states that explain them."""

from __future__ import annotations

import math
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.cli import checkpoint_options, interrupt, output, plot_files, progress
from bayeslearn.cli.checkpoint_options import Checkpoint, Every, Resume  # noqa: TC001 - typer reads the annotations
from bayeslearn.cli.data_options import Data, reads
from bayeslearn.cli.structure_options import names
from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.em import EMResult
    from bayeslearn.hmm import HiddenMarkovModel

#: Other states that a state leads to: so many are shown.
MOST_MOVES = 3

Id = Annotated[str | None, typer.Option("--id", help="The column that says which sequence a row belongs to.")]


@reads(without=("columns",))
def run(
    data: Annotated[
        Data,
        typer.Argument(
            help="CSV or Parquet files, or patterns, rows in order and each sequence in one file; ?, empty and NaN are "
            "missing."
        ),
    ],
    *,
    to: Annotated[Path, typer.Option("-o", "--output", help="The model to write, .json or .json.gz.")],
    states: Annotated[str | None, typer.Option(help="How many states, or their names: A,B,C.")] = None,
    emissions: Annotated[
        str,
        typer.Option(help="categorical, gaussian, full (covariances), poisson or product; auto judges by the data."),
    ] = "auto",
    columns: Annotated[str | None, typer.Option(help="A,B: the observed columns; all others when not said.")] = None,
    id_column: Id = None,
    known: Annotated[str | None, typer.Option(help="The column of states that are known, where they are.")] = None,
    mixture: Annotated[int, typer.Option(help="Parts in each state, of these emissions.")] = 1,
    left_right: Annotated[bool, typer.Option("--left-right", help="States are passed in order, one by one.")] = False,
    prior: Annotated[
        str,
        typer.Option(help="Cases that tables have seen before: auto (that of --start, else m:1), none, m:2, ..."),
    ] = "auto",
    start: Annotated[Path | None, typer.Option(help="A model to begin with.")] = None,
    freeze: Annotated[
        str | None, typer.Option(help="Parts of --start to leave alone: start, transitions, emissions.")
    ] = None,
    restarts: Annotated[int, typer.Option(help="Climbs from random starts; the highest is kept.")] = 5,
    tol: Annotated[float, typer.Option(help="The gain, in nats, below which an iteration is the last.")] = 1e-4,
    max_iter: Annotated[int, typer.Option(help="Iterations of a climb at most.")] = 500,
    checkpoint: Checkpoint = None,
    every: Every = 5,
    resume: Resume = False,
    seed: Annotated[int, typer.Option(help="Of the starts.")] = 0,
    plot: Annotated[Path | None, typer.Option(help="Draw the decoded states into an .svg or .png file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")] = False,
) -> None:
    """Fit a hidden Markov model by Baum-Welch: hidden states, transitions and emissions.

    Example: bayeslearn fit hmm ecg.csv --states 3 --id patient -o ecg.json
    """
    from bayeslearn import files, validation
    from bayeslearn.codec import require_model_name
    from bayeslearn.hmm import HiddenMarkovModel, learn

    require_model_name(to)
    files.destination(to)
    validation.integer("--seed", seed, min_value=0)
    if plot is not None:
        plot_files.check(plot)
    checkpoint_options.check(checkpoint, every, resume=resume)
    if data.kind == "memory":
        data.one_file("--engine memory")
    first = checkpoint if resume and checkpoint is not None and checkpoint.exists() else start
    begin = None if first is None else HiddenMarkovModel.load(first)
    with (
        data.opened() as given,
        interrupt.once("the best model so far") as stop,
        progress.bar("learning", passes=data.passes) as tell,
    ):
        given.refuse("--plot", plot, "draws the rows")
        observed = chosen(given.names, columns, id_column, known) if begin is None else None
        found = learn(
            given.data, state_names(states), emissions=emissions, mixture=mixture, columns=observed, id=id_column,
            known=known, structure="left-right" if left_right else "any", prior=prior, start=begin,
            frozen=names(freeze), restarts=restarts, random_state=seed, tol=tol, max_iter=max_iter,
            progress=progress.following(tell, stop),
            checkpoint=checkpoint, every=every,
        )  # fmt: skip
    found.model.save(to)
    show_json(found) if as_json else show(found)
    sys.stderr.write(f"wrote {to}: {len(found.model.states)} states, {found.model.emissions.kind} emissions\n")
    if plot is not None:
        from bayeslearn import plots

        plots.save(plots.plot_states(found.model.decode(given.data, id=id_column)), plot)
        sys.stderr.write(f"wrote {plot}\n")


### what was asked for


def state_names(states: str | None) -> int | list[str] | None:
    """A number of states, or their names."""
    if states is None:
        return None
    from bayeslearn import validation

    return validation.count_or_names("--states", states)


def chosen(there: list[str], columns: str | None, id_column: str | None, known: str | None) -> list[str]:
    """The observed columns: those that are named, or all that say nothing else."""
    from bayeslearn.tables.schema import require_known

    asked = names(columns)
    require_known([*asked, *(name for name in (id_column, known) if name)], there)
    found = list(asked) or [name for name in there if name not in {id_column, known}]
    if not found:
        raise ParameterError("no column is left to be observed", hint="name them: --columns A,B")
    return found


### reporting


def show(found: EMResult[HiddenMarkovModel]) -> None:
    """The report: how it went, and a line for each state."""
    model = found.model
    assert model.statistics is not None
    sequences = model.statistics["start"].n.sum()
    arrived = "converged" if found.converged else "not converged"
    lines = [
        ("sequences", output.amount(round(float(sequences), 6))),
        ("observed", f"{', '.join(model.emissions.names)} ({model.emissions.kind})"),
        ("log likelihood", output.precise(found.log_likelihood)),
        ("iterations", f"{found.n_iter}, {arrived}"),
    ]
    if len(found.starts) > 1:
        best = sum(math.isclose(value, found.objective, rel_tol=1e-6) for value in found.starts)
        lines.append(("starts", f"{len(found.starts)}, {best} of them came to this"))
    output.show_pairs(lines)
    output.gap()
    show_states(model)


def show_states(model: HiddenMarkovModel) -> None:
    """What each state emits, how long it lasts and where it leads."""
    share, lasts = (map(output.number, values) for values in (model.stationary(), model.durations()))
    told = [(model.emissions.described(i), moves(model, i)) for i in range(len(model.states))]
    rows = [
        [str(state), *line] for state, *line in zip(model.states, share, lasts, *zip(*told, strict=True), strict=True)
    ]
    output.show_table(["state", "share", "lasts", "emits", "leads to"], rows)


def moves(model: HiddenMarkovModel, i: int) -> str:
    """The states that most often follow, if any do."""
    p = [(q, j) for j, q in enumerate(model.transitions[i]) if j != i and q > 1e-6]
    leave = sum(q for q, _ in p)
    best = sorted(p, key=lambda item: (-item[0], item[1]))[:MOST_MOVES]
    return ", ".join(f"{model.states[j]} {q / leave:.2g}" for q, j in best) or "nothing else"


def show_json(found: EMResult[HiddenMarkovModel]) -> None:
    """The same for a machine."""
    model = found.model
    output.show_json({
        "log_likelihood": found.log_likelihood,
        "objective": found.objective,
        "iterations": found.n_iter,
        "converged": found.converged,
        "starts": list(found.starts),
        "history": [step.log_likelihood for step in found.history],
        "observed": list(model.emissions.names),
        "emissions": model.emissions.kind,
        "states": [
            {
                "state": state, "start": model.start[i], "share": model.stationary()[i],
                "lasts": model.durations()[i], "emits": model.emissions.described(i),
                "transitions": dict(zip(map(str, model.states), model.transitions[i], strict=True)),
            }
            for i, state in enumerate(model.states)
        ],
    })  # fmt: skip
