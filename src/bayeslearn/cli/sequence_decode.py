"""``bayeslearn sequence decode``: the hidden state behind every row of a file."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output, pictures, writing
from bayeslearn.cli.sequence_learn import Id  # noqa: TC001 - typer reads the annotation
from bayeslearn.cli.sources import CELLS, OneFile, reads

if TYPE_CHECKING:
    from bayeslearn.sequence import HiddenMarkovModel
    from bayeslearn.sequence.answering import Path as Decoded
    from bayeslearn.tables import Table


@reads(*CELLS, unseen=True)
def run(
    model_file: Annotated[Path, typer.Argument(metavar="MODEL", help="A model of `bayeslearn sequence learn`.")],
    data: Annotated[OneFile, typer.Argument(help="A CSV or Parquet file; what is missing in it is integrated out.")],
    *,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file to write, .csv or .parquet; else CSV to stdout.")
    ] = None,
    id_column: Id = None,
    each: Annotated[
        bool,
        typer.Option("--each", help="The most probable state of each row by itself, not of the sequence as a whole."),
    ] = False,
    truth: Annotated[str | None, typer.Option(help="A column of the true states: tells how many are right.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the states into an .svg or .png file.")] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON object; it holds the columns when there is no -o.")
    ] = False,
) -> None:
    """Decode the states behind every row: the most probable path of each sequence, and how sure each row is.

    Example: bayeslearn sequence decode casino.json rolls.csv -o states.csv
    """
    from bayeslearn.sequence import HiddenMarkovModel

    if to is not None:
        writing.writer(to)
    if plot is not None:
        pictures.check(plot)
    model, path = HiddenMarkovModel.load(model_file), data.given.data
    sequences = model.sequences(path, id=id_column)
    posterior, best = model.posterior(sequences), model.decode(sequences)
    codes = posterior.probabilities.argmax(axis=1) if each else best.codes
    table = answers(model, codes, posterior.probabilities, path, id_column)
    right = None if truth is None else matches(model, codes, path, truth)
    if to is not None or not as_json:
        writing.write(to, table.schema, [table])
    if to is not None:
        sys.stderr.write(f"wrote {to}: {table.n_rows} rows of {len(sequences)} sequences\n")
    if right is not None:
        known, hits = right
        sys.stderr.write(f"{hits} of {known} known states are right\n")
    if as_json:
        output.show_json({
            "rows": table.n_rows,
            "log_likelihood": float(posterior.log_likelihood.sum()),
            "log_p_path": float(best.log_p.sum()),
            "known": None if right is None else right[0],
            "right": None if right is None else right[1],
        } | ({} if to is not None else {"columns": table.to_dict()}))  # fmt: skip
    if plot is not None:
        draw(best, plot)


def draw(best: Decoded, plot: Path) -> None:
    """The states as a picture."""
    from bayeslearn import plots

    plots.save(plots.decoded(best), plot)
    sys.stderr.write(f"wrote {plot}\n")


def answers(model: HiddenMarkovModel, codes: Any, probabilities: Any, path: Any, id_column: str | None) -> Table:
    """The sequence of each row, its state, and the probabilities of all states."""
    import numpy as np

    from bayeslearn.tables import Discrete, Numeric, Schema, Table, as_table

    columns: list[Any] = [Discrete("state", model.states), *(Numeric(f"P(state={s})") for s in model.states)]
    rows = [np.asarray(codes)]
    if id_column is not None:
        ids = as_table(path, columns=[id_column], discrete=True, max_states=2**31 - 1, allow_constant=True)
        columns.insert(0, ids.schema[id_column])
        rows.insert(0, ids.code(id_column))
    return Table(Schema(columns), np.stack(rows), probabilities.T)


def matches(model: HiddenMarkovModel, codes: Any, path: Any, truth: str) -> tuple[int, int]:
    """How many states are known, and how many of them were found."""
    from bayeslearn.tables import Discrete, Schema, as_table

    given = as_table(path, schema=Schema([Discrete(truth, model.states)]), unseen="missing").code(truth)
    return int((given >= 0).sum()), int(((given >= 0) & (given == codes)).sum())
