"""``bayeslearn concept``: from labeled examples to every conjunction that agrees with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import output
from bayeslearn.cli.data_options import CELLS, OneFile, reads
from bayeslearn.errors import CapacityError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.hypotheses import Examples, VersionSpace, Vote
    from bayeslearn.tables import Table


#: Examples set aside that are told one by one; `--json` lists all.
MOST_TOLD = 10


@reads(*CELLS)
def run(
    file: Annotated[
        OneFile, typer.Argument(help="A CSV or Parquet file of examples, or a name that ships: enjoy-sport.")
    ],
    *,
    target: Annotated[str, typer.Option(help="The column that says whether a row belongs to the concept.")],
    positive: Annotated[
        str | None, typer.Option(help="The label of rows that belong to it; 'yes' and its like are found.")
    ] = None,
    states: Annotated[
        list[str] | None,
        typer.Option(help="COLUMN=A,B,C: every state a column may have, also those that no example shows."),
    ] = None,
    new: Annotated[
        str | None, typer.Option(help="A file of rows to classify, by the vote of all hypotheses left.")
    ] = None,
    drop_incomplete: Annotated[
        bool, typer.Option("--drop-incomplete", help="Leave out examples with missing cells, and say how many.")
    ] = False,
    skip_conflicts: Annotated[
        bool, typer.Option("--skip-conflicts", help="Set examples aside that would leave no hypothesis, and list them.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of tables.")] = False,
) -> None:
    """Learn a concept from examples: Find-S, the version space with its boundaries, and votes on new rows.

    Hypotheses are conjunctions: each attribute has a required state, ? (any) or ∅ (none).

    Example: bayeslearn concept enjoy-sport --target enjoy_sport
    """
    import numpy as np

    from bayeslearn.hypotheses import Examples, VersionSpace, keep_consistent

    declared = dict(_declaration(item) for item in states or [])
    table = load_table(str(file), declared, partial(file.read, needed=target))
    whole = (table.codes >= 0).all(axis=0) if drop_incomplete else np.ones(table.n_rows, dtype=bool)
    examples = Examples.from_table(table.take(whole), target, positive=positive)
    kept = keep_consistent(examples) if skip_conflicts else np.ones(len(examples), dtype=bool)
    space = VersionSpace.fit(examples.only(kept))
    rows = _new_rows(new, space) if new else []
    votes = space.votes(rows) if rows else []
    answer = Answer(examples, int((~whole).sum()), np.flatnonzero(~kept).tolist(), space, rows, votes)
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
    """Examples of a file, or of a table that ships, all of whose columns are discrete."""
    from bayeslearn import datasets
    from bayeslearn.tables import as_table

    if not Path(file).exists() and file in datasets.list_tables():
        declared = {**(datasets.declared_states(file) or {}), **declared}
        file = str(datasets.table_path(file))
    return as_table(read(file), columns=columns, discrete=True, states=declared, allow_constant=True)


def _new_rows(file: str, space: VersionSpace) -> list[dict[str, Any]]:
    """Rows by name; a value that no example has shown is no state any hypothesis requires."""
    return list(load_table(file, {}, columns=list(space.attributes.names)).rows())


### answering


@dataclass(frozen=True)
class Answer:
    """All that was learned and asked."""

    examples: Examples
    incomplete: int
    aside: list[int]
    space: VersionSpace
    rows: list[dict[str, Any]]
    votes: list[Vote]


def _show(answer: Answer) -> None:
    space, examples = answer.space, answer.examples
    positive = int(examples.labels.sum())
    pairs = [
        ("attributes", ", ".join(space.attributes.names)),
        ("examples", f"{positive} positive, {len(examples) - positive} negative"),
        *(("set aside", examples.summary(i)) for i in answer.aside[:MOST_TOLD]),
        *([("", f"and {len(answer.aside) - MOST_TOLD:,} more")] if len(answer.aside) > MOST_TOLD else []),
        ("hypotheses", f"{space.attributes.n_conjunctions:,}"),
        ("consistent", f"{space.size:,}"),
        ("Find-S and S", str(space.specific)),
        *(("" if i else "G", text) for i, text in enumerate(_general(space))),
    ]
    if answer.incomplete:
        pairs.insert(2, ("left out", f"{answer.incomplete} incomplete"))
    output.show_pairs(pairs)
    if answer.rows:
        output.gap()
        table = [
            [
                *("?" if value is None else str(value) for value in row.values()),
                str(vote.yes),
                str(vote.no),
                _verdict(vote),
            ]
            for row, vote in zip(answer.rows, answer.votes, strict=True)
        ]
        output.show_table([*space.attributes.names, "yes", "no", "verdict"], table)


def _show_json(answer: Answer) -> None:
    space = answer.space
    try:
        general: list[Any] | None = [list(g.constraints) for g in space.general]
    except CapacityError:
        general = None
    found = {
        "attributes": list(space.attributes.names),
        "examples": len(answer.examples),
        "positive_examples": int(answer.examples.labels.sum()),
        "left_out": answer.incomplete,
        "set_aside": answer.aside,
        "hypotheses": space.attributes.n_conjunctions,
        "consistent": space.size,
        "specific": list(space.specific.constraints),
        "general": general,
        "new": [_voted(row, vote) for row, vote in zip(answer.rows, answer.votes, strict=True)],
    }
    output.show_json(found)


def _voted(row: dict[str, Any], vote: Vote) -> dict[str, Any]:
    return {
        "row": row,
        "yes": vote.yes,
        "no": vote.no,
        "total": vote.total,
        "share": vote.share,
        "verdict": _verdict(vote),
    }


def _general(space: VersionSpace) -> list[str]:
    try:
        return [str(g) for g in space.general]
    except CapacityError as error:
        return [error.message]


def _verdict(vote: Vote) -> str:
    word = {True: "yes", False: "no", None: "undecided"}
    if vote.unanimous is not None:
        return f"{word[vote.unanimous]}, unanimously"
    return f"{word[vote.majority]}, {vote.share:.0%} say yes"
