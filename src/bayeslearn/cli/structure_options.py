"""What verbs that look for structure share: how a table is read, and what is known before."""

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

#: Seconds between two words on how far a search has come.
PAUSE = 0.1

### options

Require = Annotated[list[str] | None, typer.Option(help="'A->B': an arc that must be there.")]
Forbid = Annotated[list[str] | None, typer.Option(help="'A->B': an arc that cannot be there.")]
Tiers = Annotated[str | None, typer.Option(help="'A,B;C,D': no parent in a later group.")]
Roots = Annotated[str | None, typer.Option(help="A,B: variables without parents.")]
Leaves = Annotated[str | None, typer.Option(help="A,B: variables without children.")]
MaxStates = Annotated[int, typer.Option(help="Columns of words with more states are left out.")]
Bins = Annotated[int | None, typer.Option(help="Intervals of a column of numbers; 5 when not said.")]
Weights = Annotated[str | None, typer.Option(help="The column that says how often each row counts.")]


def table_file(data: str) -> str:
    """A file, or where one lies that ships."""
    from bayeslearn import datasets as shipped

    tables = {path.stem for path in shipped.HERE.glob("*.csv")}
    return str(shipped.table_path(data)) if data in tables and not Path(data).exists() else data


def known(
    require: list[str] | None, forbid: list[str] | None, tiers: str | None, roots: str | None, leaves: str | None,
    max_parents: int | None,
) -> BackgroundKnowledge:  # fmt: skip
    """What is known of a structure."""
    from bayeslearn import validation
    from bayeslearn.network import BackgroundKnowledge

    most = None if max_parents is None else validation.integer("--max-parents", max_parents, min_value=0)
    groups = [names(tier) for tier in tiers.split(";")] if tiers else []
    return BackgroundKnowledge(
        arcs("--require", require), arcs("--forbid", forbid), groups, names(roots), names(leaves), most
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


### how far it is


def telling(
    tell: Callable[..., None], stop: Stop, limit: float | None, what: str = "", *, steps: int | None = None
) -> Callable[[Any], None]:
    """What a bar says of each step of a search, of which there are so many; it ends there when it is to end."""
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
            tell(now.done / now.rounds, f"{what}resample {now.done} of {now.rounds}")
        else:
            share = max((moment - started) / limit if limit else 0.0, now.steps / steps if steps else 0.0)
            tell(share, f"{what}score {now.score:.7g}, {now.arcs} arcs, step {now.steps}")

    return step
