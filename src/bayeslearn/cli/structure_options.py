"""Options and progress of verbs that search for structures."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from bayeslearn.cli.interrupt import Stop
    from bayeslearn.network import BackgroundKnowledge

#: Seconds between two updates of a progress bar.
PAUSE = 0.1

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


def names(items: str | None) -> list[str]:
    """A,B,C, each a name."""
    return [name.strip() for name in items.split(",") if name.strip()] if items else []


### progress


def reporting(
    tell: Callable[..., None], stop: Stop, limit: float | None, what: str = "", *, steps: int | None = None
) -> Callable[[Any], None]:
    """A callback that shows each step of a search, of which there are so many, and ends the search after Ctrl-C."""
    from bayeslearn.network.structure.uncertainty.bootstrap import Resampling

    started = last = time.monotonic()

    def step(now: Any) -> None:
        nonlocal last
        stop.heed()
        moment = time.monotonic()
        if moment - last < PAUSE:
            return
        last = moment
        if isinstance(now, Resampling):
            tell(now.done / now.rounds, f"{what}bootstrap sample {now.done} of {now.rounds}")
        else:
            share = max((moment - started) / limit if limit else 0.0, now.steps / steps if steps else 0.0)
            tell(share, f"{what}score {now.score:.7g}, {now.arcs} arcs, step {now.steps}")

    return step
