"""``bayeslearn concept``: from labeled examples to every conjunction that agrees with them."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import model_changes, output
from bayeslearn.cli.data_options import CELLS, OneFile, reads
from bayeslearn.errors import CapacityError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.hypotheses import Examples, VersionSpace, Vote
    from bayeslearn.tables import Table


#: Dropped examples that are listed; `--json` lists all.
MAX_LISTED = 10


@reads(*CELLS)
def run(
    examples: Annotated[
        OneFile, typer.Argument(help="A CSV or Parquet file of examples, or a table that ships: enjoy-sport.")
    ],
    data: Annotated[
        str | None, typer.Argument(help="A file of rows to classify by the vote of all consistent hypotheses.")
    ] = None,
    *,
    target: Annotated[str, typer.Option(help="Column of the labels.")],
    positive: Annotated[str | None, typer.Option(help=r"Label of the concept. \[default: 'yes' or similar]")] = None,
    states: Annotated[
        list[str] | None, typer.Option(help="COLUMN=A,B,C: all states of a column, also those of no example.")
    ] = None,
    drop_missing: Annotated[
        bool, typer.Option("--drop-missing", help="Drop examples with missing values, and report their number.")
    ] = False,
    drop_conflicts: Annotated[
        bool, typer.Option("--drop-conflicts", help="Drop examples that leave no consistent hypothesis, and list them.")
    ] = False,
    to: Annotated[
        Path | None, typer.Option("-o", "--output", help="Model file of the version space to write, .json or .json.gz.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Concept learning: Find-S, the version space with its boundaries, and votes on new rows.

    Hypotheses are conjunctions: each attribute has a required state, ? (any) or ∅ (none).

    Example: bayeslearn concept enjoy-sport --target enjoy_sport
    """
    import numpy as np

    from bayeslearn.hypotheses import Examples, VersionSpace, keep_consistent

    if to is not None:
        model_changes.check(to)
    declared = dict(_declaration(item) for item in states or [])
    table = load_table(str(examples), declared, partial(examples.read, needed=target))
    complete = (table.codes >= 0).all(axis=0) if drop_missing else np.ones(table.n_rows, dtype=bool)
    found = Examples.from_table(table.take(complete), target, positive=positive)
    kept = keep_consistent(found) if drop_conflicts else np.ones(len(found), dtype=bool)
    space = VersionSpace.fit(found.only(kept))
    rows = _new_rows(data, space) if data else []
    votes = space.votes(rows) if rows else []
    if to is not None:
        space.save(to)
        sys.stderr.write(f"wrote {to}\n")
    answer = Answer(found, int((~complete).sum()), np.flatnonzero(~kept).tolist(), space, rows, votes)
    (_show_json if as_json else _show)(answer)


### reading


def _declaration(item: str) -> tuple[str, list[str]]:
    column, equals, listed = item.partition("=")
    if not (equals and column and listed):
        raise ParameterError(f"--states takes COLUMN=A,B,C, got {item!r}")
    return column, listed.split(",")


def load_table(
    file: str,
    declared: dict[str, list[str]],
    read: Callable[[str], Any] = str,
    columns: list[str] | None = None,
) -> Table:
    """A file, or a table that ships, with all columns discrete."""
    from bayeslearn import datasets
    from bayeslearn.tables import as_table

    if not Path(file).exists() and file in datasets.list_tables():
        declared = {**(datasets.read_states(file) or {}), **declared}
        file = str(datasets.table_path(file))
    return as_table(read(file), columns=columns, discrete=True, states=declared, allow_constant=True)


def _new_rows(file: str, space: VersionSpace) -> list[dict[str, Any]]:
    """Rows by name; no hypothesis requires a value that is in no example."""
    return list(load_table(file, {}, columns=list(space.attributes.names)).rows())


### answering


@dataclass(frozen=True)
class Answer:
    """The version space, the dropped examples, and the votes on new rows."""

    examples: Examples
    #: The number of examples with missing values, and the positions of those in conflict, that were dropped.
    n_missing: int
    conflicts: list[int]
    space: VersionSpace
    rows: list[dict[str, Any]]
    votes: list[Vote]


def _show(answer: Answer) -> None:
    space, examples = answer.space, answer.examples
    positive = int(examples.labels.sum())
    pairs = [
        ("attributes", ", ".join(space.attributes.names)),
        ("examples", f"{positive} positive, {len(examples) - positive} negative"),
        *(("dropped", examples.describe(i)) for i in answer.conflicts[:MAX_LISTED]),
        *([("", f"and {len(answer.conflicts) - MAX_LISTED:,} more")] if len(answer.conflicts) > MAX_LISTED else []),
        ("hypotheses", f"{space.attributes.n_conjunctions:,}"),
        ("consistent", f"{space.size:,}"),
        ("Find-S and S", str(space.specific)),
        *(("" if i else "G", text) for i, text in enumerate(_general(space))),
    ]
    if answer.n_missing:
        pairs.insert(2, ("dropped", f"{answer.n_missing} with missing values"))
    output.show_pairs(pairs)
    if answer.rows:
        output.gap()
        table = [
            [
                *("?" if value is None else str(value) for value in row.values()),
                str(vote.yes),
                str(vote.no),
                vote.verdict,
            ]
            for row, vote in zip(answer.rows, answer.votes, strict=True)
        ]
        output.show_table([*space.attributes.names, "yes", "no", "verdict"], table)


def _show_json(answer: Answer) -> None:
    votes = [{"row": row, **vote.to_dict()} for row, vote in zip(answer.rows, answer.votes, strict=True)]
    dropped = {"n_dropped_missing": answer.n_missing, "dropped_conflicts": answer.conflicts}
    output.show_json({**answer.space.to_dict(), **dropped, "votes": votes})


def _general(space: VersionSpace) -> list[str]:
    try:
        return [str(g) for g in space.general]
    except CapacityError as error:
        return [error.message]
