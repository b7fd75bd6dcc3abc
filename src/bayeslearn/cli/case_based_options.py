"""The shared options of ``case-based``: case bases, specifications, searches."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeslearn.cli import interrupt, progress
from bayeslearn.errors import ParameterError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bayeslearn.case_based import Case, CaseBase
    from bayeslearn.progress import Progress

### options

Base = Annotated[
    str, typer.Argument(help="A case base, .json, .json.gz or .yaml, or one that ships: plumbing, support.")
]
Spec = Annotated[
    str,
    typer.Argument(help="'Qc:flow, Qh:flow ->+ Qm:flow; ...', the name of a case, or a file with one case."),
]
Add = Annotated[list[str] | None, typer.Option(help="Another case base to merge; repeat for more.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds, after which the search returns its best results.")]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object instead of a report.")]


def case_base(file: str, more: list[str] | None) -> CaseBase:
    """The cases of all files together."""
    from bayeslearn.case_based import CaseBase

    base = CaseBase.load(file)
    for other in more or []:
        base += CaseBase.load(other)
    return base


def asked(base: CaseBase, text: str) -> Case:
    """A specification: a case of the base by its name, a file, or statements."""
    from bayeslearn.case_based import Case, CaseBase

    if text in base:
        return base[text]
    if Path(text).is_file():
        found = list(CaseBase.load(text))
        if len(found) != 1:
            raise ParameterError(f"{text!r} holds {len(found)} cases", hint="a specification is a file with one case")
        return found[0]
    if "->" not in text and "→" not in text:
        known = listed([*(case.name for case in base.open), *(case.name for case in base.cases)])
        raise ParameterError(f"{text!r} is no case of the base, no file and no function", hint=f"there is {known}")
    return Case("specification", text)


@contextmanager
def watched(what: str) -> Iterator[Callable[[Progress], None]]:
    """A bar that follows a search, and Ctrl-C that ends it with the best so far."""
    with interrupt.once("the best so far") as stop, progress.bar(what) as tell:

        def step(now: Progress) -> None:
            stop.heed()
            tell(now.fraction, f"{what}: {now.message}")

        yield step


def draw(found: Any, path: Path) -> None:
    """Plot a function graph, a case, a match or a design to a file."""
    import sys

    from bayeslearn import plots

    plots.save(plots.plot_function_graph(found), path)
    sys.stderr.write(f"wrote {path}\n")


def structure_text(structure: Any, max_length: int = 400) -> str:
    """A structure in one line."""
    from bayeslearn.case_based.function_graph import shortened

    text = structure if isinstance(structure, str) else json.dumps(structure, ensure_ascii=False)
    return shortened(text, max_length)
