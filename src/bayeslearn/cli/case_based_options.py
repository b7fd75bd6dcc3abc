"""What the verbs of cases share: how bases and specifications are named, searches watched, and arcs told."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import interrupt, progress
from bayeslearn.errors import ParameterError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bayeslearn.case_based import Arc, Case, CaseBase, FunctionGraph, SearchProgress

### options

Base = Annotated[
    str, typer.Argument(help="A case file, .json, .json.gz or .yaml, or one that ships: plumbing, support.")
]
Spec = Annotated[
    str,
    typer.Argument(help="'Qc:flow, Qh:flow ->+ Qm:flow; ...', or the name of a case, or a file that holds one."),
]
Add = Annotated[list[str] | None, typer.Option(help="One more case file, to be merged. Repeat for more.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds; then the best so far is told.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")]


def case_base(file: str, more: list[str] | None) -> CaseBase:
    """The cases of all files together."""
    from bayeslearn.case_based import CaseBase

    base = CaseBase.load(file)
    for other in more or []:
        base += CaseBase.load(other)
    return base


def asked(base: CaseBase, text: str) -> Case:
    """A specification: of the base by its name, of a file, or in statements."""
    from bayeslearn.case_based import Case, CaseBase

    if text in base:
        return base[text]
    if Path(text).is_file():
        found = list(CaseBase.load(text))
        if len(found) != 1:
            raise ParameterError(f"{text!r} holds {len(found)} cases", hint="a file that asks holds one")
        return found[0]
    if "->" not in text and "→" not in text:
        known = listed([*(case.name for case in base.open), *(case.name for case in base.cases)])
        raise ParameterError(f"{text!r} is no case of the base, no file and no function", hint=f"there is {known}")
    return Case("specification", text)


@contextmanager
def watched(what: str) -> Iterator[Callable[[SearchProgress], None]]:
    """A bar that follows a search, and Ctrl-C that ends it with the best so far."""
    with interrupt.once("the best so far") as stop, progress.bar(what) as tell:

        def step(now: SearchProgress) -> None:
            stop.heed()
            tell(now.done / max(now.of, 1), f"{what}, {now.done} of {now.of}, {now.covered} influences covered")

        yield step


def draw(graph: FunctionGraph, covered: dict[str, Any], path: Path) -> None:
    """Draw a function into a file, with what each case covers."""
    import sys

    from bayeslearn import plots

    plots.save(plots.plot_function_graph(graph, covered), path)
    sys.stderr.write(f"wrote {path}: {len(graph.nodes)} quantities, {len(graph)} arcs\n")


### words


def arcs(items: Iterable[Arc]) -> str:
    """Arcs in one line."""
    return "; ".join(map(str, items))


def pairs(mapping: dict[str, str]) -> str:
    """What stands for what."""
    return ", ".join(f"{a}→{b}" for a, b in mapping.items())


def told(structure: Any, most: int = 400) -> str:
    """A structure in one line."""
    text = structure if isinstance(structure, str) else json.dumps(structure, ensure_ascii=False)
    return text if len(text) <= most else f"{text[:most]}…"
