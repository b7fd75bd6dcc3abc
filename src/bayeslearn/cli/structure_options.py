"""Options and progress of verbs that search for structures."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from bayeslearn.network import BackgroundKnowledge

### options

KNOWLEDGE = "Background knowledge"

Required = Annotated[
    list[str] | None, typer.Option(help="'A->B': a required arc; may be repeated.", rich_help_panel=KNOWLEDGE)
]
Forbidden = Annotated[
    list[str] | None, typer.Option(help="'A->B': a forbidden arc; may be repeated.", rich_help_panel=KNOWLEDGE)
]
Tiers = Annotated[
    str | None, typer.Option(help="'A,B;C,D': groups; no parent is in a later group.", rich_help_panel=KNOWLEDGE)
]
Roots = Annotated[str | None, typer.Option(help="A,B: variables without parents.", rich_help_panel=KNOWLEDGE)]
Leaves = Annotated[str | None, typer.Option(help="A,B: variables without children.", rich_help_panel=KNOWLEDGE)]
MaxParents = Annotated[
    int | None, typer.Option(help="Maximum number of parents of a variable.", rich_help_panel=KNOWLEDGE)
]
MaxStates = Annotated[int, typer.Option(help="Categorical columns with more states are dropped.")]
Bins = Annotated[int | None, typer.Option(help=r"Number of bins per numeric column. \[default: 5]")]
Weights = Annotated[str | None, typer.Option(help="Column with the weight of each row.")]


def table_file(data: str) -> str:
    """A file, or the path of a shipped table."""
    from bayeslearn import datasets as shipped

    tables = {path.stem for path in shipped.HERE.glob("*.csv")}
    return str(shipped.table_path(data)) if data in tables and not Path(data).exists() else data


def known(
    required: list[str] | None, forbidden: list[str] | None, tiers: str | None, roots: str | None, leaves: str | None,
    max_parents: int | None,
) -> BackgroundKnowledge:  # fmt: skip
    """The background knowledge that options give."""
    from bayeslearn import validation
    from bayeslearn.network import BackgroundKnowledge

    limit = None if max_parents is None else validation.integer("--max-parents", max_parents, min_value=0)
    groups = [names(tier) for tier in tiers.split(";")] if tiers else []
    return BackgroundKnowledge(
        arcs("--required", required), arcs("--forbidden", forbidden), groups, names(roots), names(leaves), limit
    )


def arcs(option: str, items: list[str] | None) -> list[tuple[str, str]]:
    """A->B, each a pair."""
    found = []
    for item in items or []:
        parent, arrow, child = (part.strip() for part in item.partition("->"))
        if not (parent and arrow and child):
            raise ParameterError(
                f"{option} takes 'A->B', got {item!r}", hint="the quotes keep the shell from reading >"
            )
        found.append((parent, child))
    return found


def assignments(option: str, text: str | None, form: str, example: str) -> dict[str, str]:
    """NAME=VALUE,NAME=VALUE; an item in double quotes may hold commas."""
    found: dict[str, str] = {}
    for item in next(csv.reader([text or ""], skipinitialspace=True), []):
        name, equals, value = (part.strip() for part in item.rpartition("="))
        if not (name and equals and value):
            raise ParameterError(f"{option} takes {form}, got {item!r}", hint=f"for instance {option} {example}")
        found[name] = value
    return found


def names(items: str | None) -> list[str]:
    """A,B,C, each a name."""
    return [name.strip() for name in items.split(",") if name.strip()] if items else []
